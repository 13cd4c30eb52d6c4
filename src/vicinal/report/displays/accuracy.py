"""NeighborsAccuracyDisplay: how well neighbors name a class, for every number of them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from vicinal.inputs.checks import check_count
from vicinal.report.drawing.axes import draw_legend, frame
from vicinal.report.drawing.base import BaseDisplay
from vicinal.report.names import shortened
from vicinal.report.numbers.accuracies import accuracies_of, spaces_of, with_baselines
from vicinal.report.numbers.fitted import model_name
from vicinal.report.numbers.units import percent_tick
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D

__all__ = ["NeighborsAccuracyDisplay"]


class NeighborsAccuracyDisplay(BaseDisplay):
    """Accuracy of k nearest neighbors against k, for raw and learned metrics.

    Bands show one standard error in each direction.

    Parameters
    ----------
    accuracies : mapping of str to array-like of shape (n_ks,)
        For each metric, the accuracy of k nearest neighbors.
    n_neighbors : array-like of int, shape (n_ks,)
        The numbers of neighbors k.
    n_scored : int
        Number of points that were classified.
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
    lines_ : dict of str to matplotlib Line2D
        Accuracies.
    bands_ : dict of str to matplotlib PolyCollection
        Standard errors.
    note_ : matplotlib Annotation or None
        The note below the plot.

    Notes
    -----
    The class with the most votes is predicted; in case of ties the first class in sorted order, as
    in scikit-learn's KNeighborsClassifier.

    Leave-one-out accuracy on rows that the metric was trained on is optimistic: pass a test set if
    there is one.

    With more than 5000 points, a sample of them is classified, by neighbors among all points.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from vicinal.report import NeighborsAccuracyDisplay
    >>> display = NeighborsAccuracyDisplay({"raw": [0.8, 0.7]}, [1, 2], n_scored=100)
    >>> display = display.plot(ax=Figure().subplots())
    >>> display.lines_["raw"].get_ydata().tolist()
    [0.8, 0.7]
    """

    lines_: "dict[str, Line2D]"
    bands_: "dict[str, PolyCollection]"

    def __init__(
        self,
        accuracies: Mapping[str, ArrayLike],
        n_neighbors: ArrayLike,
        n_scored: int,
        *,
        title: str | None = None,
        note: str = "",
    ) -> None:
        self.accuracies = accuracies
        self.n_neighbors = n_neighbors
        self.n_scored = n_scored
        self.title = title
        self.note = note

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike,
        X_test: ArrayLike | None = None,
        y_test: ArrayLike | None = None,
        *,
        baselines: Sequence[str] = ("raw",),
        max_neighbors: int = 31,
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "NeighborsAccuracyDisplay":
        """Plot the accuracy of nearest neighbors under a fitted model and simple metrics.

        Parameters
        ----------
        estimator : fitted transformer or pipeline
            Fitted model.
        X : array-like of shape (n_samples, n_features)
            Points among which neighbors are searched for.
        y : array-like of shape (n_samples,)
            Class labels.
        X_test : array-like of shape (n_test, n_features), optional
            Points to classify. None: each row of X, by the other rows.
        y_test : array-like of shape (n_test,), optional
            Class labels of `X_test`.
        baselines : sequence of {"raw", "standardized", "pca"}, default=("raw",)
            Metrics to compare with: features as they are, standardized features, or as many
            principal components of these as the model has outputs.
        max_neighbors : int, default=31
            Largest number of neighbors k.
        title : str, optional
            Title of the plot.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        NeighborsAccuracyDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_wine
        >>> from vicinal import NeighborhoodComponents
        >>> from vicinal.report import NeighborsAccuracyDisplay
        >>> X, y = load_wine(return_X_y=True)
        >>> model = NeighborhoodComponents(n_components=2).fit(X[::2], y[::2])
        >>> display = NeighborsAccuracyDisplay.from_estimator(
        ...     model, X[::2], y[::2], X[1::2], y[1::2], ax=Figure().subplots()
        ... )
        >>> list(display.lines_)
        ['NeighborhoodComponents', 'raw']
        """
        require_matplotlib("NeighborsAccuracyDisplay.from_estimator")
        estimators = with_baselines(estimator, model_name(estimator), X, baselines)
        return cls.from_estimators(
            estimators, X, y, X_test, y_test, max_neighbors=max_neighbors, title=title, ax=ax
        )

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, BaseEstimator | None],
        X: ArrayLike,
        y: ArrayLike,
        X_test: ArrayLike | None = None,
        y_test: ArrayLike | None = None,
        *,
        max_neighbors: int = 31,
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "NeighborsAccuracyDisplay":
        """Plot the accuracy of nearest neighbors under several fitted models.

        Parameters
        ----------
        estimators : mapping of str to fitted transformer, pipeline or None
            Fitted models by name. None: the features as they are.
        X : array-like of shape (n_samples, n_features)
            Points among which neighbors are searched for.
        y : array-like of shape (n_samples,)
            Class labels.
        X_test : array-like of shape (n_test, n_features), optional
            Points to classify. None: each row of X, by the other rows.
        y_test : array-like of shape (n_test,), optional
            Class labels of `X_test`.
        max_neighbors : int, default=31
            Largest number of neighbors k.
        title : str, optional
            Title of the plot.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        NeighborsAccuracyDisplay
        """
        require_matplotlib("NeighborsAccuracyDisplay.from_estimators")
        tests = None if X_test is None else spaces_of(estimators, X_test)
        return cls.from_predictions(
            spaces_of(estimators, X),
            y,
            tests,
            y_test,
            max_neighbors=max_neighbors,
            title=title,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        embeddings: Mapping[str, ArrayLike],
        y: ArrayLike,
        test_embeddings: Mapping[str, ArrayLike] | None = None,
        y_test: ArrayLike | None = None,
        *,
        max_neighbors: int = 31,
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "NeighborsAccuracyDisplay":
        """Plot the accuracy of nearest neighbors among transformed points.

        Parameters
        ----------
        embeddings : mapping of str to array-like of shape (n_samples, n_components)
            The points, as transformed by each model.
        y : array-like of shape (n_samples,)
            Class labels.
        test_embeddings : mapping of str to array-like of shape (n_test, n_components), optional
            Points to classify. None: each point, by the other points.
        y_test : array-like of shape (n_test,), optional
            Class labels of the points to classify.
        max_neighbors : int, default=31
            Largest number of neighbors k.
        title : str, optional
            Title of the plot.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        NeighborsAccuracyDisplay
        """
        require_matplotlib("NeighborsAccuracyDisplay.from_predictions")
        found, n_scored, note = accuracies_of(embeddings, y, test_embeddings, y_test, max_neighbors)
        ks = np.arange(1, max_neighbors + 1)
        return cls(found, ks, n_scored, title=title, note=note).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> "NeighborsAccuracyDisplay":
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        NeighborsAccuracyDisplay
            The display, with `ax_`, `figure_` and the artists set.
        """
        ks = np.asarray(self.n_neighbors)
        check_count("n_scored", self.n_scored, 1)
        ax = self._begin(ax)
        self.lines_, self.bands_ = {}, {}
        for index, (name, values) in enumerate(self.accuracies.items()):
            shares = np.asarray(values, dtype=np.float64)
            if shares.shape != ks.shape:
                raise ValueError(
                    f"accuracies of {name!r} has shape {shares.shape}, expected {ks.shape}: one "
                    "for each of n_neighbors."
                )
            if not ((shares >= 0) & (shares <= 1)).all():
                raise ValueError(f"accuracies of {name!r} must be shares, from 0 to 1.")
            self._draw(ax, index, name, ks, shares)
        self._axes(ax)
        self._finish(self.note, "bands: one standard error to either side")
        return self

    def _draw(self, ax: "Axes", index: int, name: str, ks: NDArray, shares: NDArray) -> None:
        from vicinal.report.drawing.colors import line_style

        color, marker = line_style(index)
        error = np.sqrt(shares * (1 - shares) / self.n_scored)
        (self.lines_[name],) = ax.plot(
            ks,
            shares,
            color=color,
            linewidth=1.6,
            marker=marker,
            markersize=4,
            label=shortened(name, 30),
        )
        self.bands_[name] = ax.fill_between(
            ks, shares - error, shares + error, color=color, alpha=0.18, linewidth=0
        )

    def _axes(self, ax: "Axes") -> None:
        from matplotlib.ticker import MaxNLocator

        frame(ax, open_=True)
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
        ax.yaxis.set_major_formatter(percent_tick)
        ax.set_xlabel("number of neighbors k", fontsize=9)
        ax.set_ylabel("points named right", fontsize=9)
        draw_legend(ax)
