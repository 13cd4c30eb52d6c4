"""Divergences of all pairs of Gaussians, of given pairs, or of the nearest of each.

Tiles of Gaussians go to threads, or to a GPU (`places.py`), and a `Divergence` computes each of
them (`computer.py`). No pair is ever computed from its d × d matrices. Workers of a cluster get
shares of the pairs (`cluster.py`), and do the same with them.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import pairwise as neighboring
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from vicinal.divergence.computer import PairComputer
from vicinal.divergence.cutting import (
    best,
    halved,
    in_shares,
    keep_best,
    n_distinct,
    runs,
    slices,
    smallest,
    tiles,
)
from vicinal.divergence.engines import is_for_workers
from vicinal.divergence.gaussians import LocalGaussians, Tell
from vicinal.divergence.made import Gaussians
from vicinal.divergence.places import choose_place
from vicinal.divergence.ready import Ready, at_hand, common_unit
from vicinal.fitting.checkpoints.journal import Page, Unwritten, a_page, remembered
from vicinal.fitting.progress import stage
from vicinal.inputs.cells import in_cells
from vicinal.neighborhood.arrays import on_host, positions
from vicinal.neighborhood.threads import one_library_thread, run_in_order

__all__ = ["Comparison"]

Task = TypeVar("Task")
Result = TypeVar("Result")

# Given pairs that are worth a thread.
_RUN = 16_384

# Divergences held at a time in the search for the nearest.
_ROW_NUMBERS = 4_000_000

# Pairs in one piece, and numbers of directions made at a time for them: at least so many. Where
# the points are more numbers than that, as many as these: fewer pieces make fewer Gaussians again.
_PIECE_PAIRS, _PIECE_NUMBERS = 1_000_000, 16_000_000


class Comparison(PairComputer):
    """One divergence of many pairs: of all, of given ones, or of the nearest of each."""

    def matrix(self, P: Gaussians, Q: Gaussians | None = None) -> NDArray:
        """Divergences of all pairs, shape (len(P), len(Q)); of P with itself where Q is None."""
        ready = self._ready(P, Q)
        values = self._placed(self._n_pairs(ready))._all_values(ready)
        return self._finished(values, ready.unit)

    def pairs(self, P: Gaussians, Q: Gaussians | None, first: NDArray, second: NDArray) -> NDArray:
        """Divergences of P[first] and Q[second], pair by pair; of two P where Q is None.

        Pairs of the same `first` should stand together. Where Q is None they need not: each is
        computed once however often it comes, and that of a point with itself is exactly 0.
        """
        ready = self._ready(P, Q)
        values = self._placed(len(first))._given_values(ready, first, second)
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
            found, values = self._placed(self._n_pairs(ready))._nearest_of_all(ready, k)
        else:
            found, values = self._placed(among.size)._nearest_of(ready, k, among)
        return found, self._finished(values, ready.unit)

    def nearest_of_groups(
        self, P: Gaussians, Q: Gaussians, starts: NDArray
    ) -> tuple[NDArray, NDArray]:
        """Positions of the nearest two, one of P and one of Q, for every group of Q.

        Groups stand together and begin at `starts`. Never all pairs at once.
        """
        ready = self._ready(P, Q)
        groups = [slice(*ends) for ends in neighboring([*starts, len(Q)])]
        found = self._placed(self._n_pairs(ready))._shortest(ready, groups)
        first, second, values = (np.stack(part) for part in zip(*found, strict=True))
        best = values.argmin(axis=0), np.arange(len(groups))
        return first[best], second[best]

    # ------------------------------------------------------- values that are not finished yet

    def _all_values(self, ready: Ready) -> NDArray:
        P, Q, within, _ = ready
        mirrored = within and self.divergence.symmetric
        out = np.empty((len(P), len(Q)))

        def fill(tile: tuple[slice, slice]) -> None:
            rows, columns = tile
            is_own = mirrored and rows == columns
            values = on_host(self.tile(P[rows], Q[columns], upper=is_own))
            out[tile] = values + values.T if is_own else values
            if mirrored and not is_own:
                out[columns, rows] = values.T

        every = tiles(len(P), len(Q), self.side(P), mirrored)
        with stage(self.place.told, len(every), self.verbose) as tell:
            self._run(fill, every, tell)
        if within and not mirrored:
            np.fill_diagonal(out, 0.0)
        return out

    def _given_values(self, ready: Ready, first: NDArray, second: NDArray) -> NDArray:
        """Values of given pairs, some at a time."""
        P, Q, values = ready.P, ready.Q, np.empty(len(first))

        def has_room(part: slice) -> bool:
            if ready.within:
                return P.is_stored or n_distinct(len(P), first[part], second[part]) <= _most_made(P)
            sides = ((P, first), (Q, second))
            return all(
                G.is_stored or n_distinct(len(G), at[part]) <= _most_made(G) for G, at in sides
            )

        with stage(self.place.told, len(first), self.verbose) as tell:
            for part in halved(slices(len(first), _PIECE_PAIRS), has_room):
                told = in_shares(tell, part.stop - part.start)
                some = partial(self._values_of_pairs, ready, first[part], second[part], told)
                values[part] = remembered(some)
        return values

    def _nearest_of_all(self, ready: Ready, k: int) -> tuple[NDArray, NDArray]:
        P, Q, within, _ = ready
        mirrored = within and self.divergence.symmetric
        return self._nearest_in(ready, k, tiles(len(P), len(Q), self.side(P), mirrored))

    def _nearest_in(
        self, ready: Ready, k: int, every: Sequence[tuple[slice, slice]]
    ) -> tuple[NDArray, NDArray]:
        """The nearest in given tiles, which may be some of all; places left are infinitely far."""
        P, Q, within, _ = ready
        mirrored = within and self.divergence.symmetric
        found = np.full((len(P), k), len(Q), dtype=np.intp), np.full((len(P), k), np.inf)

        def compare(tile: tuple[slice, slice]) -> list[tuple[slice, NDArray, NDArray]]:
            rows, columns = tile
            block = self.tile(P[rows], Q[columns], upper=False)
            if within and rows == columns:
                every = positions(block)
                block[every, every] = np.inf
            sides = [(rows, columns, block)]
            if mirrored and rows != columns:
                sides.append((columns, rows, block.T))
            return [(mine, *smallest(values, k, others.start)) for mine, others, values in sides]

        side = every[0][0].stop
        with a_page() as page, stage(self.place.told, len(every), self.verbose) as tell:
            n_done = _go_on(page, side, found)
            tell(n_done)
            with closing(self._results(compare, every[n_done:])) as results:
                for n_more, result in enumerate(results, 1):
                    for rows, among, values in result:
                        keep_best(found[0][rows], found[1][rows], among, values)
                    page.note(partial(tuple, (side, n_done + n_more, *found)))
                    tell(1)
            page.keep((side, len(every), *found))
        return found

    def _nearest_of(self, ready: Ready, k: int, among: NDArray) -> tuple[NDArray, NDArray]:
        """The nearest of given positions, some points at a time, near ones together."""
        nearest = np.empty((len(ready.P), k), dtype=among.dtype)
        values = np.empty((len(ready.P), k))
        with stage(self.place.told, len(ready.P), self.verbose) as tell:
            for rows in self._pieces(ready, among):
                told = in_shares(tell, len(rows))
                some = partial(self._nearest_of_some, ready, k, rows, among[rows], told)
                nearest[rows], values[rows] = remembered(some)
        return nearest, values

    def _nearest_of_some(
        self, ready: Ready, k: int, rows: NDArray, among: NDArray, tell: Tell
    ) -> tuple[NDArray, NDArray]:
        """The nearest of some points, each among the positions in its row."""
        first = np.repeat(rows, among.shape[1])
        found = self._values_of_pairs(ready, first, among.ravel(), tell)
        return best(among, found.reshape(among.shape), k)

    def _shortest(
        self, ready: Ready, groups: Sequence[slice]
    ) -> list[tuple[NDArray, NDArray, NDArray]]:
        """Of some P at a time the shortest way to every group of Q: ends, and values."""
        P, Q = ready.P, ready.Q

        def search(rows: slice) -> tuple[NDArray, NDArray, NDArray]:
            block = self._block(P[rows], Q)
            lowest = block.min(axis=0)
            second = np.array([group.start + lowest[group].argmin() for group in groups])
            return rows.start + block[:, second].argmin(axis=0), second, lowest[second]

        tasks = slices(len(P), self._rows(P, Q))
        with stage("edges between components", len(tasks), self.verbose) as tell:
            return self._run(search, tasks, tell)

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
        if self.place.in_batches:
            P, Q = self.sent(P, Q)
            compare, tasks = self.one_batch, slices(len(first), max(1, self.side(P) ** 2))
        elif self.divergence.pairs is not None and not self.adds_directions(P, rank):
            P, Q = P.of_rank(rank), Q.of_rank(rank)
            compare, tasks = self.some_pairs, slices(len(first), _RUN)
        else:
            compare, tasks = self.one_with_others, runs(first, max(1, self.side(P) ** 2))

        def fill(part: slice) -> None:
            out[part] = compare(P, Q, first[part], second[part])

        self._run(fill, tasks, lambda more: tell(more / len(tasks)))
        return out

    def _block(self, P: LocalGaussians, Q: Gaussians) -> NDArray:
        """Values of all pairs of few P and many Q."""
        block = np.empty((len(P), len(Q)))
        for columns in slices(len(Q), self.side(P)):
            block[:, columns] = on_host(self.tile(P, Q[columns], upper=False))
        return block

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
            yield from run_in_order(work, tasks, self.place.n_threads(self.n_jobs))

    def _placed(self, n_pairs: int) -> "Comparison":
        """The comparison of so many pairs where it pays, or is asked for."""
        if is_for_workers(self.engine, n_pairs):
            from vicinal.divergence.cluster import SpreadComparison

            return SpreadComparison(self.divergence, verbose=self.verbose, n_pairs=n_pairs)
        engine = "auto" if self.engine == "dask" else self.engine
        place = choose_place(engine, self.divergence, n_pairs)
        return replace(self, place=place, engine="auto" if place.in_batches else engine)

    def _n_pairs(self, ready: Ready) -> int:
        """Of all pairs those that are computed."""
        n_pairs = len(ready.P) * len(ready.Q)
        return n_pairs // 2 if ready.within and self.divergence.symmetric else n_pairs

    def _ready(self, P: Gaussians, Q: Gaussians | None) -> Ready:
        """Both in units that suit them; P twice where Q is None."""
        self.check_room(P)
        unit = common_unit(P, P if Q is None else Q)
        P = P.in_units_of(unit)
        return Ready(P, P if Q is None else Q.in_units_of(unit), Q is None, unit)

    def _rows(self, P: Gaussians, others: Gaussians) -> int:
        """How many P are compared with all others at a time."""
        return max(1, min(self.side(P), _ROW_NUMBERS // max(1, len(others))))


def _go_on(page: Page | Unwritten, side: int, found: tuple[NDArray, NDArray]) -> int:
    """Fill in what an earlier life of the fit found, in so many tiles of the same side."""
    known = page.result[0] if page.result is not None else page.standing
    if known is None or known[0] != side:  # a GPU may have cut them, and is there no more
        return 0
    _, n_done, found[0][:], found[1][:] = known
    return int(n_done)


def _growth(P: Gaussians) -> float:
    """How much larger pieces are where the points take much room anyway."""
    return max(1.0, len(P) * P.n_features / _PIECE_NUMBERS)


def _most_made(P: Gaussians) -> int:
    """Gaussians that are made at a time."""
    return int(_growth(P) * _PIECE_NUMBERS / (P.rank * P.n_features))
