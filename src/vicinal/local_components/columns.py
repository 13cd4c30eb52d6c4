"""What columns tell about the least width of kernels: their spread, and how values were rounded."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vicinal.inputs.points import WeightedPoints
from vicinal.inputs.units import SQUARES
from vicinal.local_components.bounds import why_unbounded
from vicinal.local_components.equations import Form
from vicinal.local_components.frame import column_moments, global_moments
from vicinal.local_components.learning import Penalty

__all__ = [
    "LEAST_SHARE",
    "OF_CONSTANT",
    "Columns",
    "are_dependent",
    "rounding_variance",
    "without_width",
]

# A column is rounded if so many of its rows share their value with another one.
_MOST_SHARED = 0.9

# Variance of an even spread over an interval of length 1, which a rounded value stands for; the
# most that is taken for rounding, as a share of a column's variance.
_OF_INTERVAL, _MOST_ROUNDING = 1.0 / 12.0, 0.1

# Variance of kernels along a column that has none; the least that they have, as a share of that of
# each column, where likelihoods may rise for ever as kernels narrow.
OF_CONSTANT, LEAST_SHARE = 0.01, 1e-4

# Least eigenvalue of a correlation matrix below which columns are linearly dependent.
_DEPENDENT = 1e-12


@dataclass(frozen=True)
class Columns:
    """Columns of the points to learn from.

    Attributes
    ----------
    units : ndarray of shape (d,)
        Variances that ν = 1 adds to the kernels.
    least : ndarray of shape (d,)
        Variances that kernels have whatever ν is.
    is_constant, is_discrete : ndarray of bool, shape (d,)
        Whether there is one value only; whether there are several, and each of them repeats.
    are_dependent : bool
        Whether columns that are not constant are linearly dependent, if kernels have directions
        of their own.
    why_unbounded : str or None
        What leaves the likelihood without a bound, beside single columns.
    """

    units: NDArray
    least: NDArray
    is_constant: NDArray
    is_discrete: NDArray
    are_dependent: bool
    why_unbounded: str | None

    @classmethod
    def of(cls, points: WeightedPoints, form: Form) -> "Columns":
        """Look at all columns of different rows: that a row repeats says nothing about a column.

        Kernels of structures that mix columns ("spherical", "low_rank") have one unit for all.
        """
        variances = column_moments(points)[1]
        is_constant = without_width(variances, points.X.dtype)
        variances[is_constant] = 0.0
        looked = [_rounding(column) for column in points.X.T]
        rounding = np.minimum([step for step, _ in looked], _MOST_ROUNDING * variances)
        units, least = variances, np.where(is_constant, OF_CONSTANT, rounding)
        if form.structure not in ("full", "diag"):
            units = np.full(len(units), variances.mean() or 1.0)
            least = np.full(len(units), rounding.mean())
        is_discrete = np.array([each_repeats for _, each_repeats in looked]) & ~is_constant
        why = why_unbounded(points, form, 1 if form.gaussian else len(units))
        are_dependent = not form.is_diagonal and _dependent(points, is_constant)
        return cls(units, least, is_constant, is_discrete, are_dependent, why)

    @property
    def are_degenerate(self) -> bool:
        """Whether likelihoods may rise for ever as ν falls, whatever is held back."""
        return self.are_dependent or self.why_unbounded is not None

    def penalty(
        self, share: float, global_share: float | None = None, is_all: bool = False
    ) -> Penalty:
        """ν as a share of the variance of every column."""
        nu_global = share if global_share is None else global_share
        return Penalty(nu_global, share, self.units, self.least, is_all)


def _rounding(column: NDArray) -> tuple[float, bool]:
    """Variance of the rounding of a column, 0 if it is not rounded; whether every value repeats."""
    values, copies = np.unique(column.astype(np.float64), return_counts=True)
    if len(values) < 2 or copies[copies > 1].sum() < _MOST_SHARED * copies.sum():
        return 0.0, False
    return _OF_INTERVAL * float(np.diff(values).min()) ** 2, bool((copies > 1).all())


def rounding_variance(column: NDArray) -> float:
    """Variance of the rounding of a column, a tenth of its own at most; 0 if it is not rounded."""
    return min(_rounding(column)[0], _MOST_ROUNDING * float(np.var(column, dtype=np.float64)))


def without_width(variances: NDArray, dtype: np.dtype) -> NDArray:
    """Whether columns of such variances are constant, shape (d,)."""
    return variances <= np.square(SQUARES[dtype.itemsize][0])


def are_dependent(covariance: NDArray) -> bool:
    """Whether columns of a covariance, none of them constant, are linearly dependent."""
    widths = np.sqrt(np.diag(covariance))
    correlations = covariance / np.outer(widths, widths)
    return len(widths) > 0 and bool(np.linalg.eigvalsh(correlations)[0] <= _DEPENDENT)


def _dependent(points: WeightedPoints, is_constant: NDArray) -> bool:
    """Whether columns that vary are linearly dependent, as those of few rows always are."""
    if 0 < len(points) <= (~is_constant).sum():
        return True
    varying = np.ix_(~is_constant, ~is_constant)
    return are_dependent(global_moments(points)[1][varying])
