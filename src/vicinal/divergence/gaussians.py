"""A Gaussian for every point, from its neighborhood (sections 2 and 3)."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vicinal.divergence.covariance import COVARIANCES, Relative, Spectrum, estimated
from vicinal.divergence.small_matrices import complement, eigenvectors
from vicinal.neighborhood import namespace
from vicinal.neighborhood.arrays import Array, is_numpy
from vicinal.neighborhood.threads import (
    effective_n_threads,
    one_library_thread,
    run_in_order,
)

__all__ = [
    "KINDS",
    "GaussianMaker",
    "LocalGaussians",
    "Neighborhoods",
    "Tell",
    "are_twins",
    "check_definite",
    "fit_gaussians",
    "may_be_twins",
    "relative_to",
]

# Is told of work done, each time how much more.
Tell = Callable[[float], None]

# "shrunk-diagonal" alone has other eigenvectors than C.
KINDS = (*COVARIANCES, "shrunk-diagonal")

# Least share of an eigenvalue in the largest: at it, divergences have four digits and more.
_SINGULAR = 1e-24

# Divergences below this may be the rounding errors of none.
_NEARLY_NOTHING = 1e-6

# Numbers of differences held at a time by every thread.
_BLOCK_NUMBERS = 1_000_000

# Neighborhoods that γ is made relative to, at most.
_MOST_ROWS = 10_000


class Neighborhoods(NamedTuple):
    """Neighbors of every point.

    Attributes
    ----------
    positions : ndarray of int, shape (n, m)
    counts : ndarray of int, shape (n,)
        How many of them there are; those after are none.
    """

    positions: NDArray
    counts: NDArray

    def of(self, rows: slice | NDArray) -> "Neighborhoods":
        """Those of some points."""
        return Neighborhoods(self.positions[rows], self.counts[rows])


@dataclass(frozen=True)
class LocalGaussians:
    """Gaussians with covariances Vᵀ diag(values - rest) V + rest I, stored in this form.

    All arrays are of one library, on one device.

    Attributes
    ----------
    means : array of shape (n, d)
        Means of the Gaussians.
    vectors : array of shape (n, q, d)
        Orthonormal rows V; q is the size of a neighborhood, or d if that is smaller.
    values : array of shape (n, q)
        Eigenvalues of these directions.
    rest : array of shape (n,)
        Eigenvalue of all other directions.
    diagonal : array of shape (n, d) or None
        Added to the diagonal of the covariances; the `vectors` are then not eigenvectors.
    """

    means: Array
    vectors: Array
    values: Array
    rest: Array
    diagonal: Array | None = None

    def __len__(self) -> int:
        return len(self.means)

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return int(self.means.shape[1])

    @property
    def rank(self) -> int:
        """Number of directions with an eigenvalue of their own, q."""
        return int(self.vectors.shape[1])

    def __getitem__(self, rows: slice | Array) -> "LocalGaussians":
        return LocalGaussians(
            self.means[rows],
            self.vectors[rows],
            self.values[rows],
            self.rest[rows],
            None if self.diagonal is None else self.diagonal[rows],
        )

    @property
    def is_stored(self) -> bool:
        """Rows are at hand."""
        return True

    @property
    def places(self) -> NDArray:
        """The means, in whatever units and precision: who is near whom."""
        return self.means

    @property
    def has_diagonal(self) -> bool:
        """Whether `vectors` are no eigenvectors."""
        return self.diagonal is not None

    def part(self, rows: slice | NDArray) -> "LocalGaussians":
        """Those of some points."""
        return self[rows]

    def box(self) -> tuple[NDArray, NDArray]:
        """Least and largest coordinates of the means."""
        return self.means.min(axis=0), self.means.max(axis=0)

    def least_variances(self) -> NDArray:
        """Least eigenvalue of every covariance, shape (n,); with `diagonal`, a bound."""
        if self.diagonal is not None:
            return np.asarray(self.diagonal.min(axis=1))
        least = self.values.min(axis=1)
        return least if self.rank == self.n_features else np.minimum(least, self.rest)

    def largest_variances(self) -> NDArray:
        """Largest eigenvalue of every covariance, shape (n,); with `diagonal`, a bound."""
        largest = self.values.max(axis=1)
        if self.diagonal is not None:
            return np.asarray(largest + self.diagonal.max(axis=1))
        return largest if self.rank == self.n_features else np.maximum(largest, self.rest)

    def in_units_of(self, unit: float) -> "LocalGaussians":
        """These Gaussians in other units, without rounding errors for powers of two."""
        square = unit * unit
        return LocalGaussians(
            self.means / unit,
            self.vectors,
            self.values / square,
            self.rest / square,
            None if self.diagonal is None else self.diagonal / square,
        )

    def map(self, send: Callable[[Array], Array]) -> "LocalGaussians":
        """These Gaussians with other arrays for each, of another library or on a device."""
        sent = {name: None if part is None else send(part) for name, part in vars(self).items()}
        return LocalGaussians(**sent)

    def covariances(self) -> Array:
        """All covariances as matrices, shape (n, d, d)."""
        weighted = self.vectors * (self.values - self.rest[:, None])[:, :, None]
        out = weighted.swapaxes(1, 2) @ self.vectors
        every = list(range(self.n_features))
        out[:, every, every] += self.rest[:, None]
        if self.diagonal is not None:
            out[:, every, every] += self.diagonal
        return out

    def complete(self) -> "LocalGaussians":
        """These Gaussians with all eigenvectors, n × d × d numbers."""
        if self.diagonal is not None:
            values, vectors = eigenvectors(self.covariances())
            return LocalGaussians(self.means, _rows(vectors), values, self.rest)
        return self.of_rank(self.n_features)

    def of_rank(self, rank: int) -> "LocalGaussians":
        """These Gaussians with more eigenvectors, of the directions of equal eigenvalue."""
        n_more = rank - self.rank
        if n_more == 0:
            return self
        xp = namespace(self.vectors)
        others = _rows(complement(self.vectors.swapaxes(1, 2), n_more))
        vectors = xp.concatenate([self.vectors, others], axis=1)
        more = xp.broadcast_to(self.rest[:, None], (len(self), n_more))
        values = xp.concatenate([self.values, more], axis=1)
        return LocalGaussians(self.means, vectors, values, self.rest)


def fit_gaussians(
    X: NDArray,
    queries: NDArray,
    neighborhoods: Neighborhoods,
    kind: str,
    gamma: float | Relative,
    n_jobs: int | None = None,
    tell: Tell = lambda more: None,
) -> LocalGaussians:
    """A Gaussian around every query, from rows of X near it.

    The mean is the query itself, not that of its neighborhood (section 2.1).
    """
    make = GaussianMaker(X, queries, neighborhoods, kind, gamma)
    with one_library_thread():
        gaussians = make.all(effective_n_threads(n_jobs), tell)
    ends = np.stack([gaussians.least_variances(), gaussians.largest_variances()])
    check_definite(ends, X.shape[1], kind, gamma)
    return gaussians


class GaussianMaker(NamedTuple):
    """What it takes to make Gaussians around queries, some at a time.

    Attributes
    ----------
    X, queries : ndarray of shape (n, d) and (n_queries, d)
    neighborhoods : Neighborhoods
        Of the queries: rows of X.
    kind : str
    gamma : float or Relative
    """

    X: NDArray
    queries: NDArray
    neighborhoods: Neighborhoods
    kind: str
    gamma: float | Relative

    @property
    def parts(self) -> list[slice]:
        """Queries whose Gaussians are made at a time."""
        return list(_blocks(len(self.queries), self._width))

    @property
    def n_numbers(self) -> int:
        """Of all neighborhoods."""
        return len(self.queries) * self._width

    @property
    def _width(self) -> int:
        return int(self.neighborhoods.positions.shape[1] * self.X.shape[1])

    def of(self, rows: slice) -> LocalGaussians:
        """Gaussians of some queries."""
        near, queries = self.neighborhoods.of(rows), self.queries[rows].astype(np.float64)
        return _fit_part(self.X, queries, near, self.kind, self.gamma)

    def ends_of(self, rows: slice) -> NDArray:
        """Least and largest eigenvalues of some queries' covariances, shape (2, n)."""
        made = self.of(rows)
        return np.stack([made.least_variances(), made.largest_variances()])

    def all(self, n_threads: int, tell: Tell = lambda more: None) -> LocalGaussians:
        """Gaussians of all queries."""

        def every() -> Iterator[LocalGaussians]:
            with closing(run_in_order(self.of, self.parts, n_threads)) as results:
                for made in results:
                    yield made
                    tell(len(made))

        return _gathered(every(), self.parts, len(self.queries))


def relative_to(X: NDArray, near: Neighborhoods) -> Relative:
    """γ relative to these neighborhoods of rows of X, of some evenly spread ones where many."""
    rows = np.linspace(0, len(X) - 1, min(len(X), _MOST_ROWS)).astype(np.intp)
    values, width = [], near.positions.shape[1]
    for part in _blocks(len(rows), width * X.shape[1]):
        some = rows[part]
        differences = _differences(X, X[some].astype(np.float64), near.of(some))[0]
        with one_library_thread():
            values.append(np.square(np.linalg.svd(differences, compute_uv=False)))
    every, counts = np.concatenate(values), near.counts[rows]
    return Relative.to(Spectrum(every, X.shape[1], counts, np.zeros(len(every))))


def _differences(X: NDArray, queries: NDArray, near: Neighborhoods) -> tuple[NDArray, NDArray]:
    """Δ of every query, C = Δᵀ Δ, shape (n, m, d), and squared distances, shape (n, m)."""
    differences = X[near.positions].astype(np.float64) - queries[:, None]
    differences[np.arange(differences.shape[1]) >= near.counts[:, None]] = 0.0
    squares = np.einsum("nmd,nmd->nm", differences, differences)
    differences /= np.sqrt(np.maximum(near.counts, 1))[:, None, None]
    return differences, squares


def _fit_part(
    X: NDArray, queries: NDArray, near: Neighborhoods, kind: str, gamma: float | Relative
) -> LocalGaussians:
    differences, squares = _differences(X, queries, near)
    counts = np.maximum(near.counts, 1)
    # C = Δᵀ Δ: singular vectors of Δ keep digits that C itself would lose.
    _, singular, vectors = np.linalg.svd(differences, full_matrices=False)
    spectrum = Spectrum(np.square(singular), X.shape[1], near.counts, _kurtosis(squares, counts))
    if kind == "shrunk-diagonal":  # (1 - γ) C + γ diag(C), footnote 5
        gamma = gamma.share if isinstance(gamma, Relative) else gamma
        diagonal = gamma * np.einsum("nmd,nmd->nd", differences, differences)
        values, rest = (1.0 - gamma) * spectrum.values, np.zeros(len(queries))
        return _at_most_once(LocalGaussians(queries, vectors, values, rest, diagonal))
    return LocalGaussians(queries, vectors, *estimated(kind, spectrum, gamma))


def _kurtosis(squares: NDArray, counts: NDArray) -> NDArray:
    """(1/m) Σ |x - x_i|⁴ in units of tr(C)²: fourth powers themselves might be no numbers."""
    traces = (squares.sum(axis=1) / counts)[:, None]
    shares = np.divide(squares, traces, out=np.zeros_like(squares), where=traces > 0)
    return np.square(shares).sum(axis=1) / counts


def _at_most_once(gaussians: LocalGaussians) -> LocalGaussians:
    """Eigenvectors now where they take no more room than what is stored anyway."""
    return gaussians.complete() if gaussians.rank == gaussians.n_features else gaussians


def check_definite(ends: NDArray, n_features: int, kind: str, gamma: float | Relative) -> None:
    """Refuse singular covariances, by their least and largest eigenvalues, shape (2, n)."""
    # Below rounding, an eigenvalue is none. Those of C itself, which one kind needs, have fewer
    # digits than the squares of singular values.
    of_itself = 4 * np.finfo(float).eps * n_features
    rounding = of_itself if kind == "shrunk-diagonal" else _SINGULAR
    bad = ends[0] <= rounding * ends[1]
    if bad.any():
        given = '"auto"' if isinstance(gamma, Relative) else f"{gamma:g}"
        raise ValueError(
            f"{bad.sum()} of {len(bad)} local covariances are singular, the first that of row "
            f"{int(bad.argmax())}: neighborhoods of duplicates, of too few points, of one far from "
            f"all others, or features of very different scales. Raise gamma={given} or "
            "n_neighbors, or scale X" + ("." if kind == "ridge" else ', or use covariance="ridge".')
        )


def _gathered(found: Iterable[LocalGaussians], parts: list[slice], n: int) -> LocalGaussians:
    """All parts in arrays of n rows, filled as they come: never held twice."""
    whole: dict[str, Any] = {}
    for part, rows in zip(found, parts, strict=True):
        for name, values in vars(part).items():
            if name not in whole:
                whole[name] = None if values is None else np.empty((n, *values.shape[1:]))
            if values is not None:
                whole[name][rows] = values
    return LocalGaussians(**whole)


def may_be_twins(values: Array) -> Array:
    """Which divergences are so small that they may be rounding errors of none."""
    return (values > 0) & (values < _NEARLY_NOTHING)


def are_twins(P: LocalGaussians, Q: LocalGaussians, i: Array, j: Array) -> Array:
    """Whether Gaussians are equal, so that their divergences are rounding errors.

    They are to be compared as they were made: directions that are added for a comparison may
    differ by rounding.
    """
    equal = i < 0  # none yet
    for part in _blocks(len(i), max(P.rank, Q.rank) * P.n_features):
        equal[part] = _are_equal(P[i[part]], Q[j[part]])
    return equal


def _are_equal(P: LocalGaussians, Q: LocalGaussians) -> Array:
    """Pair by pair; one may have more directions of the eigenvalue that all others have."""
    r = min(P.rank, Q.rank)
    equal = (P.means == Q.means).all(axis=1) & (P.rest == Q.rest)
    equal &= (P.values[:, :r] == Q.values[:, :r]).all(axis=1)
    equal &= (P.vectors[:, :r] == Q.vectors[:, :r]).all(axis=(1, 2))
    for each in (P, Q):
        equal &= (each.values[:, r:] == each.rest[:, None]).all(axis=1)
    if P.diagonal is None or Q.diagonal is None:
        return equal & (P.has_diagonal == Q.has_diagonal)
    return equal & (P.diagonal == Q.diagonal).all(axis=1)


def _blocks(n: int, numbers: int) -> Iterator[slice]:
    step = max(1, _BLOCK_NUMBERS // max(1, numbers))
    for start in range(0, n, step):
        yield slice(start, start + step)


def _rows(vectors: Array) -> Array:
    """Columns as rows, NumPy's contiguous, as kernels read them."""
    rows = vectors.swapaxes(1, 2)
    return np.ascontiguousarray(rows) if is_numpy(rows) else rows
