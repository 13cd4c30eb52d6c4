"""Nearest neighbors of the rows that a reader may choose, before and after."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vicinal.report.numbers.plane import sample
from vicinal.voting import nearest_others

__all__ = ["Neighbors", "nearest_of", "spread_sample"]


@dataclass(frozen=True)
class Neighbors:
    """Nearest neighbors of some rows, at one stage.

    Attributes
    ----------
    who : ndarray of int, shape (n_rows, k)
        The nearest other rows, the nearest first.
    distance : ndarray of shape (n_rows, k)
    """

    who: NDArray
    distance: NDArray


def nearest_of(rows: NDArray, points: NDArray, k: int) -> Neighbors:
    """The k nearest other points of some of the points.

    Parameters
    ----------
    rows : ndarray of int, shape (n_rows,)
    points : ndarray of shape (n, d)
    k : int

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.page.choosing import nearest_of
    >>> nearest_of(np.array([0, 3]), np.array([[0.0], [1.0], [3.0], [7.0]]), 2).who
    array([[1, 2],
           [2, 1]])
    """
    distance, who = nearest_others(points, rows, min(k, len(points) - 1))
    return Neighbors(who, distance)


def spread_sample(labels: NDArray | None, n: int, most: int) -> NDArray:
    """About `most` of n positions, sorted; every class keeps its share and at least one."""
    codes = np.zeros(n, dtype=int)
    if labels is not None:
        codes = np.unique(labels, return_inverse=True)[1].ravel()
    return np.sort(sample(codes, most))
