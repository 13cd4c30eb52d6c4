"""Rows that live on the workers: arrays of Dask in blocks of ours, one block a row of chunks.

All that comes back is NumPy's: some rows, or a sum over all of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.neighborhood.arrays import Array, is_chunked
from vicinal.neighborhood.cluster.blocks import block_size, slices_of
from vicinal.neighborhood.cluster.presence import needed
from vicinal.neighborhood.cluster.running import Tasks, fresh_name, persisted
from vicinal.neighborhood.cluster.tasks import Held, applied, applied_held, pull, summed
from vicinal.neighborhood.products import gram, times
from vicinal.neighborhood.sums import ColumnSums

__all__ = [
    "HeldColumns",
    "blocks_from",
    "each_block",
    "gram_of",
    "joined_rows",
    "picked_rows",
    "pulls_of",
    "sent_in_blocks",
    "spread",
    "summed_over",
    "times_of",
]


def spread(rows: Array) -> Any:
    """Rows of NumPy or of Dask, on the workers, in blocks of ours.

    NumPy's stay with the scheduler, too, from where they come back if a worker is lost.
    """
    if is_chunked(rows):
        return persisted(rows.rechunk({0: block_size(len(rows)), 1: -1}))[0]
    return sent_in_blocks(rows, [where.stop - where.start for where in slices_of(len(rows))])


def sent_in_blocks(values: NDArray, sizes: Sequence[int]) -> Any:
    """An array of NumPy on the workers, so many rows in a block."""
    chunks = (tuple(sizes), *((width,) for width in values.shape[1:]))
    array = needed("dask.array").from_array(values, chunks=chunks, name=fresh_name("sent"))
    return persisted(array)[0]


def blocks_from(
    held: Sequence[Any], get: Callable[[Any], NDArray], sizes: Sequence[int], width: int | None
) -> Any:
    """An array on the workers, of what a function makes of every value that they hold."""
    name, place = fresh_name("blocks"), () if width is None else (0,)
    layer = {(name, i, *place): (get, each.key) for i, each in enumerate(held)}
    make = needed("dask.highlevelgraph").HighLevelGraph.from_collections
    chunks = (tuple(sizes), *(() if width is None else ((width,),)))
    graph = make(name, layer, dependencies=held)
    return needed("dask.array").Array(graph, name, chunks, dtype=np.float64)


@dataclass
class HeldColumns(ColumnSums):
    """Sums of keys that live on the workers, and stay there with them.

    Attributes
    ----------
    total, moment : dask.array.Array
    held : list
        The sums of every block.
    """

    held: list[Any]


def pulls_of(columns: HeldColumns, keys: Any) -> Any:
    """c ∘ Z_k - Cᵀ Z_q, where the keys are."""
    name, make = fresh_name("pulls"), needed("dask.highlevelgraph").HighLevelGraph
    layer = {
        (name, i, 0): (pull, each.key, (keys.name, i, 0)) for i, each in enumerate(columns.held)
    }
    graph = make.from_collections(name, layer, dependencies=[keys, *columns.held])
    return needed("dask.array").Array(graph, name, keys.chunks, dtype=np.float64)


def joined_rows(rows: NDArray, X: Any) -> Any:
    """Rows of NumPy, and then those on the workers, there in blocks of ours."""
    return spread(needed("dask.array").concatenate([sent_in_blocks(rows, [len(rows)]), X]))


def picked_rows(X: Any, which: slice | NDArray) -> NDArray:
    """Some rows, gathered from the blocks that have them, in the order asked for."""
    positions = _positions(which, len(X))
    tasks, order = Tasks("taking", [X]), []
    block = np.searchsorted(np.cumsum(X.chunks[0]), positions, side="right")
    starts = np.concatenate([[0], np.cumsum(X.chunks[0])])
    for i in np.unique(block):
        mine = np.flatnonzero(block == i)
        tasks.add(np.take, (X.name, int(i), 0), positions[mine] - starts[i], 0)
        order.append(mine)
    found = np.empty((len(positions), X.shape[1]), X.dtype)
    for mine, rows in zip(order, tasks.computed(), strict=True):
        found[mine] = rows
    return found


def each_block(
    function: Callable[[NDArray], NDArray], X: Any, width: int, dtype: Any, what: str = "mapping"
) -> Any:
    """What a function makes of every block, a row for each row, held by the workers."""
    tasks = Tasks(what, [X])
    of = tasks.constant("function", Held(function))
    for i in range(len(X.chunks[0])):
        tasks.add(applied_held, of, (X.name, i, 0))
    name = fresh_name(what)
    held = tasks.held()
    layer = {(name, i, 0): each.key for i, each in enumerate(held)}
    make = needed("dask.highlevelgraph").HighLevelGraph.from_collections
    graph = make(name, layer, dependencies=held)
    return needed("dask.array").Array(graph, name, (X.chunks[0], (width,)), dtype=dtype)


def summed_over(function: Callable[..., Any], X: Any, *beside: NDArray | None) -> NDArray:
    """The sum of what a function makes of every block, and of arrays of the host beside it.

    Parameters
    ----------
    function : callable
        Of a block of rows, and of the same rows of every array beside it.
    X : dask.array.Array
        In blocks of ours.
    *beside : ndarray with a row for each row, or None
        Sent in parts.
    """
    tasks, start = Tasks("summing", [X]), 0
    of = tasks.constant("function", Held(function))
    for i, size in enumerate(X.chunks[0]):
        parts = [None if each is None else each[start : start + size] for each in beside]
        tasks.add(applied_held, of, (X.name, i, 0), *parts)
        start += size
    return np.asarray(tasks.merged(summed))


def times_of(X: Any, M: NDArray) -> Any:
    """X M on the workers, for X in blocks of ours."""
    dtype = np.result_type(X.dtype, M.dtype)
    return each_block(partial(_times, M), X, M.shape[1], dtype, "projecting")


def gram_of(X: Array, Y: Array) -> NDArray:
    """Xᵀ Y of arrays one of which, or both, are in blocks of ours on the workers."""
    on_workers = X if is_chunked(X) else Y
    tasks = Tasks("products", [each for each in (X, Y) if is_chunked(each)])
    start = 0
    for i, size in enumerate(on_workers.chunks[0]):
        parts = [
            (each.name, i, 0) if is_chunked(each) else each[start : start + size] for each in (X, Y)
        ]
        tasks.add(applied, gram, *parts)
        start += size
    return np.asarray(tasks.merged(summed))


def _positions(which: slice | NDArray, n: int) -> NDArray:
    """Of rows that are chosen by a slice, by a mask or by their positions."""
    if isinstance(which, slice):
        return np.arange(*which.indices(n))
    return np.flatnonzero(which) if which.dtype == bool else which


def _times(M: NDArray, block: NDArray) -> NDArray:
    return times(block, M)
