"""Nearly the nearest rows of very many: cells of near ones, of which some are looked through.

Keys are halved along their longest direction until cells have few of them. For a cell of queries
some of these vote: the cells of the keys that are nearest to them, among a few of each cell, are
looked through, those with most votes first, until a share of all keys has been compared. The
result depends neither on threads nor on chance.
"""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vicinal.neighborhood.cluster.sharing import in_order
from vicinal.neighborhood.threads import current_n_threads, effective_n_threads

__all__ = ["in_cells", "nearly_nearest"]

# Rows of a cell, at most, and those of them whose direction is that of all.
_CELL, _DIRECTION_ROWS = 256, 500

# Steps of the power method: a direction along which cells are long will do.
_POWER_STEPS = 8

# Keys of each cell, and queries of each, that vote; and how many keys each of these votes for.
_REPRESENTATIVES, _VOTERS, _VOTES = 8, 64, 20

# Keys that are looked through: this share of all, and never fewer than that.
_SHARE, _LEAST = 0.03, 10_000

# Numbers of keys looked at from which on workers of a cluster, where they are asked, look: seconds.
_MUCH = 5_000_000_000

# Numbers of keys copied at a time.
_CHUNK_NUMBERS = 200_000

# Numbers of distances held at a time for new points.
_BLOCK_NUMBERS = 4_000_000

# New points farther than so many times the extent of the keys might be no numbers in float32.
_FAR = 1e15

# Rows whose median is the center of all.
_CENTER_ROWS = 1000


class _Cells(NamedTuple):
    """Rows by cells.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        In float32, those of a cell together.
    rows : ndarray of int, shape (n,)
        Which ones they are.
    starts : ndarray of int, shape (n_cells + 1,)
    """

    points: NDArray
    rows: NDArray
    starts: NDArray

    def __len__(self) -> int:
        return len(self.starts) - 1

    def some(self, most: int) -> tuple[NDArray, NDArray]:
        """Evenly spread rows of every cell, by place, and their cells."""
        cells = np.repeat(np.arange(len(self)), most)
        share = np.tile((np.arange(most) + 0.5) / most, len(self))
        sizes = np.diff(self.starts)[cells]
        return self.starts[cells] + (share * sizes).astype(np.intp), cells


class _Search(NamedTuple):
    """Keys in cells, those of them that vote with their squared norms, and how far to look."""

    keys: _Cells
    voted: NDArray
    voted_norms: NDArray
    voted_cells: NDArray
    centers: NDArray
    n_looked: int


def in_cells(points: NDArray) -> NDArray:
    """Positions of all rows, in an order in which near ones stand together."""
    return _cells(_single(points, *_units(points))).rows


def nearly_nearest(
    keys: NDArray,
    queries: NDArray | None,
    k: int,
    n_jobs: int | None = None,
    tell: Callable[[int], None] = lambda more: None,
) -> NDArray:
    """Nearly the k nearest keys of every query; without `queries`, of every key but itself.

    Parameters
    ----------
    keys : ndarray of shape (n, d)
    queries : ndarray of shape (n_queries, d) or None
    k : int
    n_jobs : int, optional
        Number of threads. None: those of whoever computes. The result does not depend on it.
    tell : callable, optional
        Is told of queries that have been looked at, each time how many more.

    Returns
    -------
    positions : ndarray of int, shape (n_queries, k)
        Nearest first, as far as single precision tells.
    """
    units = _units(keys)
    cells = _cells(_single(keys, *units), tell)
    search = _search(cells, k)
    asked = cells if queries is None else _in_cells_of(search, _single(queries, *units))
    found = np.empty((len(asked.points), k), dtype=np.int32)

    # Workers get what it knows: not `found`, nor who is told.
    look = partial(_look_from, search, None if queries is None else asked, k)
    n_threads = current_n_threads() if n_jobs is None else effective_n_threads(n_jobs)
    is_much = len(found) * search.n_looked * keys.shape[1] >= _MUCH
    every = range(len(asked))
    with closing(in_order(look, every, n_threads, is_much, "neighbors")) as looks:
        for cell, near in zip(every, looks, strict=True):
            found[asked.rows[slice(*asked.starts[cell : cell + 2])]] = near
            tell(len(near))
    return found


def _look_from(search: _Search, asked: _Cells | None, k: int, cell: int) -> NDArray:
    """Nearly the k nearest of the queries of a cell; without queries, of the keys of one."""
    cells = search.keys if asked is None else asked
    places = slice(*cells.starts[cell : cell + 2])
    own = np.arange(places.start, places.stop) if asked is None else None
    return search.keys.rows[_look(search, cells.points[places], own, k)]


# ------------------------------------------------------------------------------------- the search


def _search(cells: _Cells, k: int) -> _Search:
    places, owners = cells.some(_REPRESENTATIVES)
    voted = cells.points[places]
    centers = np.add.reduceat(voted, np.arange(0, len(voted), _REPRESENTATIVES)) / _REPRESENTATIVES
    n_looked = max(_LEAST, int(_SHARE * len(cells.points)), 2 * k)
    return _Search(cells, voted, _norms(voted), owners, centers, n_looked)


def _in_cells_of(search: _Search, queries: NDArray) -> _Cells:
    """Queries by the cells of keys that are nearest to them: few ones would make cells too wide."""
    owners = np.empty(len(queries), dtype=np.intp)
    step = max(1, _BLOCK_NUMBERS // len(search.voted))
    for start in range(0, len(queries), step):
        block = _without_own_norms(queries[start : start + step], search.voted, search.voted_norms)
        owners[start : start + step] = search.voted_cells[block.argmin(axis=1)]
    rows = np.argsort(owners, kind="stable")
    ends = np.flatnonzero(np.diff(owners[rows], prepend=-1, append=-1))
    starts = [start for a, b in pairwise(ends) for start in range(a, b, _CELL)]
    return _Cells(queries[rows], rows, np.array([*starts, len(rows)]))


def _look(search: _Search, queries: NDArray, own: NDArray | None, k: int) -> NDArray:
    """Places of nearly the k nearest keys of queries that are near each other."""
    center = queries.mean(axis=0)
    queries = queries - center  # squares of small numbers have small errors
    own = np.full(len(queries), -1) if own is None else own
    positions = np.zeros((len(queries), k), dtype=np.int64)
    values = np.full((len(queries), k), np.inf, dtype=np.float32)
    for places in _looked_through(search, queries, center):
        keys = search.keys.points[places] - center
        block = _without_own_norms(queries, keys, _norms(keys))
        _keep_smallest(block, places, own, positions, values)
    order = np.lexsort((positions, values), axis=1)
    return np.take_along_axis(positions, order, axis=1)


def _looked_through(search: _Search, queries: NDArray, center: NDArray) -> Iterator[NDArray]:
    """Places of the keys to be compared, some cells at a time, those with most votes first."""
    cells, keys = _by_votes(search, queries + center, center), search.keys
    last = int(np.searchsorted(np.cumsum(np.diff(keys.starts)[cells]), search.n_looked))
    step = max(1, _CHUNK_NUMBERS // (_CELL * keys.points.shape[1]))
    for first in range(0, min(last + 1, len(cells)), step):
        some = cells[first : min(first + step, last + 1)]
        yield np.concatenate([np.arange(*keys.starts[cell : cell + 2]) for cell in some])


def _by_votes(search: _Search, queries: NDArray, center: NDArray) -> NDArray:
    """All cells of keys, those first that some of the queries vote for, then by distance."""
    voters = queries[:: -(-len(queries) // _VOTERS)]
    block = _without_own_norms(voters, search.voted, search.voted_norms)
    votes = np.zeros((len(voters), min(_VOTES, len(search.voted))), dtype=np.int64)
    values = np.full(votes.shape, np.inf, dtype=np.float32)
    _keep_smallest(block, np.arange(len(search.voted)), np.full(len(voters), -1), votes, values)
    counts = np.bincount(search.voted_cells[votes.ravel()], minlength=len(search.keys))
    return np.lexsort((_norms(search.centers - center), -counts))


def _keep_smallest(*arrays: NDArray) -> None:
    """The kernel of that name: the compiler is loaded when it is needed."""
    from vicinal.neighborhood.kernels.selection import keep_smallest

    keep_smallest(*arrays)


def _without_own_norms(queries: NDArray, keys: NDArray, norms: NDArray) -> NDArray:
    """Squared distances, less the squared norms of the queries."""
    block = queries @ keys.T
    block *= -2.0
    block += norms
    return block


# -------------------------------------------------------------------------------------- the cells


def _cells(points: NDArray, tell: Callable[[int], None] = lambda more: None) -> _Cells:
    """Halve along the longest direction, again and again; `tell` is told that it goes on."""
    left, done = [np.arange(len(points))], []
    while left:
        rows = left.pop()
        tell(0)
        if len(rows) <= _CELL:
            done.append(rows)
            continue
        order = _along(points, rows)
        left += [rows[order[len(rows) // 2 :]], rows[order[: len(rows) // 2]]]
    rows, starts = np.concatenate(done), np.cumsum([0, *map(len, done)])
    return _Cells(points[rows], rows, starts)


def _along(points: NDArray, rows: NDArray) -> NDArray:
    """The order that parts rows in the middle of their longest direction."""
    direction = _longest(points[rows[:: -(-len(rows) // _DIRECTION_ROWS)]])
    step = max(1, _CHUNK_NUMBERS // points.shape[1])
    parts = [points[rows[i : i + step]] @ direction for i in range(0, len(rows), step)]
    return np.argpartition(np.concatenate(parts), len(rows) // 2)


def _longest(some: NDArray) -> NDArray:
    """About the leading principal direction; of equal points any."""
    some = some - some.mean(axis=0)
    direction = some[_norms(some).argmax()]
    for _ in range(_POWER_STEPS):
        size = np.abs(direction).max()
        if size == 0:
            break
        direction = (some @ (direction / size)) @ some
    size = np.abs(direction).max()
    return direction / size if size > 0 else direction


def _units(keys: NDArray) -> tuple[NDArray, float]:
    """A center of the keys, and their extent from it."""
    center = np.median(keys[:: max(1, len(keys) // _CENTER_ROWS)].astype(np.float64), axis=0)
    ends = np.stack([keys.min(axis=0), keys.max(axis=0)])
    return center, float(np.abs(ends - center).max()) or 1.0


def _single(points: NDArray, center: NDArray, unit: float) -> NDArray:
    """Points in units near 1, in single precision."""
    out = np.empty(points.shape, dtype=np.float32)
    step = max(1, _CHUNK_NUMBERS // points.shape[1])
    for start in range(0, len(points), step):
        part = slice(start, start + step)
        out[part] = np.clip((points[part] - center) / unit, -_FAR, _FAR)
    return out


def _norms(points: NDArray) -> NDArray:
    """Squared norms."""
    return np.einsum("nd,nd->n", points, points)
