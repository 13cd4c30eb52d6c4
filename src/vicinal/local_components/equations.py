"""Local component analysis in equations (Le Roux and Bach, 2011).

A Parzen density with one Gaussian kernel covariance Σ, fitted by EM on the
leave-one-out likelihood. The E-step is the shared computation: with z = L x,
LᵀL = ½ Σ⁻¹, the weights λ_ij are the soft neighbor weights of the z, and the
scatter of the z gives that of the x.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from vicinal.neighborhood import GAUSSIAN, Engine, Pairs, Rows, scatter

__all__ = ["STRUCTURES", "ExpectedScatter", "Points", "expected_scatter", "log_density", "restrict"]

# What the kernel covariance may look like.
STRUCTURES = ("full", "diag", "spherical")


@dataclass(frozen=True)
class Points:
    """Points and how often each counts.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    weights : ndarray of shape (n,), optional
        Positive; weight k means k copies of the point.
    """

    X: NDArray
    weights: NDArray | None = None

    @property
    def total(self) -> float:
        """Number of points, copies counted."""
        return float(len(self.X)) if self.weights is None else float(self.weights.sum())


class ExpectedScatter(NamedTuple):
    """Mean leave-one-out log-likelihood, and C = (1/n) Σ_ij λ_ij (x_i - x_j)(x_i - x_j)ᵀ."""

    log_likelihood: float
    scatter: NDArray


def expected_scatter(points: Points, covariance: NDArray, engine: Engine) -> ExpectedScatter:
    """One E-step at a kernel covariance of shape (d, d)."""
    factor = np.linalg.cholesky(covariance)
    Z = _whiten(points.X, factor) / np.sqrt(2.0)
    pairs = Pairs.among(Z, key_log_weights=_log_weights(points))
    rows = engine.rows(pairs, GAUSSIAN).finish()
    log_mass = _with_copies(rows, points)
    weights = np.ones(len(Z)) if points.weights is None else points.weights
    log_p = log_mass - np.log(points.total - 1.0) + _log_normalizer(factor)
    # Copies of the point itself take their share of λ, at distance 0.
    share = (weights * np.exp(rows.log_mass[0] - log_mass))[None, :]
    columns = engine.columns(pairs, GAUSSIAN, rows.log_slope, share)
    white = scatter(pairs, rows, share, columns, Z) * (2.0 / points.total)
    mean = float(weights @ log_p) / points.total
    return ExpectedScatter(mean, factor @ white @ factor.T)


def log_density(queries: NDArray, points: Points, covariance: NDArray, engine: Engine) -> NDArray:
    """log of (2π)^(-d/2) |Σ|^(-1/2) (1/n) Σ_j exp(-½ d²_Σ(x, x_j)), shape (n,)."""
    factor = np.linalg.cholesky(covariance)
    keys = _whiten(points.X, factor) / np.sqrt(2.0)
    pairs = Pairs(
        _whiten(queries, factor) / np.sqrt(2.0), keys, key_log_weights=_log_weights(points)
    )
    rows = engine.rows(pairs, GAUSSIAN, moments=False).finish()
    return rows.log_mass[0] - np.log(points.total) + _log_normalizer(factor)


def restrict(covariance: NDArray, structure: str) -> NDArray:
    """The covariance of that structure an M-step arrives at."""
    if structure == "full":
        return covariance
    variances = np.diag(covariance)
    if structure == "spherical":
        variances = np.full(len(variances), variances.mean())
    return np.diag(variances)


def _whiten(X: NDArray, factor: NDArray) -> NDArray:
    white = solve_triangular(factor, X.T.astype(np.float64, copy=False), lower=True).T
    return np.ascontiguousarray(white)


def _log_normalizer(factor: NDArray) -> float:
    """log of (2π)^(-d/2) |Σ|^(-1/2)."""
    return float(-0.5 * len(factor) * np.log(2.0 * np.pi) - np.log(np.diag(factor)).sum())


def _log_weights(points: Points) -> NDArray | None:
    return None if points.weights is None else np.log(points.weights)


def _with_copies(rows: Rows, points: Points) -> NDArray:
    """Log mass of the other points and of a point's own copies."""
    if points.weights is None:
        return rows.log_mass[0]
    with np.errstate(divide="ignore"):
        copies = np.log(np.maximum(points.weights - 1.0, 0.0))
    return np.logaddexp(rows.log_mass[0], copies)
