"""How a box is bounded: what each law is at most and at least between two squared distances.

A node of a tree stands for its points by their centroid where these bounds allow: the error is of
second order, at most half the largest curvature times Σ w |z - center|² (docs/equations/trees.md).
Squared distances are in the law's own units.
"""

import math

import numpy as np

from vicinal.compiling.decorators import kernel
from vicinal.neighborhood.shared_numbers import COMPACT, GAUSSIAN, STUDENT

from .arithmetic import at_least_power_of_two

_LN2 = math.log(2.0)


@kernel(inlined=True)
def has_support(law):
    """Whether a law is 0 from a squared distance of 1 on: then a node is within reach, or not."""
    return law.code == COMPACT


@kernel(inlined=True)
def log_slope(law, s):
    """log2 of -k'(s)."""
    if law.code == GAUSSIAN:
        return -s
    if law.code == STUDENT:
        return law.log_decay - (law.power + 1.0) * math.log2(1.0 + s)
    return np.nan


@kernel(inlined=True)
def largest_exponent(law, log_weight, s, unit, slope_unit):
    """log2 of what weights at s add to masses and slopes, each in its unit, the larger one.

    Units are exponents of two; one may be infinite: what it measures does not count.
    """
    if law.code == GAUSSIAN:  # its own slope
        return log_weight - s - min(unit, slope_unit)
    if law.code == STUDENT:
        mass = log_weight - law.power * math.log2(1.0 + s) - unit
        return max(mass, log_weight + log_slope(law, s) - slope_unit)
    return np.nan


@kernel(inlined=True)
def smallest_exponent(law, log_weight, s, unit, slope_unit):
    """log2 of what weights at s add to masses and slopes, each in its unit, the smaller one."""
    if law.code == GAUSSIAN:
        return log_weight - s - min(unit, slope_unit)
    if law.code == STUDENT:
        mass = log_weight - law.power * math.log2(1.0 + s) - unit
        return min(mass, log_weight + log_slope(law, s) - slope_unit)
    return np.nan


@kernel(inlined=True)
def centroid_error(law, log_spread, nearest, farthest, unit, slope_unit, room, moments):
    """Bound on what a centroid errs by; infinite where it is clearly more than 2^room.

    Of masses in units of 2^unit and of slopes in units of 2^slope_unit, the larger one; a unit may
    be infinite. With moments, also of the weighted differences from an output, over one plus their
    largest size.
    """
    if law.code == GAUSSIAN:  # its own slope
        return _gaussian_error(log_spread - min(unit, slope_unit), nearest, farthest, room, moments)
    if law.code == STUDENT:
        mass = _student_error(law.power, log_spread - unit, nearest, farthest, 0.0)
        spread, scale = log_spread + law.log_decay - slope_unit, law.scale if moments else 0.0
        return max(mass, _student_error(law.power + 1.0, spread, nearest, farthest, scale))
    return np.inf


@kernel(inlined=True)
def _gaussian_error(log_spread, nearest, farthest, room, moments):
    spread = log_spread - nearest
    if spread > room + 0.53:  # the curvature is at least 2 ln 2: log2 of half of it is -0.53
        return np.inf
    bend = max(_LN2, 2.0 * _LN2 * _LN2 * farthest - _LN2)
    if moments:
        reach = math.sqrt(farthest)
        bend = max(bend, reach * (bend + 2.0 * _LN2) / (1.0 + reach))
    return bend * at_least_power_of_two(spread)


@kernel(inlined=True)
def _student_error(power, log_spread, nearest, farthest, scale):
    """Of (1 + s)^-power; with a scale, also of its product with the difference from an output."""
    bend = power * max(1.0, 2.0 * (power + 1.0) * farthest / (1.0 + farthest) - 1.0)
    if scale > 0.0:
        reach = math.sqrt(farthest)
        bend = max(bend, reach * (bend + 2.0 * power) / (scale + reach))
    return bend * at_least_power_of_two(log_spread - (power + 1.0) * math.log2(1.0 + nearest))
