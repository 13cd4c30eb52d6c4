"""Rows that live on the workers: arrays of Dask in blocks of ours, one block a row of chunks.

All that comes back is NumPy's: some rows, or a sum over all of them. Tasks go where the rows are
(`homes`).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.neighborhood.arrays import Array, is_chunked
from vicinal.neighborhood.cluster.blocks import block_size, slices_of
from vicinal.neighborhood.cluster.homes import Home, are_persisted, homes_for, homes_of, pins
from vicinal.neighborhood.cluster.made import Made, blocks_of, held_of, living
from vicinal.neighborhood.cluster.presence import needed
from vicinal.neighborhood.cluster.running import Tasks, fresh_name, gathered, persisted
from vicinal.neighborhood.cluster.tasks import Held, applied, applied_held, summed
from vicinal.neighborhood.products import gram, times

__all__ = [
    "each_block",
    "gram_of",
    "here",
    "joined_rows",
    "picked_rows",
    "sent_in_blocks",
    "spread",
    "summed_over",
    "tasks_on",
    "times_of",
]


def spread(rows: Array) -> Any:
    """Rows of NumPy or of Dask, on the workers, in blocks of ours, neighbors together.

    NumPy's stay with the scheduler, too, from where they come back if a worker is lost.
    """
    if not is_chunked(rows):
        return sent_in_blocks(rows, [where.stop - where.start for where in slices_of(len(rows))])
    blocks = rows.rechunk({0: block_size(len(rows)), 1: -1})
    if blocks is rows and not are_persisted(rows):  # to be put in their places once they are read
        blocks = rows.map_blocks(np.asarray, dtype=rows.dtype, meta=rows._meta)
    if blocks is not rows:  # or they stay where they are
        where = pins(blocks_of(blocks), homes_for(len(blocks.chunks[0])))
        blocks.dask.layers[blocks.name].annotations = where or None
    return persisted(blocks)[0]


def sent_in_blocks(
    values: NDArray, sizes: Sequence[int], homes: Sequence[Home | None] | None = None
) -> Any:
    """An array of NumPy on the workers, so many rows in a block; neighbors together, or at home."""
    chunks = (tuple(sizes), *((width,) for width in values.shape[1:]))
    name, end = fresh_name("sent"), (0,) * (values.ndim - 1)
    keys = [(name, i, *end) for i in range(len(sizes))]
    with needed("dask").annotate(**pins(keys, homes or homes_for(len(sizes)))):
        array = needed("dask.array").from_array(values, chunks=chunks, name=name)
    return persisted(array)[0]


def here(X: Array) -> NDArray:
    """All rows, or any other array of Dask, on this machine."""
    if not isinstance(X, Made):
        return gathered(X)
    tasks = tasks_on("gathering", X)
    for block in blocks_of(X):
        tasks.add(np.asarray, block)
    return np.concatenate(tasks.computed())


def tasks_on(what: str, X: Array, after: Sequence[Any] = ()) -> Tasks:
    """No tasks yet, which will run where the blocks of X are, after other collections, too."""
    return Tasks(what, [*held_of(X), *after], homes_of(living(X)))


def joined_rows(rows: NDArray, X: Any) -> Any:
    """Rows of NumPy, and then those on the workers, there in blocks of ours."""
    return spread(needed("dask.array").concatenate([sent_in_blocks(rows, [len(rows)]), X]))


def picked_rows(X: Any, which: slice | NDArray) -> NDArray:
    """Some rows, gathered from the blocks that have them, in the order asked for."""
    positions = _positions(which, len(X))
    tasks, order, ends = tasks_on("taking", X), [], np.cumsum(X.chunks[0])
    block = np.searchsorted(ends, positions, side="right")
    for i, (key, end, size) in enumerate(zip(blocks_of(X), ends, X.chunks[0], strict=True)):
        order.append(np.flatnonzero(block == i))
        tasks.add(np.take, key, positions[order[-1]] - (end - size), 0)
    found = np.empty((len(positions), X.shape[1]), X.dtype)
    for mine, rows in zip(order, tasks.computed(), strict=True):
        found[mine] = rows
    return found


def each_block(
    function: Callable[[NDArray], NDArray], X: Any, width: int, dtype: Any, what: str = "mapping"
) -> Any:
    """What a function makes of every block, a row for each row, held by the workers."""
    tasks = Tasks(what, held_of(X), homes_of(living(X)), suffix=(0,))
    of = tasks.constant("function", Held(function))
    for block in blocks_of(X):
        tasks.add(applied_held, of, block)
    return tasks.held_as_rows((X.chunks[0], (width,)), dtype)


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
    tasks, start = tasks_on("summing", X), 0
    of = tasks.constant("function", Held(function))
    for block, size in zip(blocks_of(X), X.chunks[0], strict=True):
        parts = [None if each is None else each[start : start + size] for each in beside]
        tasks.add(applied_held, of, block, *parts)
        start += size
    return np.asarray(tasks.merged(summed))


def times_of(X: Any, M: NDArray) -> Made:
    """X M, made on the workers when it is needed, for X in blocks of ours."""
    blocks = [(applied, times, block, M) for block in blocks_of(X)]
    dtype = np.result_type(X.dtype, M.dtype)
    return Made(living(X), blocks, M.shape[1], dtype, held_of(X)[1:])


def gram_of(X: Array, Y: Array) -> NDArray:
    """Xᵀ Y of arrays one of which, or both, are in blocks of ours on the workers."""
    there = X if is_chunked(X) else Y
    sizes = there.chunks[0]
    others = [each for each in (X, Y) if is_chunked(each) and each is not there]
    tasks = tasks_on("products", there, [held for each in others for held in held_of(each)])
    for one, other in zip(_parts(X, sizes), _parts(Y, sizes), strict=True):
        tasks.add(applied, gram, one, other)
    return np.asarray(tasks.merged(summed))


def _parts(X: Array, sizes: Sequence[int]) -> list[Any]:
    """Blocks as arguments of tasks, on the workers or sent there."""
    return blocks_of(X) if is_chunked(X) else np.split(X, np.cumsum(sizes)[:-1])


def _positions(which: slice | NDArray, n: int) -> NDArray:
    """Of rows that are chosen by a slice, by a mask or by their positions."""
    if isinstance(which, slice):
        return np.arange(*which.indices(n))
    return np.flatnonzero(which) if which.dtype == bool else which
