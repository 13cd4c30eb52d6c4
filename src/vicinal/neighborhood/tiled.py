"""What every engine that works in tiles shares: layout, threads, merging, undoing the layout.

An engine adds only how one rectangle of pairs is folded into the sums.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from vicinal.neighborhood.abilities import NO_KERNELS, Abilities, is_compiled, work_of
from vicinal.neighborhood.arrange import Arrangement, Rectangle, Side, arrange, rectangles
from vicinal.neighborhood.hosted import takes_tensors
from vicinal.neighborhood.laws import LOG2E, Law
from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.sums import ColumnSums, RowSums
from vicinal.neighborhood.threads import effective_n_threads, run_in_order

__all__ = ["TiledEngine", "natural_peaks", "query_terms", "undo_columns", "undo_rows"]

Task = tuple[slice, slice]
Result = TypeVar("Result")
RowFolder = Callable[[Rectangle, RowSums], None]
ColumnFolder = Callable[[Rectangle, ColumnSums], None]

# Few queries against many keys are split along the keys instead, into about this many tasks...
_ENOUGH_TASKS = 16
# ... of at least this many keys each.
_SMALLEST_CHUNK = 8192

# Below this many pairs a second thread costs about what it saves.
_PAIRS_WORTH_A_THREAD = 4_000_000


class TiledEngine(ABC):
    """Rows and columns passes over tiles.

    Parameters
    ----------
    n_jobs : int, optional
        Number of threads. None: every core. The result does not depend on it.
    tile : int, optional
        Number of outputs per task.
    into_tile : int, optional
        Number of inputs folded at a time. None: all of a task's.
    """

    name: str
    default_tile: int
    default_into_tile: int | None = None
    can = Abilities(is_compiled, NO_KERNELS)

    def __init__(
        self,
        n_jobs: int | None = None,
        *,
        tile: int | None = None,
        into_tile: int | None = None,
    ) -> None:
        self.n_threads = effective_n_threads(n_jobs)
        self.tile = tile or self.default_tile
        self.into_tile = into_tile or self.default_into_tile

    @abstractmethod
    def _row_folder(self, arranged: Arrangement, law: Law) -> RowFolder:
        """Prepare the layout; return what adds one rectangle to the sums of its queries."""

    @abstractmethod
    def _column_folder(
        self, arranged: Arrangement, law: Law, log_slopes: NDArray, coefficients: NDArray
    ) -> ColumnFolder:
        """Prepare the layout; return what adds one rectangle to the sums of its keys."""

    def _working_dtype(self, dtype: DTypeLike, reach: float) -> DTypeLike:
        """Precision of the inner loops, given the largest norm after centering."""
        # A float32 square overflows beyond 1e19: use float64 long before.
        return dtype if reach < 1e15 else np.float64

    def _limits(self) -> AbstractContextManager[Any]:
        """What must hold while tiles run."""
        return nullcontext()

    @takes_tensors
    def rows(self, pairs: Pairs, law: Law, *, moments: bool = True) -> RowSums:
        """Sums over the keys, for every query; without `moments` their width is 0."""
        n, m, d = pairs.shape
        self.can.check(self.name, work_of(pairs, law))
        arranged = arrange(pairs, law, self._working_dtype)
        fold = self._row_folder(arranged, law)
        width = d if moments else 0
        sums = RowSums.empty(pairs.n_parts, n, width)

        def work(task: Task) -> RowSums:
            out, into = task
            partial = RowSums.empty(pairs.n_parts, out.stop - out.start, width)
            for piece in self._pieces(arranged.queries, arranged.keys, out, into):
                fold(piece, partial.rows(_within(piece.out, out)))
            return natural_peaks(partial, law, arranged.weight_peak)

        for (out, into), partial in self._run(work, n, m):
            # Merging with the neutral element would only cost time.
            sums.put(out, sums.rows(out).merge(partial) if into.start else partial)
        return undo_rows(sums, arranged)

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
        self.can.check(self.name, work_of(pairs, law))
        arranged = arrange(pairs, law, self._working_dtype)
        fold = self._column_folder(
            arranged, law, *query_terms(arranged, law, log_slope, coefficients)
        )
        sums = ColumnSums.empty(m, width)

        def work(task: Task) -> ColumnSums:
            out, into = task
            partial = ColumnSums.empty(out.stop - out.start, width)
            for piece in self._pieces(arranged.keys, arranged.queries, out, into):
                fold(piece, partial.rows(_within(piece.out, out)))
            return partial

        for (out, into), partial in self._run(work, m, n):
            sums.put(out, sums.rows(out).merge(partial) if into.start else partial)
        return undo_columns(sums, arranged)

    def _pieces(self, outputs: Side, inputs: Side, out: slice, into: slice) -> Iterator[Rectangle]:
        for part in _slices(into.start, into.stop, self.into_tile or into.stop):
            yield from rectangles(outputs, inputs, out, part)

    def _run(
        self, work: Callable[[Task], Result], n_out: int, n_in: int
    ) -> Iterator[tuple[Task, Result]]:
        tasks = _tasks(n_out, n_in, self.tile)
        threads = self.n_threads if n_out * n_in >= _PAIRS_WORTH_A_THREAD else 1

        def quiet_work(task: Task) -> Result:
            # `arrange` has refused what could overflow. Infinities are meant (a pair left out, a
            # sum still empty), and BLAS may raise flags for padding that it never uses.
            with np.errstate(all="ignore"):
                return work(task)

        with self._limits():
            yield from zip(tasks, run_in_order(quiet_work, tasks, threads), strict=True)


def _tasks(n_out: int, n_in: int, tile: int) -> list[Task]:
    """Blocks of outputs × inputs; they depend on the sizes only, never on the threads."""
    outs = _slices(0, n_out, tile)
    chunks = -(-_ENOUGH_TASKS // max(1, len(outs)))
    chunk = max(_SMALLEST_CHUNK, -(-n_in // chunks))
    return [(out, into) for out in outs for into in _slices(0, n_in, chunk)]


def _slices(start: int, stop: int, size: int) -> list[slice]:
    return [slice(a, min(a + size, stop)) for a in range(start, stop, size)]


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


def undo_rows(sums: RowSums, arranged: Arrangement) -> RowSums:
    """Back to the caller's order and coordinates."""
    moment = sums.moment / arranged.scale
    if moment.shape[-1]:
        moment += sums.slope[..., None] * arranged.center
    back = arranged.queries.unsort
    return RowSums(back(sums.peak, 1), back(sums.mass, 1), back(sums.slope, 1), back(moment, 1))


def undo_columns(sums: ColumnSums, arranged: Arrangement) -> ColumnSums:
    """Back to the caller's order and coordinates."""
    moment = sums.moment / arranged.scale
    if moment.shape[-1]:
        moment += sums.total[:, None] * arranged.center
    return ColumnSums(arranged.keys.unsort(sums.total, 0), arranged.keys.unsort(moment, 0))
