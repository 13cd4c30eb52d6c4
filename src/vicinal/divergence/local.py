"""From points to Gaussians: neighborhoods of m points or of a radius, around old and new points."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vicinal.divergence.covariance import Relative
from vicinal.divergence.gaussians import KINDS, Neighborhoods, fit_gaussians, relative_to
from vicinal.divergence.limits import check_room
from vicinal.divergence.made import Gaussians, make_gaussians
from vicinal.fitting.progress import stage
from vicinal.inputs.cells import nearly_nearest
from vicinal.inputs.checks import check_choice, check_count, check_nonnegative, check_share
from vicinal.inputs.nearest import nearest, within

__all__ = ["SEARCHES", "LocalModel", "all_of"]

SEARCHES = ("auto", "exact", "approximate")

# Pairs of points and queries up to which the search is exact: ten seconds in 50 dimensions.
_MOST_PAIRS = 50_000**2

# Numbers of directions that are stored; of more, each is made when it is asked for.
_STORED_NUMBERS = 16_000_000


@dataclass(frozen=True)
class LocalModel:
    """How a Gaussian is made of the points around one.

    Attributes
    ----------
    n_neighbors : int
        m.
    radius : float or None
        Instead of the m nearest, all within this distance.
    covariance : str
    gamma : float, "auto" or Relative
        "auto" before points are seen, then what it is relative to them.
    search : {"auto", "exact", "approximate"}
    n_jobs : int or None
    verbose : int
    """

    n_neighbors: int = 10
    radius: float | None = None
    covariance: str = "ridge"
    gamma: float | str | Relative = 1e-4
    search: str = "exact"
    n_jobs: int | None = None
    verbose: int = 0

    def check(self, n_samples: int) -> None:
        """Refuse what makes no sense, for a set of `n_samples` points."""
        check_choice("covariance", self.covariance, KINDS)
        if isinstance(self.gamma, str):
            check_choice("gamma", self.gamma, ("auto",))
        elif self.covariance.startswith("shrunk"):
            check_share("gamma", self.gamma)
        else:
            check_nonnegative("gamma", self.gamma)
        check_choice("search", self.search, SEARCHES)
        if self.radius is None:
            check_count("n_neighbors", self.n_neighbors, 1)
        elif check_nonnegative("radius", self.radius) == 0:
            raise ValueError("radius=0 leaves every neighborhood empty: it must be positive.")

    def fit(self, X: NDArray) -> Gaussians:
        """A Gaussian for every row of X, itself not among its neighbors."""
        near = self.neighborhoods(X)
        return self.settled(X, near).gaussians(X, near)

    def settled(self, X: NDArray, near: Neighborhoods) -> "LocalModel":
        """The model, with the γ that is relative to these neighborhoods where none is given."""
        return replace(self, gamma=relative_to(X, near)) if self.gamma == "auto" else self

    def neighborhoods(self, X: NDArray) -> Neighborhoods:
        """The neighbors of every row of X, itself not among them."""
        if self.radius is not None:
            return self._within_radius(X, X, np.arange(len(X)))
        return all_of(self.candidates(X, None, min(self.n_neighbors, len(X) - 1)))

    def gaussians(self, X: NDArray, near: Neighborhoods, sparse: bool = False) -> Gaussians:
        """A Gaussian for every row of X, from these neighborhoods; γ is settled.

        `sparse`: each is compared with few others only, so that many need not be stored.
        """
        return self._gaussians(X, X, near, sparse)

    def around(self, X: NDArray, queries: NDArray, sparse: bool = False) -> Gaussians:
        """A Gaussian for every query, from rows of X.

        A query that coincides with a row is taken to be that point: it is not its own neighbor.
        """
        if self.radius is not None:
            near = self._within_radius(X, queries, _coinciding(X, queries, self.n_jobs))
        else:
            found = self.candidates(X, queries, min(self.n_neighbors + 1, len(X)))
            taken = _coincides(X, queries, found[:, 0])[:, None]
            near = all_of(np.where(taken, found[:, 1:], found[:, :-1]))
        return self._gaussians(X, queries, near, sparse)

    def is_exact(self, n_samples: int, n_queries: int) -> bool:
        """Whether the nearest are found for sure."""
        if self.search == "auto":
            return n_samples * n_queries <= _MOST_PAIRS
        return self.search == "exact"

    def candidates(self, X: NDArray, queries: NDArray | None, k: int) -> NDArray:
        """Positions of the k rows of X nearest to each query; without queries, of other rows."""
        asked = X if queries is None else queries
        with stage("Euclidean neighbors", len(asked), self.verbose) as tell:
            if not self.is_exact(len(X), len(asked)):
                return nearly_nearest(X, queries, k, self.n_jobs, tell)
            own = np.arange(len(X)) if queries is None else None
            return nearest(X, asked, k, own, self.n_jobs, tell)[0]

    def _gaussians(
        self, X: NDArray, queries: NDArray, near: Neighborhoods, sparse: bool
    ) -> Gaussians:
        assert not isinstance(self.gamma, str)  # settled
        m, d = near.positions.shape[1], X.shape[1]
        make: Callable[..., Gaussians] = fit_gaussians
        if sparse and len(queries) * min(m, d) * d > _STORED_NUMBERS:
            make = make_gaussians
        else:
            check_room(
                "the Gaussians' directions",
                (len(queries), min(m, d), d),
                "reduce the features, for example with sklearn.decomposition.PCA, or the size of "
                "the neighborhoods",
            )
        with stage("local Gaussians", len(queries), self.verbose) as tell:
            return make(X, queries, near, self.covariance, self.gamma, self.n_jobs, tell)

    def _within_radius(self, X: NDArray, queries: NDArray, own: NDArray) -> Neighborhoods:
        found = within(X, queries, float(self.radius or 0.0), self.n_jobs)
        found = [near[near != me] for near, me in zip(found, own, strict=True)]
        counts = np.array([len(near) for near in found])
        positions = np.zeros((len(queries), max(1, counts.max())), dtype=np.intp)
        positions[np.arange(positions.shape[1]) < counts[:, None]] = np.concatenate(found)
        return Neighborhoods(positions, counts)


def all_of(positions: NDArray) -> Neighborhoods:
    """Neighborhoods of one size."""
    return Neighborhoods(positions, np.full(len(positions), positions.shape[1]))


def _coincides(X: NDArray, queries: NDArray, positions: NDArray) -> NDArray:
    return np.asarray((X[positions] == queries).all(axis=1))


def _coinciding(X: NDArray, queries: NDArray, n_jobs: int | None) -> NDArray:
    """The row that each query coincides with, or -1."""
    first = nearest(X, queries, 1, None, n_jobs)[0][:, 0]
    return np.where(_coincides(X, queries, first), first, -1)
