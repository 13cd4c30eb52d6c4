"""Divergences of all pairs of Gaussians, of given pairs, or of the nearest of each.

Tiles of Gaussians go to threads, and a `Divergence` computes each of them. No pair is ever computed
from its d × d matrices:

    dense       frames of all d directions; a pair costs about d³
    low-rank    frames of the q directions of the neighborhoods; about q² d and (2q)³
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise as neighboring
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from vicinal.divergence.divergences import Divergence
from vicinal.divergence.gaussians import LocalGaussians
from vicinal.neighborhood.threads import effective_n_threads, one_library_thread, run_in_order

__all__ = ["ENGINES", "Comparison"]

ENGINES = ("auto", "dense", "low-rank")

Task = TypeVar("Task")
Result = TypeVar("Result")

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


class _Ready(NamedTuple):
    """Gaussians P and Q to compare, in units of `unit`; `within`: Q is P."""

    P: LocalGaussians
    Q: LocalGaussians
    within: bool
    unit: float


@dataclass(frozen=True)
class Comparison:
    """One divergence, and how it is computed for many pairs.

    Attributes
    ----------
    divergence : Divergence
    engine : {"auto", "dense", "low-rank"}
        "auto": whichever costs less.
    n_jobs : int or None
    """

    divergence: Divergence
    engine: str = "auto"
    n_jobs: int | None = None

    def matrix(self, P: LocalGaussians, Q: LocalGaussians | None = None) -> NDArray:
        """Divergences of all pairs, shape (len(P), len(Q)); of P with itself where Q is None."""
        P, Q, within, unit = self._ready(P, Q)
        mirrored = within and self.divergence.symmetric
        out = np.zeros((len(P), len(Q)))
        side = self._side(P)
        tiles = [  # on and above the diagonal only, where the rest mirrors them
            (rows, columns)
            for rows in _slices(len(P), side)
            for columns in _slices(len(Q), side)
            if not mirrored or columns.start >= rows.start
        ]

        def fill(tile: tuple[slice, slice]) -> None:
            rows, columns = tile
            out[tile] = self._tile(P[rows], Q[columns], upper=mirrored and rows == columns)

        self._run(fill, tiles)
        if within and not mirrored:
            np.fill_diagonal(out, 0.0)
        return self._finished(out + out.T if mirrored else out, unit)

    def pairs(
        self, P: LocalGaussians, Q: LocalGaussians | None, first: NDArray, second: NDArray
    ) -> NDArray:
        """Divergences of P[first] and Q[second], pair by pair; of two P where Q is None.

        Pairs of the same `first` should stand together. Where Q is None they need not: each is
        computed once however often it comes, and that of a point with itself is exactly 0.
        """
        ready = self._ready(P, Q)
        return self._finished(self._values_of_pairs(ready, first, second), ready.unit)

    def nearest(
        self, P: LocalGaussians, Q: LocalGaussians | None, k: int, among: NDArray | None = None
    ) -> tuple[NDArray, NDArray]:
        """Positions and divergences of the k nearest Q of every P; where Q is None, of other P.

        Equal ones come by position. They are looked for among all, never all pairs at once, or
        among the positions that `among` has in the row of each P, shape (len(P), n_candidates).
        """
        ready = self._ready(P, Q)
        if among is None:
            positions, values = self._nearest_of_all(ready, k)
        else:
            first = np.repeat(np.arange(len(P)), among.shape[1])
            values = self._values_of_pairs(ready, first, among.ravel())
            positions, values = _best(among, values.reshape(among.shape), k)
        return positions, self._finished(values, ready.unit)

    def nearest_of_groups(
        self, P: LocalGaussians, Q: LocalGaussians, starts: NDArray
    ) -> tuple[NDArray, NDArray]:
        """Positions of the nearest two, one of P and one of Q, for every group of Q.

        Groups stand together and begin at `starts`. Never all pairs at once.
        """
        P, Q, *_ = self._ready(P, Q)
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

    # ------------------------------------------------------- values that are not finished yet

    def _nearest_of_all(self, ready: _Ready, k: int) -> tuple[NDArray, NDArray]:
        P, Q, within, _ = ready

        def search(rows: slice) -> tuple[NDArray, NDArray]:
            block = self._block(P[rows], Q)
            if within:
                block[np.arange(len(block)), np.arange(len(P))[rows]] = np.inf
            return _smallest(block, k)

        found = self._run(search, _slices(len(P), self._rows(P, Q)))
        positions, values = zip(*found, strict=True)
        return np.concatenate(positions), np.concatenate(values)

    def _values_of_pairs(self, ready: _Ready, first: NDArray, second: NDArray) -> NDArray:
        P, Q, within, _ = ready
        if not within:
            return self._values_in_runs(P, Q, first, second)
        n = len(P)
        if self.divergence.symmetric:
            first, second = np.minimum(first, second), np.maximum(first, second)
        distinct, back = np.unique(first * n + second, return_inverse=True)
        i, j = np.divmod(distinct, n)
        values = np.zeros(len(distinct))
        values[i != j] = self._values_in_runs(P, Q, i[i != j], j[i != j])
        return values[back]

    def _values_in_runs(
        self, P: LocalGaussians, Q: LocalGaussians, first: NDArray, second: NDArray
    ) -> NDArray:
        """Values of pairs, those of the same `first` together."""
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

    def _block(self, P: LocalGaussians, Q: LocalGaussians) -> NDArray:
        """Values of all pairs of few P and many Q."""
        block = np.empty((len(P), len(Q)))
        for columns in _slices(len(Q), self._side(P)):
            block[:, columns] = self._tile(P, Q[columns], upper=False)
        return block

    def _tile(self, P: LocalGaussians, Q: LocalGaussians, upper: bool) -> NDArray:
        """Values of all pairs of a tile, or of those above its diagonal (0 elsewhere)."""
        rank = max(P.rank, Q.rank)  # neighborhoods of a radius differ
        if self._is_dense(P, rank):
            P, Q = P.complete(), Q.complete()
        else:
            P, Q = P.of_rank(rank), Q.of_rank(rank)
        values = self.divergence.tile(P, Q, upper)
        if upper:
            values = np.triu(values, 1)
        _mend_twins(P, Q, values)
        return values

    def _finished(self, values: NDArray, unit: float) -> NDArray:
        """The divergences themselves, in the units of X."""
        if self.divergence.degree:
            values = values * unit**self.divergence.degree
        return self.divergence.finish(values)

    # ------------------------------------------------------------------- how they are computed

    def _run(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        with one_library_thread():
            return list(run_in_order(work, tasks, effective_n_threads(self.n_jobs)))

    def _ready(self, P: LocalGaussians, Q: LocalGaussians | None) -> _Ready:
        """Both in units that suit them; P twice where Q is None."""
        self._check_room(P)
        unit = _common_unit(P, P if Q is None else Q)
        P = P.in_units_of(unit)
        return _Ready(P, P if Q is None else Q.in_units_of(unit), Q is None, unit)

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
        fits = self.divergence.takes(rank, P.n_features)
        if self.engine == "low-rank" and not fits:
            n_frames = self.divergence.n_frames
            raise ValueError(
                f'engine="low-rank" needs at least {n_frames * rank} features, {n_frames} times '
                f'the rank of a local covariance, for divergence="{self.divergence.name}"; there '
                f'are {P.n_features}. Use engine="auto".'
            )
        return self.engine == "dense" or not fits

    def _side(self, P: LocalGaussians) -> int:
        """Points on each side of a tile."""
        size = P.n_features if self._is_dense(P, P.rank) else P.rank
        return int(np.clip(np.sqrt(_TILE_NUMBERS) / size, 1, _TILE))

    def _rows(self, P: LocalGaussians, others: LocalGaussians) -> int:
        """How many P are compared with all others at a time."""
        return max(1, min(self._side(P), _ROW_NUMBERS // max(1, len(others))))


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


def _best(among: NDArray, values: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """Positions `among` and values of the k smallest of every row, equal ones by position."""
    order = np.lexsort((among, values), axis=1)[:, :k]
    return np.take_along_axis(among, order, axis=1), np.take_along_axis(values, order, axis=1)


def _slices(n: int, step: int) -> list[slice]:
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
