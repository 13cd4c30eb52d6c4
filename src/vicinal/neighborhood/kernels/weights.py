"""One row of squared distances, turned in place into weights and summed: every law's own loops.

All compiled engines end here: `fused` and `tree` with a row they have just computed, `blocked`
with the rows of a matrix product. `law` is a `LawNumbers`; a code that is not known here gives
NaN, never another law's numbers.
"""

import numpy as np

from vicinal.compiling.decorators import kernel
from vicinal.neighborhood.shared_numbers import COMPACT, GAUSSIAN, STUDENT

from .arithmetic import in_wide_vectors, larger, log_of_one_plus, power_of_two


@kernel(inlined=True)
def weigh_row(law, s, key_weights, peak):
    """Weights -k'(s_j) u_j / 2^peak of one query's keys, in place of s.

    key_weights are log2 u_j, or u_j for a law with support.
    Returns the new peak, the mass and the slope.
    """
    if law.code == GAUSSIAN:
        return _weigh_row_gaussian(s, key_weights, peak)
    if law.code == COMPACT:
        return _weigh_row_compact(s, key_weights)
    if law.code == STUDENT:
        return _weigh_row_student(law, s, key_weights, peak)
    nothing = s.dtype.type(np.nan)
    return nothing, nothing, nothing


@kernel(inlined=True)
def _weigh_row_gaussian(s, log_weights, peak):
    in_wide_vectors()
    for j in range(s.size):
        exponent = log_weights[j] - s[j]
        s[j] = exponent
        peak = larger(peak, exponent)
    mass = s.dtype.type(0)
    for j in range(s.size):
        weight = power_of_two(s[j] - peak)
        s[j] = weight
        mass += weight
    return peak, mass, mass


@kernel(inlined=True)
def _weigh_row_compact(s, weights):
    in_wide_vectors()
    one, two, half = s.dtype.type(1), s.dtype.type(2), s.dtype.type(0.5)
    mass = slope = s.dtype.type(0)
    for j in range(s.size):
        inside = larger(one - s[j], s.dtype.type(0))
        weight = two * inside * weights[j]
        s[j] = weight
        slope += weight
        mass += half * weight * inside
    # Compact support cannot underflow: its sums have the constant peak 2^0.
    return s.dtype.type(0), mass, slope


@kernel(inlined=True)
def _weigh_row_student(law, s, log_weights, peak):
    in_wide_vectors()
    power, decay = s.dtype.type(law.power), s.dtype.type(law.decay)
    for j in range(s.size):
        logarithm = log_of_one_plus(s[j])
        s[j] = logarithm
        peak = larger(peak, log_weights[j] - power * logarithm)
    mass = slope = s.dtype.type(0)
    for j in range(s.size):
        share = power_of_two((log_weights[j] - power * s[j]) - peak)
        weight = decay * share * power_of_two(-s[j])
        s[j] = weight
        mass += share
        slope += weight
    return peak, mass, slope


@kernel(inlined=True)
def weigh_column(law, s, log_slopes, coefficients, key_weight):
    """Coefficients C_ij of one key j over queries i, in place of s; returns their sum.

    log_slopes are log2 Σ_j u_j (-k') of each query; for a law with support the
    coefficients come already divided by it.
    """
    if law.code == GAUSSIAN:
        return _weigh_column_gaussian(s, log_slopes, coefficients, key_weight)
    if law.code == COMPACT:
        return _weigh_column_compact(s, coefficients, key_weight)
    if law.code == STUDENT:
        return _weigh_column_student(law, s, log_slopes, coefficients, key_weight)
    return s.dtype.type(np.nan)


@kernel(inlined=True)
def _weigh_column_gaussian(s, log_slopes, coefficients, key_weight):
    in_wide_vectors()
    total = zero = s.dtype.type(0)
    for i in range(s.size):
        exponent = (key_weight - log_slopes[i]) - s[i]
        # A share is at most 1; rounding of large distances must not make it more.
        c = coefficients[i] * power_of_two(exponent if exponent < zero else zero)
        s[i] = c
        total += c
    return total


@kernel(inlined=True)
def _weigh_column_compact(s, coefficients, key_weight):
    in_wide_vectors()
    one, factor = s.dtype.type(1), s.dtype.type(2) * key_weight
    total = s.dtype.type(0)
    for i in range(s.size):
        c = coefficients[i] * (factor * larger(one - s[i], s.dtype.type(0)))
        s[i] = c
        total += c
    return total


@kernel(inlined=True)
def _weigh_column_student(law, s, log_slopes, coefficients, key_weight):
    in_wide_vectors()
    power = s.dtype.type(law.power + 1.0)
    start = key_weight + s.dtype.type(law.log_decay)
    total = zero = s.dtype.type(0)
    for i in range(s.size):
        exponent = (start - log_slopes[i]) - power * log_of_one_plus(s[i])
        c = coefficients[i] * power_of_two(exponent if exponent < zero else zero)
        s[i] = c
        total += c
    return total


@kernel(inlined=True)
def rescale(old_peak, new_peak):
    """Factor that brings a sum kept at the old peak to the new one; 0 for an empty sum."""
    return np.float64(power_of_two(old_peak - new_peak))
