"""Gaussians of very many points, whose directions have no room: made when they are asked for."""

from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vicinal.divergence.covariance import Relative
from vicinal.divergence.gaussians import (
    GaussianMaker,
    LocalGaussians,
    Neighborhoods,
    Tell,
    check_definite,
)
from vicinal.divergence.limits import check_room
from vicinal.neighborhood.cluster.sharing import in_order
from vicinal.neighborhood.threads import (
    current_n_threads,
    effective_n_threads,
    one_library_thread,
)

__all__ = ["Gaussians", "MadeGaussians", "at_positions", "make_gaussians"]

# Numbers of neighborhoods from which on workers of a cluster, where they are asked, try them.
_MUCH = 30_000_000


class Gaussians(Protocol):
    """Gaussians that can be compared: `LocalGaussians`, or `MadeGaussians` where there are many."""

    @property
    def n_features(self) -> int:
        """Number of features, d."""

    @property
    def rank(self) -> int:
        """Number of directions with an eigenvalue of their own, q."""

    @property
    def is_stored(self) -> bool:
        """Whether rows are at hand, or made each time when they are asked for."""

    @property
    def has_diagonal(self) -> bool:
        """Whether directions are no eigenvectors: see `LocalGaussians.diagonal`."""

    @property
    def places(self) -> NDArray:
        """The means, in whatever units and precision: who is near whom."""

    @property
    def means(self) -> NDArray:
        """Shape (n, d)."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: slice | NDArray) -> "LocalGaussians":
        """Those of some points."""

    def part(self, rows: slice | NDArray) -> "Gaussians":
        """Those of some points, in the same way."""

    def box(self) -> tuple[NDArray, NDArray]:
        """Least and largest coordinates of the means."""

    def least_variances(self) -> NDArray:
        """Least eigenvalue of every covariance, shape (n,); with a diagonal, a bound."""

    def largest_variances(self) -> NDArray:
        """Largest eigenvalue of every covariance, shape (n,); with a diagonal, a bound."""

    def in_units_of(self, unit: float) -> "Gaussians":
        """These Gaussians in other units, without rounding errors for powers of two."""

    def covariances(self) -> NDArray:
        """All covariances as matrices, shape (n, d, d)."""


@dataclass(frozen=True)
class MadeGaussians:
    """Gaussians of very many points, computed on access.

    A neighborhood takes m positions, while its directions take m × d numbers. ``gaussians[rows]``
    returns `LocalGaussians`, the same ones each time. `vectors`, `values`, `rest` and `diagonal`
    are computed for all points, if there is memory for them.

    Attributes
    ----------
    X : ndarray of shape (n_points, d)
        Points whose rows are the neighbors.
    centers : ndarray of shape (n, d)
        Means of the Gaussians.
    positions : ndarray of int, shape (n, m)
    counts : ndarray of int, shape (n,)
        Neighbors of each point, as in `Neighborhoods`.
    kind : str
    gamma : float or Relative
    least, largest : ndarray of shape (n,)
        Smallest and largest eigenvalues of each covariance.
    unit : float
        Unit by which everything is divided.
    """

    X: NDArray
    centers: NDArray
    positions: NDArray
    counts: NDArray
    kind: str
    gamma: float | Relative
    least: NDArray
    largest: NDArray
    unit: float = 1.0

    def __len__(self) -> int:
        return len(self.centers)

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return int(self.X.shape[1])

    @property
    def rank(self) -> int:
        """Number of directions with an eigenvalue of their own, q."""
        return min(int(self.positions.shape[1]), self.n_features)

    @property
    def is_stored(self) -> bool:
        """Rows are made each time."""
        return False

    @property
    def places(self) -> NDArray:
        """The means, in whatever units and precision: who is near whom."""
        return self.centers

    @property
    def has_diagonal(self) -> bool:
        """Whether directions are no eigenvectors."""
        return self.kind == "shrunk-diagonal" and self.rank < self.n_features

    def __getitem__(self, rows: slice | NDArray) -> LocalGaussians:
        near = Neighborhoods(self.positions, self.counts).of(rows)
        asked = self.centers[rows]
        make = GaussianMaker(self.X, asked, near, self.kind, self.gamma)
        with one_library_thread():
            return make.all(current_n_threads()).in_units_of(self.unit)

    def part(self, rows: slice | NDArray) -> "MadeGaussians":
        """Those of some points, made when they are asked for."""
        names = ("centers", "positions", "counts", "least", "largest")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def box(self) -> tuple[NDArray, NDArray]:
        """Least and largest coordinates of the means."""
        ends = self.centers.min(axis=0), self.centers.max(axis=0)
        return ends[0].astype(np.float64) / self.unit, ends[1].astype(np.float64) / self.unit

    def least_variances(self) -> NDArray:
        """Least eigenvalue of every covariance, shape (n,); with a diagonal, a bound."""
        return self.least / self.unit**2

    def largest_variances(self) -> NDArray:
        """Largest eigenvalue of every covariance, shape (n,); with a diagonal, a bound."""
        return self.largest / self.unit**2

    def in_units_of(self, unit: float) -> "MadeGaussians":
        """These Gaussians in other units, without rounding errors for powers of two."""
        return replace(self, unit=self.unit * unit)

    @property
    def means(self) -> NDArray:
        """The points themselves, shape (n, d)."""
        return self.centers.astype(np.float64) / self.unit

    @property
    def vectors(self) -> NDArray:
        """Directions of all points, shape (n, q, d)."""
        return self._all().vectors

    @property
    def values(self) -> NDArray:
        """Eigenvalues of these directions, shape (n, q)."""
        return self._all().values

    @property
    def rest(self) -> NDArray:
        """Eigenvalue of all other directions, shape (n,)."""
        return self._all().rest

    @property
    def diagonal(self) -> NDArray | None:
        """To be added to the diagonal, shape (n, d), or None."""
        return self._all().diagonal if self.has_diagonal else None

    def covariances(self) -> NDArray:
        """All covariances as matrices, shape (n, d, d)."""
        d = self.n_features
        check_room("covariances", (len(self), d, d), "take those of some points, gaussians[rows]")
        return self._all().covariances()

    def _all(self) -> LocalGaussians:
        shape = len(self), self.rank, self.n_features
        check_room("the Gaussians' directions", shape, "take those of some points, gaussians[rows]")
        return self[:]


def make_gaussians(
    X: NDArray,
    queries: NDArray,
    neighborhoods: Neighborhoods,
    kind: str,
    gamma: float | Relative,
    n_jobs: int | None = None,
    tell: Tell = lambda more: None,
) -> MadeGaussians:
    """Gaussians as `fit_gaussians` makes them, none of which is kept: all are tried once."""
    ends = np.empty((2, len(queries)))
    make = GaussianMaker(X, queries, neighborhoods, kind, gamma)
    n_threads, is_much = effective_n_threads(n_jobs), make.n_numbers >= _MUCH
    with (
        one_library_thread(),
        closing(in_order(make.ends_of, make.parts, n_threads, is_much, "gaussians")) as found,
    ):
        for rows, some in zip(make.parts, found, strict=True):
            ends[:, rows] = some
            tell(some.shape[1])
    check_definite(ends, X.shape[1], kind, gamma)
    positions = neighborhoods.positions.astype(np.int32, copy=False)
    return MadeGaussians(X, queries, positions, neighborhoods.counts, kind, gamma, *ends)


def at_positions(P: Gaussians, *positions: NDArray) -> Any:
    """Gaussians at some positions, each once, and these positions among them."""
    if P.is_stored:
        return P, *positions
    seen = np.zeros(len(P), dtype=bool)
    for each in positions:
        seen[each] = True
    some = np.flatnonzero(seen)
    places = np.empty(len(P), dtype=np.intp)
    places[some] = np.arange(len(some))
    return P[some], *(places[each] for each in positions)
