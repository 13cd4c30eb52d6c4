"""How closeness falls off with distance: k(s) and -k'(s) of the squared distance s.

A law is chosen by value, not subclassed: the compiled kernels branch on ``code``
once per row of a tile.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

__all__ = ["COMPACT", "GAUSSIAN", "LAWS", "Law"]


@dataclass(frozen=True)
class Law:
    """A kernel of the squared distance.

    Attributes
    ----------
    name : str
        What users type.
    code : int
        What the compiled kernels branch on.
    mass : callable
        k(s), elementwise.
    slope : callable
        -k'(s), elementwise.
    log_normalizer : callable
        log of 1 / ∫ k(|z|²) dz in d dimensions: what makes the kernel a density.
    """

    name: str
    code: int
    mass: Callable[[NDArray], NDArray]
    slope: Callable[[NDArray], NDArray]
    log_normalizer: Callable[[int], float]


def _gaussian(s: NDArray) -> NDArray:
    return np.exp(-s)


def _gaussian_log_normalizer(d: int) -> float:
    return -0.5 * d * float(np.log(np.pi))


def _compact(s: NDArray) -> NDArray:
    return np.square(np.maximum(1.0 - s, 0.0))


def _compact_slope(s: NDArray) -> NDArray:
    return 2.0 * np.maximum(1.0 - s, 0.0)


def _compact_log_normalizer(d: int) -> float:
    """Thesis 4.15, whose 15/16 holds for d = 1 only: d(d+2)(d+4) Γ(d/2) / (16 π^(d/2))."""
    polynomial = np.log(d) + np.log(d + 2.0) + np.log(d + 4.0)
    return float(polynomial + gammaln(0.5 * d) - np.log(16.0) - 0.5 * d * np.log(np.pi))


# exp(-s) is its own slope (thesis 3.1).
GAUSSIAN = Law("gaussian", 0, _gaussian, _gaussian, _gaussian_log_normalizer)

# (1 - s)² inside the unit ball, 0 outside (thesis 4.15, 4.20).
COMPACT = Law("compact", 1, _compact, _compact_slope, _compact_log_normalizer)

LAWS = {law.name: law for law in (GAUSSIAN, COMPACT)}
