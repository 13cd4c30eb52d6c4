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
        out = np.zeros((len(P), len(P if Q is None else Q)))
        side = self._side(P)
        tiles = [  # on and above the diagonal only, where there is one
            (rows, columns)
            for rows in _slices(len(P), side)
            for columns in _slices(out.shape[1], side)
            if Q is not None or columns.start >= rows.start
        ]

        def fill(tile: tuple[slice, slice]) -> None:
            rows, columns = tile
            twin = Q is None and rows == columns
            out[tile] = self._tile(P[rows], (P if Q is None else Q)[columns], upper=twin)

        self._run(fill, tiles)
        return self.finished(out + out.T if Q is None else out)

    def pairs(
        self, P: LocalGaussians, Q: LocalGaussians, first: NDArray, second: NDArray
    ) -> NDArray:
        """Divergences of P[first] and Q[second], pair by pair; hellinger still as B.

        Pairs of the same `first` should stand together.
        """
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
        others = P if Q is None else Q
        step = max(1, min(self._side(P), _ROW_NUMBERS // max(1, len(others))))

        def search(rows: slice) -> tuple[NDArray, NDArray]:
            block = np.empty((len(P.means[rows]), len(others)))
            for columns in _slices(len(others), self._side(P)):
                block[:, columns] = self._tile(P[rows], others[columns], upper=False)
            if Q is None:
                block[np.arange(len(block)), np.arange(len(P))[rows]] = np.inf
            return _smallest(block, k)

        found = self._run(search, _slices(len(P), step))
        positions, values = zip(*found, strict=True)
        return np.concatenate(positions), np.concatenate(values)

    def finished(self, values: NDArray) -> NDArray:
        """The divergence itself: the kernels know B, not H."""
        return np.sqrt(-np.expm1(-values)) if self.divergence == "hellinger" else values

    def _run(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        with one_blas_thread():
            return list(run_in_order(work, tasks, effective_n_threads(self.n_jobs)))

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
        return out


def _frames(gaussians: LocalGaussians) -> Frames:
    return Frames(
        np.ascontiguousarray(gaussians.means),
        np.ascontiguousarray(gaussians.vectors),
        gaussians.values,
        1.0 / np.sqrt(gaussians.values),
        gaussians.rest,
    )


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
