"""Coordinates in which the data as a whole are white."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from vicinal.fitting import CollapseError
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.bounds import constant_column
from vicinal.local_components.equations import Form
from vicinal.neighborhood import gram, times

__all__ = ["ColumnFrame", "GlobalFrame", "column_moments", "global_moments", "moments_for"]


@dataclass(frozen=True)
class GlobalFrame:
    """Mean and scale of the data as a whole.

    Attributes
    ----------
    mean : ndarray of shape (d,)
    factor : ndarray of shape (d, d)
        Lower triangular G with G Gᵀ the global covariance, of a structure that
        keeps that of the kernels.
    covariance : ndarray of shape (d, d)
        All of it, ν_G included.
    """

    mean: NDArray
    factor: NDArray
    covariance: NDArray

    @classmethod
    def of(
        cls, points: WeightedPoints, form: Form, variance: float | NDArray = 0.0
    ) -> "GlobalFrame":
        """From points as the user has them; `variance` is added to that of every column."""
        return cls.of_moments(*moments_for(form, points), form, variance)

    @classmethod
    def of_moments(
        cls, mean: NDArray, covariance: NDArray, form: Form, variance: float | NDArray
    ) -> "GlobalFrame":
        """From mean and covariance of the data, the latter as the form holds it."""
        if form.is_diagonal:
            variances = covariance + variance
            return ColumnFrame(mean, np.sqrt(_positive(form.restrict(variances))), variances)
        covariance = covariance + variance * np.eye(len(mean))
        if form.structure == "full":
            return cls(mean, np.linalg.cholesky(_checked(covariance)), covariance)
        width = np.sqrt(_positive(np.diag(covariance).mean()))
        return cls(mean, width * np.eye(len(mean)), covariance)

    @property
    def widths(self) -> NDArray:
        """Of the data along the columns, shape (d,)."""
        return np.sqrt(np.diag(self.covariance))

    @cached_property
    def inverse(self) -> NDArray:
        """G⁻¹."""
        return solve_triangular(self.factor, np.eye(len(self.factor)), lower=True)

    @property
    def log_volume(self) -> float:
        """log |det G|."""
        return float(np.log(np.diag(self.factor)).sum())

    def inward(self, points: WeightedPoints) -> WeightedPoints:
        """Points in white coordinates."""
        centered = (points.X - self.mean).astype(np.float64, copy=False)
        return points.at(np.ascontiguousarray(times(centered, self.inverse.T)))

    def start(self, form: Form) -> NDArray:
        """The global covariance, of the structure of the kernels, in white coordinates."""
        if form.structure == "full":
            return np.eye(len(self.mean))  # exactly: whether a direction is Gaussian hangs on it
        return form.restrict(self.covariance_inward(self.covariance))

    def covariance_inward(self, covariance: NDArray) -> NDArray:
        """A covariance in white coordinates."""
        return self.inverse @ covariance @ self.inverse.T

    def variances_inward(self, variances: float | NDArray) -> NDArray:
        """Variances of the columns, or one for all, as a covariance in white coordinates."""
        return (self.inverse * variances) @ self.inverse.T

    def covariance_outward(self, covariance: NDArray) -> NDArray:
        """A covariance in the coordinates of the user."""
        return self.factor @ covariance @ self.factor.T


@dataclass(frozen=True)
class ColumnFrame(GlobalFrame):
    """Mean and scale of every column, for kernels of variances alone.

    Attributes
    ----------
    mean : ndarray of shape (d,)
    factor : ndarray of shape (d,)
        Widths of the columns, or one for all of them.
    covariance : ndarray of shape (d,)
        Variances of the columns, ν_G included. All covariances are held like this one.
    """

    @property
    def widths(self) -> NDArray:
        """Of the data along the columns, shape (d,)."""
        return np.sqrt(self.covariance)

    @property
    def log_volume(self) -> float:
        """log |det G|."""
        return float(np.log(self.factor).sum())

    def inward(self, points: WeightedPoints) -> WeightedPoints:
        """Points in units of the columns."""
        centered = (points.X - self.mean).astype(np.float64, copy=False)
        return points.at(np.ascontiguousarray(centered / self.factor))

    def covariance_inward(self, covariance: NDArray) -> NDArray:
        """Variances in units of the columns."""
        return covariance / self.factor / self.factor

    def variances_inward(self, variances: float | NDArray) -> NDArray:
        """Variances of the columns, or one for all, in units of the columns."""
        return self.covariance_inward(np.broadcast_to(variances, self.factor.shape))

    def covariance_outward(self, covariance: NDArray) -> NDArray:
        """Variances in the units of the user."""
        return covariance * self.factor * self.factor


def moments_for(form: Form, points: WeightedPoints) -> tuple[NDArray, NDArray]:
    """Mean and covariance as a form holds it, divided by n; variances of 0 are exactly 0."""
    return column_moments(points) if form.is_diagonal else global_moments(points)


def column_moments(points: WeightedPoints) -> tuple[NDArray, NDArray]:
    """Mean and variances of the columns, divided by n, copies counted."""
    mean, centered = _centered(points)
    return mean, points.counts @ np.square(centered) / points.total


def global_moments(points: WeightedPoints) -> tuple[NDArray, NDArray]:
    """Mean and covariance, divided by n, copies counted; variances of 0 are exactly 0."""
    mean, centered = _centered(points)
    weighted = centered if points.weights is None else points.weights[:, None] * centered
    return mean, gram(centered, weighted) / points.total


def _centered(points: WeightedPoints) -> tuple[NDArray, NDArray]:
    """The mean, and points less that; 0 in columns that have one value only."""
    first = points.X[0].astype(np.float64)
    apart = points.X - first  # a mean of equal numbers need not be that number
    mean = points.counts @ apart / points.total
    return first + mean, apart - mean


def _positive(variances: NDArray) -> NDArray:
    """Refuse columns without any variance."""
    if not np.all(variances > 0):
        raise constant_column("a column")
    return variances


def _checked(covariance: NDArray) -> NDArray:
    """Refuse directions without any variance."""
    scale = np.sqrt(_positive(np.diag(covariance)))
    if np.linalg.eigvalsh(covariance / np.outer(scale, scale))[0] <= 1e-12:
        raise CollapseError(
            "the columns of X are linearly dependent (or there are fewer rows than columns): a "
            "density has no width in some direction. Reduce the dimension first, or set "
            "regularization to a small positive variance."
        )
    return covariance
