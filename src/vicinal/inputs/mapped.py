"""Rows of a memory map: the system is told which ones will be read, and how.

By itself it reads much around every row that it does not have, which is too little for a sweep
over a file, and a hundred times too much for a batch of rows from all over it.
"""

import mmap
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

__all__ = ["in_any_order", "soon"]


def soon(X: NDArray, rows: slice) -> None:
    """Let the system begin to read rows, if these are in a file; nothing waits for it."""
    file = _map_of(X)
    if file is None or not hasattr(mmap, "MADV_WILLNEED") or not X.flags.c_contiguous:
        return
    beginning = _address(X) - _address(np.frombuffer(file, np.uint8))
    row = X.shape[1] * X.itemsize
    start, stop = beginning + rows.start * row, beginning + min(rows.stop, len(X)) * row
    if start < stop:
        start -= start % mmap.PAGESIZE
        file.madvise(mmap.MADV_WILLNEED, start, stop - start)


@contextmanager
def in_any_order(X: NDArray) -> Iterator[None]:
    """Let the system read no more than the rows that are asked for, if these are in a file."""
    file = _map_of(X)
    if file is None or not hasattr(mmap, "MADV_RANDOM"):
        yield
        return
    file.madvise(mmap.MADV_RANDOM)
    try:
        yield
    finally:
        file.madvise(mmap.MADV_NORMAL)


def _map_of(X: NDArray) -> mmap.mmap | None:
    """The file that an array is a view of, or None where it is in memory."""
    base: object = X
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def _address(array: NDArray) -> int:
    return int(array.__array_interface__["data"][0])
