"""ProjectionDisplay: points in the plane, by class, with queries among them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from vicinal.report.drawing.axes import equal_units, frame
from vicinal.report.drawing.base import BaseDisplay
from vicinal.report.drawing.classes import Classes, class_labels, names_note
from vicinal.report.drawing.labels import draw_labels, name_size
from vicinal.report.drawing.points import crop, draw_points, outside_note
from vicinal.report.drawing.queries import STAR_SIZE, Queries, nearest_rows
from vicinal.report.numbers.fitted import projected, titled
from vicinal.report.numbers.plane import Plane, in_the_plane, sample, sample_note
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.text import Annotation

__all__ = ["ProjectionDisplay", "in_the_plane"]


class ProjectionDisplay(BaseDisplay):
    """Scatter plot of projected points, colored and labeled by class.

    Class names are placed among their points rather than in a legend. Both axes have the same unit,
    because a projection is about distances.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Projected points. With more than two components, the plane of largest variance is shown; one
        component is shown as one strip per class.
    labels : array-like of shape (n_samples,), optional
        Class label of each point. None: all points have the same color.
    class_names : sequence of str, optional
        Names of the classes, in sorted order of the labels. None: the labels themselves.
    title : str, optional
        Title of the plot.
    queries : array-like of shape (n_queries, n_components), optional
        Additional points, each marked by a star in a ring.
    query_names : sequence of str, optional
        Names of the queries. None: "query", or numbers from 1 if there are several.
    query_neighbors : array-like of int, shape (n_queries, k), optional
        Rows of `embedding` to connect each query to by lines.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure that contains the axes.
    points_ : list of matplotlib PathCollection
        The points, one collection for each marker.
    names_ : list of matplotlib Annotation
        Names of classes and of queries.
    queries_ : matplotlib PathCollection or None
        The stars.
    lines_ : matplotlib LineCollection or None
        Lines from queries to their neighbors.
    note_ : matplotlib Annotation or None
        The note below the plot.

    See Also
    --------
    ProjectionDisplay.from_estimator : Project with a fitted model, then plot.
    ProjectionDisplay.from_predictions : Plot projected points.

    Notes
    -----
    With more than 20 000 points, a sample is drawn, always the same one, in which every class keeps
    its share and, unless there are too many classes, has at least one point. With more than 40
    classes, the 40 largest are labeled, and the others are gray. A few points so far away that they
    would crowd all others into a corner lie outside the frame. A note below the plot tells about
    each of these.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from vicinal import NeighborhoodComponents
    >>> from vicinal.report import ProjectionDisplay
    >>> iris = load_iris()
    >>> model = NeighborhoodComponents(n_components=2).fit(iris.data, iris.target)
    >>> display = ProjectionDisplay(
    ...     model.transform(iris.data), iris.target, class_names=iris.target_names
    ... )
    >>> display = display.plot(ax=Figure().subplots())
    >>> [text.get_text() for text in display.ax_.texts]
    ['setosa', 'versicolor', 'virginica']
    """

    points_: "list[PathCollection]"
    names_: "list[Annotation]"
    queries_: "PathCollection | None"
    lines_: "LineCollection | None"

    def __init__(
        self,
        embedding: ArrayLike,
        labels: ArrayLike | None = None,
        class_names: Sequence[str] | None = None,
        title: str | None = None,
        *,
        queries: ArrayLike | None = None,
        query_names: Sequence[str] | None = None,
        query_neighbors: ArrayLike | None = None,
    ) -> None:
        self.embedding = embedding
        self.labels = labels
        self.class_names = class_names
        self.title = title
        self.queries = queries
        self.query_names = query_names
        self.query_neighbors = query_neighbors

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike | None = None,
        ax: "Axes | None" = None,
        *,
        class_names: Sequence[str] | None = None,
        title: str | None = None,
        queries: ArrayLike | None = None,
        query_names: Sequence[str] | None = None,
        n_neighbors: int = 0,
    ) -> "ProjectionDisplay":
        """Project points with a fitted model and plot them.

        Parameters
        ----------
        estimator : fitted transformer or pipeline
            Fitted model.
        X : array-like of shape (n_samples, n_features)
            Points to project.
        y : array-like of shape (n_samples,), optional
            Class label of each point.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.
        class_names : sequence of str, optional
            Names of the classes, in sorted order of the labels.
        title : str, optional
            Title of the plot. None: the name of the model.
        queries : array-like of shape (n_queries, n_features), optional
            Additional points to project and mark.
        query_names : sequence of str, optional
            Names of the queries.
        n_neighbors : int, default=0
            Number of nearest points to connect each query to by lines.

        Returns
        -------
        ProjectionDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import NeighborhoodComponents
        >>> from vicinal.report import ProjectionDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> model = NeighborhoodComponents(n_components=2).fit(X, y)
        >>> display = ProjectionDisplay.from_estimator(
        ...     model, X, y, ax=Figure().subplots(), queries=[[6.0, 3.0, 4.8, 1.7]], n_neighbors=3
        ... )
        >>> display.ax_.get_title(), len(display.lines_.get_segments())
        ('NeighborhoodComponents', 3)
        """
        require_matplotlib("ProjectionDisplay.from_estimator")
        return cls.from_predictions(
            projected(estimator, X),
            y,
            ax,
            class_names=class_names,
            title=titled(title, estimator),
            queries=None if queries is None else projected(estimator, queries),
            query_names=query_names,
            n_neighbors=n_neighbors,
        )

    @classmethod
    def from_predictions(
        cls,
        embedding: ArrayLike,
        labels: ArrayLike | None = None,
        ax: "Axes | None" = None,
        *,
        class_names: Sequence[str] | None = None,
        title: str | None = None,
        queries: ArrayLike | None = None,
        query_names: Sequence[str] | None = None,
        n_neighbors: int = 0,
    ) -> "ProjectionDisplay":
        """Plot points that are already projected.

        Parameters
        ----------
        embedding : array-like of shape (n_samples, n_components)
            Projected points.
        labels : array-like of shape (n_samples,), optional
            Class label of each point.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.
        class_names : sequence of str, optional
            Names of the classes, in sorted order of the labels.
        title : str, optional
            Title of the plot.
        queries : array-like of shape (n_queries, n_components), optional
            Additional points to mark.
        query_names : sequence of str, optional
            Names of the queries.
        n_neighbors : int, default=0
            Number of nearest points, in all components, to connect each query to by lines.

        Returns
        -------
        ProjectionDisplay

        Examples
        --------
        >>> import numpy as np
        >>> from matplotlib.figure import Figure
        >>> from vicinal.report import ProjectionDisplay
        >>> Z = np.random.default_rng(0).normal(size=(100, 2))
        >>> display = ProjectionDisplay.from_predictions(Z, ax=Figure().subplots())
        >>> display.names_
        []
        """
        require_matplotlib("ProjectionDisplay.from_predictions")
        display = cls(
            embedding,
            labels,
            class_names,
            title,
            queries=queries,
            query_names=query_names,
            query_neighbors=nearest_rows(embedding, queries, n_neighbors),
        )
        return display.plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> "ProjectionDisplay":
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        ProjectionDisplay
            The display, with `ax_`, `figure_` and the artists set.
        """
        ax = self._begin(ax)
        embedding = check_array(self.embedding, dtype=np.float64, input_name="embedding")
        classes = Classes.of(self.labels, self.class_names, len(embedding))
        plane = Plane.widest(embedding)
        points = plane.place(embedding, classes.groups)
        asked = self.queries, self.query_names, self.query_neighbors
        queries = Queries.of(*asked, plane, len(points))
        shown = sample(classes.codes, also=queries.neighbors.ravel())
        self.points_ = draw_points(ax, points[shown], classes.groups[shown], classes)
        frame(ax)
        names, tops = class_labels(points, classes), queries.stars
        if embedding.shape[1] > 1:
            equal_units(ax)
        else:
            tops = np.add(tops, (0.0, 0.7))  # no axis widens to make room for the names of queries
        crop(ax, points[shown], np.vstack([*(name.anchor for name in names), queries.stars, tops]))
        self.queries_, self.lines_ = queries.draw(ax, points)
        self._finish(
            plane.note,
            sample_note(len(shown), len(points)),
            names_note(classes),
            outside_note(ax, points[shown]),
            queries.note,
        )
        labels = names + queries.labels()
        self.names_ = draw_labels(ax, labels, name_size(labels), queries.stars, STAR_SIZE)
        return self
