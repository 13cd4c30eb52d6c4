"""Units of the data: whether the numbers that models make of it are numbers, too."""

import numpy as np
from numpy.typing import NDArray

from vicinal.neighborhood.arrays import Array, dtype_of, is_numpy, namespace

__all__ = [
    "SQUARES",
    "VALUES",
    "check_projection",
    "check_reach",
    "check_spread",
    "check_units",
]

# Smallest spread and largest value, by bytes per number. Of models that bring points to units of
# their own first, the inverse of a value must be a number; of all others the square, summed over
# rows and features, and what is learned must be numbers of the precision of the points.
VALUES = {8: (1e-300, 1e300), 4: (1e-30, 1e30)}
SQUARES = {8: (1e-140, 1e140), 4: (1e-30, 1e30)}

# Coordinates whose squared distances are numbers in any realistic dimension.
_FARTHEST = 1e150

Bounds = dict[int, tuple[float, float]]


def check_units(X: NDArray, bounds: Bounds = SQUARES, name: str = "X") -> None:
    """Refuse points to learn from that are too large, or vary too little, to compute with."""
    check_reach(X, bounds, name)
    low, high = X.min(axis=0), X.max(axis=0)
    check_spread(float((high - low).max()), X.dtype, bounds, name)


def check_reach(X: NDArray, bounds: Bounds = SQUARES, name: str = "X") -> None:
    """Refuse values too large to compute with, in new points as in those to learn from."""
    largest, reach = bounds[X.dtype.itemsize][1], _reach(X)
    if reach > largest:
        raise ValueError(
            f"{name} reaches {reach:.3g}, too large for {X.dtype}: scale it below {largest:g}, for "
            "example with sklearn.preprocessing.StandardScaler."
        )


def check_spread(spread: float, dtype: np.dtype, bounds: Bounds, name: str = "X") -> None:
    """Refuse points whose differences are too small to compute with, but not 0."""
    smallest = bounds[dtype.itemsize][0]
    if 0 < spread < smallest:
        raise ValueError(
            f"{name} varies by {spread:.3g} at most, too little for {dtype}: scale it above "
            f"{smallest:g}, for example with sklearn.preprocessing.StandardScaler."
        )


def check_projection(X: Array, A: NDArray, *, squares: bool, name: str = "X") -> None:
    """Refuse new points that a map takes too far out for numbers, or for `squares` of distances."""
    longest = float(np.abs(A, dtype=np.float64).sum(axis=1).max(initial=0.0))
    dtype = np.result_type(X, A) if is_numpy(X) else dtype_of(X)
    largest = float(np.finfo(dtype).max) / 4.0
    largest = min(largest, _FARTHEST) if squares else largest
    reach = _reach(X)
    if reach * longest > largest:
        raise ValueError(
            f"{name} reaches {reach:.3g}, which the model maps to {reach * longest:.3g}, too far "
            f"out to compute with: drop such rows, or scale them below {largest / longest:.1g}."
        )


def _reach(X: Array) -> float:
    if is_numpy(X):
        return float(max(X.max(initial=0.0), -X.min(initial=0.0)))
    return float(namespace(X).maximum(X.max(), -X.min()))
