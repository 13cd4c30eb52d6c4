"""Rows that occur more than once."""

import numpy as np
from numpy.typing import NDArray

from vicinal.inputs.points import WeightedPoints

__all__ = ["distinct_points"]


def distinct_points(points: WeightedPoints) -> tuple[WeightedPoints, NDArray]:
    """Every row once, with the number of its copies, and where each point is among them.

    Rows are sorted, so that neither the order of points nor the way copies are counted matters.

    Parameters
    ----------
    points : WeightedPoints

    Returns
    -------
    distinct : WeightedPoints
    which : ndarray of int, shape (n,)
    """
    rows, which = np.unique(points.X, axis=0, return_inverse=True)
    which = which.ravel()
    counts = np.bincount(which, points.counts)
    return WeightedPoints(rows, None if (counts == 1).all() else counts), which
