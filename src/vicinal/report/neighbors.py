"""Nearest points, whatever the scale of their coordinates."""

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

__all__ = ["nearest_others", "nearest_points"]


def nearest_points(keys: NDArray, queries: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """Distances to the k nearest keys of every query, and their positions, nearest first.

    Parameters
    ----------
    keys : ndarray of shape (n, d)
    queries : ndarray of shape (n_queries, d)
    k : int

    Returns
    -------
    distance, who : ndarray of shape (n_queries, k)

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.neighbors import nearest_points
    >>> keys = np.array([[0.0], [1e200], [7e200]])
    >>> nearest_points(keys, np.array([[2e200]]), 2)
    (array([[1.e+200, 2.e+200]]), array([[1, 0]]))
    """
    keys, queries, exponent = _at_hand(keys.astype(np.float64), queries.astype(np.float64))
    distance, who = NearestNeighbors(n_neighbors=k).fit(keys).kneighbors(queries)
    with np.errstate(over="ignore"):  # a distance may be larger than any coordinate
        return np.minimum(np.ldexp(distance, exponent), np.finfo(np.float64).max), who


def nearest_others(points: NDArray, rows: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """The same for some of the points among all others, shapes (len(rows), k).

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.neighbors import nearest_others
    >>> nearest_others(np.array([[0.0], [1.0], [3.0], [7.0]]), np.array([0, 3]), 2)[1]
    array([[1, 2],
           [2, 1]])
    """
    distance, who = nearest_points(points, points[rows], k + 1)
    # A row is its own nearest, unless a twin comes first: then the last one found is too many.
    own = who == rows[:, None]
    own[~own.any(axis=1), -1] = True
    shape = len(rows), k
    return distance[~own].reshape(shape), who[~own].reshape(shape)


def _at_hand(keys: NDArray, queries: NDArray) -> tuple[NDArray, NDArray, int]:
    """Points near 0 and of size 1, and the power of two to multiply distances with.

    Squares of very large or small numbers are no numbers, and products of matrices lose the
    digits that points far from 0 differ in. What is done here loses none, and leaves points
    around 0 as they are but for a power of two.
    """
    first = _exponent(keys, queries)
    keys, queries = np.ldexp(keys, -first), np.ldexp(queries, -first)
    spread = np.ptp(keys, axis=0)
    unit = np.ldexp(1.0, np.frexp(spread)[1])
    center = np.where(spread > 0, np.rint(keys.mean(axis=0) / unit) * unit, keys[0])
    keys, queries = keys - center, queries - center
    second = _exponent(keys, queries)
    return np.ldexp(keys, -second), np.ldexp(queries, -second), first + second


def _exponent(*arrays: NDArray) -> int:
    """Of the power of two next to the largest number."""
    return int(np.frexp(max(np.abs(array).max() for array in arrays))[1])
