"""ConvergenceDisplay: how fits went."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from vicinal.inputs.checks import check_choice
from vicinal.report.drawing.axes import draw_legend, frame, quiet_corner
from vicinal.report.drawing.base import BaseDisplay
from vicinal.report.names import shortened
from vicinal.report.numbers.fitted import fitted_model, titled
from vicinal.report.numbers.histories import (
    abscissa,
    check_history,
    kept_update,
    named_models,
    recorded_history,
    stride_of,
)
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["ConvergenceDisplay"]

_DASHED = (0, (4, 2))


class ConvergenceDisplay(BaseDisplay):
    """Objective and validation score after each update, for one or several fits.

    The update that was kept is marked. Objectives of different models have different meanings;
    those of one model with different parameters can be compared.

    Parameters
    ----------
    histories : mapping of str to mapping
        The `history_` of each fit: "objective" and, if available, "time" and "validation", arrays
        of the same length.
    kept : mapping of str to int, optional
        For each fit, the number of the update that was kept.
    title : str, optional
        Title of the plot.
    validation_apart : bool, default=False
        Whether the validation score is not comparable with the objective, and gets its own axis on
        the right.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure that contains the axes.
    lines_ : dict of str to matplotlib Line2D
        Objectives.
    validation_lines_ : dict of str to matplotlib Line2D
        Validation scores, for fits that have them.
    validation_ax_ : matplotlib Axes
        Axes of the validation scores; `ax_`, unless they have their own.
    kept_ : dict of str to matplotlib Line2D
        Markers of the updates that were kept.
    note_ : matplotlib Annotation or None
        The note below the plot.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from vicinal.report import ConvergenceDisplay
    >>> display = ConvergenceDisplay({"fit": {"objective": [0.1, 0.5, 0.6]}}, {"fit": 2})
    >>> display = display.plot(ax=Figure().subplots())
    >>> display.lines_["fit"].get_ydata().tolist()
    [0.1, 0.5, 0.6]
    """

    lines_: "dict[str, Line2D]"
    validation_lines_: "dict[str, Line2D]"
    validation_ax_: "Axes"
    kept_: "dict[str, Line2D]"

    def __init__(
        self,
        histories: Mapping[str, Mapping[str, ArrayLike]],
        kept: Mapping[str, int] | None = None,
        *,
        title: str | None = None,
        validation_apart: bool = False,
    ) -> None:
        self.histories = histories
        self.kept = kept
        self.title = title
        self.validation_apart = validation_apart

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        *,
        against: str = "update",
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "ConvergenceDisplay":
        """Plot the convergence of a fitted model.

        Parameters
        ----------
        estimator : fitted model with `history_`, or a pipeline that ends in one
            Fitted model.
        against : {"update", "time"}, default="update"
            Quantity on the horizontal axis.
        title : str, optional
            Title of the plot. None: the name of the model.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        ConvergenceDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import NeighborhoodComponents
        >>> from vicinal.report import ConvergenceDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> model = NeighborhoodComponents(n_components=2, regularization=0.01).fit(X, y)
        >>> display = ConvergenceDisplay.from_estimator(model, ax=Figure().subplots())
        >>> len(display.lines_["objective"].get_xdata()) == model.n_iter_ + 1
        True
        """
        named = titled(title, estimator)
        return cls.from_estimators({"objective": estimator}, against=against, title=named, ax=ax)

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, BaseEstimator] | Sequence[BaseEstimator],
        *,
        against: str = "update",
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "ConvergenceDisplay":
        """Plot the convergence of several fitted models.

        Parameters
        ----------
        estimators : mapping of str to fitted model, or sequence of fitted models
            Fitted models. Models in a sequence are named by their classes.
        against : {"update", "time"}, default="update"
            Quantity on the horizontal axis.
        title : str, optional
            Title of the plot.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        ConvergenceDisplay
        """
        require_matplotlib("ConvergenceDisplay.from_estimators")
        named = named_models(estimators)
        models = {name: fitted_model(estimator) for name, estimator in named.items()}
        histories = {name: recorded_history(model, name) for name, model in models.items()}
        display = cls(
            histories,
            {name: kept_update(model, histories[name]) for name, model in models.items()},
            title=title,
            # Its score is the share of rows labeled right, its objective a likelihood of pairs.
            validation_apart=any(hasattr(model, "pair_probability") for model in models.values()),
        )
        return display.plot(ax=ax, against=against)

    def plot(self, ax: "Axes | None" = None, *, against: str = "update") -> "ConvergenceDisplay":
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.
        against : {"update", "time"}, default="update"
            Quantity on the horizontal axis.

        Returns
        -------
        ConvergenceDisplay
            The display, with `ax_`, `figure_` and the artists set.
        """
        check_choice("against", against, ("update", "time"))
        if not self.histories:
            raise ValueError("histories is empty: give that of at least one fit.")
        histories = {name: check_history(name, h, against) for name, h in self.histories.items()}
        ax = self._begin(ax)
        self.lines_, self.validation_lines_, self.kept_ = {}, {}, {}
        has_validation = any("validation" in history for history in histories.values())
        apart = self.validation_apart and has_validation
        self.validation_ax_ = ax.twinx() if apart else ax
        for index, (name, history) in enumerate(histories.items()):
            self._draw(index, name, history, against)
        self._axes(ax, against, apart, has_validation)
        stride = stride_of(max(len(history["objective"]) for history in histories.values()))
        self._finish(
            "ring: the update that was kept" if self.kept_ else "",
            f"of every {stride} updates one is drawn" if stride > 1 else "",
        )
        return self

    def _draw(self, index: int, name: str, history: dict[str, NDArray], against: str) -> None:
        from vicinal.report.drawing.colors import LINES, line_style

        color, _ = line_style(index)
        objective, x = history["objective"], abscissa(history, against)
        drawn = slice(None, None, stride_of(len(x)))
        (self.lines_[name],) = self.ax_.plot(
            x[drawn], objective[drawn], color=color, linewidth=1.3, label=shortened(name, 30)
        )
        place, height = self.ax_, objective
        if "validation" in history:
            checked = np.flatnonzero(np.isfinite(history["validation"]))
            place, height = self.validation_ax_, history["validation"]
            color = LINES[1] if len(self.histories) == 1 else color
            (self.validation_lines_[name],) = place.plot(
                x[checked], height[checked], color=color, linewidth=1.6, linestyle=_DASHED
            )
        at = (self.kept or {}).get(name)
        if at is not None:
            (self.kept_[name],) = place.plot(
                x[at], height[at], "o", markersize=9, markerfacecolor="none", color=color, zorder=4
            )

    def _axes(self, ax: "Axes", against: str, apart: bool, has_validation: bool) -> None:
        from matplotlib.ticker import MaxNLocator

        from vicinal.report.drawing.colors import edge

        frame(ax, open_=True)
        ax.ticklabel_format(useOffset=False)
        if against == "update":
            ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        ax.set_xlabel("update" if against == "update" else "seconds", fontsize=9)
        ax.set_ylabel("objective", fontsize=9)
        if apart:
            frame(self.validation_ax_, open_=True)
            self.validation_ax_.grid(visible=False)
            self.validation_ax_.spines["right"].set(visible=True, edgecolor=edge())
            self.validation_ax_.set_ylabel("validation score (dashed)", fontsize=9)
        if len(self.lines_) > 1 or (has_validation and not apart):
            self._legend(apart, has_validation)

    def _legend(self, apart: bool, has_validation: bool) -> None:
        """Draw the legend on the upper one of two axes, so that no line runs over it."""
        from matplotlib.lines import Line2D

        from vicinal.report.drawing.colors import LINES, ink

        handles = list(self.lines_.values())
        if has_validation and not apart:
            color = LINES[1] if len(handles) == 1 else ink(0.7)
            handles.append(Line2D([], [], color=color, linestyle=_DASHED, label="validation"))
        corner = {"loc": quiet_corner([self.ax_, self.validation_ax_])} if apart else {}
        draw_legend(self.validation_ax_, handles=handles, **corner)
