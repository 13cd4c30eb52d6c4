"""Pairs as a classifier: those near enough coincide, and how near that is."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from vicinal.inputs.checks import check_choice, check_nonnegative, check_share
from vicinal.inputs.pairs import check_pair_labels
from vicinal.inputs.tensors import answers_in_kind
from vicinal.metric import MahalanobisMixin

__all__ = ["NONE_COINCIDE", "STRATEGIES", "PairClassifierMixin", "best_threshold", "even_distance"]

STRATEGIES = ("accuracy", "f_beta", "max_tpr", "max_tnr")

# A threshold that no distance is below.
NONE_COINCIDE = -1.0

# Shares are quotients of whole numbers: what is short of a rate by less was meant to reach it.
_ROUNDING = 1e-12


class PairClassifierMixin(MahalanobisMixin):
    """Predictions for pairs, by a threshold on their distance: for models that learn from pairs."""

    threshold_: float

    @answers_in_kind
    def predict_pairs(self, pairs: Any, X: ArrayLike | None = None) -> NDArray:
        """Predict whether the two points of each pair coincide.

        They do if their `pair_distance` is at most `threshold_`.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features), or of int, shape (n_pairs, 2)
            Two points per pair, or the row numbers of two rows of `X`.
        X : array-like of shape (n_samples, n_features), optional
            The points, if `pairs` holds row numbers.

        Returns
        -------
        ndarray of int, shape (n_pairs,)
            1 for pairs that coincide, 0 for all others.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import LatentCoincidence, sample_pairs
        >>> X, y = load_iris(return_X_y=True)
        >>> pairs, coincide = sample_pairs(y, 1000, random_state=0)
        >>> model = LatentCoincidence().fit_pairs(pairs, coincide, X)
        >>> model.predict_pairs([[X[0], X[1]], [X[0], X[100]]])
        array([1, 0])
        """
        distances = self.pair_distance(pairs, X).astype(np.float64)
        return (distances <= self.threshold_).astype(int)

    @answers_in_kind
    def score_pairs(self, pairs: Any, y: ArrayLike, X: ArrayLike | None = None) -> float:
        """Accuracy of `predict_pairs`: the share of pairs that it labels correctly.

        The accuracy depends on `threshold_`. For a score that does not, pass `pair_score` to
        ``sklearn.metrics.roc_auc_score``.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features), or of int, shape (n_pairs, 2)
            Two points per pair, or the row numbers of two rows of `X`.
        y : array-like of shape (n_pairs,)
            1 or True for pairs that coincide; 0, False or -1 for all others.
        X : array-like of shape (n_samples, n_features), optional
            The points, if `pairs` holds row numbers.

        Returns
        -------
        float
            Accuracy.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import LatentCoincidence, sample_pairs
        >>> X, y = load_iris(return_X_y=True)
        >>> pairs, coincide = sample_pairs(y, 1000, random_state=0)
        >>> model = LatentCoincidence().fit_pairs(pairs[:500], coincide[:500], X)
        >>> bool(model.score_pairs(pairs[500:], coincide[500:], X) > 0.85)
        True
        """
        predicted = self.predict_pairs(pairs, X)
        if not len(predicted):
            raise ValueError("pairs is empty: there is nothing to score.")
        return float((predicted == check_pair_labels(y, len(predicted), both=False)).mean())

    @answers_in_kind
    def calibrate_threshold(
        self,
        pairs: Any,
        y: ArrayLike,
        X: ArrayLike | None = None,
        *,
        strategy: str = "accuracy",
        beta: float = 1.0,
        min_rate: float | None = None,
    ) -> Self:
        """Set `threshold_` from labeled pairs, preferably pairs that the model was not trained on.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features), or of int, shape (n_pairs, 2)
            Two points per pair, or the row numbers of two rows of `X`.
        y : array-like of shape (n_pairs,)
            1 or True for pairs that coincide; 0, False or -1 for all others.
        X : array-like of shape (n_samples, n_features), optional
            The points, if `pairs` holds row numbers.
        strategy : {"accuracy", "f_beta", "max_tpr", "max_tnr"}, default="accuracy"
            What to maximize. "accuracy": the share of pairs labeled correctly. "f_beta": F_β, the
            weighted harmonic mean of precision and recall. "max_tpr": the true positive rate (share
            of coincident pairs that are recognized), with a true negative rate (share of other
            pairs that are recognized) of at least `min_rate`. "max_tnr": the true negative rate,
            with a true positive rate of at least `min_rate`.
        beta : float, default=1.0
            Weight of recall relative to precision. Only for "f_beta".
        min_rate : float, optional
            Minimum of the other rate, from 0 to 1. Required for "max_tpr" and "max_tnr".

        Returns
        -------
        self : estimator
            The estimator itself.

        Notes
        -----
        All thresholds that label these pairs differently are tried; equally distant pairs get the
        same label. Among equally good thresholds, the smallest is used, or for "max_tnr" the
        largest. It lies midway between two distances. If it is best that all pairs coincide, the
        threshold is twice the largest distance; if none, it is half the smallest distance, or
        negative if that is 0.

        The next `fit` or `fit_pairs` sets the threshold again.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import LatentCoincidence, sample_pairs
        >>> X, y = load_iris(return_X_y=True)
        >>> pairs, coincide = sample_pairs(y, 1000, random_state=0)
        >>> model = LatentCoincidence().fit_pairs(pairs[:500], coincide[:500], X)
        >>> model = model.calibrate_threshold(
        ...     pairs[500:], coincide[500:], X, strategy="max_tpr", min_rate=0.99
        ... )
        >>> together = model.predict_pairs(pairs[500:], X)
        >>> bool((together[coincide[500:] == 0] == 0).mean() >= 0.99)
        True
        """
        check_is_fitted(self)
        check_choice("strategy", strategy, STRATEGIES)
        check_nonnegative("beta", beta)
        _check_min_rate(min_rate, strategy)
        distances = self.pair_distance(pairs, X)
        coincide = check_pair_labels(y, len(distances))
        self.threshold_ = best_threshold(distances, coincide, strategy, beta, min_rate or 0.0)
        return self


def even_distance(p: int, sigma2: float) -> float:
    """Distance |W Δ| at which a pair coincides with probability ½; negative where at none."""
    c = 1.0 + 2.0 * sigma2
    squared = 2.0 * c * (np.log(2.0) - 0.5 * p * np.log(c))  # where q = log 2
    return float(np.sqrt(squared)) if squared >= 0 else NONE_COINCIDE


def best_threshold(
    distances: NDArray, coincide: NDArray, strategy: str, beta: float = 1.0, min_rate: float = 0.0
) -> float:
    """The threshold on distances that labels pairs best, by one of `STRATEGIES`.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.coincidence.pair_classifier import best_threshold
    >>> best_threshold(np.array([1.0, 2.0, 4.0]), np.array([True, True, False]), "accuracy")
    3.0
    """
    values, which = np.unique(distances.astype(np.float64), return_inverse=True)
    cuts = _cuts(values)
    # Of each cut: pairs at most so far apart that coincide, and that do not.
    found = np.append(0, np.cumsum(np.bincount(which[coincide], minlength=len(values))))
    wrong = np.append(0, np.cumsum(np.bincount(which[~coincide], minlength=len(values))))
    positives, negatives = found[-1], wrong[-1]
    if strategy == "accuracy":
        return float(cuts[np.argmax(found - wrong)])
    if strategy == "f_beta":
        scores = _f_beta(found, wrong, positives, beta)
        return float(cuts[np.argmax(scores >= scores.max() - _ROUNDING)])  # the first of the best
    tpr, tnr = found / positives, 1.0 - wrong / negatives
    if strategy == "max_tpr":  # the last cut with that rate, less what only loses by it
        allowed = np.flatnonzero(tnr >= min_rate - _ROUNDING)[-1]
        return float(cuts[np.searchsorted(found, found[allowed])])
    allowed = np.flatnonzero(tpr >= min_rate - _ROUNDING)[0]
    return float(cuts[np.searchsorted(wrong, wrong[allowed], side="right") - 1])


def _cuts(values: NDArray) -> NDArray:
    """A threshold below all distinct values in order, and one after each of them."""
    middles = 0.5 * values[:-1] + 0.5 * values[1:]
    middles = np.where(middles < values[1:], middles, values[:-1])  # neighbors among numbers
    below = 0.5 * values[0] if 0.5 * values[0] < values[0] else NONE_COINCIDE
    with np.errstate(over="ignore"):
        above = min(2.0 * values[-1], np.finfo(float).max)
    return np.concatenate([[below], middles, [above]])


def _f_beta(found: NDArray, wrong: NDArray, positives: int, beta: float) -> NDArray:
    """F_β of every cut: (1 + β²) found / (β² positives + found + wrong), 0 where nothing is."""
    share = np.hypot(1.0, beta) ** -2.0  # 1 / (1 + β²), for any β a number
    return found / ((1.0 - share) * positives + share * np.maximum(found + wrong, 1))


def _check_min_rate(min_rate: float | None, strategy: str) -> None:
    needed = strategy in ("max_tpr", "max_tnr")
    if needed and min_rate is None:
        raise ValueError(f"strategy={strategy!r} needs min_rate, a number from 0 to 1.")
    if min_rate is not None:
        check_share("min_rate", min_rate, ends=True)
        if not needed:
            raise ValueError(
                f"min_rate={min_rate!r} has no meaning with strategy={strategy!r}: leave it out, "
                'or use strategy="max_tpr" or "max_tnr".'
            )
