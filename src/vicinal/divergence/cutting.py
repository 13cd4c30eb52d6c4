"""How pairs are cut into pieces of work, and how the best of all pieces are kept."""

from collections.abc import Callable, Iterator
from itertools import pairwise as neighboring

import numpy as np
from numpy.typing import NDArray

from vicinal.divergence.gaussians import Tell
from vicinal.neighborhood import namespace
from vicinal.neighborhood.arrays import Array, is_numpy, on_host

__all__ = [
    "best",
    "halved",
    "in_shares",
    "keep_best",
    "n_distinct",
    "runs",
    "slices",
    "smallest",
    "tiles",
    "tiles_in",
]


def n_distinct(n: int, *positions: NDArray) -> int:
    """How many of n positions there are."""
    seen = np.zeros(n, dtype=bool)
    for each in positions:
        seen[each] = True
    return int(seen.sum())


def halved(parts: list[slice], has_room: Callable[[slice], bool]) -> Iterator[slice]:
    """These parts, in order, halved until they have room; what is one stays."""
    left = parts[::-1]
    while left:
        part = left.pop()
        if part.stop - part.start <= 1 or has_room(part):
            yield part
        else:
            middle = (part.start + part.stop) // 2
            left += [slice(middle, part.stop), slice(part.start, middle)]


def in_shares(tell: Tell, total: int) -> Tell:
    """Is told of shares of a total."""
    return lambda share: tell(share * total)


def smallest(block: Array, k: int, start: int) -> tuple[NDArray, NDArray]:
    """Columns, the first at `start`, and values of the k smallest of every row, or of all.

    Equal ones come by position. The block may be anywhere; what is found is on the host.
    """
    if is_numpy(block):
        order = np.argsort(block, axis=1, kind="stable")[:, :k]
        return start + order, np.take_along_axis(block, order, axis=1)
    xp = namespace(block)
    order = xp.argsort(block, axis=1, stable=True)[:, :k]
    return start + on_host(order), on_host(xp.take_along_axis(block, order, axis=1))


def keep_best(positions: NDArray, values: NDArray, among: NDArray, others: NDArray) -> None:
    """Let further positions, with their values, compete for the places in each row."""
    rows = np.flatnonzero((others <= values[:, -1:]).any(axis=1))
    every = np.concatenate([positions[rows], among[rows]], axis=1)
    found = best(every, np.concatenate([values[rows], others[rows]], axis=1), positions.shape[1])
    positions[rows], values[rows] = found


def best(among: NDArray, values: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """Positions `among` and values of the k smallest of every row, equal ones by position."""
    order = np.lexsort((among, values), axis=1)[:, :k]
    return np.take_along_axis(among, order, axis=1), np.take_along_axis(values, order, axis=1)


def runs(first: NDArray, most: int) -> list[slice]:
    """Pairs that have their first in common."""
    ends = np.flatnonzero(np.diff(first, prepend=-1, append=-1))
    return [
        slice(start, min(start + most, end))
        for begin, end in neighboring(ends)
        for start in range(begin, end, most)
    ]


def tiles(n: int, n_others: int, side: int, mirrored: bool) -> list[tuple[slice, slice]]:
    """Rows and columns of all tiles; on and above the diagonal only where the rest mirrors them."""
    return [
        (rows, columns)
        for rows in slices(n, side)
        for columns in slices(n_others, side)
        if not mirrored or columns.start >= rows.start
    ]


def tiles_in(square: tuple[slice, slice], side: int, mirrored: bool) -> list[tuple[slice, slice]]:
    """Rows and columns of the tiles of a square; see `tiles`."""
    rows, columns = square
    size = rows.stop - rows.start, columns.stop - columns.start
    return [
        (_moved(some, rows.start), _moved(others, columns.start))
        for some, others in tiles(*size, side, mirrored and rows == columns)
    ]


def _moved(part: slice, start: int) -> slice:
    return slice(start + part.start, start + part.stop)


def slices(n: int, step: int) -> list[slice]:
    """All of n, some at a time."""
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
