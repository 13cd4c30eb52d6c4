"""LocalEllipsesDisplay: the shape of the data around points."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from vicinal.inputs.checks import check_count, check_nonnegative
from vicinal.report.drawing.axes import frame_plane
from vicinal.report.drawing.base import BaseDisplay
from vicinal.report.drawing.classes import Classes, class_labels, names_note
from vicinal.report.drawing.labels import draw_labels, name_size
from vicinal.report.drawing.points import crop, draw_points, outside_note
from vicinal.report.numbers.fitted import fitted_model, titled
from vicinal.report.numbers.marginals import shown_plane
from vicinal.report.numbers.plane import sample, sample_note
from vicinal.report.numbers.shapes import far_apart, local_gaussians, spread_out
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import EllipseCollection, PathCollection
    from matplotlib.text import Annotation

__all__ = ["LocalEllipsesDisplay"]


class LocalEllipsesDisplay(BaseDisplay):
    """Local Gaussians as ellipses over the points.

    Parameters
    ----------
    points : array-like of shape (n_samples, 2)
        Points to draw.
    centers : array-like of shape (n_ellipses, 2)
        Centers of the ellipses.
    covariances : array-like of shape (n_ellipses, 2, 2)
        Covariances of the Gaussians.
    labels : array-like of shape (n_samples,), optional
        Class label of each point. None: all points have the same color.
    class_names : sequence of str, optional
        Names of the classes, in sorted order of the labels.
    axis_names : sequence of str, optional
        Names of the axes. None: no ticks, and the same unit on both axes.
    title : str, optional
        Title of the plot.
    notes : sequence of str, default=()
        Notes to show below the plot.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure that contains the axes.
    points_ : list of matplotlib PathCollection
        The points.
    ellipses_ : matplotlib EllipseCollection
        The ellipses.
    names_ : list of matplotlib Annotation
        Names of the classes.
    note_ : matplotlib Annotation or None
        The note below the plot.

    See Also
    --------
    vicinal.DivergenceNeighbors : Distances between such Gaussians.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from vicinal.report import LocalEllipsesDisplay
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> display = LocalEllipsesDisplay(X, X[:3], [np.diag([4.0, 1.0])] * 3)
    >>> display.plot(ax=Figure().subplots()).note_.get_text()
    '3 ellipses of 1 standard deviation'
    """

    points_: "list[PathCollection]"
    ellipses_: "EllipseCollection"
    names_: "list[Annotation]"

    def __init__(
        self,
        points: ArrayLike,
        centers: ArrayLike,
        covariances: ArrayLike,
        labels: ArrayLike | None = None,
        class_names: Sequence[str] | None = None,
        *,
        axis_names: Sequence[str] | None = None,
        title: str | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.points = points
        self.centers = centers
        self.covariances = covariances
        self.labels = labels
        self.class_names = class_names
        self.axis_names = axis_names
        self.title = title
        self.notes = notes

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        features: Sequence[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
        n_ellipses: int = 40,
        n_std: float = 1.0,
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "LocalEllipsesDisplay":
        """Plot local Gaussians of a fitted model.

        Parameters
        ----------
        estimator : fitted `DivergenceNeighbors`, `DivergenceEmbedding` or `LocalComponents`
            Fitted model, or a pipeline that ends in one. Ellipses are drawn around training points.
        X : array-like of shape (n_samples, n_features)
            Points to draw.
        y : array-like of shape (n_samples,), optional
            Class label of each point.
        features : two names or positions of features, optional
            Plane to show. None: both features if there are two; otherwise the plane in which the
            points spread most, for `LocalComponents` relative to its kernels.
        feature_names : sequence of str, optional
            Names of the features. None: those seen during `fit`.
        class_names : sequence of str, optional
            Names of the classes, in sorted order of the labels.
        n_ellipses : int, default=40
            Maximum number of ellipses. They are spread over the plot, and there are fewer if they
            are large.
        n_std : float, default=1.0
            Half axes of the ellipses, in standard deviations.
        title : str, optional
            Title of the plot. None: the name of the model.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        LocalEllipsesDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import DivergenceNeighbors
        >>> from vicinal.report import LocalEllipsesDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> model = DivergenceNeighbors().fit(X)
        >>> display = LocalEllipsesDisplay.from_estimator(
        ...     model, X, y, features=(2, 3), n_ellipses=10, ax=Figure().subplots()
        ... )
        >>> len(display.covariances) <= 10
        True
        """
        require_matplotlib("LocalEllipsesDisplay.from_estimator")
        check_count("n_ellipses", n_ellipses, 1)
        rows, plane, axis_names = shown_plane(estimator, X, features, feature_names)
        if rows.shape[1] < 2:
            raise ValueError("X has 1 feature: ellipses need at least two.")
        centers, covariances_of, note = local_gaussians(fitted_model(estimator))
        placed, D = plane.project(centers), plane.directions
        chosen = spread_out(placed, n_ellipses)
        covariances = D @ covariances_of(chosen) @ D.T
        apart = far_apart(placed[chosen], n_std * n_std * covariances)
        display = cls(
            plane.project(rows),
            placed[chosen][apart],
            covariances[apart],
            y,
            class_names,
            axis_names=axis_names,
            title=titled(title, estimator),
            notes=(plane.note, note),
        )
        return display.plot(ax=ax, n_std=n_std)

    def plot(self, ax: "Axes | None" = None, *, n_std: float = 1.0) -> "LocalEllipsesDisplay":
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.
        n_std : float, default=1.0
            Half axes of the ellipses, in standard deviations.

        Returns
        -------
        LocalEllipsesDisplay
            The display, with `ax_`, `figure_` and the artists set.
        """
        check_nonnegative("n_std", n_std)
        points = check_array(self.points, dtype=np.float64, input_name="points")
        centers, covariances = self._checked_ellipses()
        classes = Classes.of(self.labels, self.class_names, len(points))
        shown = sample(classes.codes)
        ax = self._begin(ax)
        self.points_ = draw_points(ax, points[shown], classes.groups[shown], classes, alpha=0.45)
        frame_plane(ax, self.axis_names)
        names = class_labels(points, classes)
        reach = n_std * np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
        crop(ax, points[shown], np.vstack([centers - reach, centers + reach]))
        self.ellipses_ = _draw_ellipses(ax, centers, n_std * n_std * covariances)
        self._finish(
            *self.notes,
            sample_note(len(shown), len(points)),
            names_note(classes),
            outside_note(ax, points[shown]),
            _said(len(centers), n_std),
        )
        self.names_ = draw_labels(ax, names, name_size(names))
        return self

    def _checked_ellipses(self) -> tuple[NDArray, NDArray]:
        centers = check_array(self.centers, dtype=np.float64, input_name="centers")
        covariances = np.asarray(self.covariances, dtype=np.float64)
        if covariances.shape != (len(centers), 2, 2):
            raise ValueError(
                f"covariances has shape {covariances.shape}, expected ({len(centers)}, 2, 2): one "
                "for each center, in the plane."
            )
        return centers, covariances


def _said(n: int, n_std: float) -> str:
    ellipses = "1 ellipse" if n == 1 else f"{n} ellipses"
    return f"{ellipses} of {n_std:g} standard deviation{'s' * (n_std != 1)}"


def _draw_ellipses(ax: "Axes", centers: NDArray, covariances: NDArray) -> "EllipseCollection":
    from matplotlib.collections import EllipseCollection

    from vicinal.report.drawing.colors import ink

    variances, vectors = np.linalg.eigh(covariances)
    axes = 2.0 * np.sqrt(np.maximum(variances, 0.0))  # whole ones, the shorter first
    angles = np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]))
    ellipses = EllipseCollection(
        axes[:, 1],
        axes[:, 0],
        angles,
        units="xy",
        offsets=centers,
        offset_transform=ax.transData,
        facecolors="none",
        edgecolors=[ink(0.85)],
        linewidths=1.0,
        zorder=2.5,
    )
    ax.add_collection(ellipses, autolim=False)
    return ellipses
