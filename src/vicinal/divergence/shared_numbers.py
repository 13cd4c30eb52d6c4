"""Numbers that compiled kernels share with the equations; nothing here loads a compiler."""

from typing import NamedTuple

from numpy.typing import NDArray

__all__ = [
    "BHATTACHARYYA",
    "BHATTACHARYYA_RIEMANN",
    "JEFFREYS_RIEMANN",
    "NEAR",
    "NEARLY_INSIDE",
    "NOTHING",
    "RIEMANN",
    "Frames",
]

# What a kernel for several divergences branches on.
BHATTACHARYYA, JEFFREYS_RIEMANN, BHATTACHARYYA_RIEMANN, RIEMANN = range(4)

# A direction less than this outside of a frame is looked at itself: 1 - Σ B² has lost its digits.
NEARLY_INSIDE = 1e-4

# Residuals of unit vectors below this are rounding errors.
NOTHING = 1e-14

# Where half the squared norm of K is below this, det H is so near 1 that its logarithm is not
# known well.
NEAR = 1e-2


class Frames(NamedTuple):
    """Gaussians, as kernels read them.

    Attributes
    ----------
    means : ndarray of shape (n, d)
    vectors : ndarray of shape (n, q, d)
        Orthonormal rows f_a.
    values : ndarray of shape (n, q)
        v_a.
    scales : ndarray of shape (n, q)
        1 / √v_a.
    rest : ndarray of shape (n,)
        ρ; of no meaning where q = d.
    """

    means: NDArray
    vectors: NDArray
    values: NDArray
    scales: NDArray
    rest: NDArray
