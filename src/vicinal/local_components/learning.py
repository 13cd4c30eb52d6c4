"""EM for the kernel covariance, in coordinates where the data as a whole are white.

There the start is the identity, units and (for full covariances) any affine
map of the data drop out, and log Σ is a space without bounds to accelerate in.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, solve_triangular

from vicinal.fitting import CollapseError
from vicinal.local_components.equations import Points, expected_scatter, restrict
from vicinal.neighborhood import Engine

__all__ = ["GlobalFrame", "LocalProblem"]

# Variance of the kernel, relative to that of the data, below which it is on its way to zero.
COLLAPSED = 1e-8


@dataclass(frozen=True)
class GlobalFrame:
    """Mean and scale of the data as a whole.

    Attributes
    ----------
    mean : ndarray of shape (d,)
    factor : ndarray of shape (d, d)
        Lower triangular G with G Gᵀ the global covariance, of the kernel's structure.
    """

    mean: NDArray
    factor: NDArray

    @classmethod
    def of(cls, points: Points, structure: str, regularization: float) -> "GlobalFrame":
        """From points; the penalty counts as variance in every direction."""
        mean = np.average(points.X, axis=0, weights=points.weights)
        centered = points.X - mean
        weighted = centered if points.weights is None else points.weights[:, None] * centered
        covariance = centered.T @ weighted / points.total
        covariance = restrict(covariance, structure) + regularization * np.eye(len(mean))
        return cls(mean, np.linalg.cholesky(_checked(covariance)))

    def inward(self, X: NDArray) -> NDArray:
        """Points in white coordinates."""
        centered = (X - self.mean).astype(np.float64, copy=False)
        return np.ascontiguousarray(solve_triangular(self.factor, centered.T, lower=True).T)

    def outward(self, covariance: NDArray) -> NDArray:
        """A covariance in the data's own coordinates."""
        return self.factor @ covariance @ self.factor.T


@dataclass(frozen=True)
class LocalProblem:
    """EM on white points.

    Attributes
    ----------
    points : Points
        White.
    frame : GlobalFrame
    structure : str
    regularization : float
        ν of the penalty (ν/2) tr Σ⁻¹ on the mean negative log-likelihood.
    engine : Engine
    """

    points: Points
    frame: GlobalFrame
    structure: str
    regularization: float
    engine: Engine

    def step(self, log_covariance: NDArray) -> tuple[float, NDArray]:
        """Penalized mean log-likelihood of exp(parameters), and log of the next covariance."""
        self._check_alive(log_covariance)
        covariance = _matrix(np.exp, log_covariance)
        likelihood, scatter = expected_scatter(self.points, covariance, self.engine)
        ridge = self._ridge()
        penalty = 0.5 * float(np.trace(np.linalg.solve(covariance, ridge)))
        log_volume = float(np.log(np.diag(self.frame.factor)).sum())
        following = restrict(scatter + ridge, self.structure)
        return likelihood - log_volume - penalty, _matrix(_safe_log, following)

    def covariance(self, log_covariance: NDArray) -> NDArray:
        """Kernel covariance in the data's own coordinates."""
        return self.frame.outward(_matrix(np.exp, log_covariance))

    def _ridge(self) -> NDArray:
        """ν I, as white coordinates see it; its M-step is Σ = C + ν I."""
        d = len(self.frame.factor)
        inverse = solve_triangular(self.frame.factor, np.eye(d), lower=True)
        return self.regularization * (inverse @ inverse.T)

    def _check_alive(self, log_covariance: NDArray) -> None:
        least, most = np.linalg.eigvalsh(log_covariance)[[0, -1]]
        if least > np.log(COLLAPSED) and most < -np.log(COLLAPSED):
            return
        n, d = self.points.X.shape
        why = "in some direction every point has a twin (a binary feature, repeated rows)"
        if n <= 2 * d - 2:
            why = f"{n} points in {d} dimensions are too few"
        raise CollapseError(
            f"the kernel covariance collapses, as its likelihood has no upper bound: {why}. Set "
            "regularization to a small positive variance, drop the feature, or reduce the "
            "dimension first."
        )


def _matrix(function: Callable[[NDArray], NDArray], symmetric: NDArray) -> NDArray:
    """A function of a symmetric matrix."""
    values, vectors = eigh(symmetric)
    return (vectors * function(values)) @ vectors.T


def _safe_log(values: NDArray) -> NDArray:
    # Rounding may leave a collapsed direction below 0; `_check_alive` will see it.
    return np.log(np.maximum(values, np.finfo(float).tiny))


def _checked(covariance: NDArray) -> NDArray:
    """Refuse directions without any variance."""
    variances = np.diag(covariance)
    if not (variances > 0).all():
        raise ValueError(
            f"column {int((variances <= 0).argmax())} of X is constant: a density has no width "
            "there. Drop it, or set regularization to a small positive variance."
        )
    scale = np.sqrt(variances)
    if np.linalg.eigvalsh(covariance / np.outer(scale, scale))[0] <= 1e-12:
        raise ValueError(
            "the columns of X are linearly dependent (or there are fewer rows than columns): a "
            "density has no width in some direction. Reduce the dimension first, or set "
            "regularization to a small positive variance."
        )
    return covariance
