"""Divergences of all pairs of Gaussians, of given pairs, or of the nearest of each.

Tiles of Gaussians go to threads, and a `Divergence` computes each of them. No pair is ever computed
from its d × d matrices:

    dense       frames of all d directions; a pair costs about d³
    low-rank    frames of the q directions of the neighborhoods; about q² d and (2q)³
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise as neighboring
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from vicinal.divergence.cutting import (
    best,
    halved,
    in_shares,
    keep_best,
    n_distinct,
    runs,
    slices,
    tiles,
)
from vicinal.divergence.divergences import Divergence
from vicinal.divergence.gaussians import LocalGaussians, Tell, are_twins, may_be_twins
from vicinal.divergence.made import Gaussians
from vicinal.divergence.ready import Ready, at_hand, common_unit
from vicinal.fitting.progress import stage
from vicinal.inputs.cells import in_cells
from vicinal.neighborhood.threads import effective_n_threads, one_library_thread, run_in_order

__all__ = ["ENGINES", "Comparison"]

ENGINES = ("auto", "dense", "low-rank")

Task = TypeVar("Task")
Result = TypeVar("Result")

# Products of eigenvectors held at a time by every thread, and the largest side of a tile.
_TILE_NUMBERS, _TILE = 1_000_000, 128

# Given pairs that are worth a thread.
_RUN = 16_384

# Divergences held at a time in the search for the nearest.
_ROW_NUMBERS = 4_000_000

# Pairs in one piece, and numbers of directions made at a time for them: at least so many. Where
# the points are more numbers than that, as many as these: fewer pieces make fewer Gaussians again.
_PIECE_PAIRS, _PIECE_NUMBERS = 1_000_000, 16_000_000

# Features up to which Gaussians are compared in all dimensions: a pair takes a minute there.
_MOST_FEATURES = 4000


@dataclass(frozen=True)
class Comparison:
    """One divergence, and how it is computed for many pairs.

    Attributes
    ----------
    divergence : Divergence
    engine : {"auto", "dense", "low-rank"}
        "auto": whichever costs less.
    n_jobs : int or None
    verbose : int
    """

    divergence: Divergence
    engine: str = "auto"
    n_jobs: int | None = None
    verbose: int = 0

    def matrix(self, P: Gaussians, Q: Gaussians | None = None) -> NDArray:
        """Divergences of all pairs, shape (len(P), len(Q)); of P with itself where Q is None."""
        P, Q, within, unit = self._ready(P, Q)
        mirrored = within and self.divergence.symmetric
        out = np.zeros((len(P), len(Q)))

        def fill(tile: tuple[slice, slice]) -> None:
            rows, columns = tile
            out[tile] = self._tile(P[rows], Q[columns], upper=mirrored and rows == columns)

        every = tiles(len(P), len(Q), self._side(P), mirrored)
        with stage("divergences", len(every), self.verbose) as tell:
            self._run(fill, every, tell)
        if within and not mirrored:
            np.fill_diagonal(out, 0.0)
        return self._finished(out + out.T if mirrored else out, unit)

    def pairs(self, P: Gaussians, Q: Gaussians | None, first: NDArray, second: NDArray) -> NDArray:
        """Divergences of P[first] and Q[second], pair by pair; of two P where Q is None.

        Pairs of the same `first` should stand together. Where Q is None they need not: each is
        computed once however often it comes, and that of a point with itself is exactly 0.
        """
        ready, values = self._ready(P, Q), np.empty(len(first))
        P, Q, *_ = ready

        def has_room(part: slice) -> bool:
            if ready.within:
                return P.is_stored or n_distinct(len(P), first[part], second[part]) <= _most_made(P)
            sides = ((P, first), (Q, second))
            return all(
                G.is_stored or n_distinct(len(G), at[part]) <= _most_made(G) for G, at in sides
            )

        with stage("divergences", len(first), self.verbose) as tell:
            for part in halved(slices(len(first), _PIECE_PAIRS), has_room):
                told = in_shares(tell, part.stop - part.start)
                values[part] = self._values_of_pairs(ready, first[part], second[part], told)
        return self._finished(values, ready.unit)

    def nearest(
        self, P: Gaussians, Q: Gaussians | None, k: int, among: NDArray | None = None
    ) -> tuple[NDArray, NDArray]:
        """Positions and divergences of the k nearest Q of every P; where Q is None, of other P.

        Equal ones come by position. They are looked for among all, never all pairs at once, or
        among the positions that `among` has in the row of each P, shape (len(P), n_candidates).
        """
        ready = self._ready(P, Q)
        if among is None:
            positions, values = self._nearest_of_all(ready, k)
        else:
            positions, values = self._nearest_of(ready, k, among)
        return positions, self._finished(values, ready.unit)

    def nearest_of_groups(
        self, P: Gaussians, Q: Gaussians, starts: NDArray
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

        tasks = slices(len(P), self._rows(P, Q))
        with stage("edges between components", len(tasks), self.verbose) as tell:
            found = self._run(search, tasks, tell)
        first, second, values = (np.stack(part) for part in zip(*found, strict=True))
        best = values.argmin(axis=0), np.arange(len(groups))
        return first[best], second[best]

    # ------------------------------------------------------- values that are not finished yet

    def _nearest_of_all(self, ready: Ready, k: int) -> tuple[NDArray, NDArray]:
        P, Q, within, _ = ready
        mirrored, side = within and self.divergence.symmetric, self._side(P)
        positions = np.full((len(P), k), len(Q), dtype=np.intp)
        values = np.full((len(P), k), np.inf)

        def compare(tile: tuple[slice, slice]) -> NDArray:
            block = self._tile(P[tile[0]], Q[tile[1]], upper=False)
            if within and tile[0] == tile[1]:
                np.fill_diagonal(block, np.inf)
            return block

        every = tiles(len(P), len(Q), side, mirrored)
        with (
            stage("divergences", len(every), self.verbose) as tell,
            closing(self._results(compare, every)) as blocks,
        ):
            for (rows, columns), block in zip(every, blocks, strict=True):
                keep_best(positions[rows], values[rows], columns.start, block)
                if mirrored and rows != columns:
                    keep_best(positions[columns], values[columns], rows.start, block.T)
                tell(1)
        return positions, values

    def _nearest_of(self, ready: Ready, k: int, among: NDArray) -> tuple[NDArray, NDArray]:
        """The nearest of given positions, some points at a time, near ones together."""
        positions = np.empty((len(ready.P), k), dtype=among.dtype)
        values = np.empty((len(ready.P), k))
        with stage("divergences", len(ready.P), self.verbose) as tell:
            for rows in self._pieces(ready, among):
                first = np.repeat(rows, among.shape[1])
                told = in_shares(tell, len(rows))
                found = self._values_of_pairs(ready, first, among[rows].ravel(), told)
                positions[rows], values[rows] = best(among[rows], found.reshape(len(rows), -1), k)
        return positions, values

    def _pieces(self, ready: Ready, among: NDArray) -> Iterator[NDArray]:
        """Rows to be compared at a time: not more pairs, and Gaussians made, than have room."""
        P, Q = ready.P, ready.Q
        if P.is_stored and Q.is_stored:
            order, growth, most = np.arange(len(P)), 1.0, len(Q)
        else:
            order, growth, most = in_cells(P.places), _growth(Q), _most_made(Q)
        step = max(1, min(int(growth * _PIECE_PAIRS / among.shape[1]), most))

        def has_room(part: slice) -> bool:
            return len(Q) <= most or n_distinct(len(Q), among[order[part]]) <= most

        for part in halved(slices(len(P), step), has_room):
            yield order[part]

    def _values_of_pairs(
        self, ready: Ready, first: NDArray, second: NDArray, tell: Tell
    ) -> NDArray:
        """Values of pairs; `tell` is told of shares of them that are done."""
        P, Q, first, second = at_hand(ready, first, second)
        if not ready.within:
            return self._values_in_order(P, Q, first, second, tell)
        n = len(P)
        if self.divergence.symmetric:
            first, second = np.minimum(first, second), np.maximum(first, second)
        distinct, back = np.unique(first.astype(np.int64) * n + second, return_inverse=True)
        i, j = np.divmod(distinct, n)
        values = np.zeros(len(distinct))
        values[i != j] = self._values_in_order(P, Q, i[i != j], j[i != j], tell)
        return values[back]

    def _values_in_order(
        self, P: LocalGaussians, Q: LocalGaussians, first: NDArray, second: NDArray, tell: Tell
    ) -> NDArray:
        """Values of pairs, those of the same `first` together."""
        out, rank = np.empty(len(first)), max(P.rank, Q.rank)
        if self.divergence.pairs is not None and not self._adds_directions(P, rank):
            P, Q = P.of_rank(rank), Q.of_rank(rank)
            compare, tasks = self._some_pairs, slices(len(first), _RUN)
        else:
            compare, tasks = self._one_with_others, runs(first, max(1, self._side(P) ** 2))

        def fill(part: slice) -> None:
            out[part] = compare(P, Q, first[part], second[part])

        self._run(fill, tasks, lambda more: tell(more / len(tasks)))
        return out

    def _some_pairs(
        self, P: LocalGaussians, Q: LocalGaussians, first: NDArray, second: NDArray
    ) -> NDArray:
        assert self.divergence.pairs is not None
        values = self.divergence.pairs(P, Q, first, second)
        near = np.flatnonzero(may_be_twins(values))
        values[near[are_twins(P, Q, first[near], second[near])]] = 0.0
        return values

    def _one_with_others(
        self, P: LocalGaussians, Q: LocalGaussians, first: NDArray, second: NDArray
    ) -> NDArray:
        return self._tile(P[first[:1]], Q[second], upper=False)[0]

    def _block(self, P: LocalGaussians, Q: Gaussians) -> NDArray:
        """Values of all pairs of few P and many Q."""
        block = np.empty((len(P), len(Q)))
        for columns in slices(len(Q), self._side(P)):
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
        i, j = np.nonzero(may_be_twins(values))
        equal = are_twins(P, Q, i, j)
        values[i[equal], j[equal]] = 0.0
        return values

    def _finished(self, values: NDArray, unit: float) -> NDArray:
        """The divergences themselves, in the units of X."""
        if self.divergence.degree:
            values = values * unit**self.divergence.degree
        return self.divergence.finish(values)

    # ------------------------------------------------------------------- how they are computed

    def _run(
        self, work: Callable[[Task], Result], tasks: Sequence[Task], tell: Tell
    ) -> list[Result]:
        found = []
        with closing(self._results(work, tasks)) as results:
            for result in results:
                found.append(result)
                tell(1)
        return found

    def _results(
        self, work: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Generator[Result, None, None]:
        with one_library_thread():
            yield from run_in_order(work, tasks, effective_n_threads(self.n_jobs))

    def _ready(self, P: Gaussians, Q: Gaussians | None) -> Ready:
        """Both in units that suit them; P twice where Q is None."""
        self._check_room(P)
        unit = common_unit(P, P if Q is None else Q)
        P = P.in_units_of(unit)
        return Ready(P, P if Q is None else Q.in_units_of(unit), Q is None, unit)

    def _check_room(self, P: Gaussians) -> None:
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

    def _is_dense(self, P: Gaussians, rank: int) -> bool:
        """Whether frames need all directions."""
        if self.engine == "low-rank" and P.has_diagonal:
            raise ValueError(
                'engine="low-rank" needs covariances of low rank plus a multiple of the identity, '
                'and covariance="shrunk-diagonal" has other ones. Use engine="auto".'
            )
        if P.has_diagonal or rank == P.n_features:
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

    def _adds_directions(self, P: Gaussians, rank: int) -> bool:
        """Whether frames are completed for every tile: all at once have no room."""
        return self._is_dense(P, rank) and (P.has_diagonal or rank < P.n_features)

    def _side(self, P: Gaussians) -> int:
        """Points on each side of a tile."""
        size = P.n_features if self._is_dense(P, P.rank) else P.rank
        return int(np.clip(np.sqrt(_TILE_NUMBERS) / size, 1, _TILE))

    def _rows(self, P: Gaussians, others: Gaussians) -> int:
        """How many P are compared with all others at a time."""
        return max(1, min(self._side(P), _ROW_NUMBERS // max(1, len(others))))


def _growth(P: Gaussians) -> float:
    """How much larger pieces are where the points take much room anyway."""
    return max(1.0, len(P) * P.n_features / _PIECE_NUMBERS)


def _most_made(P: Gaussians) -> int:
    """Gaussians that are made at a time."""
    return int(_growth(P) * _PIECE_NUMBERS / (P.rank * P.n_features))
