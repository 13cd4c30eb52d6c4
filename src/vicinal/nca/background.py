"""A Gaussian per class behind the kernels of compact support (thesis 4.6)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from vicinal.inputs.features import Features, Moments, class_covariances
from vicinal.neighborhood import gram, namespace, times
from vicinal.neighborhood.arrays import (
    Array,
    beside,
    in_dtype_of,
    is_chunked,
    is_numpy,
    on_host,
    placed_like,
)

__all__ = ["ClassGaussians"]

# A class covariance whose least variance is below this share of the mean variance of all classes
# counts as singular (too few members, constant or nearly dependent features)...
_SINGULAR = 1e-3
# ... and gets this share of it added: a density must not grow without bound along a direction
# in which a few points happen to agree.
_RIDGE = 0.1

# Relative to the mean projected variance: far below what it could change, above rounding.
_ROUNDING = 1e-14


@dataclass(frozen=True)
class ClassGaussians:
    """Mean and covariance of each class, before projection.

    Attributes
    ----------
    means : ndarray of shape (n_classes, D)
    covariances : ndarray of shape (n_classes, D, D)
    """

    means: NDArray
    covariances: NDArray

    @classmethod
    def of(
        cls,
        features: Features,
        labels: NDArray,
        known: Moments,
        weights: NDArray | None = None,
    ) -> "ClassGaussians":
        """Of the classes, with a ridge where one is too small or too flat for its own density."""
        covariances = class_covariances(features, labels, known, weights)
        variance = np.trace(known.within) / len(known.within) or 1.0
        flat = np.linalg.eigvalsh(covariances)[:, 0] <= _SINGULAR * variance
        ridge = np.where(flat, _RIDGE * variance, 0.0)
        return cls(known.means, covariances + ridge[:, None, None] * np.eye(len(known.within)))

    def under(self, A: NDArray, shift: NDArray | float = 0.0) -> "ClassGaussians":
        """Of the points under a map, and a shift after it."""
        return ClassGaussians(self.means @ A.T + shift, A @ self.covariances @ A.T)

    def log_densities(self, A: Array, X: Array) -> Array:
        """log N(A x | A μ_c, A Σ_c Aᵀ) (4.22), shape (n, n_classes)."""
        Z, A = _mapped(X, A), on_host(A)
        xp, columns = namespace(Z), []
        for mean, covariance in zip(self.means, self.covariances, strict=True):
            L = np.linalg.cholesky(_projected(A, covariance))
            solve = partial(solve_triangular, L, lower=True)
            white = _solved(solve, Z - beside(Z, A @ mean))
            log_volume = np.log(np.diag(L)).sum() + 0.5 * len(A) * np.log(2.0 * np.pi)
            columns.append(-0.5 * xp.square(white).sum(axis=0) - float(log_volume))
        return xp.stack(columns, axis=1)

    def gradient(self, A: Array, X: Array, responsibility: Array) -> Array:
        """Σ_ic T_ic ∂ log N(A x_i | c) / ∂A (4.23) for T of shape (n, n_classes)."""
        Z, A = _mapped(X, A), on_host(A)
        total: Array = 0.0
        for mean, covariance, T in zip(self.means, self.covariances, responsibility.T, strict=True):
            solve = partial(cho_solve, cho_factor(_projected(A, covariance), lower=True))
            V = _solved(solve, Z - beside(Z, A @ mean))  # (d, n), columns v_i
            TV = in_dtype_of(V, T) * V
            inner = TV @ V.T - T.sum() * placed_like(solve(np.eye(len(A))), V)
            total = total + inner @ placed_like(A @ covariance, V)
            moved = TV.sum(axis=1)[:, None] * placed_like(mean, V)
            pulls = gram(TV.T, X) if is_chunked(X) else in_dtype_of(X, TV) @ X
            total = total + (moved - pulls)
        return total


def _mapped(X: Array, A: Array) -> Array:
    """A x, shape (n, d), where the points are; of points on a cluster, on the host."""
    Z = times(X, in_dtype_of(X, A.T))
    return on_host(Z) if is_chunked(Z) else Z


def _solved(solve: Callable[[NDArray], NDArray], points: Array) -> Array:
    """S⁻¹ Zᵀ for a matrix on the host, shape (d, n); of tensors by the inverse, where they are."""
    if is_numpy(points):
        return solve(points.T)
    return in_dtype_of(points, solve(np.eye(points.shape[1]))) @ points.T


def _projected(A: NDArray, covariance: NDArray) -> NDArray:
    """A Σ Aᵀ; a trace of the identity keeps it invertible where rows of A are dependent."""
    S = A @ covariance @ A.T
    S.flat[:: len(S) + 1] += _ROUNDING * np.trace(S) / len(S) or 1.0
    return S
