"""Two sets of Gaussians that are ready to be compared: in units that suit both, and at hand."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vicinal.divergence.gaussians import LocalGaussians
from vicinal.divergence.made import Gaussians, at_positions

__all__ = ["Ready", "at_hand", "common_unit"]

# Squares of distances, sums of divergences and of their squares stay numbers below this.
_LARGEST = 1e290


class Ready(NamedTuple):
    """Gaussians P and Q to compare, in units of `unit`; `within`: Q is P."""

    P: Gaussians
    Q: Gaussians
    within: bool
    unit: float


def common_unit(P: Gaussians, Q: Gaussians) -> float:
    """A power of two in which neither squares of distances nor variances are far from 1.

    So no product of two of them is no number, in whatever order a kernel multiplies.
    """
    (low, high), (other_low, other_high) = P.box(), Q.box()
    low, high = np.minimum(low, other_low), np.maximum(high, other_high)
    least = min(float(part.least_variances().min()) for part in (P, Q))
    most = max(float(part.largest_variances().max()) for part in (P, Q))
    farthest = max(float(np.square(high - low).sum()), most)
    if farthest / _LARGEST > least:
        raise ValueError(
            f"divergences would exceed {_LARGEST:g}: points are up to {np.sqrt(farthest):.1e} "
            f"apart, and the least local variance is {least:.1e}. Raise gamma, or scale X, for "
            "example with sklearn.preprocessing.StandardScaler."
        )
    return float(2.0 ** np.round(0.25 * (np.log2(least) + np.log2(farthest))))


def at_hand(
    ready: Ready, first: NDArray, second: NDArray
) -> tuple[LocalGaussians, LocalGaussians, NDArray, NDArray]:
    """Gaussians of some pairs, made where they are not stored, and their positions among these."""
    P, Q, within, _ = ready
    if within:
        made, first, second = at_positions(P, first, second)
        return made, made, first, second
    made, first = at_positions(P, first)
    others, second = at_positions(Q, second)
    return made, others, first, second
