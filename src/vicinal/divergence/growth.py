"""Choosing the size of the neighborhoods by the growth of balls (Brand 2003)."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["SIZES", "growing_size"]

# Sizes of neighborhoods tried: those of the paper (section 6).
SIZES = tuple(range(3, 26))

# Growth at a size is measured from so many times fewer points to so many times more.
_AROUND = 1.5


def reach(n_samples: int) -> int:
    """How many neighbors the rule looks at, of so many points."""
    return min(round(SIZES[-1] * _AROUND), n_samples - 1)


def growing_size(squared: NDArray) -> int:
    """The size of 3 to 25 at which balls grow fastest with the points they hold.

    With r_i(k) the distance of point i from its k-th neighbor, c(k) = d log r / d log k is 1/d for
    points of a d-dimensional tangent space; it is less where noise fills all dimensions, at small
    k, and where the manifold bends, at large k (Brand 2003, section 2). The largest c, of log r
    averaged over all points, is taken; points with twins among these neighbors are left out.

    Parameters
    ----------
    squared : ndarray of shape (n, k)
        Squared distances of every point from its nearest others, nearest first.
    """
    most = squared.shape[1]
    growths = {size: growth(squared, size) for size in SIZES if round(size * _AROUND) <= most}
    known = {size: value for size, value in growths.items() if np.isfinite(value)}
    if not known:  # twins only, or hardly any points
        return min(most, SIZES[0])
    return max(known, key=known.__getitem__)


def growth(squared: NDArray, size: int) -> float:
    """c: change of log r by change of log k around this size; NaN where all points have twins."""
    fewer, more = round(size / _AROUND), round(size * _AROUND)
    ends = squared[:, [fewer - 1, more - 1]]
    ends = ends[ends[:, 0] > 0]
    if not len(ends):
        return float("nan")
    logs = 0.5 * np.log(ends)
    return float((logs[:, 1] - logs[:, 0]).mean() / np.log(more / fewer))
