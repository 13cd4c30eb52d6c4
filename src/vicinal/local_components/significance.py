"""Which modes of a density are more than chance: topological persistence, in standard errors.

A mode of height p, where the density is the sum of as much as n_eff points add, has a standard
error of p / √n_eff. Its floor is p less so many of these. Two modes are two clusters if the saddle
between them lies below the floors of both, or of other modes of their clusters.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vicinal.inputs.nearest import nearest
from vicinal.local_components.density import Density
from vicinal.neighborhood import Engine

__all__ = ["Boundary", "boundary_of", "log_floors", "merge"]

# Neighbors of a point across which a saddle may lie.
_NEIGHBORS = 10


@dataclass(frozen=True)
class Boundary:
    """Pairs of neighbors that climb to different modes.

    Attributes
    ----------
    modes : ndarray of int, shape (n_pairs, 2)
        Where the neighbors climb to.
    log_heights : ndarray of shape (n_pairs,)
        Logarithm of the lowest density on the way from one to the other.
    """

    modes: NDArray
    log_heights: NDArray


def boundary_of(
    density: Density, points: NDArray, coordinates: NDArray, modes: NDArray, engine: Engine
) -> Boundary:
    """All pairs of neighbors, in coordinates of the learned metric, on two sides of a saddle.

    The way between two points is as low as its ends and its middle are. All of these ways are
    ways over the saddle, which is at least as high as the highest of them.
    """
    n = len(points)
    neighbors, _ = nearest(coordinates, coordinates, min(_NEIGHBORS, n - 1), np.arange(n))
    one, other = np.repeat(np.arange(n), neighbors.shape[1]), neighbors.ravel()
    across = modes[one] != modes[other]
    one, other = one[across], other[across]
    if len(one) == 0:
        return Boundary(np.empty((0, 2), dtype=np.intp), np.empty(0))
    heights = density.log_density(points, engine)
    middle = density.log_density(0.5 * (points[one] + points[other]), engine)
    lowest = np.minimum(middle, np.minimum(heights[one], heights[other]))
    return Boundary(np.column_stack([modes[one], modes[other]]), lowest)


def log_floors(
    density: Density, centers: NDArray, significance: float, engine: Engine
) -> tuple[NDArray, NDArray]:
    """Logarithms of the heights of modes, and of what is left of them less standard errors."""
    log_heights = density.log_density(centers, engine)
    log_n_eff = 2.0 * log_heights - density.log_squares(centers, engine)
    left = 1.0 - significance * np.exp(-0.5 * log_n_eff)
    with np.errstate(divide="ignore"):
        return log_heights, log_heights + np.log(np.maximum(left, 0.0))


def merge(log_floors: NDArray, boundary: Boundary) -> NDArray:
    """The cluster of each mode: the number of one of its modes, shape (n_modes,).

    From the highest saddle down, two clusters are one unless both rise above it.
    """
    cluster, floors = np.arange(len(log_floors)), log_floors.copy()

    def root(mode: int) -> int:
        while cluster[mode] != mode:
            cluster[mode] = cluster[cluster[mode]]
            mode = cluster[mode]
        return mode

    for pair in np.argsort(-boundary.log_heights, kind="stable"):
        one, other = (root(mode) for mode in boundary.modes[pair])
        if one != other and min(floors[one], floors[other]) <= boundary.log_heights[pair]:
            kept, lost = min(one, other), max(one, other)
            cluster[lost], floors[kept] = kept, max(floors[one], floors[other])
    return np.array([root(mode) for mode in range(len(cluster))])
