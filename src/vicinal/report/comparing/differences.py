"""Whether a learned metric is better than the best of some other methods."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.report.comparing.intervals import difference_interval
from vicinal.report.comparing.scores import MethodScores

__all__ = ["BETTER", "UNCLEAR", "WORSE", "Difference", "in_accuracy", "in_log_loss"]

BETTER, UNCLEAR, WORSE = "better", "no clear difference", "worse"


@dataclass(frozen=True)
class Difference:
    """A method compared with the best of several others, on the same rows of the same folds.

    Attributes
    ----------
    ours, other : MethodScores
        The method, and the best of the others.
    n_others : int
        Number of others that the best was chosen from.
    gain : float
        Improvement in accuracy, or in log-loss (where lower is better).
    low, high : float
        95 % interval of the gain; the upper end allows for the choice of the best.
    """

    ours: MethodScores
    other: MethodScores
    n_others: int
    gain: float
    low: float
    high: float

    @property
    def conclusion(self) -> str:
        """What the interval says: "better", "worse" or "no clear difference"."""
        if self.low > 0:
            return BETTER
        return WORSE if self.high < 0 else UNCLEAR

    def as_dict(self) -> dict[str, Any]:
        """Names and numbers, without those of folds and rows."""
        return {
            "ours": self.ours.label,
            "other": self.other.label,
            "n_others": self.n_others,
            "gain": self.gain,
            "low": self.low,
            "high": self.high,
            "conclusion": self.conclusion,
        }


def in_accuracy(ours: MethodScores, others: Sequence[MethodScores]) -> Difference:
    """How much more accurate a method is than the most accurate of some others."""
    best = max(others, key=lambda other: other.accuracy)
    folds = ours.fold_accuracies - best.fold_accuracies
    rows = ours.row_accuracies - best.row_accuracies
    return _difference(ours, best, len(others), folds, rows)


def in_log_loss(ours: MethodScores, others: Sequence[MethodScores]) -> Difference:
    """How much lower the log-loss of a method is than the lowest of some others."""
    best = min(others, key=lambda other: other.log_loss)
    folds = best.fold_log_losses - ours.fold_log_losses
    rows = best.row_log_losses - ours.row_log_losses
    return _difference(ours, best, len(others), folds, rows)


def _difference(
    ours: MethodScores, best: MethodScores, n_others: int, folds: NDArray, rows: NDArray
) -> Difference:
    judged = rows[np.isfinite(rows)]
    low, high = difference_interval(folds, judged, ours.test_ratio, n_others)
    return Difference(ours, best, n_others, float(folds.mean()), low, high)
