"""The elementwise sweeps of `kernels.products` in NumPy, for problems too small for a compiler.

Same names, arguments and results; slower per pair, but nothing to load.
"""

import numpy as np
from numpy.typing import NDArray

from vicinal.neighborhood.laws import GAUSSIAN

# Powers below 2^cut count as zero, as in the compiled kernels: subnormal numbers are slow.
_CUTS = {np.dtype(np.float64): -900.0, np.dtype(np.float32): -100.0}


def weigh_rows(
    law: int,
    s: NDArray,
    key_weights: NDArray,
    own: NDArray,
    peak: NDArray,
    mass: NDArray,
    slope: NDArray,
    factor: NDArray,
) -> None:
    """Turn distances of queries to keys into weights, and add up mass and slope."""
    _leave_out(s, own)
    if law == GAUSSIAN.code:
        np.subtract(key_weights, s, out=s)
        new_peak = np.maximum(peak, s.max(axis=1))
        s -= _finite(new_peak)[:, None].astype(s.dtype)
        _power_of_two(s)
        more_slope = more_mass = s.sum(axis=1)
    else:
        new_peak = np.zeros_like(peak)
        inside = _inside(s)
        np.multiply(2.0 * inside, key_weights, out=s)
        more_slope, more_mass = s.sum(axis=1), 0.5 * np.einsum("nm,nm->n", s, inside)
    factor[:] = np.exp2(peak - _finite(new_peak))
    peak[:] = new_peak
    mass[:] = factor * mass + more_mass
    slope[:] = factor * slope + more_slope


def weigh_columns(
    law: int,
    s: NDArray,
    key_weights: NDArray,
    log_slopes: NDArray,
    coefficients: NDArray,
    own: NDArray,
    total: NDArray,
) -> None:
    """Turn distances of keys to queries into C_ij, and add up their column sums."""
    _leave_out(s, own)
    if law == GAUSSIAN.code:
        np.subtract(key_weights[:, None] - log_slopes, s, out=s)
        # A share is at most 1; rounding of large distances must not make it more.
        _power_of_two(np.minimum(s, 0.0, out=s))
        s *= coefficients
    else:
        np.multiply(2.0 * key_weights[:, None] * _inside(s), coefficients, out=s)
    total += s.sum(axis=1)


def _leave_out(s: NDArray, own: NDArray) -> None:
    rows = np.flatnonzero((own >= 0) & (own < s.shape[1]))
    s[rows, own[rows]] = np.inf


def _inside(s: NDArray) -> NDArray:
    return np.maximum(1.0 - s, 0.0, dtype=s.dtype)


def _finite(peak: NDArray) -> NDArray:
    """Peaks to subtract: a row without any key yet has none."""
    return np.where(np.isneginf(peak), 0.0, peak)


def _power_of_two(y: NDArray) -> None:
    cut = _CUTS[y.dtype]
    far = y <= cut
    np.exp2(np.maximum(y, cut, out=y), out=y)
    y[far] = 0.0
