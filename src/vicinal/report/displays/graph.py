"""NeighborhoodGraphDisplay: who is whose neighbor."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from vicinal.report.drawing.axes import equal_units, frame
from vicinal.report.drawing.base import BaseDisplay
from vicinal.report.drawing.classes import Classes, class_labels, names_note
from vicinal.report.drawing.labels import draw_labels, name_size
from vicinal.report.drawing.points import crop, draw_points, outside_note
from vicinal.report.numbers.edges import edges_of, model_graph, some_edges
from vicinal.report.numbers.fitted import titled
from vicinal.report.numbers.plane import MAX_POINTS, Plane, sample, sample_note
from vicinal.report.numbers.units import percent
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.text import Annotation

__all__ = ["NeighborhoodGraphDisplay"]

_LEAST_POINTS = 2_000  # drawn beside the ends of edges
_MAX_VECTOR_EDGES = 2_000  # above, they become pixels inside a PDF or SVG too


class NeighborhoodGraphDisplay(BaseDisplay):
    """Edges between neighbors, with edges between different classes highlighted.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Coordinates of the points. With more than two components, the plane of largest variance is
        shown; one component is shown as one strip per class.
    graph : sparse matrix or array of shape (n_samples, n_samples)
        Edges: each entry that is stored, or in an array each nonzero entry; both directions count
        as one edge, and the diagonal is ignored.
    labels : array-like of shape (n_samples,), optional
        Class label of each point.
    class_names : sequence of str, optional
        Names of the classes, in sorted order of the labels.
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
    points_ : list of matplotlib PathCollection
        The points.
    edges_ : matplotlib LineCollection
        Edges within classes; all edges if there are no labels.
    crossing_edges_ : matplotlib LineCollection or None
        Edges between different classes.
    crossing_share_ : float or None
        Share of these edges among all edges.
    names_ : list of matplotlib Annotation
        Names of the classes.
    note_ : matplotlib Annotation or None
        The note below the plot.

    Notes
    -----
    If there are more than 20 000 edges, those of a sample of the points are drawn. The share of
    edges between classes is still that of all edges.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from vicinal.report import NeighborhoodGraphDisplay
    >>> square, ring = [[0, 0], [0, 1], [1, 1], [1, 0]], [[0, 1, 0, 1], [1, 0, 1, 0]] * 2
    >>> display = NeighborhoodGraphDisplay(square, ring, ["a", "a", "b", "b"])
    >>> display.plot(ax=Figure().subplots()).crossing_share_
    0.5
    """

    points_: "list[PathCollection]"
    edges_: "LineCollection"
    crossing_edges_: "LineCollection | None"
    crossing_share_: float | None
    names_: "list[Annotation]"

    def __init__(
        self,
        embedding: ArrayLike,
        graph: Any,
        labels: ArrayLike | None = None,
        class_names: Sequence[str] | None = None,
        *,
        title: str | None = None,
        note: str = "",
    ) -> None:
        self.embedding = embedding
        self.graph = graph
        self.labels = labels
        self.class_names = class_names
        self.title = title
        self.note = note

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        n_neighbors: int | None = None,
        embedding: ArrayLike | None = None,
        class_names: Sequence[str] | None = None,
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "NeighborhoodGraphDisplay":
        """Plot the neighbors of points under a fitted model.

        Parameters
        ----------
        estimator : fitted transformer or pipeline
            Fitted model. Neighbors are those in its output, or in the graph of a
            `DivergenceNeighbors` or `DivergenceEmbedding`, which must have been fitted to X.
        X : array-like of shape (n_samples, n_features)
            Points to draw.
        y : array-like of shape (n_samples,), optional
            Class label of each point.
        n_neighbors : int, optional
            Number of nearest neighbors of each point. None: 5, or all in a sparse graph.
        embedding : array-like of shape (n_samples, n_components), optional
            Where to draw the points. None: at the output of the model; for `DivergenceNeighbors` at
            X itself.
        class_names : sequence of str, optional
            Names of the classes, in sorted order of the labels.
        title : str, optional
            Title of the plot. None: the name of the model.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        NeighborhoodGraphDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import DivergenceNeighbors
        >>> from vicinal.report import NeighborhoodGraphDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> model = DivergenceNeighbors(n_graph_neighbors=5).fit(X)
        >>> display = NeighborhoodGraphDisplay.from_estimator(model, X, y, ax=Figure().subplots())
        >>> display.crossing_share_ < 0.1
        True
        """
        require_matplotlib("NeighborhoodGraphDisplay.from_estimator")
        graph, places, note = model_graph(estimator, X, n_neighbors)
        display = cls(
            places if embedding is None else embedding,
            graph,
            y,
            class_names,
            title=titled(title, estimator),
            note=note,
        )
        return display.plot(ax=ax)

    @classmethod
    def from_predictions(
        cls,
        embedding: ArrayLike,
        graph: Any,
        labels: ArrayLike | None = None,
        *,
        class_names: Sequence[str] | None = None,
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "NeighborhoodGraphDisplay":
        """Plot an existing graph, such as one returned by `DivergenceNeighbors`.

        Parameters
        ----------
        embedding : array-like of shape (n_samples, n_components)
            Coordinates of the points.
        graph : sparse matrix or array of shape (n_samples, n_samples)
            Edges between the points.
        labels : array-like of shape (n_samples,), optional
            Class label of each point.
        class_names : sequence of str, optional
            Names of the classes, in sorted order of the labels.
        title : str, optional
            Title of the plot.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        NeighborhoodGraphDisplay
        """
        require_matplotlib("NeighborhoodGraphDisplay.from_predictions")
        return cls(embedding, graph, labels, class_names, title=title).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> "NeighborhoodGraphDisplay":
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        NeighborhoodGraphDisplay
            The display, with `ax_`, `figure_` and the artists set.
        """
        embedding = check_array(self.embedding, dtype=np.float64, input_name="embedding")
        classes = Classes.of(self.labels, self.class_names, len(embedding))
        plane, edges = Plane.widest(embedding), edges_of(self.graph, len(embedding))
        points = plane.place(embedding, classes.groups)
        drawn, sampled = some_edges(edges, classes.codes)
        ends = np.unique(drawn)
        shown = sample(classes.codes, max(MAX_POINTS - len(ends), _LEAST_POINTS), also=ends)
        ax = self._begin(ax)
        self.points_ = draw_points(ax, points[shown], classes.groups[shown], classes)
        self._draw_edges(ax, points, drawn, classes)
        frame(ax)
        if embedding.shape[1] > 1:
            equal_units(ax)
        names = class_labels(points, classes)
        crop(ax, points[shown], np.vstack([*(name.anchor for name in names), np.empty((0, 2))]))
        self._finish(
            plane.note,
            self.note,
            sample_note(len(shown), len(points)),
            sampled,
            self._count(edges, classes),
            names_note(classes),
            outside_note(ax, points[shown]),
        )
        self.names_ = draw_labels(ax, names, name_size(names))
        return self

    def _draw_edges(self, ax: "Axes", points: NDArray, edges: NDArray, classes: Classes) -> None:
        from matplotlib.colors import to_rgba

        from vicinal.report.drawing.colors import ink

        crossing = _crossing(edges, classes)
        within, between = edges[~crossing], edges[crossing]
        width = float(np.clip(40 / np.sqrt(max(len(edges), 1)), 0.4, 1.3))
        colors: Any = [ink(0.3)]
        if classes.names:
            faint = np.array([to_rgba(color, 0.5) for color, _ in classes.styles])
            colors = faint[classes.groups[within[:, 0]]]
        self.edges_ = _lines(ax, points[within], colors, 0.7 * width, 0.9)
        self.crossing_edges_ = None
        if classes.names:
            self.crossing_edges_ = _lines(ax, points[between], [ink(0.8)], width, 2.5)

    def _count(self, edges: NDArray, classes: Classes) -> str:
        """What there is to say of the edges; sets the share between classes."""
        self.crossing_share_, n = None, len(edges)
        said = f"{n:,} edge{'s' * (n != 1)}"
        if not classes.names or not n:
            return said
        self.crossing_share_ = float(_crossing(edges, classes).mean())
        return f"{said}, {percent(self.crossing_share_)} between different classes (bold)"


def _crossing(edges: NDArray, classes: Classes) -> NDArray:
    first, second = classes.codes[edges].T
    return first != second


def _lines(
    ax: "Axes", segments: NDArray, colors: Any, width: float, zorder: float
) -> "LineCollection":
    from matplotlib.collections import LineCollection

    many = len(segments) > _MAX_VECTOR_EDGES
    lines = LineCollection(
        list(segments), colors=colors, linewidths=width, zorder=zorder, rasterized=many
    )
    ax.add_collection(lines, autolim=False)
    return lines
