"""The elementwise sweeps of `kernels.products` in NumPy, for small problems and for any law.

Names and results are those of the compiled sweeps; slower per pair, but nothing to load, and
whatever a law says about itself is enough. `law` comes with its number of dimensions d.
"""

import numpy as np
from numpy.typing import NDArray

from vicinal.neighborhood.laws import Law
from vicinal.neighborhood.shared_numbers import CUT_DOUBLE, CUT_SINGLE

# Powers below 2^cut count as zero, as in the compiled kernels: subnormal numbers are slow.
_CUTS: dict[np.dtype, float] = {
    np.dtype(np.float64): CUT_DOUBLE,
    np.dtype(np.float32): float(CUT_SINGLE),
}

LawIn = tuple[Law, int]


def weigh_rows(
    law_in: LawIn,
    s: NDArray,
    key_weights: NDArray,
    own: NDArray,
    peak: NDArray,
    mass: NDArray,
    slope: NDArray,
    factor: NDArray,
) -> None:
    """Turn distances of queries to keys into weights, and add up mass and slope."""
    law, d = law_in
    _leave_out(s, own)
    if law.has_support:
        new_peak = np.zeros_like(peak)
        more_mass = law.mass(s, d) @ key_weights
        np.multiply(law.slope(s, d), key_weights, out=s)
        more_slope = s.sum(axis=1)
    else:
        decay = law.decays(s, d)
        law.exponents(s, d, key_weights, out=s)
        new_peak = np.maximum(peak, s.max(axis=1))
        s -= _finite(new_peak)[:, None].astype(s.dtype)
        _power_of_two(s)
        more_slope = more_mass = s.sum(axis=1)
        if not _is_one(decay):
            s *= decay
            more_slope = s.sum(axis=1)
    factor[:] = np.exp2(peak - _finite(new_peak))
    peak[:] = new_peak
    mass[:] = factor * mass + more_mass
    slope[:] = factor * slope + more_slope


def weigh_columns(
    law_in: LawIn,
    s: NDArray,
    key_weights: NDArray,
    log_slopes: NDArray,
    coefficients: NDArray,
    own: NDArray,
    total: NDArray,
) -> None:
    """Turn distances of keys to queries into C_ij, and add up their column sums."""
    law, d = law_in
    _leave_out(s, own)
    if law.has_support:
        np.multiply(key_weights[:, None] * law.slope(s, d), coefficients, out=s)
    else:
        decay = law.decays(s, d)
        law.exponents(s, d, key_weights[:, None] - log_slopes, out=s)
        if not _is_one(decay):
            s += np.log2(decay)
        # A share is at most 1; rounding of large distances must not make it more.
        _power_of_two(np.minimum(s, 0.0, out=s))
        s *= coefficients
    total += s.sum(axis=1)


def _is_one(decay: NDArray | float) -> bool:
    """Whether slopes are masses, as of exp(-s): then there is nothing to multiply."""
    return np.ndim(decay) == 0 and decay == 1.0


def _leave_out(s: NDArray, own: NDArray) -> None:
    rows = np.flatnonzero((own >= 0) & (own < s.shape[1]))
    s[rows, own[rows]] = np.inf


def _finite(peak: NDArray) -> NDArray:
    """Peaks to subtract: a row without any key yet has none."""
    return np.where(np.isneginf(peak), 0.0, peak)


def _power_of_two(y: NDArray) -> None:
    cut = _CUTS[y.dtype]
    far = y <= cut
    np.exp2(np.maximum(y, cut, out=y), out=y)
    y[far] = 0.0
