"""The elementwise work between two matrix products, in one sweep over a tile of distances."""

import numpy as np

from vicinal.compiling.decorators import kernel

from .arithmetic import in_wide_vectors
from .weights import rescale, weigh_column, weigh_row


@kernel()
def weigh_rows(law, s, key_weights, own, peak, mass, slope, factor):
    """Turn distances s (n, m) of queries to keys into weights, and add up mass and slope.

    `factor` (n,) receives what brings sums kept at the old peak to the new one.
    """
    in_wide_vectors()
    for i in range(s.shape[0]):
        if 0 <= own[i] < s.shape[1]:
            s[i, own[i]] = np.inf
        old_peak = s.dtype.type(peak[i])
        new_peak, more_mass, more_slope = weigh_row(law, s[i], key_weights, old_peak)
        factor[i] = rescale(old_peak, new_peak)
        peak[i] = new_peak
        mass[i] = factor[i] * mass[i] + more_mass
        slope[i] = factor[i] * slope[i] + more_slope


@kernel()
def weigh_columns(law, s, key_weights, log_slopes, coefficients, own, total):
    """Turn distances s (m, n) of keys to queries into C_ij, and add up their column sums."""
    in_wide_vectors()
    for j in range(s.shape[0]):
        if 0 <= own[j] < s.shape[1]:
            s[j, own[j]] = np.inf
        total[j] += weigh_column(law, s[j], log_slopes, coefficients, key_weights[j])
