"""What was measured of one method: fold by fold, and row by row."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.report.comparing.intervals import corrected_error, share_interval

__all__ = ["FoldScores", "MethodScores", "log_losses"]


def log_losses(y: NDArray, probabilities: NDArray, classes: NDArray) -> NDArray:
    """-log of the probability that each row's own class was given.

    As in scikit-learn's log_loss, a probability of 0 counts as the smallest step of the type,
    2e-16 for float64.

    Parameters
    ----------
    y : ndarray of int, shape (n,)
    probabilities : ndarray of shape (n, n_known)
    classes : ndarray of int, shape (n_known,)
        Sorted; a class that is not among them has probability 0.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.comparing.scores import log_losses
    >>> log_losses(np.array([0, 2]), np.array([[0.5, 0.5], [0.0, 1.0]]), np.array([0, 1])).round(2)
    array([ 0.69, 36.04])
    """
    least = np.finfo(probabilities.dtype).eps
    own = (probabilities * np.equal.outer(y, classes)).sum(axis=1)
    return np.asarray(-np.log(np.clip(own, least, 1 - least)), dtype=np.float64)


@dataclass(frozen=True)
class FoldScores:
    """How a method did on the rows of one fold.

    Attributes
    ----------
    right : ndarray of bool, shape (n_test,)
    losses : ndarray of shape (n_test,)
        See `log_losses`.
    seconds : float
        Of the fit.
    n_components : int
    warned : dict of str to str
        The first warning of each kind.
    """

    right: NDArray
    losses: NDArray
    seconds: float
    n_components: int
    warned: dict[str, str]


@dataclass(frozen=True)
class MethodScores:
    """Results of one method on all folds.

    Attributes
    ----------
    label : str
        Name of the method, for display.
    name : str
        Name that selects the method.
    role : {"baseline", "peer", "vicinal"}
        A simple method, a metric learned by another library, or one learned by vicinal.
    is_small : bool
        Whether the method was limited to few dimensions.
    n_components : int
        Number of dimensions the method works in, the largest over the folds.
    fold_accuracies, fold_log_losses, fold_seconds : ndarray of shape (n_folds,)
        Accuracy, log-loss, and fit time on each fold.
    row_accuracies, row_log_losses : ndarray of shape (n_rows,)
        Mean for each row over the folds in which it was held out; NaN if it never was.
    test_ratio : float
        Number of test rows divided by the number of training rows.
    warnings : tuple of str
        Warnings of the fits, with the number of folds.
    """

    label: str
    name: str
    role: str
    is_small: bool
    n_components: int
    fold_accuracies: NDArray = field(repr=False)
    fold_log_losses: NDArray = field(repr=False)
    fold_seconds: NDArray = field(repr=False)
    row_accuracies: NDArray = field(repr=False)
    row_log_losses: NDArray = field(repr=False)
    test_ratio: float
    warnings: tuple[str, ...] = ()

    @classmethod
    def gathered(
        cls, found: Sequence[FoldScores], tests: Sequence[NDArray], n_rows: int, **about: Any
    ) -> "MethodScores":
        """All that was found of a method.

        Parameters
        ----------
        found : sequence of FoldScores
        tests : sequence of ndarray of int
            Positions of the rows that each fold was judged by.
        n_rows : int
        **about
            The other attributes.
        """
        places = np.concatenate(tests)
        return cls(
            n_components=max(one.n_components for one in found),
            fold_accuracies=np.array([one.right.mean() for one in found]),
            fold_log_losses=np.array([one.losses.mean() for one in found]),
            fold_seconds=np.array([one.seconds for one in found]),
            row_accuracies=_row_means(np.concatenate([one.right for one in found]), places, n_rows),
            row_log_losses=_row_means(
                np.concatenate([one.losses for one in found]), places, n_rows
            ),
            warnings=_warnings(found),
            **about,
        )

    @property
    def accuracy(self) -> float:
        """Mean over folds."""
        return float(self.fold_accuracies.mean())

    @property
    def accuracy_error(self) -> float:
        """Standard error of the accuracy, corrected for folds that share training rows."""
        return corrected_error(self.fold_accuracies, self.test_ratio)

    @property
    def accuracy_interval(self) -> tuple[float, float]:
        """95 % interval of the accuracy."""
        n_judged = int(np.isfinite(self.row_accuracies).sum())
        return share_interval(self.fold_accuracies, self.test_ratio, n_judged)

    @property
    def log_loss(self) -> float:
        """Mean over folds, in nats: the lower, the better the probabilities."""
        return float(self.fold_log_losses.mean())

    @property
    def log_loss_error(self) -> float:
        """Standard error of the log-loss, corrected for folds that share training rows."""
        return corrected_error(self.fold_log_losses, self.test_ratio)

    @property
    def seconds(self) -> float:
        """Time of a fit, the median over folds: the first one may have called a compiler."""
        return float(np.median(self.fold_seconds))


def _row_means(values: NDArray, places: NDArray, n_rows: int) -> NDArray:
    """Mean of the values at each place; NaN where there is none."""
    counts = np.bincount(places, minlength=n_rows)
    sums = np.bincount(places, weights=values, minlength=n_rows)
    return np.divide(sums, counts, out=np.full(n_rows, np.nan), where=counts > 0)


def _warnings(found: Sequence[FoldScores]) -> tuple[str, ...]:
    """The first warning of each kind, and in how many folds there was one of it."""
    first: dict[str, str] = {}
    for one in found:
        first = one.warned | first
    counts = {kind: sum(kind in one.warned for one in found) for kind in first}
    return tuple(
        f"{text} ({kind}, in {counts[kind]} of {len(found)} folds)" for kind, text in first.items()
    )
