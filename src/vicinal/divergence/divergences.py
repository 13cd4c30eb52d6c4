"""Divergences between Gaussians (section 4): all pairs, given pairs, or the nearest of each.

Tiles of Gaussians go to threads. One matrix product gives the products of all their eigenvectors,
a kernel does the rest. No pair is ever computed from its d × d matrices:

    dense       frames of all d directions; a pair costs about d³
    low-rank    frames of the q directions of the neighborhoods; about q² d and (2q)³
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise as neighboring
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from vicinal.divergence import kernels
from vicinal.divergence.gaussians import LocalGaussians
from vicinal.divergence.kernels import Frames
from vicinal.neighborhood.threads import effective_n_threads, one_blas_thread, run_in_order

__all__ = ["DIVERGENCES", "ENGINES", "SQUARED", "Comparison"]

DIVERGENCES = (
    "jeffreys",
    "bhattacharyya",
    "hellinger",
    "jeffreys-riemann",
    "bhattacharyya-riemann",
    "riemann",
)
# These are like squared distances: for equal covariances, multiples of Mahalanobis' squared.
SQUARED = ("jeffreys", "bhattacharyya")
ENGINES = ("auto", "dense", "low-rank")

Task = TypeVar("Task")
Result = TypeVar("Result")

_KERNELS = {
    "bhattacharyya": kernels.BHATTACHARYYA,
    "hellinger": kernels.BHATTACHARYYA,  # √(1 - e^-B), at the end: neighbors are those by B
    "jeffreys-riemann": kernels.JEFFREYS_RIEMANN,
    "bhattacharyya-riemann": kernels.BHATTACHARYYA_RIEMANN,
    "riemann": kernels.RIEMANN,
}

# Products of eigenvectors held at a time by every thread, and the largest side of a tile.
_TILE_NUMBERS, _TILE = 1_000_000, 128

# Divergences held at a time in the search for the nearest.
_ROW_NUMBERS = 4_000_000

# Features up to which Gaussians are compared in all dimensions: a pair takes a minute there.
_MOST_FEATURES = 4000

# Squares of distances, sums of divergences and of their squares stay numbers below this.
_LARGEST = 1e290

# Divergences below this may be the rounding errors of none.
_NEARLY_NOTHING = 1e-6


@dataclass(frozen=True)
class Comparison:
    """One divergence, and how to compute it.

    Attributes
    ----------
    divergence : str
        One of `DIVERGENCES`.
    engine : {"auto", "dense", "low-rank"}
        "auto": whichever costs less.
    n_jobs : int or None
    """

    divergence: str = "jeffreys"
    engine: str = "auto"
    n_jobs: int | None = None

    def matrix(self, P: LocalGaussians, Q: LocalGaussians | None = None) -> NDArray:
        """Divergences of all pairs, shape (len(P), len(Q)); of P with itself where Q is None."""
        within, (P, Q) = Q is None, self._ready(P, Q)
        out = np.zeros((len(P), len(Q)))
        side = self._side(P)
        tiles = [  # on and above the diagonal only, where there is one
            (rows, columns)
            for rows in _slices(len(P), side)
            for columns in _slices(out.shape[1], side)
            if not within or columns.start >= rows.start
        ]

        def fill(tile: tuple[slice, slice]) -> None:
            rows, columns = tile
            out[tile] = self._tile(P[rows], Q[columns], upper=within and rows == columns)

        self._run(fill, tiles)
        return self.finished(out + out.T if within else out)

    def pairs(
        self, P: LocalGaussians, Q: LocalGaussians, first: NDArray, second: NDArray
    ) -> NDArray:
        """Divergences of P[first] and Q[second], pair by pair; hellinger still as B.

        Pairs of the same `first` should stand together.
        """
        P, Q = self._ready(P, Q)
        out = np.empty(len(first))
        side = max(1, self._side(P) ** 2)
        ends = np.flatnonzero(np.diff(first, prepend=-1, append=-1))
        runs = [
            slice(start, min(start + side, end))
            for begin, end in neighboring(ends)
            for start in range(begin, end, side)
        ]

        def fill(run: slice) -> None:
            i = int(first[run.start])
            out[run] = self._tile(P[i : i + 1], Q[second[run]], upper=False)[0]

        self._run(fill, runs)
        return out

    def nearest(
        self, P: LocalGaussians, Q: LocalGaussians | None, k: int
    ) -> tuple[NDArray, NDArray]:
        """Positions and divergences of the k nearest Q of every P; where None, of other P.

        Equal ones by position. Never all pairs at once. Hellinger still as B.
        """
        within, (P, Q) = Q is None, self._ready(P, Q)

        def search(rows: slice) -> tuple[NDArray, NDArray]:
            block = self._block(P[rows], Q)
            if within:
                block[np.arange(len(block)), np.arange(len(P))[rows]] = np.inf
            return _smallest(block, k)

        found = self._run(search, _slices(len(P), self._rows(P, Q)))
        positions, values = zip(*found, strict=True)
        return np.concatenate(positions), np.concatenate(values)

    def nearest_of_groups(
        self, P: LocalGaussians, Q: LocalGaussians, starts: NDArray
    ) -> tuple[NDArray, NDArray]:
        """Positions of the nearest two, one of P and one of Q, for every group of Q.

        Groups stand together and begin at `starts`. Never all pairs at once.
        """
        P, Q = self._ready(P, Q)
        groups = [slice(*ends) for ends in neighboring([*starts, len(Q)])]

        def search(rows: slice) -> tuple[NDArray, NDArray, NDArray]:
            block = self._block(P[rows], Q)
            lowest = block.min(axis=0)
            second = np.array([group.start + lowest[group].argmin() for group in groups])
            return rows.start + block[:, second].argmin(axis=0), second, lowest[second]

        found = self._run(search, _slices(len(P), self._rows(P, Q)))
        first, second, values = (np.stack(part) for part in zip(*found, strict=True))
        best = values.argmin(axis=0), np.arange(len(groups))
        return first[best], second[best]

    def finished(self, values: NDArray) -> NDArray:
        """The divergence itself: the kernels know B, not H."""
        return np.sqrt(-np.expm1(-values)) if self.divergence == "hellinger" else values

    def _run(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        with one_blas_thread():
            return list(run_in_order(work, tasks, effective_n_threads(self.n_jobs)))

    def _ready(
        self, P: LocalGaussians, Q: LocalGaussians | None
    ) -> tuple[LocalGaussians, LocalGaussians]:
        """Both in units that suit them; P twice where Q is None."""
        self._check_room(P)
        unit = _common_unit(P, P if Q is None else Q)
        P = P.in_units_of(unit)
        return P, P if Q is None else Q.in_units_of(unit)

    def _check_room(self, P: LocalGaussians) -> None:
        """Refuse comparisons in too many dimensions."""
        d = P.n_features
        if d > _MOST_FEATURES and self._is_dense(P, P.rank):
            raise ValueError(
                f"{d} features, at most {_MOST_FEATURES} where Gaussians are compared in all "
                f"dimensions: {8e-9 * d**2:.2g} GB for each of them and {float(d) ** 3:.0e} "
                "operations for each pair. Reduce the features, for example with "
                'sklearn.decomposition.PCA; or use engine="auto", fewer neighbors, and another '
                'covariance than "shrunk-diagonal".'
            )

    def _is_dense(self, P: LocalGaussians, rank: int) -> bool:
        """Whether frames need all directions."""
        if self.engine == "low-rank" and P.diagonal is not None:
            raise ValueError(
                'engine="low-rank" needs covariances of low rank plus a multiple of the identity, '
                'and covariance="shrunk-diagonal" has other ones. Use engine="auto".'
            )
        if P.diagonal is not None or rank == P.n_features:
            return True
        fits = self.divergence == "jeffreys" or 2 * rank <= P.n_features
        if self.engine == "low-rank" and not fits:
            raise ValueError(
                f'engine="low-rank" needs at least {2 * rank} features, two times the rank of a '
                f'local covariance, for divergence="{self.divergence}"; there are '
                f'{P.n_features}. Use engine="auto".'
            )
        return self.engine == "dense" or not fits

    def _side(self, P: LocalGaussians) -> int:
        """Points on each side of a tile."""
        size = P.n_features if self._is_dense(P, P.rank) else P.rank
        return int(np.clip(np.sqrt(_TILE_NUMBERS) / size, 1, _TILE))

    def _rows(self, P: LocalGaussians, others: LocalGaussians) -> int:
        """How many P are compared with all others at a time."""
        return max(1, min(self._side(P), _ROW_NUMBERS // max(1, len(others))))

    def _block(self, P: LocalGaussians, Q: LocalGaussians) -> NDArray:
        """Divergences of all pairs of few P and many Q."""
        block = np.empty((len(P), len(Q)))
        for columns in _slices(len(Q), self._side(P)):
            block[:, columns] = self._tile(P, Q[columns], upper=False)
        return block

    def _tile(self, P: LocalGaussians, Q: LocalGaussians, upper: bool) -> NDArray:
        """Divergences of all pairs of a tile, or of those above its diagonal (0 elsewhere)."""
        rank = max(P.rank, Q.rank)  # neighborhoods of a radius differ
        if self._is_dense(P, rank):
            P, Q = P.complete(), Q.complete()
        else:
            P, Q = P.of_rank(rank), Q.of_rank(rank)
        n_p, n_q, q, d = len(P), len(Q), P.rank, P.n_features
        products = P.vectors.reshape(-1, d) @ Q.vectors.reshape(-1, d).T
        products, out = products.reshape(n_p, q, n_q, q), np.zeros((n_p, n_q))
        if self.divergence == "jeffreys":
            kernels.jeffreys_tile(_frames(P), _frames(Q), products, upper, out)
        else:
            which = _KERNELS[self.divergence]
            kernels.joint_tile(_frames(P), _frames(Q), products, upper, which, out)
        _mend_twins(P, Q, out)
        return out


def _frames(gaussians: LocalGaussians) -> Frames:
    return Frames(
        np.ascontiguousarray(gaussians.means),
        np.ascontiguousarray(gaussians.vectors),
        gaussians.values,
        1.0 / np.sqrt(gaussians.values),
        gaussians.rest,
    )


def _common_unit(P: LocalGaussians, Q: LocalGaussians) -> float:
    """A power of two in which neither squares of distances nor variances are far from 1.

    So no product of two of them is no number, in whatever order a kernel multiplies.
    """
    low = np.minimum(P.means.min(axis=0), Q.means.min(axis=0))
    high = np.maximum(P.means.max(axis=0), Q.means.max(axis=0))
    least = min(float(part.least_variances().min()) for part in (P, Q))
    most = max(float(part.largest_variances().max()) for part in (P, Q))
    farthest = max(float(np.square(high - low).sum()), most)
    if farthest / _LARGEST > least:
        raise ValueError(
            f"divergences would exceed {_LARGEST:g}: points are up to {np.sqrt(farthest):.1e} "
            f"apart, and the least local variance is {least:.1e}. Raise gamma, or scale X, for "
            "example with sklearn.preprocessing.StandardScaler."
        )
    return float(2.0 ** np.round(0.25 * (np.log2(least) + np.log2(farthest))))


def _mend_twins(P: LocalGaussians, Q: LocalGaussians, values: NDArray) -> None:
    """Set divergences of equal Gaussians, which are rounding errors, to 0."""
    i, j = np.nonzero((values > 0) & (values < _NEARLY_NOTHING))
    step = max(1, _TILE_NUMBERS // (P.rank * P.n_features))
    for part in _slices(len(i), step):
        a, b = P[i[part]], Q[j[part]]
        equal = (a.means == b.means).all(axis=1) & (a.values == b.values).all(axis=1)
        equal &= (a.rest == b.rest) & (a.vectors == b.vectors).all(axis=(1, 2))
        values[i[part][equal], j[part][equal]] = 0.0


def _smallest(block: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """Positions and values of the k smallest of every row, in order, equal ones by position."""
    edges = np.partition(block, k - 1, axis=1)[:, k - 1]
    positions, values = np.empty((len(block), k), dtype=np.intp), np.empty((len(block), k))
    for row, edge in enumerate(edges):
        near = np.flatnonzero(block[row] <= edge)
        order = np.argsort(block[row, near], kind="stable")[:k]
        positions[row], values[row] = near[order], block[row, near[order]]
    return positions, values


def _slices(n: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
