"""Kernels wide in a few directions and round across them: Σ = U diag(v) Uᵀ + ρ (I - U Uᵀ).

Where there are fewer rows than columns all that EM sees happens in the span of the rows. Across it
kernels have the variance ρ, however many directions that are: one coordinate stands for them all.
So no matrix of all pairs of columns is ever made (the paper's section 5).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from vicinal.local_components.shapes import KernelShape, Shape, precise
from vicinal.neighborhood import GAUSSIAN, Law, times
from vicinal.neighborhood.arrays import Array, beside

__all__ = [
    "LowRankShape",
    "SpanShape",
    "is_packed",
    "leading_shape",
    "low_rank_plus_scalar",
    "unpacked",
]


@dataclass(frozen=True)
class LowRankShape(KernelShape):
    """Kernels of covariance U diag(v) Uᵀ + ρ (I - U Uᵀ); F is its symmetric root.

    Attributes
    ----------
    directions : ndarray of shape (r, d)
        Uᵀ, orthonormal.
    variances : ndarray of shape (r,)
        v, along these.
    rest : float
        ρ, across them.
    law : Law
        Of the kernels.
    """

    directions: NDArray
    variances: NDArray
    rest: float
    law: Law = GAUSSIAN
    is_compact: ClassVar[bool] = True

    @property
    def factor(self) -> NDArray:  # type: ignore[override]
        """F, shape (d, d)."""
        return self._function(np.sqrt, np.eye(self.n_features))

    @property
    def inverse(self) -> NDArray:  # type: ignore[override]
        """Bᵀ, shape (d, d)."""
        return self.coordinates(np.eye(self.n_features))

    @property
    def n_features(self) -> int:
        """Number of coordinates."""
        return self.directions.shape[1]

    @property
    def n_local(self) -> int:  # type: ignore[override]
        """All directions are local."""
        return self.n_features

    @property
    def covariance(self) -> NDArray:
        """Σ, shape (d, d)."""
        return self._function(lambda variances: variances, np.eye(self.n_features))

    @property
    def compact(self) -> NDArray:
        """v and Uᵀ side by side, and below them ρ, shape (r + 1, d + 1)."""
        packed = np.zeros((len(self.variances) + 1, self.n_features + 1))
        packed[:, 0] = np.append(self.variances, self.rest)
        packed[:-1, 1:] = self.directions
        return packed

    @property
    def round_map(self) -> NDArray:
        """The symmetric root of Σ⁻¹, shape (d, d)."""
        return self.inverse

    @property
    def gaussian_map(self) -> NDArray:
        """No direction is Gaussian, shape (0, d)."""
        return np.empty((0, self.n_features))

    @property
    def stretches(self) -> NDArray:
        """A bound on the sums of |Bᵀ| along its rows."""
        narrowest = min(self.rest, self.variances.min(initial=np.inf))
        return np.sqrt(np.full((1, 1), self.n_features / narrowest))

    @property
    def log_volume(self) -> float:
        """log |det F|."""
        n_rest = self.n_features - len(self.variances)
        return 0.5 * float(np.log(self.variances).sum() + n_rest * np.log(self.rest))

    def coordinates(self, X: Array) -> Array:
        """Z = X B, shape (n, d)."""
        return self._function(lambda variances: 1.0 / np.sqrt(variances), X)

    def points(self, Z: Array) -> Array:
        """X = Z Fᵀ, shape (n, d)."""
        return self._function(np.sqrt, Z)

    def widened(self, factor: float) -> Self:
        """Kernels so many times as wide."""
        square = factor**2
        return replace(self, variances=square * self.variances, rest=square * self.rest)

    def _function(self, function: Callable[[NDArray], NDArray], X: Array) -> Array:
        """X f(Σ) for a function of the variances, shape (n, d)."""
        rows = precise(X)
        rest = float(function(np.array(self.rest)))
        along = times(rows, self.directions.T) * beside(rows, function(self.variances) - rest)
        return rest * rows + times(along, self.directions)


@dataclass(frozen=True)
class SpanShape(Shape):
    """A shape in the span of the rows, and in directions across it that are all alike.

    Attributes
    ----------
    factor : ndarray of shape (m + 1, m + 1)
        F in the span; the last coordinate is one of those across it.
    n_local : int
        m + 1: all directions are local.
    law : Law
        Of the kernels, which must not depend on the number of dimensions.
    n_more : int
        Directions across the span beyond that one.
    """

    n_more: int = field(default=0, kw_only=True)

    @property
    def log_volume(self) -> float:
        """log |det F|."""
        return super().log_volume + self.n_more * float(np.log(self.units[-1]))

    @property
    def log_normalizer(self) -> float:
        """log of |det B| times the constant of the law in as many dimensions as there are."""
        n = self.n_local + self.n_more
        return float(self.law.log_normalizer(n) - n * np.log(self.unit)) - self.log_volume

    def penalty(self, local: NDArray, wide: NDArray) -> float:
        """½ tr Σ⁻¹ N for what is added to the covariance."""
        across = self.n_more * local[-1, -1] / self.units[-1] ** 2
        return super().penalty(local, wide) + 0.5 * float(across)


def low_rank_plus_scalar(covariance: NDArray, rank: int, n_more: int) -> NDArray:
    """Leading directions as they are, one variance for all others (as in probabilistic PCA).

    The last coordinate stands for `n_more` others that are like it, and leads only if there are
    none of these.
    """
    if n_more == 0:
        variances, directions = eigh(covariance)
        n_rest = len(variances) - rank
        if n_rest > 1:
            variances[:n_rest] = variances[:n_rest].mean()
        return (directions * variances) @ directions.T
    variances, directions = eigh(covariance[:-1, :-1])
    n_rest = max(0, len(variances) - rank)
    across = (1 + n_more) * covariance[-1, -1]
    rest = (variances[:n_rest].sum() + across) / (n_rest + 1 + n_more)
    variances[:n_rest] = rest
    found = np.zeros_like(covariance)
    found[:-1, :-1] = (directions * variances) @ directions.T
    found[-1, -1] = rest
    return found


def leading_shape(
    covariance: NDArray, rank: int, rest: float | None, outer: NDArray, law: Law
) -> LowRankShape:
    """The shape of a covariance of few leading directions, moved by a multiple of an isometry.

    Parameters
    ----------
    covariance : ndarray of shape (m, m)
    rank : int
        Number of leading directions; all others have one variance.
    rest : float or None
        That of the others after the move. None: it is in the covariance.
    outer : ndarray of shape (d, m)
        Orthogonal columns of one length.
    law : Law
        Of the kernels.
    """
    variances, directions = eigh(covariance)
    width, n_lead = float(np.linalg.norm(outer[:, 0])), min(rank, len(variances))
    lead = times(outer, directions[:, len(variances) - n_lead :]).T / width
    if rest is None:
        rest = width**2 * float(variances[0])
    return LowRankShape(lead, width**2 * variances[len(variances) - n_lead :], rest, law)


def is_packed(covariance: NDArray) -> bool:
    """Whether a covariance is that of a `LowRankShape`, as it holds it."""
    return covariance.ndim == 2 and covariance.shape[0] != covariance.shape[1]


def unpacked(packed: NDArray) -> LowRankShape:
    """The shape of a covariance in its compact form."""
    return LowRankShape(packed[:-1, 1:], packed[:-1, 0], float(packed[-1, 0]))
