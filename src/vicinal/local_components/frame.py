"""Coordinates in which the data as a whole are white."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag, norm, qr, solve_triangular

from vicinal.fitting import CollapseError
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.bounds import constant_column
from vicinal.local_components.equations import Form
from vicinal.local_components.low_rank import LowRankShape, is_packed, leading_shape, unpacked
from vicinal.local_components.shapes import KernelShape
from vicinal.neighborhood import GAUSSIAN, Law, gram, times

__all__ = [
    "ColumnFrame",
    "GlobalFrame",
    "SpanFrame",
    "column_moments",
    "global_moments",
    "moments_for",
]


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
        if form.fits_a_span and len(points) < points.X.shape[1]:
            return SpanFrame.of_points(points, variance)
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

    def shape(self, form: Form, scatter: NDArray) -> KernelShape:
        """Where an M-step arrives, in the coordinates of the user."""
        if form.structure == "low_rank":
            return leading_shape(form.restrict(scatter), form.rank, None, self.factor, form.law)
        return form.shape(scatter).moved(self.factor)

    def adopted(self, form: Form, covariance: NDArray) -> NDArray:
        """A covariance of any structure, in the coordinates of the user, as this frame sees it."""
        return self.covariance_inward(form.adopt(covariance))

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


@dataclass(frozen=True)
class SpanFrame(GlobalFrame):
    """Mean, span and scale of rows, for kernels that are alike in all but a few directions.

    Attributes
    ----------
    mean : ndarray of shape (d,)
    factor : ndarray of shape (d, m)
        Orthonormal directions in which rows differ, times the one width of all columns.
    covariance : ndarray of shape (d,)
        Variances of the columns, ν_G included.
    white : ndarray of shape (m + 1, m + 1)
        The global covariance in the coordinates of this frame: those in the span, and the
        distance from it.
    """

    white: NDArray

    @classmethod
    def of_points(cls, points: WeightedPoints, variance: float | NDArray) -> "SpanFrame":
        """From points as the user has them; `variance` is added to that of every column."""
        mean, centered = _centered(points)
        variances = points.counts @ np.square(centered) / points.total + variance
        width = float(np.sqrt(_positive(variances.mean())))
        directions = qr(centered.T, mode="economic")[0]
        within = times(centered, directions)
        white = block_diag(gram(within, points.counts[:, None] * within) / points.total, 0.0)
        white += np.mean(variance) * np.eye(len(white))
        return cls(mean, width * directions, variances, white / width**2)

    @property
    def widths(self) -> NDArray:
        """Of the data along the columns, shape (d,)."""
        return np.sqrt(self.covariance)

    @property
    def width(self) -> float:
        """The one of all columns."""
        return float(norm(self.factor[:, 0]))

    @property
    def n_across(self) -> int:
        """Directions across the span."""
        return len(self.mean) - self.factor.shape[1]

    @property
    def log_volume(self) -> float:
        """log |det G|."""
        return len(self.mean) * float(np.log(self.width))

    def inward(self, points: WeightedPoints) -> WeightedPoints:
        """Points in the span, and how far from it they are, in units of the width."""
        centered = (points.X - self.mean).astype(np.float64, copy=False) / self.width
        directions = self.factor / self.width
        within = times(centered, directions)
        across = norm(centered - times(within, directions.T), axis=1)
        return points.at(np.column_stack([within, across]))

    def start(self, form: Form) -> NDArray:
        """The global covariance, of the structure of the kernels."""
        return form.restrict(self.white)

    def covariance_inward(self, covariance: NDArray) -> NDArray:
        """A covariance as this frame sees it; across the span its mean."""
        directions = self.factor / self.width
        if is_packed(covariance):
            old = unpacked(covariance)
            along = times(old.directions, directions)
            inner = gram(along, (old.variances - old.rest)[:, None] * along)
            inner += old.rest * np.eye(len(inner))
            trace = float((old.variances - old.rest).sum() + old.n_features * old.rest)
        elif covariance.ndim == 1:
            inner, trace = gram(directions, covariance[:, None] * directions), covariance.sum()
        else:
            inner, trace = directions.T @ covariance @ directions, np.trace(covariance)
        across = (trace - np.trace(inner)) / self.n_across
        return block_diag(inner, across) / self.width**2

    def variances_inward(self, variances: float | NDArray) -> NDArray:
        """One variance for all columns as a covariance in this frame."""
        return float(np.mean(variances)) / self.width**2 * np.eye(len(self.white))

    def covariance_outward(self, covariance: NDArray) -> NDArray:
        """A covariance in the coordinates of the user, in its compact form."""
        return self._outward(covariance, len(covariance) - 1).compact

    def shape(self, form: Form, scatter: NDArray) -> KernelShape:
        """Where an M-step arrives, in the coordinates of the user."""
        return self._outward(form.restrict(scatter), form.rank, form.law)

    def adopted(self, form: Form, covariance: NDArray) -> NDArray:
        """A covariance of any structure, in the coordinates of the user, as this frame sees it."""
        return self.covariance_inward(covariance)

    def _outward(self, covariance: NDArray, rank: int, law: Law = GAUSSIAN) -> LowRankShape:
        inner, across = covariance[:-1, :-1], self.width**2 * float(covariance[-1, -1])
        return leading_shape(inner, rank, across, self.factor, law)


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
