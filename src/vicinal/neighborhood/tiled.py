"""What every engine that works in tiles shares: layout, threads, merging, undoing the layout.

An engine adds only how rectangles of pairs are folded into the sums.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from vicinal.neighborhood.abilities import NO_KERNELS, Abilities, is_compiled, work_of
from vicinal.neighborhood.arrange import (
    Arrangement,
    Rectangle,
    Side,
    arrange,
    rectangles,
    safe_dtype,
)
from vicinal.neighborhood.hosted import takes_tensors
from vicinal.neighborhood.laws import LOG2E, Law
from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.sums import ColumnSums, RowSums
from vicinal.neighborhood.threads import effective_n_threads, run_in_order

__all__ = [
    "TiledEngine",
    "columns_in_units",
    "natural_peaks",
    "numbered",
    "one_by_one",
    "query_terms",
    "rows_in_units",
]

Task = tuple[slice, slice]
Sums = TypeVar("Sums", RowSums, ColumnSums)
# Of a tile of outputs, its rectangles, and the sums of the tile.
RowFolder = Callable[[slice, Iterator[Rectangle], RowSums], None]
ColumnFolder = Callable[[slice, Iterator[Rectangle], ColumnSums], None]

# Outputs are cut into so many tasks, that threads end at about the same time...
_MANY_TASKS = 32
# ... unless these have fewer outputs: to begin a task, and each of its rectangles, takes its time.
_SMALLEST_TILE = 128

# Few queries against many keys are split along the keys instead, into about this many tasks...
_ENOUGH_TASKS = 16
# ... of at least this many keys each.
_SMALLEST_CHUNK = 8192

# With fewer pairs a thread costs about what it saves.
_PAIRS_WORTH_A_THREAD = 1_000_000


class TiledEngine(ABC):
    """Rows and columns passes over tiles.

    Parameters
    ----------
    n_jobs : int, optional
        Number of threads. None: every core. The result does not depend on it.
    tile : int, optional
        Number of outputs per task. None: `largest_tile`, or less where these would be few.
    into_tile : int, optional
        Number of inputs folded at a time. None: so many that `most_at_once` pairs are.

    Attributes
    ----------
    largest_tile : int
    most_at_once : int or None
        None: all of a task's.
    times_in_python : int
        How often as much of its time as of a compiled sweep a task spends in Python, where one
        thread runs at a time.
    """

    name: str
    largest_tile: int
    most_at_once: int | None = None
    times_in_python: int = 1
    can = Abilities(is_compiled, NO_KERNELS)

    def __init__(
        self,
        n_jobs: int | None = None,
        *,
        tile: int | None = None,
        into_tile: int | None = None,
    ) -> None:
        self.n_threads = effective_n_threads(n_jobs)
        self.tile = tile
        self.into_tile = into_tile
        self._last: tuple[Pairs, Law, Arrangement] | None = None

    @abstractmethod
    def _row_folder(self, arranged: Arrangement, law: Law) -> RowFolder:
        """Prepare the layout; return what adds the rectangles of a tile to its sums."""

    @abstractmethod
    def _column_folder(
        self, arranged: Arrangement, law: Law, log_slopes: NDArray, coefficients: NDArray
    ) -> ColumnFolder:
        """Prepare the layout; return what adds the rectangles of a tile to its sums."""

    def _working_dtype(self, dtype: DTypeLike, reach: float) -> DTypeLike:
        """Precision of the inner loops, given the largest norm after centering."""
        return safe_dtype(dtype, reach)

    def _limits(self) -> AbstractContextManager[Any]:
        """What must hold while tiles run."""
        return nullcontext()

    @takes_tensors
    def rows(self, pairs: Pairs, law: Law, *, moments: bool = True) -> RowSums:
        """Sums over the keys, for every query; without `moments` their width is 0."""
        n, m, d = pairs.shape
        width = d if moments else 0
        arranged = self._arranged(pairs, law)
        fold = self._row_folder(arranged, law)

        def work(task: Task) -> RowSums:
            out, into = task
            partial = RowSums.empty(pairs.n_parts, out.stop - out.start, width)
            fold(out, self._pieces(arranged.queries, arranged.keys, out, into), partial)
            return rows_in_units(natural_peaks(partial, law, arranged.weight_peak), arranged)

        sums = RowSums.empty(pairs.n_parts, n, width)
        self._fill(sums, arranged.queries.order, work, n, m)
        return sums

    @takes_tensors
    def columns(
        self,
        pairs: Pairs,
        law: Law,
        log_slope: NDArray,
        coefficients: NDArray,
        *,
        moments: bool = True,
    ) -> ColumnSums:
        """Sums over the queries of C_ij, for every key (see `engine.Engine`)."""
        n, m, d = pairs.shape
        width = d if moments else 0
        arranged = self._arranged(pairs, law)
        terms = query_terms(arranged, law, log_slope, coefficients)
        fold = self._column_folder(arranged, law, *terms)

        def work(task: Task) -> ColumnSums:
            out, into = task
            partial = ColumnSums.empty(out.stop - out.start, width)
            fold(out, self._pieces(arranged.keys, arranged.queries, out, into), partial)
            return columns_in_units(partial, arranged)

        sums = ColumnSums.empty(m, width)
        self._fill(sums, arranged.keys.order, work, m, n)
        return sums

    def _arranged(self, pairs: Pairs, law: Law) -> Arrangement:
        """Points laid out; kept for the columns pass that follows a rows pass."""
        last = self._last
        if last is None or last[0] is not pairs or last[1] != law:
            self.can.check(self.name, work_of(pairs, law))
            self._last = None  # let go of the memory before taking more
            arranged = arrange(pairs, law, self._working_dtype, self.n_threads)
            last = self._last = pairs, law, arranged
        return last[2]

    def _pieces(self, outputs: Side, inputs: Side, out: slice, into: slice) -> Iterator[Rectangle]:
        step = self.into_tile or into.stop
        if self.into_tile is None and self.most_at_once is not None:
            step = max(1, self.most_at_once // (out.stop - out.start))
        for part in _slices(into.start, into.stop, step):
            yield from rectangles(outputs, inputs, out, part)

    def _fill(
        self,
        sums: Sums,
        order: NDArray,
        work: Callable[[Task], Sums],
        n_out: int,
        n_in: int,
    ) -> None:
        """Put what tasks find where the caller has their points."""
        tasks = _tasks(n_out, n_in, self.tile or _tile(n_out, self.largest_tile))
        is_whole = all(into.start == 0 for _, into in tasks)

        def work_and_put(task: Task) -> Sums | None:
            # `arrange` has refused what could overflow. Infinities are meant (a pair left out, a
            # sum still empty), and BLAS may raise flags for padding that it never uses.
            with np.errstate(all="ignore"):
                partial = work(task)
            if not is_whole:
                return partial
            sums.put(order[task[0]], partial)  # on threads: no two tasks have an output in common
            return None

        worth = n_out * n_in // (_PAIRS_WORTH_A_THREAD * self.times_in_python)
        threads = min(self.n_threads, max(1, worth))
        with self._limits():
            found = run_in_order(work_and_put, tasks, threads)
            for (out, into), partial in zip(tasks, found, strict=True):
                if partial is not None:
                    where = order[out]
                    sums.put(where, sums.rows(where).merge(partial) if into.start else partial)


def _tasks(n_out: int, n_in: int, tile: int) -> list[Task]:
    """Blocks of outputs × inputs; they depend on the sizes only, never on the threads."""
    outs = _slices(0, n_out, tile)
    chunks = -(-_ENOUGH_TASKS // max(1, len(outs)))
    chunk = max(_SMALLEST_CHUNK, -(-n_in // chunks))
    return [(out, into) for out in outs for into in _slices(0, n_in, chunk)]


def _tile(n_out: int, largest: int) -> int:
    """Outputs per task: half of the largest number or less, until threads have many to share."""
    tile = largest
    while tile > _SMALLEST_TILE and n_out < _MANY_TASKS * tile:
        tile //= 2
    return tile


def _slices(start: int, stop: int, size: int) -> list[slice]:
    return [slice(a, min(a + size, stop)) for a in range(start, stop, size)]


def numbered(pieces: Iterator[Rectangle]) -> NDArray:
    """Part, first and last output, first and last input of each, shape (k, 5).

    All of a tile go to one compiled call: threads that come back to Python for every piece wait
    for each other.
    """
    numbers = [(p.part, p.out.start, p.out.stop, p.into.start, p.into.stop) for p in pieces]
    return np.array(numbers, dtype=np.int64).reshape(-1, 5)


def one_by_one(
    fold: Callable[[Rectangle, Sums], None],
) -> Callable[[slice, Iterator[Rectangle], Sums], None]:
    """What folds the rectangles of a tile, by what folds one into the sums of its outputs."""

    def fold_all(out: slice, pieces: Iterator[Rectangle], sums: Sums) -> None:
        for piece in pieces:
            fold(piece, sums.rows(_within(piece.out, out)))

    return fold_all


def _within(piece: slice, tile: slice) -> slice:
    return slice(piece.start - tile.start, piece.stop - tile.start)


def natural_peaks(sums: RowSums, law: Law, weight_peak: float) -> RowSums:
    """Peaks as natural logarithms, with what was taken out of the weights put back."""
    if law.has_support:
        sums.peak += weight_peak
    else:
        sums.peak /= LOG2E
    return sums


def query_terms(
    arranged: Arrangement, law: Law, log_slope: NDArray, coefficients: NDArray
) -> tuple[NDArray, NDArray]:
    """log2 of the slopes and the coefficients, in sorted order and in the form of the law."""
    order, dtype = arranged.queries.order, arranged.key_weights.dtype
    # take, not [:, order]: the kernels need each part contiguous.
    log_slope, coefficients = log_slope.take(order, axis=1), coefficients.take(order, axis=1)
    # A part without any weight has nothing to share out, whatever the model asks for.
    nothing = np.isneginf(log_slope)
    log_slope = np.where(nothing, 0.0, log_slope)
    coefficients = np.where(nothing, 0.0, coefficients)
    if law.has_support:
        coefficients = coefficients * np.exp(arranged.weight_peak - log_slope)
    return (LOG2E * log_slope).astype(dtype), coefficients.astype(dtype)


def rows_in_units(sums: RowSums, arranged: Arrangement) -> RowSums:
    """Sums over keys in the coordinates of the caller."""
    if sums.moment.shape[-1]:
        sums.moment /= arranged.scale
        sums.moment += sums.slope[..., None] * arranged.center
    return sums


def columns_in_units(sums: ColumnSums, arranged: Arrangement) -> ColumnSums:
    """Sums over queries in the coordinates of the caller."""
    if sums.moment.shape[-1]:
        sums.moment /= arranged.scale
        sums.moment += sums.total[:, None] * arranged.center
    return sums
