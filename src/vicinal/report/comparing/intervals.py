"""Means over folds: how sure they are, and how sure a difference of two of them is."""

from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

from vicinal.report.numbers.calibration import wilson_interval

__all__ = ["corrected_error", "difference_interval", "share_interval"]

_LEVEL = 0.95


def corrected_error(values: NDArray, test_ratio: float) -> float:
    """Standard error of a mean over folds that share training rows.

    The variance over J folds is multiplied by 1/J + n_test/n_train instead of 1/J, since
    what is learned from rows in common errs in common.

    Parameters
    ----------
    values : ndarray of shape (n_folds,)
    test_ratio : float
        n_test/n_train.

    Returns
    -------
    float
        NaN for a single fold.

    References
    ----------
    .. [1] C. Nadeau, Y. Bengio. "Inference for the generalization error". Machine Learning 52,
       2003.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.comparing.intervals import corrected_error
    >>> round(corrected_error(np.array([0.9, 1.0, 0.8, 0.9, 0.9]), 0.25), 4)
    0.0474
    """
    if len(values) < 2:
        return float("nan")
    return float(values.std(ddof=1)) * sqrt(1 / len(values) + test_ratio)


def share_interval(values: NDArray, test_ratio: float, n_rows: int) -> tuple[float, float]:
    """Where a share lies with a probability of 95 %, given its values in folds.

    By the corrected error and Student's t; but no narrower than Wilson's interval of as
    many rows, since a few folds may agree by accident, and surely do where all are right.

    Parameters
    ----------
    values : ndarray of shape (n_folds,)
    test_ratio : float
        n_test/n_train.
    n_rows : int
        Different rows that were judged.

    Returns
    -------
    low, high : float
    """
    mean = float(values.mean())
    by_rows = wilson_interval(mean, n_rows)
    reach = _reach(values, corrected_error(values, test_ratio))
    low, high = np.fmin(mean - reach, by_rows[0]), np.fmax(mean + reach, by_rows[1])
    return max(float(low), 0.0), min(float(high), 1.0)


def difference_interval(
    folds: NDArray, rows: NDArray, test_ratio: float, n_others: int = 1
) -> tuple[float, float]:
    """Where the mean of a gain lies with a probability of 95 %, the other being the best of some.

    The standard error is that of the folds, corrected, or that of the rows where it is
    larger. To be better than the best of several takes no more than to be better than
    each. But the best of them has been lucky, too: the upper end is that of `n_others`
    comparisons at once, after Bonferroni.

    Parameters
    ----------
    folds : ndarray of shape (n_folds,)
        Gains, fold by fold.
    rows : ndarray of shape (n_rows,)
        Gains, row by row.
    test_ratio : float
        n_test/n_train.
    n_others : int, default=1
        How many the other one was chosen from.

    Returns
    -------
    low, high : float
        NaN for a single fold.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.comparing.intervals import difference_interval
    >>> gains = np.array([0.02, 0.04, 0.03, 0.05, 0.01])
    >>> low, high = difference_interval(gains, np.zeros(100), 0.25)
    >>> round(low, 3), round(high, 3)
    (0.001, 0.059)
    """
    by_rows = float(rows.std(ddof=1)) / sqrt(len(rows)) if len(rows) > 1 else 0.0
    error = float(np.maximum(corrected_error(folds, test_ratio), by_rows))
    gain = float(folds.mean())
    return gain - _reach(folds, error), gain + _reach(folds, error, n_others)


def _reach(values: NDArray, error: float, n_comparisons: int = 1) -> float:
    """How far an interval goes to one side of a mean over folds."""
    tail = (1 - _LEVEL) / 2 / n_comparisons
    return float(t.isf(tail, max(len(values) - 1, 1))) * error
