"""ReliabilityDisplay: whether probabilities mean what they say."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, column_or_1d

from vicinal.inputs.checks import check_count
from vicinal.inputs.pairs import check_pair_labels
from vicinal.report.drawing.axes import frame
from vicinal.report.drawing.base import BaseDisplay
from vicinal.report.numbers.calibration import check_outcomes, equal_count_bins, wilson_interval
from vicinal.report.numbers.fitted import fitted_model, titled
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer, ErrorbarContainer
    from matplotlib.lines import Line2D

__all__ = ["ReliabilityDisplay"]

_TALLEST = 0.18  # height of the histogram, as a share of the picture's
_HISTOGRAM_BINS = 40


class ReliabilityDisplay(BaseDisplay):
    """Observed shares against predicted probabilities, in bins of equal count.

    Points on the diagonal mean that what is said to happen with a probability of
    30 % does happen in 30 % of the cases.

    Parameters
    ----------
    prob_true : array-like of shape (n_bins,)
        Share of cases in each bin in which it happened.
    prob_pred : array-like of shape (n_bins,)
        Mean probability predicted there.
    counts : array-like of int, shape (n_bins,)
        Number of cases.
    y_prob : array-like of shape (n_samples,), optional
        All predicted probabilities, for a histogram.
    brier_score : float, optional
        Mean squared difference of prediction and outcome.
    title : str, optional

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib ErrorbarContainer
        Observed shares with 95 % Wilson intervals.
    diagonal_ : matplotlib Line2D
    histogram_ : matplotlib BarContainer or None
        How often which probability was predicted, below.
    calibration_error_ : float
        Mean distance from the diagonal, bins weighed by their counts.
    note_ : matplotlib Annotation or None
        What is said below the picture.

    See Also
    --------
    vicinal.LatentCoincidence : Probabilities that two points belong together.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from vicinal.report import ReliabilityDisplay
    >>> display = ReliabilityDisplay([0.1, 0.6], [0.2, 0.5], [30, 10])
    >>> round(display.plot(ax=Figure().subplots()).calibration_error_, 3)
    0.1
    """

    line_: "ErrorbarContainer"
    diagonal_: "Line2D"
    histogram_: "BarContainer | None"
    calibration_error_: float

    def __init__(
        self,
        prob_true: ArrayLike,
        prob_pred: ArrayLike,
        counts: ArrayLike,
        *,
        y_prob: ArrayLike | None = None,
        brier_score: float | None = None,
        title: str | None = None,
    ) -> None:
        self.prob_true = prob_true
        self.prob_pred = prob_pred
        self.counts = counts
        self.y_prob = y_prob
        self.brier_score = brier_score
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        pairs: Any,
        y: ArrayLike,
        *,
        X: ArrayLike | None = None,
        base_rate: float | None = None,
        n_bins: int = 10,
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "ReliabilityDisplay":
        """Plot the reliability of a fitted model's probabilities of pairs.

        Parameters
        ----------
        estimator : fitted model with `pair_probability`
        pairs : array-like of shape (n_pairs, 2, n_features), or of int, shape (n_pairs, 2)
            Two points each, or the positions of two rows of `X`: pairs that the
            model has not learned from.
        y : array-like of shape (n_pairs,)
            1 or True for pairs that belong together; 0, False or -1 for others.
        X : array-like of shape (n_samples, n_features), optional
        base_rate : float, optional
            Share of pairs that belong together to expect. None: that of the pairs
            learned from.
        n_bins : int, default=10
        title : str, optional
            None: the name of the model.
        ax : matplotlib Axes, optional
            Where to draw. None: a new figure.

        Returns
        -------
        ReliabilityDisplay

        Examples
        --------
        >>> import numpy as np
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import LatentCoincidence
        >>> from vicinal.report import ReliabilityDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> pairs = np.random.default_rng(0).integers(len(X), size=(2000, 2))
        >>> same = y[pairs[:, 0]] == y[pairs[:, 1]]
        >>> model = LatentCoincidence().fit_pairs(pairs[:1000], same[:1000], X)
        >>> display = ReliabilityDisplay.from_estimator(
        ...     model, pairs[1000:], same[1000:], X=X, ax=Figure().subplots()
        ... )
        >>> display.calibration_error_ < 0.1
        True
        """
        require_matplotlib("ReliabilityDisplay.from_estimator")
        model = fitted_model(estimator)
        if not hasattr(model, "pair_probability"):
            raise TypeError(
                f"estimator is a {type(model).__name__} without pair_probability: use a "
                "LatentCoincidence, or from_predictions for probabilities of another kind."
            )
        if model is not estimator:
            raise TypeError(
                "estimator is a pipeline, and pairs do not pass through its steps: give its last "
                "step, and pairs of points as they reach it."
            )
        named = titled(title, estimator)
        expected = {} if base_rate is None else {"base_rate": base_rate}
        y_prob = model.pair_probability(pairs, X, **expected)
        coincide = check_pair_labels(y, len(y_prob), both=False)
        return cls.from_predictions(coincide, y_prob, n_bins=n_bins, title=named, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        *,
        n_bins: int = 10,
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "ReliabilityDisplay":
        """Plot the reliability of predicted probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            What happened: 0 or 1.
        y_prob : array-like of shape (n_samples,)
            Predicted probabilities of 1.
        n_bins : int, default=10
            Bins of equal count; fewer where many predictions are equal.
        title : str, optional
        ax : matplotlib Axes, optional
            Where to draw. None: a new figure.

        Returns
        -------
        ReliabilityDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from vicinal.report import ReliabilityDisplay
        >>> display = ReliabilityDisplay.from_predictions(
        ...     [0, 0, 1, 1], [0.1, 0.2, 0.6, 0.7], n_bins=2, ax=Figure().subplots()
        ... )
        >>> display.prob_true.tolist(), display.prob_pred.round(2).tolist()
        ([0.0, 1.0], [0.15, 0.65])
        """
        require_matplotlib("ReliabilityDisplay.from_predictions")
        happened, said = check_outcomes(y_true, y_prob)
        bins = equal_count_bins(said, check_count("n_bins", n_bins, 1))
        counts = np.bincount(bins)
        display = cls(
            np.bincount(bins, happened) / counts,
            np.bincount(bins, said) / counts,
            counts,
            y_prob=said,
            brier_score=float(np.mean(np.square(said - happened))),
            title=title,
        )
        return display.plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> "ReliabilityDisplay":
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. None: a new figure.

        Returns
        -------
        ReliabilityDisplay
            With `ax_`, `figure_` and the artists set.
        """
        observed, predicted, counts = (
            np.asarray(column_or_1d(a), dtype=np.float64)
            for a in (self.prob_true, self.prob_pred, self.counts)
        )
        check_consistent_length(observed, predicted, counts)
        if not (counts > 0).all():
            raise ValueError("counts must be positive: leave out bins without cases.")
        weights = counts / counts.sum()
        self.calibration_error_ = float(weights @ np.abs(observed - predicted))
        ax = self._begin(ax)
        self._draw(ax, observed, predicted, counts)
        frame(ax, open_=True)
        end = self._end(observed, predicted)
        ax.set(xlim=(-0.02 * end, 1.02 * end), ylim=(-0.02 * end, 1.02 * end), aspect="equal")
        ax.set_xlabel("predicted probability", fontsize=9)
        ax.set_ylabel("observed share, 95 % interval", fontsize=9)
        brier = "" if self.brier_score is None else f"Brier score {self.brier_score:.3f}, "
        self._finish(
            f"{brier}expected calibration error {self.calibration_error_:.3f}",
            f"{int(counts.sum()):,} predictions in {len(counts)} bins of equal count",
        )
        return self

    def _end(self, observed: NDArray, predicted: NDArray) -> float:
        """Up to where the axes go: not to 1 where all probabilities are small."""
        reach = 1.4 * float(max(observed.max(), predicted.max()))
        return float(np.ceil(10 * reach) / 10) if reach < 0.6 else 1.0

    def _draw(self, ax: "Axes", observed: NDArray, predicted: NDArray, counts: NDArray) -> None:
        from vicinal.report.drawing.colors import LINES, edge, ink

        (self.diagonal_,) = ax.plot(
            [0, 1], [0, 1], color=edge(0.6), linewidth=1, linestyle=(0, (4, 3))
        )
        self.histogram_ = None
        if self.y_prob is not None:
            end = self._end(observed, predicted)
            heights, edges = np.histogram(self.y_prob, _HISTOGRAM_BINS, (0.0, end))
            heights = end * _TALLEST * heights / (heights.max() or 1)
            self.histogram_ = ax.bar(
                edges[:-1], heights, np.diff(edges), align="edge", color=[ink(0.15)], linewidth=0
            )
        low, high = wilson_interval(observed, counts)
        self.line_ = ax.errorbar(
            predicted,
            observed,
            np.maximum([observed - low, high - observed], 0.0),
            fmt="o-",
            color=LINES[0],
            linewidth=1.4,
            markersize=5,
            elinewidth=1.2,
            capsize=2.5,
        )
