"""MetricDisplay: the matrix of a learned distance."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from vicinal.inputs.checks import check_count
from vicinal.report.drawing.axes import draw_colorbar, frame
from vicinal.report.drawing.base import BaseDisplay
from vicinal.report.names import shortened
from vicinal.report.numbers.features import check_names, feature_names_of, metric_of, spreads
from vicinal.report.numbers.fitted import entering, titled
from vicinal.report.numbers.units import percent
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.image import AxesImage
    from matplotlib.text import Text

__all__ = ["MetricDisplay"]

MAX_VALUES = 8  # features up to which the numbers themselves can be read in the cells


class MetricDisplay(BaseDisplay):
    """Heat map of the Mahalanobis matrix M of a learned distance √((x - x')ᵀ M (x - x')).

    A diagonal entry shows how much a difference in one feature counts; an off-diagonal entry, how
    differences in two features count together: positive if they add up, negative if they cancel.

    Parameters
    ----------
    matrix : array-like of shape (n_features, n_features)
        Symmetric matrix M.
    feature_names : sequence of str, optional
        Names of the features. None: x0, x1, ...
    title : str, optional
        Title of the plot.
    value_name : str, default="M"
        Label of the color bar: what the entries are.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure that contains the axes.
    im_ : matplotlib AxesImage
        The heat map.
    colorbar_ : matplotlib Colorbar
        The color bar.
    text_ : list of matplotlib Text
        Numbers in the cells, for up to 8 features.
    note_ : matplotlib Annotation or None
        The note below the plot.

    See Also
    --------
    FeatureImportanceDisplay : The diagonal as a bar chart.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from vicinal.report import MetricDisplay
    >>> display = MetricDisplay([[2.0, -1.0], [-1.0, 1.0]], ["length", "width"])
    >>> display = display.plot(ax=Figure().subplots())
    >>> [text.get_text() for text in display.text_]
    ['2', '−1', '−1', '1']
    """

    im_: "AxesImage"
    colorbar_: "Colorbar"
    text_: "list[Text]"

    def __init__(
        self,
        matrix: ArrayLike,
        feature_names: Sequence[str] | None = None,
        *,
        title: str | None = None,
        value_name: str = "M",
    ) -> None:
        self.matrix = matrix
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
        normalize: bool = False,
        max_features: int = 30,
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "MetricDisplay":
        """Plot the metric of a fitted model.

        Parameters
        ----------
        estimator : fitted model with `components_`, or a pipeline that ends in one
            Fitted model. In a pipeline, features are those that reach the model.
        X : array-like of shape (n_samples, n_features), optional
            Show the metric for features measured in their standard deviations in X, which makes
            features with different units comparable.
        feature_names : sequence of str, optional
            Names of the features. None: those seen during `fit`.
        normalize : bool, default=False
            Divide each entry by the square roots of the diagonal entries in its row and column: 1
            if two features have the same effect on distances, 0 if they have nothing to do with
            each other, -1 if they cancel.
        max_features : int, default=30
            Maximum number of features; those with the largest diagonal entries are shown.
        title : str, optional
            Title of the plot. None: the name of the model.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        MetricDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_wine
        >>> from vicinal import NeighborhoodComponents
        >>> from vicinal.report import MetricDisplay
        >>> wine = load_wine(as_frame=True)
        >>> model = NeighborhoodComponents(n_components=2).fit(wine.data, wine.target)
        >>> display = MetricDisplay.from_estimator(model, wine.data, ax=Figure().subplots())
        >>> display.ax_.get_yticklabels()[0].get_text()
        'alcohol'
        """
        require_matplotlib("MetricDisplay.from_estimator")
        scales, value_name = np.ones(1), "M"
        if X is not None:
            scales = spreads(entering(estimator, X))
            value_name = "M, in standard deviations of features"
        M, power = metric_of(estimator, scales)
        unit = f"; unit: 1e{power}" if power else ""
        names = feature_names_of(estimator, feature_names, len(M))
        display = cls(
            normalized(M) if normalize else M,
            names,
            title=titled(title, estimator),
            value_name="M, divided by roots of its diagonal" if normalize else value_name + unit,
        )
        return display.plot(ax=ax, max_features=max_features, order_by=np.diag(M))

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        max_features: int = 30,
        order_by: ArrayLike | None = None,
    ) -> "MetricDisplay":
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.
        max_features : int, default=30
            Maximum number of features to show.
        order_by : array-like of shape (n_features,), optional
            If there are more features, those with the largest values here are shown. None: the
            diagonal.

        Returns
        -------
        MetricDisplay
            The display, with `ax_`, `figure_` and the artists set.
        """
        matrix = _checked(self.matrix)
        names = [shortened(name, 16) for name in check_names(self.feature_names, len(matrix))]
        check_count("max_features", max_features, 1)
        sizes = np.diag(matrix) if order_by is None else np.asarray(order_by, dtype=float)
        shown = np.sort(np.argsort(-sizes, kind="stable")[:max_features])
        ax = self._begin(ax)
        self._draw(ax, matrix[np.ix_(shown, shown)], [names[j] for j in shown])
        self._finish(_shown_note(shown, sizes))
        return self

    def _draw(self, ax: "Axes", matrix: NDArray, names: list[str]) -> None:
        from vicinal.report.drawing.colors import DIVERGING

        reach = float(np.abs(matrix).max()) or 1.0
        self.im_ = ax.imshow(matrix, cmap=DIVERGING, vmin=-reach, vmax=reach)
        frame(ax)
        places, size = np.arange(len(names)), float(np.clip(110 / len(names), 6.5, 9))
        style: dict[str, Any] = {"fontsize": size, "parse_math": False}
        ax.set_xticks(places, names, rotation=90 if max(map(len, names)) > 3 else 0, **style)
        ax.set_yticks(places, names, **style)
        ax.tick_params(length=0)
        self.colorbar_ = draw_colorbar(ax, self.im_, self.value_name)
        self.text_ = _write_values(ax, matrix, reach) if len(matrix) <= MAX_VALUES else []


def normalized(M: NDArray) -> NDArray:
    """M_ij / √(M_ii M_jj); 0 where a feature does not count at all.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.displays.metric import normalized
    >>> normalized(np.array([[4.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]))
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0. ],
           [0. , 0. , 0. ]])
    """
    roots = np.sqrt(np.diag(M))
    return M / np.where(roots > 0, roots, np.inf) / np.where(roots > 0, roots, np.inf)[:, None]


def _checked(matrix: ArrayLike) -> NDArray:
    M = check_array(matrix, dtype=np.float64, input_name="matrix")
    if M.shape[0] != M.shape[1] or np.abs(M - M.T).max() > 1e-8 * np.abs(M).max():
        raise ValueError(f"matrix has shape {M.shape}: a symmetric, square one is needed.")
    return M


def _shown_note(shown: NDArray, sizes: NDArray) -> str:
    if len(shown) == len(sizes):
        return ""
    share = percent(float(sizes[shown].sum() / (sizes.sum() or 1.0)))
    return f"the {len(shown)} of {len(sizes)} features that count most; {share} of the trace of M"


def _write_values(ax: "Axes", matrix: NDArray, reach: float) -> "list[Text]":
    """Numbers in the cells, dark on light and light on dark."""
    return [
        ax.text(
            j,
            i,
            f"{value:.2g}".replace("-", "−"),
            ha="center",
            va="center",
            fontsize=8,
            color="white" if abs(value) > 0.6 * reach else "#222222",
        )
        for (i, j), value in np.ndenumerate(matrix)
    ]
