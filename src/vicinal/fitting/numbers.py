"""Numbers of a fit: floats, or on a device arrays without dimensions whose value is to come.

To ask a device for a number is to wait until it has done all its work. A fit that runs there asks
for none of them until somebody needs it, and then for all of them at once.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from vicinal.neighborhood.arrays import Array, is_numpy, namespace, on_host

__all__ = ["Number", "average", "in_doubles", "norm", "numbers"]

# A float, or an array without dimensions.
Number = float | Array


def norm(array: Array) -> Number:
    """Root of the sum of squares of all entries."""
    if is_numpy(array):
        return float(np.linalg.norm(array))
    return namespace(array).linalg.vector_norm(array)


def numbers(values: Sequence[Number]) -> list[float]:
    """Floats; what is to come from a device in one transfer."""
    waiting: list[Any] = [value for value in values if not is_numpy(value)]
    if len({value.dtype for value in waiting}) > 1:  # what is stacked has one type
        waiting = [in_doubles(value) for value in waiting]
    stacked = in_doubles(namespace(waiting[0]).stack(waiting)) if waiting else np.empty(0)
    arrived = iter(on_host(stacked).tolist())
    return [float(value) if is_numpy(value) else next(arrived) for value in values]


def average(values: Array, weights: Array | None = None) -> Number:
    """Mean of values, each counted as often as its weight says."""
    if is_numpy(values):
        return float(np.average(values, weights=weights))
    if weights is None:
        return values.mean()
    return (values * weights).sum() / weights.sum()


def in_doubles(array: Array) -> Array:
    """The array in double precision."""
    if is_numpy(array):
        return np.asarray(array, dtype=np.float64)
    xp = namespace(array)
    return xp.astype(array, xp.float64, copy=False)
