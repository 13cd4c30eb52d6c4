"""A Gaussian per class behind the kernels of compact support (thesis 4.6)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from vicinal.inputs.features import Features, Moments, class_covariances
from vicinal.neighborhood import times

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

    def log_densities(self, A: NDArray, X: NDArray) -> NDArray:
        """log N(A x | A μ_c, A Σ_c Aᵀ) (4.22), shape (n, n_classes)."""
        Z = times(X, A.T.astype(X.dtype))
        columns = []
        for mean, covariance in zip(self.means, self.covariances, strict=True):
            L = np.linalg.cholesky(_projected(A, covariance))
            white = solve_triangular(L, (Z - A @ mean).T, lower=True)
            log_volume = np.log(np.diag(L)).sum() + 0.5 * len(A) * np.log(2.0 * np.pi)
            columns.append(-0.5 * np.square(white).sum(axis=0) - log_volume)
        return np.stack(columns, axis=1)

    def gradient(self, A: NDArray, X: NDArray, responsibility: NDArray) -> NDArray:
        """Σ_ic T_ic ∂ log N(A x_i | c) / ∂A (4.23) for T of shape (n, n_classes)."""
        Z = times(X, A.T.astype(X.dtype))
        total = np.zeros_like(A, dtype=np.float64)
        for mean, covariance, T in zip(self.means, self.covariances, responsibility.T, strict=True):
            factor = cho_factor(_projected(A, covariance), lower=True)
            V = cho_solve(factor, (Z - A @ mean).T)  # (d, n), columns v_i
            TV = T * V
            inner = TV @ V.T - T.sum() * cho_solve(factor, np.eye(len(A)))
            total += inner @ (A @ covariance)
            total += np.outer(TV.sum(axis=1), mean) - TV.astype(X.dtype) @ X
        return total


def _projected(A: NDArray, covariance: NDArray) -> NDArray:
    """A Σ Aᵀ; a trace of the identity keeps it invertible where rows of A are dependent."""
    S = A @ covariance @ A.T
    S.flat[:: len(S) + 1] += _ROUNDING * np.trace(S) / len(S) or 1.0
    return S
