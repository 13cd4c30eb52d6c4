"""RegularizationDisplay: what folds said about penalties and about how soft neighborhoods are."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from vicinal.inputs.checks import check_choice
from vicinal.report.drawing.axes import draw_legend, frame
from vicinal.report.drawing.base import BaseDisplay
from vicinal.report.names import shortened
from vicinal.report.numbers.fitted import fitted_model, titled
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["RegularizationDisplay"]

_WHAT = {
    "accuracy": "share of held-back points labeled right",
    "log_likelihood": "mean log probability of their classes",
}


class RegularizationDisplay(BaseDisplay):
    """Held-out score of the map for each penalty, against the scale of the map.

    The larger the scale of a map, the fewer neighbors decide: on the left all points count, on the
    right the nearest. The chosen map and scale are marked; bars are standard errors. If lines lie
    within each other's bars, the choice depends on the likelihood, or on taste.

    Parameters
    ----------
    scales : array-like of shape (S,)
        Factors by which each map was made larger or smaller.
    scores : mapping of str to array-like of shape (S,)
        For each map, its score at these scales.
    errors : mapping of str to array-like of shape (S,), optional
        Standard errors of the scores.
    chosen : tuple of str and int, optional
        Name of the chosen map, and position of the chosen scale.
    score_name : str, default="score"
        Label of the score axis.
    title : str, optional
        Title of the plot.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure that contains the axes.
    lines_ : dict of str to matplotlib Line2D
        Scores of each map.
    chosen_ : matplotlib Line2D or None
        Marker of the choice.
    note_ : matplotlib Annotation or None
        The note below the plot.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from vicinal.report import RegularizationDisplay
    >>> scores = {"λ = 0.1": [0.7, 0.9], "λ = 1": [0.8, 0.7]}
    >>> display = RegularizationDisplay([0.5, 1.0], scores, chosen=("λ = 0.1", 1))
    >>> display = display.plot(ax=Figure().subplots())
    >>> display.chosen_.get_ydata().tolist()
    [0.9]
    """

    lines_: "dict[str, Line2D]"
    chosen_: "Line2D | None"

    def __init__(
        self,
        scales: ArrayLike,
        scores: Mapping[str, ArrayLike],
        errors: Mapping[str, ArrayLike] | None = None,
        chosen: tuple[str, int] | None = None,
        *,
        score_name: str = "score",
        title: str | None = None,
    ) -> None:
        self.scales = scales
        self.scores = scores
        self.errors = errors
        self.chosen = chosen
        self.score_name = score_name
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        score: str = "accuracy",
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "RegularizationDisplay":
        """Plot the cross-validation results of a fitted model.

        Parameters
        ----------
        estimator : fitted model with `path_`, or a pipeline that ends in one
            Fitted model.
        score : {"accuracy", "log_likelihood"}, default="accuracy"
            Score to plot.
        title : str, optional
            Title of the plot. None: the name of the model.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        RegularizationDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import NeighborhoodComponents
        >>> from vicinal.report import RegularizationDisplay
        >>> model = NeighborhoodComponents(2).fit(*load_iris(return_X_y=True))
        >>> display = RegularizationDisplay.from_estimator(model, ax=Figure().subplots())
        >>> len(display.lines_) == len(model.path_["regularization"])
        True
        """
        require_matplotlib("RegularizationDisplay.from_estimator")
        check_choice("score", score, tuple(_WHAT))
        path = _path_of(fitted_model(estimator))
        names = _names(path)
        row, column = path["chosen"]
        errors = None
        if score == "accuracy":
            errors = dict(zip(names, path["accuracy_error"], strict=True))
        display = cls(
            path["scale"],
            dict(zip(names, path[score], strict=True)),
            errors,
            (names[row], int(column)),
            score_name=_WHAT[score],
            title=titled(title, estimator),
        )
        return display.plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> "RegularizationDisplay":
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        RegularizationDisplay
            The display, with `ax_`, `figure_` and the artists set.
        """
        scales, scores = self._checked()
        ax = self._begin(ax)
        self.lines_, self.chosen_ = {}, None
        for index, (name, values) in enumerate(scores.items()):
            self._draw(index, name, scales, values)
        self._axes(scales)
        notes = ["ring: chosen"] * (self.chosen is not None)
        notes += ["bars: standard errors"] * (self.errors is not None)
        self._finish("; ".join(notes))
        return self

    def _checked(self) -> tuple[NDArray, dict[str, NDArray]]:
        """Sizes and scores as arrays of one length."""
        scales = np.asarray(self.scales, dtype=np.float64)
        if not self.scores:
            raise ValueError("scores is empty: give those of at least one map.")
        scores = {name: np.asarray(s, dtype=np.float64) for name, s in self.scores.items()}
        for name, values in scores.items():
            if values.shape != scales.shape:
                raise ValueError(
                    f"scores of {name!r} have shape {values.shape}, but scales has shape "
                    f"{scales.shape}: give one score for every scale."
                )
        return scales, scores

    def _draw(self, index: int, name: str, scales: NDArray, values: NDArray) -> None:
        from vicinal.report.drawing.colors import line_style

        color, marker = line_style(index)
        # Bars side by side rather than one over the other.
        x = scales * 10.0 ** (0.012 * (index - (len(self.scores) - 1) / 2))
        (self.lines_[name],) = self.ax_.plot(
            x, values, color=color, linewidth=1.4, marker=marker, markersize=4
        )
        self.lines_[name].set_label(shortened(name, 30))
        if self.errors is not None:
            bars = np.asarray(self.errors[name], dtype=np.float64)
            self.ax_.errorbar(x, values, bars, color=color, fmt="none", linewidth=0.8, capsize=2)
        if self.chosen is not None and self.chosen[0] == name:
            at = self.chosen[1]
            (self.chosen_,) = self.ax_.plot(
                x[[at]], values[[at]], "o", ms=11, markerfacecolor="none", color=color, zorder=4
            )

    def _axes(self, scales: NDArray) -> None:
        from matplotlib.ticker import NullLocator

        frame(self.ax_, open_=True)
        self.ax_.set_xscale("log")
        self.ax_.xaxis.set_minor_locator(NullLocator())
        self.ax_.set_xticks(scales, [f"{scale:.2g}" for scale in scales])
        self.ax_.set_xlabel("size of the map (small: soft neighborhoods)", fontsize=9)
        self.ax_.set_ylabel(shortened(self.score_name, 60), fontsize=9, parse_math=False)
        self._legend()

    def _legend(self) -> None:
        """In a strip of its own: lines may run all over the axes."""
        low, high = self.ax_.get_ylim()
        rows = (len(self.lines_) + 1) // 2
        self.ax_.set_ylim(low - 0.1 * rows * (high - low), high)
        draw_legend(self.ax_, handles=list(self.lines_.values()), loc="lower left", ncols=2)


def _path_of(model: BaseEstimator) -> dict[str, Any]:
    path = getattr(model, "path_", None)
    if path is None:
        raise ValueError(
            f"this {type(model).__name__} has tried nothing: fit it with regularization='auto', "
            "solver='auto' and three points or more of a class."
        )
    return path


def _names(path: Mapping[str, Any]) -> list[str]:
    """What each map is: its penalty, or the start."""
    starts = {
        "init": "start, nothing learned",
        "features": "features as they are",
        "discriminants": "linear discriminants",
    }
    return [
        starts[str(init)] if np.isnan(value) else f"λ = {value:.2g}"
        for init, value in zip(path["init"], path["regularization"], strict=True)
    ]
