"""ComparisonDisplay: how well several methods name classes, and how sure that is."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vicinal.report.drawing.axes import frame
from vicinal.report.drawing.base import BaseDisplay
from vicinal.report.names import shortened
from vicinal.report.numbers.units import percent_tick
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D
    from matplotlib.text import Text

    from vicinal.report.comparing import Comparison

__all__ = ["ComparisonDisplay"]


class ComparisonDisplay(BaseDisplay):
    """Accuracies of methods on the same folds, with confidence intervals, one line each.

    Parameters
    ----------
    fold_accuracies : mapping of str to array-like of shape (n_folds,)
        Accuracy of each method in each fold.
    intervals : mapping of str to pair of float
        95 % interval of the mean over folds.
    highlighted : sequence of str, default=()
        Methods to show in color.
    reference : str, optional
        Method whose accuracy is drawn as a line across all methods.
    title : str, optional
        Title of the plot.
    note : str, optional
        Note to show below the plot.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure that contains the axes.
    points_ : dict of str to matplotlib Line2D
        Means over folds.
    intervals_ : dict of str to matplotlib Line2D
        Intervals of the means.
    folds_ : dict of str to matplotlib PathCollection
        Single folds.
    text_ : list of matplotlib Text
        Means in percent, to the right of the plot.
    reference_ : matplotlib Line2D or None
        Line of the reference.
    note_ : matplotlib Annotation or None
        The note below the plot.

    See Also
    --------
    vicinal.report.compare : Compute the accuracies.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from vicinal.report import ComparisonDisplay
    >>> display = ComparisonDisplay({"raw": [0.8, 0.7]}, {"raw": (0.6, 0.9)})
    >>> display = display.plot(ax=Figure().subplots())
    >>> display.text_[0].get_text()
    '75.0 %'
    """

    points_: "dict[str, Line2D]"
    intervals_: "dict[str, Line2D]"
    folds_: "dict[str, PathCollection]"
    text_: "list[Text]"
    reference_: "Line2D | None"

    def __init__(
        self,
        fold_accuracies: Mapping[str, ArrayLike],
        intervals: Mapping[str, tuple[float, float]],
        *,
        highlighted: Sequence[str] = (),
        reference: str | None = None,
        title: str | None = None,
        note: str = "",
    ) -> None:
        self.fold_accuracies = fold_accuracies
        self.intervals = intervals
        self.highlighted = highlighted
        self.reference = reference
        self.title = title
        self.note = note

    @classmethod
    def from_comparison(
        cls,
        comparison: "Comparison",
        *,
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "ComparisonDisplay":
        """Plot the result of `vicinal.report.compare`.

        Parameters
        ----------
        comparison : Comparison
            Result to plot.
        title : str, optional
            Title of the plot. None: the verdict, up to its numbers.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        ComparisonDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> from vicinal.report import ComparisonDisplay, compare
        >>> X, y = load_iris(return_X_y=True)
        >>> result = compare(X, y, methods=["raw", "lda"], random_state=0)
        >>> display = ComparisonDisplay.from_comparison(result, ax=Figure().subplots())
        >>> list(display.points_)
        ['k-NN raw', 'k-NN after LDA', 'LDA']
        """
        require_matplotlib("ComparisonDisplay.from_comparison")
        difference = comparison.difference
        return cls(
            {one.label: one.fold_accuracies for one in comparison.methods},
            {one.label: one.accuracy_interval for one in comparison.methods},
            highlighted=[one.label for one in comparison.methods if one.role == "vicinal"],
            reference=None if difference is None else difference.other.label,
            title=comparison.verdict.partition(":")[0] if title is None else title,
            note=f"{comparison.headline}; in color: methods of vicinal",
        ).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> "ComparisonDisplay":
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        ComparisonDisplay
            The display, with `ax_`, `figure_` and the artists set.
        """
        shares = {name: _shares(name, values) for name, values in self.fold_accuracies.items()}
        if not shares:
            raise ValueError("fold_accuracies is empty: there is no method to show.")
        ax = self._begin(ax)
        self.points_, self.intervals_, self.folds_, self.text_ = {}, {}, {}, []
        self.reference_ = self._draw_reference(ax, shares)
        for place, (name, values) in enumerate(shares.items()):
            self._draw(ax, place, name, values)
        self._axes(ax, list(shares))
        said = "" if self.reference is None else f"; dashed: {shortened(self.reference, 40)}"
        self._finish(self.note, f"bars: 95 % intervals; small dots: folds{said}")
        return self

    def _draw_reference(self, ax: "Axes", shares: dict[str, NDArray]) -> "Line2D | None":
        from vicinal.report.drawing.colors import edge

        if self.reference is None:
            return None
        at = float(shares[self.reference].mean())
        return ax.axvline(at, color=edge(0.6), linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)

    def _draw(self, ax: "Axes", place: int, name: str, values: NDArray) -> None:
        from vicinal.report.drawing.colors import LINES, NEUTRAL, ink

        color = LINES[0] if name in self.highlighted else NEUTRAL
        offsets = np.linspace(-0.22, 0.22, len(values)) if len(values) > 1 else np.zeros(1)
        self.folds_[name] = ax.scatter(
            values, place + offsets, s=12, color=color, alpha=0.5, linewidths=0, zorder=2
        )
        (self.intervals_[name],) = ax.plot(
            self.intervals[name], [place, place], color=color, linewidth=2.2, zorder=3
        )
        (self.points_[name],) = ax.plot(
            [values.mean()], [place], "o", color=color, markersize=7, zorder=4
        )
        self.text_.append(
            ax.annotate(
                f"{values.mean():.1%}".replace("%", " %"),
                xy=(1, place),
                xycoords=ax.get_yaxis_transform(),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=9,
                color=ink(),
            )
        )

    def _axes(self, ax: "Axes", names: list[str]) -> None:
        from matplotlib.ticker import MaxNLocator

        frame(ax, open_=True)
        ax.grid(visible=False, axis="y")
        places = np.arange(len(names))
        ax.set_yticks(places, [shortened(name, 36) for name in names], parse_math=False)
        ax.set_ylim(len(names) - 0.4, -0.6)  # the first one above
        ax.tick_params(axis="y", length=0)
        ax.xaxis.set_major_locator(MaxNLocator(5))
        ax.xaxis.set_major_formatter(percent_tick)
        ax.set_xlabel("rows named right", fontsize=9)


def _shares(name: str, values: ArrayLike) -> NDArray:
    shares = np.asarray(values, dtype=np.float64)
    if shares.ndim != 1 or not len(shares) or not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError(
            f"fold_accuracies of {name!r} must be shares, from 0 to 1, one for each fold."
        )
    return shares
