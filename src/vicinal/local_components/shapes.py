"""Shapes of kernels: maps from round coordinates to points, held as compactly as they are.

Shapes are small and on the host; points may be tensors, and their coordinates stay where they are.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import norm, svd

from vicinal.neighborhood import (
    GAUSSIAN,
    Law,
    Pairs,
    Rows,
    diagonal_scatter,
    namespace,
    symmetric_scatter,
    times,
)
from vicinal.neighborhood.arrays import Array, beside, is_numpy, on_host

__all__ = ["DiagonalShape", "KernelShape", "Shape", "precise"]


def precise(X: Array) -> Array:
    """NumPy's points in float64; tensors in the precision that they were brought in."""
    return X.astype(np.float64, copy=False) if is_numpy(X) else X


class KernelShape(ABC):
    """The map x = F z from round coordinates to points, and how many of these are local.

    Attributes
    ----------
    factor : ndarray of shape (d, d)
        F, or for shapes that hold less a matrix that is made whenever it is asked for.
    inverse : ndarray of shape (d, d)
        Bᵀ = F⁻¹, local rows first; made when asked for as well.
    n_local : int
        Number of Parzen coordinates, which come first; the others are Gaussian.
    law : Law
        Of the kernels.
    is_compact : bool
        Whether it is held without a matrix of all pairs of features.
    """

    factor: NDArray
    inverse: NDArray
    n_local: int
    law: Law
    is_compact: ClassVar[bool] = False

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of coordinates."""

    @property
    @abstractmethod
    def covariance(self) -> NDArray:
        """F Fᵀ: of the kernels in local directions, of the data in Gaussian ones, shape (d, d)."""

    @property
    @abstractmethod
    def compact(self) -> NDArray:
        """The covariance, or where it is diagonal the variances alone, shape (d, d) or (d,)."""

    @property
    @abstractmethod
    def round_map(self) -> NDArray:
        """From points to round local coordinates, each as close to a feature as can be."""

    @property
    @abstractmethod
    def gaussian_map(self) -> NDArray:
        """Bᵀ_G, from points to Gaussian coordinates, shape (d - n_local, d)."""

    @property
    @abstractmethod
    def stretches(self) -> NDArray:
        """A matrix with the sums of |Bᵀ| along its rows: how far out coordinates may be."""

    @property
    @abstractmethod
    def log_volume(self) -> float:
        """log |det F|."""

    @abstractmethod
    def coordinates(self, X: Array) -> Array:
        """Z = X B, shape (n, d)."""

    @abstractmethod
    def points(self, Z: Array) -> Array:
        """X = Z Fᵀ, shape (n, d)."""

    def moved(self, outer: NDArray) -> "KernelShape":
        """The shape of points y = outer x."""
        return Shape(outer @ self.factor, self.n_local, self.law)

    @abstractmethod
    def widened(self, factor: float) -> Self:
        """Kernels so many times as wide; Gaussian directions stay as they are."""

    def scatter(self, pairs: Pairs, rows: Rows, shares: Array, column_totals: Array) -> NDArray:
        """Weighted scatter of differences of points, on the host, shape (d, d)."""
        outer = self.unit * self.factor
        C = outer @ on_host(symmetric_scatter(pairs, rows, shares, column_totals)) @ outer.T
        return 0.5 * (C + C.T)

    def penalty(self, local: NDArray, wide: NDArray) -> float:
        """½ tr B_Lᵀ N_L B_L + ½ tr B_Gᵀ N_G B_G for what is added to both covariances."""
        B, G = self.inverse[: self.n_local], self.inverse[self.n_local :]
        of_kernels = np.einsum("ij,jk,ik->", B, local, B)
        return 0.5 * float(of_kernels + np.einsum("ij,jk,ik->", G, wide, G))

    @property
    def log_normalizer(self) -> float:
        """log of |det B| (2π)^(-d/2), or of what the law has for its part of that power."""
        n_gaussian = self.n_features - self.n_local
        local = self.law.log_normalizer(self.n_local) - self.n_local * np.log(self.unit)
        return float(local) - 0.5 * n_gaussian * float(np.log(2.0 * np.pi)) - self.log_volume

    @property
    def unit(self) -> float:
        """What round coordinates are divided by for the law: √2 for exp(-s)."""
        return float(np.sqrt(self.law.squared_width))

    def for_law(self, X: Array) -> Array:
        """Round coordinates in which kernels are k(s), shape (n, d)."""
        return self.coordinates(X) / self.unit

    def log_gaussian(self, Z: Array) -> Array:
        """Exponent of the Gaussian part, -½ |B_Gᵀ (x - μ)|², shape (n,)."""
        return -0.5 * namespace(Z).square(Z[:, self.n_local :]).sum(axis=1)


@dataclass(frozen=True)
class Shape(KernelShape):
    """Any linear map.

    Attributes
    ----------
    factor : ndarray of shape (d, d)
        F = B⁻ᵀ for the paper's B = (B_L, B_G).
    n_local : int
        Number of Parzen coordinates, which come first; the others are Gaussian.
    law : Law
        Of the kernels.
    """

    factor: NDArray
    n_local: int
    law: Law = GAUSSIAN

    @classmethod
    def of(cls, covariance: NDArray, law: Law = GAUSSIAN) -> "Shape":
        """Kernels of that covariance (of a law, its scale matrix), without a Gaussian part."""
        return cls(np.linalg.cholesky(covariance), len(covariance), law)

    @property
    def n_features(self) -> int:
        """Number of coordinates."""
        return len(self.factor)

    @cached_property
    def units(self) -> NDArray:
        """Widths of the density along the features, √diag Σ, shape (d,)."""
        return norm(self.factor, axis=1)

    @cached_property
    def balanced(self) -> NDArray:
        """F with every feature in units of its own, shape (d, d): all that needs to be inverted."""
        return self.factor / self.units[:, None]

    @cached_property
    def inverse(self) -> NDArray:  # type: ignore[override]
        """Bᵀ: local rows first."""
        return np.linalg.inv(self.balanced) / self.units

    @property
    def covariance(self) -> NDArray:
        """F Fᵀ: of the kernels in local directions, of the data in Gaussian ones, shape (d, d)."""
        return self.factor @ self.factor.T

    @property
    def compact(self) -> NDArray:
        """The covariance, shape (d, d)."""
        return self.covariance

    @property
    def round_map(self) -> NDArray:
        """Bᵀ_L, or the symmetric root of Σ⁻¹ in features of width 1, shape (n_local, d).

        The latter where all directions are local: of all maps to round coordinates the one with
        each of them closest to its feature, whatever the units of features are. From F, as
        Σ = F Fᵀ has the square of its condition.
        """
        if self.n_local < len(self.factor):
            rows = self.inverse[: self.n_local]
            # Eigenvectors have any sign: that of the feature which counts most is to be positive.
            most = np.abs(rows * self.units).argmax(axis=1)
            return rows * np.sign(np.take_along_axis(rows, most[:, None], axis=1))
        directions, widths, _ = svd(self.balanced)
        return (directions / widths) @ directions.T / self.units

    @property
    def gaussian_map(self) -> NDArray:
        """Bᵀ_G, from points to Gaussian coordinates, shape (d - n_local, d)."""
        return self.inverse[self.n_local :]

    @property
    def stretches(self) -> NDArray:
        """Bᵀ itself."""
        return self.inverse

    @property
    def log_volume(self) -> float:
        """log |det F|."""
        return float(np.linalg.slogdet(self.balanced)[1] + np.log(self.units).sum())

    def coordinates(self, X: Array) -> Array:
        """Z = X B, shape (n, d)."""
        return times(precise(X), self.inverse.T)

    def points(self, Z: Array) -> Array:
        """X = Z Fᵀ, shape (n, d)."""
        return times(Z, self.factor.T)

    def moved(self, outer: NDArray) -> "Shape":
        """The shape of points y = outer x."""
        return replace(self, factor=outer @ self.factor)

    def widened(self, factor: float) -> Self:
        """Kernels so many times as wide; Gaussian directions stay as they are."""
        factors = np.where(np.arange(len(self.factor)) < self.n_local, factor, 1.0)
        return replace(self, factor=self.factor * factors)


@dataclass(frozen=True)
class DiagonalShape(KernelShape):
    """A width for every feature: no matrix of all pairs of features is ever needed.

    Attributes
    ----------
    widths : ndarray of shape (d,)
        √diag Σ, the diagonal of F.
    law : Law
        Of the kernels.
    """

    widths: NDArray
    law: Law = GAUSSIAN
    is_compact: ClassVar[bool] = True

    @property
    def factor(self) -> NDArray:  # type: ignore[override]
        """F, shape (d, d)."""
        return np.diag(self.widths)

    @property
    def inverse(self) -> NDArray:  # type: ignore[override]
        """Bᵀ, shape (d, d)."""
        return np.diag(1.0 / self.widths)

    @property
    def n_local(self) -> int:  # type: ignore[override]
        """All directions are local."""
        return len(self.widths)

    @property
    def n_features(self) -> int:
        """Number of coordinates."""
        return len(self.widths)

    @property
    def covariance(self) -> NDArray:
        """Σ, shape (d, d)."""
        return np.diag(self.compact)

    @property
    def compact(self) -> NDArray:
        """Variances of the kernels, shape (d,)."""
        return np.square(self.widths)

    @property
    def round_map(self) -> NDArray:
        """The root of Σ⁻¹, shape (d, d)."""
        return self.inverse

    @property
    def gaussian_map(self) -> NDArray:
        """No direction is Gaussian, shape (0, d)."""
        return np.empty((0, len(self.widths)))

    @property
    def stretches(self) -> NDArray:
        """The diagonal of Bᵀ, as a column."""
        return 1.0 / self.widths[:, None]

    @property
    def log_volume(self) -> float:
        """log |det F|."""
        return float(np.log(self.widths).sum())

    def coordinates(self, X: Array) -> Array:
        """Z = X B, shape (n, d)."""
        return precise(X) / beside(X, self.widths)

    def points(self, Z: Array) -> Array:
        """X = Z Fᵀ, shape (n, d)."""
        return Z * beside(Z, self.widths)

    def moved(self, outer: NDArray) -> "DiagonalShape":
        """The shape of points y = outer x, a factor for every feature, shape (d,)."""
        return replace(self, widths=outer * self.widths)

    def widened(self, factor: float) -> Self:
        """Kernels so many times as wide."""
        return replace(self, widths=factor * self.widths)

    def scatter(self, pairs: Pairs, rows: Rows, shares: Array, column_totals: Array) -> NDArray:
        """The diagonal of the weighted scatter of differences of points, shape (d,)."""
        outer = np.square(self.unit * self.widths)
        return outer * on_host(diagonal_scatter(pairs, rows, shares, column_totals))

    def penalty(self, local: NDArray, wide: NDArray) -> float:
        """½ tr Σ⁻¹ N for variances N that are added to those of the kernels, shape (d,)."""
        return 0.5 * float((local / self.compact).sum())
