"""The nearest rows of a set, equally near ones by position. Of very many, see `cells`."""

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from vicinal.compiling.libraries import importing
from vicinal.neighborhood.cluster.blocks import slices_of
from vicinal.neighborhood.cluster.presence import asks_workers
from vicinal.neighborhood.cluster.sharing import shared
from vicinal.neighborhood.threads import current_n_threads, effective_n_threads, run_in_order

__all__ = [
    "Nearest",
    "nearest",
    "nearest_neighbor_descent",
    "search",
    "squared_distances",
    "within",
]

# Positions of keys and squared distances to them, nearest first, both of shape (n_queries, k).
Nearest = tuple[NDArray, NDArray]

# Matrix products err: so many more neighbors than wanted are looked at, by differences, and the
# last of them must be farther than the last one wanted by this share of the squared norms.
_SPARE, _SLACK = 6, 1e-9

# Where it is not (ties, as a rule), the search is repeated with so many times more.
_GROWTH = 4

# So many differences are sooner looked at, all of them, than an index is built.
_FEW = 4096

# Neighbors in the graph of an approximate search, at least.
_LEAST_NEIGHBORS = 30

# Numbers held at a time.
_BLOCK_NUMBERS = 8_000_000

# Multiplications in a tile of queries, which is worth a thread; of a query, where scikit-learn has
# trees; and the least queries that products of matrices are fast for.
_TILE_WORK, _TREE_WORK, _LEAST_QUERIES = 200_000_000, 100_000, 128

# Tiles from which on workers of a cluster, where they are asked, search (seconds of a core), and
# as many tasks.
_MANY_TILES = 32

# Dimensions above which scikit-learn looks at all keys.
_MOST_TREE_DIMENSIONS = 15

# A larger radius takes in all there is: its square is still a number.
_LARGEST = 1e150

# Rows whose median is the center of all.
_CENTER_ROWS = 1000


def nearest(
    keys: NDArray,
    queries: NDArray,
    k: int,
    own: NDArray | None = None,
    n_jobs: int | None = None,
    tell: Callable[[int], None] | None = None,
) -> Nearest:
    """The k nearest keys of every query; all of them where there are fewer.

    Parameters
    ----------
    keys : ndarray of shape (n, d)
    queries : ndarray of shape (n_queries, d)
    k : int
    own : ndarray of int, shape (n_queries,), optional
        A key that does not count for each query; -1: none.
    n_jobs : int, optional
        Number of threads. None: those of whoever computes. The result does not depend on it.
    tell : callable, optional
        Is told of queries that have been looked at, each time how many more.

    Returns
    -------
    positions, squared : ndarray of shape (n_queries, k)
        Where fewer keys than k are left, the last columns have squared distance inf.
    """
    own = np.full(len(queries), -1) if own is None else own
    k = min(k, len(keys))
    if _is_for_workers(keys, queries):
        return _found_there(keys, queries, k, own, tell)
    positions, squared = (
        np.empty((len(queries), k), dtype=np.intp),
        np.full((len(queries), k), np.inf),
    )
    if k == 0 or len(queries) == 0:
        return positions, squared
    if len(keys) * len(queries) <= _FEW:
        if tell is not None:
            tell(len(queries))
        return _nearest_of_few(keys, queries, k, own)
    center = _center(keys)
    near_zero = keys - center  # products of large numbers lose digits
    asked = near_zero if queries is keys else queries - center
    index, norms = NearestNeighbors().fit(near_zero), _norms(asked)
    open_rows, wanted = np.arange(len(queries)), min(k + _SPARE, len(keys))

    def look(rows: NDArray) -> NDArray:
        """Queries for which more must be looked at than are wanted now."""
        found = index.kneighbors(asked[rows], wanted, return_distance=False)
        exact = _exact(keys, queries[rows], found, own[rows])
        order = np.lexsort((found, exact), axis=1)[:, :k]
        positions[rows] = np.take_along_axis(found, order, axis=1)
        squared[rows] = np.take_along_axis(exact, order, axis=1)
        farthest = np.where(np.isfinite(exact), exact, 0.0).max(axis=1)
        # Errors are those of keys as near as that: one far away from all changes nothing.
        slack = _SLACK * (norms[rows] + farthest)
        return rows[squared[rows, -1] + slack >= farthest]

    while len(open_rows):
        tiles = list(_parts(open_rows, wanted, _queries_per_tile(*keys.shape)))
        left = []
        with closing(run_in_order(look, tiles, _n_threads(n_jobs))) as looks:
            for rows, more in zip(tiles, looks, strict=True):
                left.append(more)
                if tell is not None:
                    tell(len(rows) - len(more))
        open_rows = np.concatenate(left)
        if wanted == len(keys):
            break
        wanted = min(_GROWTH * wanted, len(keys))
    return positions, squared


def _is_for_workers(keys: NDArray, queries: NDArray) -> bool:
    """Whether workers of a cluster are asked, and the search is worth it."""
    many = _MANY_TILES * _queries_per_tile(*keys.shape)
    return asks_workers() and len(queries) >= many


def _found_there(
    keys: NDArray,
    queries: NDArray,
    k: int,
    own: NDArray,
    tell: Callable[[int], None] | None,
) -> Nearest:
    """The k nearest keys, by the workers of a cluster: each has some queries, and all keys."""
    shape = len(queries), k
    positions, squared = np.empty(shape, dtype=np.intp), np.empty(shape)
    work = partial(_nearest_of_some, keys, None if queries is keys else queries, k, own)
    blocks = slices_of(len(queries), _queries_per_share(len(queries), *keys.shape))
    for rows, found in zip(blocks, shared(work, blocks, "neighbors"), strict=True):
        positions[rows], squared[rows] = found
        if tell is not None:
            tell(rows.stop - rows.start)
    return positions, squared


def _nearest_of_some(
    keys: NDArray, queries: NDArray | None, k: int, own: NDArray, rows: slice
) -> Nearest:
    asked = keys if queries is None else queries
    return nearest(keys, asked[rows], k, own[rows])


def search(index: NearestNeighbors, queries: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """Distances to the k nearest of `index`, and positions, as ``kneighbors``: tiles on threads."""
    most = _queries_per_tile(index.n_samples_fit_, index.n_features_in_)
    tiles = list(_parts(np.arange(len(queries)), k, most))
    found = run_in_order(lambda rows: index.kneighbors(queries[rows], k), tiles, _n_threads(None))
    distances, positions = zip(*found, strict=True)
    return np.concatenate(distances), np.concatenate(positions)


def _nearest_of_few(keys: NDArray, queries: NDArray, k: int, own: NDArray) -> Nearest:
    """The k nearest of keys all of which are looked at."""
    found = np.broadcast_to(np.arange(len(keys)), (len(queries), len(keys)))
    exact = _exact(keys, queries, found, own)
    order = np.lexsort((found, exact), axis=1)[:, :k]
    return order, np.take_along_axis(exact, order, axis=1)


def within(
    keys: NDArray, queries: NDArray, radius: float, n_jobs: int | None = None
) -> list[NDArray]:
    """Positions of all keys at most `radius` from each query, in order."""
    center, radius = _center(keys), min(radius, _LARGEST)
    near_zero, asked = keys - center, queries - center
    index = NearestNeighbors().fit(near_zero)
    norms, found = _norms(asked), [np.empty(0, dtype=np.intp)] * len(queries)

    def look(rows: NDArray) -> None:
        # A little farther, for the errors of products; differences then decide.
        reach = np.sqrt(radius**2 + _SLACK * (norms[rows].max() + radius**2))
        nearly = index.radius_neighbors(asked[rows], reach, return_distance=False)
        for row, near in zip(rows, nearly, strict=True):
            apart = _norms(keys[near].astype(np.float64) - queries[row])
            found[row] = np.sort(near[apart <= radius**2])

    by_norm = np.argsort(norms, kind="stable")
    tiles = list(_parts(by_norm, len(keys), _queries_per_tile(*keys.shape)))
    for _ in run_in_order(look, tiles, _n_threads(n_jobs)):
        pass
    return found


def nearest_neighbor_descent(who: str, otherwise: str = "") -> Callable[..., Any]:
    """What builds pynndescent's index, from keys in float32, a number of neighbors and of threads.

    Where the library is missing, an error says that `who` needs it, and what to do `otherwise`.
    """
    with importing("pynndescent", "neighbors", who, otherwise):
        from pynndescent import NNDescent

    def build(keys: NDArray, n_neighbors: int, n_jobs: int | None) -> Any:
        size = max(_LEAST_NEIGHBORS, n_neighbors)
        return NNDescent(keys, n_neighbors=size, random_state=0, n_jobs=_workers(n_jobs))

    return build


def squared_distances(X: NDArray, first: NDArray, second: NDArray) -> NDArray:
    """Squared distances of pairs of rows, by differences, some at a time."""
    out = np.empty(len(first))
    step = max(1, _BLOCK_NUMBERS // max(1, X.shape[1]))
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        out[part] = _norms(X[first[part]].astype(np.float64) - X[second[part]])
    return out


def _workers(n_jobs: int | None) -> int | None:
    """No more than there are cores: joblib counts threads up to a million only, numba to that."""
    return n_jobs if n_jobs is None or n_jobs < 0 else min(n_jobs, joblib.cpu_count())


def _n_threads(n_jobs: int | None) -> int:
    """Of `n_jobs`; None: those of whoever computes."""
    return current_n_threads() if n_jobs is None else effective_n_threads(n_jobs)


def _queries_per_share(n_queries: int, n_keys: int, d: int) -> int:
    """Queries of a task on a cluster: a tile at least, or an index would be built for few."""
    return max(_queries_per_tile(n_keys, d), -(-n_queries // _MANY_TILES))


def _queries_per_tile(n_keys: int, d: int) -> int:
    """Queries that are worth a thread: their number depends on the keys alone."""
    work = n_keys * d if d > _MOST_TREE_DIMENSIONS else min(n_keys * d, _TREE_WORK)
    return max(_LEAST_QUERIES, _TILE_WORK // max(1, work))


def _center(keys: NDArray) -> NDArray:
    """The median of some: where most of them are, whatever a few others may be."""
    return np.median(keys[:: max(1, len(keys) // _CENTER_ROWS)].astype(np.float64), axis=0)


def _exact(keys: NDArray, queries: NDArray, found: NDArray, own: NDArray) -> NDArray:
    """Squared distances by differences; inf for what does not count."""
    squared = np.empty(found.shape)
    step = max(1, _BLOCK_NUMBERS // max(1, found.shape[1] * keys.shape[1]))
    for start in range(0, len(found), step):
        part = slice(start, start + step)
        difference = keys[found[part]].astype(np.float64) - queries[part, None]
        squared[part] = np.einsum("nkd,nkd->nk", difference, difference)
    squared[found == own[:, None]] = np.inf
    return squared


def _norms(points: NDArray) -> NDArray:
    """Squared norms."""
    points = points.astype(np.float64, copy=False)
    return np.einsum("nd,nd->n", points, points)


def _parts(rows: NDArray, width: int, most: int) -> Iterator[NDArray]:
    step = max(1, min(most, _BLOCK_NUMBERS // width))
    for start in range(0, len(rows), step):
        yield rows[start : start + step]
