"""Rows that nobody holds: tasks make them of rows that live on the workers, when they need them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["Made", "blocks_of", "held_of", "living"]


class Made:
    """Rows in blocks, each of them a task that is done within others.

    Projections of keys are such: a task that looks at keys reads rows, not projections that another
    task has left behind, and so has a reason to run where the rows are.

    Parameters
    ----------
    living : dask.array.Array
        Rows that the workers hold, of each block of which one of these is made.
    blocks : sequence of tasks of Dask
        A function, and keys or values of its arguments, for every block.
    width : int or None
        Columns; None: one number for each row.
    dtype : dtype
    after : sequence of collections of Dask, default=()
        That blocks refer to, but for `living`.
    """

    lives_there = True

    def __init__(
        self,
        living: Any,
        blocks: Sequence[Any],
        width: int | None,
        dtype: DTypeLike,
        after: Sequence[Any] = (),
    ) -> None:
        self.living, self.blocks, self.after = living, list(blocks), list(after)
        self.dtype = np.dtype(dtype)
        self.chunks = (living.chunks[0], *(() if width is None else ((width,),)))
        self.shape = tuple(sum(sizes) for sizes in self.chunks)
        self.ndim = len(self.shape)

    def __len__(self) -> int:
        return int(self.shape[0])

    def astype(self, dtype: DTypeLike, copy: bool = False) -> "Made":
        """These rows in another precision."""
        if np.dtype(dtype) == self.dtype and not copy:
            return self
        blocks = [(_in_dtype, block, np.dtype(dtype).name) for block in self.blocks]
        width = None if self.ndim == 1 else self.shape[1]
        return Made(self.living, blocks, width, dtype, self.after)


def blocks_of(X: Any) -> list[Any]:
    """The blocks as arguments of tasks: keys of those that are held, or what makes them."""
    if isinstance(X, Made):
        return X.blocks
    return [(X.name, i, *(0 for _ in X.chunks[1:])) for i in range(len(X.chunks[0]))]


def living(X: Any) -> Any:
    """Rows that the workers hold: these, or those of which they are made."""
    return X.living if isinstance(X, Made) else X


def held_of(X: Any) -> list[Any]:
    """Collections that blocks refer to."""
    return [X.living, *X.after] if isinstance(X, Made) else [X]


def _in_dtype(block: NDArray, dtype: str) -> NDArray:
    return block.astype(dtype, copy=False)
