"""Nearest neighbors, whatever the scale of coordinates, and the classes they vote for."""

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

__all__ = ["majority", "nearest_others", "nearest_points", "votes"]


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
    >>> from vicinal.voting import nearest_points
    >>> keys = np.array([[0.0], [1e200], [7e200]])
    >>> nearest_points(keys, np.array([[2e200]]), 2)
    (array([[1.e+200, 2.e+200]]), array([[1, 0]]))
    """
    keys, queries, exponent = _at_hand(keys.astype(np.float64), queries.astype(np.float64))
    distance, who = NearestNeighbors(n_neighbors=k).fit(keys).kneighbors(queries)
    with np.errstate(over="ignore"):  # a distance may be larger than any coordinate
        return np.minimum(np.ldexp(distance, exponent), np.finfo(np.float64).max), who


def nearest_others(points: NDArray, rows: NDArray, k: int) -> tuple[NDArray, NDArray]:
    """Distances of some of the points to the k nearest of all others, and their positions.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    rows : ndarray of int, shape (n_rows,)
        Positions of those whose neighbors are looked for.
    k : int

    Returns
    -------
    distance, who : ndarray of shape (n_rows, k)

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.voting import nearest_others
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
    """Exponent of the power of two next to the largest number."""
    return int(np.frexp(max(np.abs(array).max() for array in arrays))[1])


def majority(keys: NDArray, labels: NDArray, k: int, queries: NDArray | None = None) -> NDArray:
    """Classes that most of the k nearest neighbors have.

    Parameters
    ----------
    keys : ndarray of shape (n, d)
        Where the neighbors are.
    labels : ndarray of shape (n,)
        Their classes.
    k : int
    queries : ndarray of shape (n_queries, d), optional
        Points to name. None: each of the keys, by the others.

    Returns
    -------
    ndarray of shape (n_queries,) or (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.voting import majority
    >>> keys, labels = np.array([[0.0], [1.0], [3.0], [7.0]]), np.array(["a", "b", "b", "a"])
    >>> majority(keys, labels, 3, np.array([[0.0], [9.0]])), majority(keys, labels, 1)
    (array(['b', 'b'], dtype='<U1'), array(['b', 'a', 'b', 'b'], dtype='<U1'))
    """
    classes, codes = np.unique(labels, return_inverse=True)
    if queries is None:
        _, near = nearest_others(keys, np.arange(len(keys)), k)
    else:
        _, near = nearest_points(keys, queries, k)
    return classes[votes(codes[near])[:, -1]]


def votes(classes: NDArray) -> NDArray:
    """What the first k neighbors say, for every k, shape (n, k).

    The class with most votes wins; of several with as many, the first in sorted order, as in
    scikit-learn's KNeighborsClassifier.

    Parameters
    ----------
    classes : ndarray of int, shape (n, k)
        Classes of the neighbors of each point, nearest first.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.voting import votes
    >>> votes(np.array([[0, 1, 1, 0, 0]]))
    array([[0, 0, 1, 0, 0]])
    """
    every, candidates = np.arange(len(classes)), _places(classes)
    counts = np.zeros(classes.shape, dtype=np.int64)  # of votes for the candidates of each point
    leader, lead = classes[:, 0], np.zeros(len(classes), dtype=np.int64)
    winners = np.empty_like(classes)
    for k, (voted, candidate) in enumerate(zip(classes.T, candidates.T, strict=True)):
        counts[every, candidate] += 1
        gained = counts[every, candidate]
        # Only the class that gained can have got ahead.
        ahead = (gained > lead) | ((gained == lead) & (voted < leader))
        leader, lead = np.where(ahead, voted, leader), np.maximum(lead, gained)
        winners[:, k] = leader
    return winners


def _places(classes: NDArray) -> NDArray:
    """Position of each neighbor's class among the sorted ones of its point."""
    order = np.argsort(classes, axis=1)
    ordered = np.take_along_axis(classes, order, axis=1)
    place = np.zeros(classes.shape, dtype=np.intp)
    np.cumsum(np.diff(ordered, axis=1) > 0, axis=1, out=place[:, 1:])
    found = np.empty_like(place)
    np.put_along_axis(found, order, place, axis=1)
    return found
