"""FeatureImportanceDisplay: how much each feature counts in a learned distance."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d

from vicinal.inputs.checks import check_count
from vicinal.report.drawing.axes import LONGEST, frame
from vicinal.report.drawing.base import BaseDisplay
from vicinal.report.names import shortened
from vicinal.report.numbers.features import check_names, feature_names_of, importances_of, spreads
from vicinal.report.numbers.fitted import entering, map_of, titled
from vicinal.report.numbers.units import percent, percent_tick
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer

__all__ = ["FeatureImportanceDisplay"]

_SPREAD = "M_jj × variance of the feature, share of the sum"
_DIAGONAL = "M_jj, share of the trace (scales of features not counted)"


class FeatureImportanceDisplay(BaseDisplay):
    """Bar chart of how much each feature counts in a learned distance.

    The importance of feature j is M_jj times its variance: half the mean squared distance between
    two points of the data that differ only in this feature.

    Parameters
    ----------
    importances : array-like of shape (n_features,)
        Importances, not negative; shown as shares of their sum.
    feature_names : sequence of str, optional
        Names of the features. None: x0, x1, ...
    title : str, optional
        Title of the plot.
    value_name : str, optional
        Label of the axis: what the shares are shares of.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure that contains the axes.
    bars_ : matplotlib BarContainer
        The bars, the most important feature first, at the top.
    text_ : list of matplotlib Text
        Shares in percent, at the ends of the bars.
    note_ : matplotlib Annotation or None
        The note below the plot.

    See Also
    --------
    MetricDisplay : The whole matrix M.

    Notes
    -----
    If features vary together, distances between points also contain products of features, of either
    sign: these are not attributed to features. If two features carry the same information, the fit
    may use either of them for it.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from vicinal.report import FeatureImportanceDisplay
    >>> display = FeatureImportanceDisplay([1.0, 3.0], ["length", "width"])
    >>> display = display.plot(ax=Figure().subplots())
    >>> [text.get_text() for text in display.text_]
    ['75 %', '25 %']
    """

    bars_: "BarContainer"
    text_: list[Any]

    def __init__(
        self,
        importances: ArrayLike,
        feature_names: Sequence[str] | None = None,
        *,
        title: str | None = None,
        value_name: str = "share",
    ) -> None:
        self.importances = importances
        self.feature_names = feature_names
        self.title = title
        self.value_name = value_name

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike | None = None,
        *,
        feature_names: Sequence[str] | None = None,
        max_features: int = 20,
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "FeatureImportanceDisplay":
        """Plot the importance of features in the metric of a fitted model.

        Parameters
        ----------
        estimator : fitted model with `components_`, or a pipeline that ends in one
            Fitted model. In a pipeline, features are those that reach the model.
        X : array-like of shape (n_samples, n_features), optional
            Data to take the variances from. None: importances are the diagonal of M alone, which
            depends on the units of the features.
        feature_names : sequence of str, optional
            Names of the features. None: those seen during `fit`.
        max_features : int, default=20
            Maximum number of bars.
        title : str, optional
            Title of the plot. None: the name of the model.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        FeatureImportanceDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import NeighborhoodComponents
        >>> from vicinal.report import FeatureImportanceDisplay
        >>> iris = load_iris(as_frame=True)
        >>> model = NeighborhoodComponents(n_components=2).fit(iris.data, iris.target)
        >>> display = FeatureImportanceDisplay.from_estimator(
        ...     model, iris.data, ax=Figure().subplots()
        ... )
        >>> display.ax_.get_yticklabels()[0].get_text()
        'petal length (cm)'
        """
        require_matplotlib("FeatureImportanceDisplay.from_estimator")
        A, scales, value_name = map_of(estimator), np.ones(1), _DIAGONAL
        names = feature_names_of(estimator, feature_names, A.shape[1])
        if X is not None:
            scales, value_name = spreads(entering(estimator, X)), _SPREAD
        named = titled(title, estimator)
        display = cls(importances_of(A, scales), names, title=named, value_name=value_name)
        return display.plot(ax=ax, max_features=max_features)

    def plot(
        self, ax: "Axes | None" = None, *, max_features: int = 20
    ) -> "FeatureImportanceDisplay":
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.
        max_features : int, default=20
            Maximum number of bars; the total of the other features is given below.

        Returns
        -------
        FeatureImportanceDisplay
            The display, with `ax_`, `figure_` and the artists set.
        """
        check_count("max_features", max_features, 1)
        shares = _shares(self.importances)
        names = check_names(self.feature_names, len(shares))
        shown = np.argsort(-shares, kind="stable")[:max_features]
        ax = self._begin(ax)
        self._draw(ax, shares[shown], [shortened(names[j], 30) for j in shown])
        self._finish(_others_note(shares, shown))
        return self

    def _draw(self, ax: "Axes", shares: NDArray, names: list[str]) -> None:
        from matplotlib.ticker import MaxNLocator

        from vicinal.report.drawing.colors import PALETTE

        places = np.arange(len(shares))
        self.bars_ = ax.barh(places, shares, height=0.7, color=PALETTE[0])
        size = 9 if len(names) <= 20 else 7
        ax.set_yticks(places, names, parse_math=False)
        ax.set_ylim(len(shares) - 0.4, -0.6)  # the first one above
        ax.set_xlim(0, 1.12 * (shares.max() or 1.0))  # room for the numbers
        frame(ax, open_=True)
        ax.grid(visible=False, axis="y")
        ax.tick_params(axis="y", length=0, labelsize=size)
        ax.xaxis.set_major_locator(MaxNLocator(5))
        ax.xaxis.set_major_formatter(percent_tick)
        ax.set_xlabel(shortened(self.value_name, LONGEST), fontsize=9, parse_math=False)
        self.text_ = ax.bar_label(
            self.bars_, [percent(share) for share in shares], padding=3, fontsize=size - 1
        )


def _shares(importances: ArrayLike) -> NDArray:
    values = np.asarray(column_or_1d(importances), dtype=np.float64)
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError("importances must be finite and not negative.")
    shares = values / (values.max() or 1.0)  # a sum of large numbers may be none
    return shares / (shares.sum() or 1.0)


def _others_note(shares: NDArray, shown: NDArray) -> str:
    n_others = len(shares) - len(shown)
    if n_others == 0:
        return ""
    left = max(1.0 - float(shares[shown].sum()), 0.0)
    return f"{n_others:,} other{'s' * (n_others > 1)}: {percent(left)} together"
