"""Numbers behind the reliability of probabilities."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d

__all__ = ["Z", "check_outcomes", "equal_count_bins", "wilson_interval"]

Z = 1.959964  # of an interval that holds with a probability of 95 %


def wilson_interval(share: ArrayLike, n: ArrayLike) -> tuple[NDArray, NDArray]:
    """Where true shares lie with a probability of 95 %, by Wilson's score.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.numbers.calibration import wilson_interval
    >>> low, high = wilson_interval(np.array([0.0, 0.5]), np.array([10, 100]))
    >>> low.round(3), high.round(3)
    (array([0.   , 0.404]), array([0.278, 0.596]))
    """
    share, n = np.asarray(share), np.asarray(n)
    square = Z * Z / n
    middle = (share + square / 2) / (1 + square)
    reach = np.sqrt(square * share * (1 - share) + np.square(square) / 4) / (1 + square)
    return np.maximum(middle - reach, 0.0), np.minimum(middle + reach, 1.0)


def equal_count_bins(values: NDArray, n_bins: int) -> NDArray:
    """Bin of each value, from 0; equal values share one, and no bin is empty.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.numbers.calibration import equal_count_bins
    >>> equal_count_bins(np.array([0.1, 0.9, 0.1, 0.5, 0.1, 0.2]), 3)
    array([0, 1, 0, 1, 0, 0])
    """
    first = np.sort(values)[np.arange(1, n_bins) * len(values) // n_bins]  # of each bin but one
    codes = np.searchsorted(np.unique(first), values, side="right")
    return np.unique(codes, return_inverse=True)[1]


def check_outcomes(y_true: ArrayLike, y_prob: ArrayLike) -> tuple[NDArray, NDArray]:
    """What happened, as 0.0 and 1.0, and probabilities of it."""
    happened, said = column_or_1d(y_true), np.asarray(column_or_1d(y_prob), dtype=np.float64)
    check_consistent_length(happened, said)
    if not np.isin(happened, (0, 1)).all():
        strange = np.setdiff1d(happened, (0, 1))[:5]
        raise ValueError(f"y_true has values {strange!r}: 1 says that it happened, 0 that not.")
    if not len(said) or not ((said >= 0) & (said <= 1)).all():
        raise ValueError("y_prob must be probabilities, from 0 to 1, at least one.")
    return happened.astype(np.float64), said
