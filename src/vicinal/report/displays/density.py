"""DensityDisplay: a fitted density, and the points it finds least likely."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from vicinal.inputs.checks import check_count
from vicinal.report.drawing.axes import draw_colorbar
from vicinal.report.drawing.base import BaseDisplay
from vicinal.report.drawing.contours import (
    color_points,
    draw_contours,
    draw_curve,
    limit_axes,
    name_outliers,
    ring_outliers,
)
from vicinal.report.drawing.points import outside_note
from vicinal.report.numbers.fitted import fitted_model, titled
from vicinal.report.numbers.marginals import (
    Grid,
    frame_limits,
    grid_of,
    marginal_of,
    most_points,
    scores_of,
    shown_plane,
)
from vicinal.report.numbers.plane import Plane, sample, sample_note
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.colorbar import Colorbar
    from matplotlib.text import Annotation

__all__ = ["DensityDisplay"]


class DensityDisplay(BaseDisplay):
    """Points colored by log-density, with contour lines and outliers.

    The points of lowest density are ringed and labeled with their row numbers. Contour lines show
    the marginal density in the plane of the plot; colors show the density of the whole model.

    Parameters
    ----------
    points : array-like of shape (n_samples, 1) or (n_samples, 2)
        Points in the plane, or on a line.
    log_density : array-like of shape (n_samples,)
        Log-density of each point under the whole model, or another score that is low for outliers.
    rows : array-like of int, shape (n_samples,), optional
        Row numbers to label points with. None: their positions.
    grid : tuple of one or two ndarray, optional
        Places along each axis at which the density in the plane is given.
    grid_log_density : ndarray of shape (len(grid[0]),) or (len(grid[0]), len(grid[1])), optional
        Log-density at these places. None: no contour lines.
    axis_names : sequence of str, optional
        Names of the axes. None: no ticks, and the same unit on both axes.
    value_name : str, default="log-density"
        Name of the color scale.
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
    points_ : matplotlib PathCollection
        The points.
    colorbar_ : matplotlib Colorbar
        Color bar of the log-density.
    contours_ : matplotlib ContourSet or None
        Contour lines of the density in the plane.
    line_ : matplotlib Line2D or None
        The density on a line.
    outliers_ : matplotlib PathCollection
        Rings around the outliers.
    names_ : list of matplotlib Annotation
        Row numbers of the outliers.
    note_ : matplotlib Annotation or None
        The note below the plot.

    See Also
    --------
    vicinal.LocalComponents : The density that this display is made for.

    Notes
    -----
    Each marginal of a `LocalComponents`, also with a Gaussian part or local covariances, is a
    mixture of Gaussians around the projected points: contour lines are exact up to an error of
    0.1 % and the resolution of the grid.

    With more than 20 000 points, a sample is scored and drawn; a smaller one with more than 200 000
    kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from vicinal.report import DensityDisplay
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> display = DensityDisplay(X, -0.5 * np.square(X).sum(axis=1))
    >>> display = display.plot(ax=Figure().subplots(), n_outliers=1)
    >>> display.names_[0].get_text() == str(np.square(X).sum(axis=1).argmax())
    True
    """

    points_: "PathCollection"
    colorbar_: "Colorbar"
    contours_: Any
    line_: Any
    outliers_: "PathCollection"
    names_: "list[Annotation]"

    def __init__(
        self,
        points: ArrayLike,
        log_density: ArrayLike,
        *,
        rows: ArrayLike | None = None,
        grid: tuple[NDArray, ...] | None = None,
        grid_log_density: NDArray | None = None,
        axis_names: Sequence[str] | None = None,
        value_name: str = "log-density",
        title: str | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.points = points
        self.log_density = log_density
        self.rows = rows
        self.grid = grid
        self.grid_log_density = grid_log_density
        self.axis_names = axis_names
        self.value_name = value_name
        self.title = title
        self.notes = notes

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: ArrayLike,
        *,
        features: Sequence[Any] | None = None,
        feature_names: Sequence[str] | None = None,
        n_outliers: int = 5,
        grid_size: int = 80,
        rows: ArrayLike | None = None,
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "DensityDisplay":
        """Plot the density of a fitted model.

        Parameters
        ----------
        estimator : fitted model with `score_samples`, or a pipeline that ends in one
            Fitted model. Contour lines are drawn for `LocalComponents`, and for other models with
            two features.
        X : array-like of shape (n_samples, n_features)
            Points to color; not necessarily the training set.
        features : two names or positions of features, optional
            Plane to show. None: both features if there are two; otherwise the plane in which the
            points spread most relative to the kernels of a `LocalComponents`, or for other models
            the plane of largest variance.
        feature_names : sequence of str, optional
            Names of the features. None: those seen during `fit`.
        n_outliers : int, default=5
            Number of points of lowest density to mark.
        grid_size : int, default=80
            Number of places along each axis at which the density is evaluated.
        rows : array-like of int, shape (n_samples,), optional
            Row numbers to label points with. None: their positions.
        title : str, optional
            Title of the plot. None: the name of the model.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        DensityDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from sklearn.datasets import load_iris
        >>> from vicinal import LocalComponents
        >>> from vicinal.report import DensityDisplay
        >>> X = load_iris().data
        >>> model = LocalComponents().fit(X)
        >>> display = DensityDisplay.from_estimator(
        ...     model, X, features=(2, 3), ax=Figure().subplots()
        ... )
        >>> int(display.names_[0].get_text()) == int(model.score_samples(X).argmin())
        True
        """
        require_matplotlib("DensityDisplay.from_estimator")
        check_count("grid_size", grid_size, 2)
        model = fitted_model(estimator)
        if not hasattr(model, "score_samples"):
            raise TypeError(f"estimator is a {type(model).__name__} without score_samples.")
        entered, plane, axis_names = shown_plane(estimator, X, features, feature_names)
        called = np.arange(len(entered)) if rows is None else column_or_1d(rows)
        check_consistent_length(entered, called)
        chosen = np.sort(sample(np.zeros(len(entered), dtype=np.intp), most_points(model)))
        points, marginal = plane.project(entered[chosen]), marginal_of(model, plane)
        grid = None if marginal is None else grid_of(marginal, frame_limits(points), grid_size)
        display = cls(
            points,
            scores_of(model, entered[chosen]),
            rows=called[chosen],
            grid=None if grid is None else grid.axes,
            grid_log_density=None if grid is None else grid.log_density,
            axis_names=axis_names,
            title=titled(title, estimator),
            notes=(plane.note, sample_note(len(chosen), len(entered))),
        )
        return display.plot(ax=ax, n_outliers=n_outliers)

    @classmethod
    def from_predictions(
        cls,
        points: ArrayLike,
        log_density: ArrayLike,
        *,
        n_outliers: int = 5,
        axis_names: Sequence[str] | None = None,
        value_name: str = "log-density",
        title: str | None = None,
        ax: "Axes | None" = None,
    ) -> "DensityDisplay":
        """Plot points by a given score; the lower the score, the more of an outlier.

        Parameters
        ----------
        points : array-like of shape (n_samples, n_coordinates)
            Points to draw. With more than two coordinates, the plane of largest variance is shown.
        log_density : array-like of shape (n_samples,)
            Score of each point.
        n_outliers : int, default=5
            Number of points of lowest density to mark.
        axis_names : sequence of str, optional
            Names of the axes. None: no ticks, and the same unit on both axes.
        value_name : str, default="log-density"
            Name of the color scale.
        title : str, optional
            Title of the plot.
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.

        Returns
        -------
        DensityDisplay
        """
        require_matplotlib("DensityDisplay.from_predictions")
        values = check_array(points, dtype=np.float64, input_name="points")
        plane = Plane.widest(values, "coordinates")
        display = cls(
            plane.project(values),
            log_density,
            axis_names=axis_names,
            value_name=value_name,
            title=title,
            notes=(plane.note,),
        )
        return display.plot(ax=ax, n_outliers=n_outliers)

    def plot(self, ax: "Axes | None" = None, *, n_outliers: int = 5) -> "DensityDisplay":
        """Draw the plot.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on. None: a new figure.
        n_outliers : int, default=5
            Number of points of lowest density to mark with a ring and their row number.

        Returns
        -------
        DensityDisplay
            The display, with `ax_`, `figure_` and the artists set.
        """
        points, values, rows = self._checked()
        check_count("n_outliers", n_outliers, 0)
        lowest = np.argsort(values, kind="stable")[:n_outliers]
        shown = sample(np.zeros(len(points), dtype=np.intp), also=lowest)
        ax = self._begin(ax)
        self.contours_ = self.line_ = None
        grid, lines, placed = self._grid(), "", points
        if points.shape[1] == 1:
            self.line_, placed = draw_curve(ax, points[:, 0], grid)
        elif grid is not None:
            self.contours_, lines = draw_contours(ax, grid, points)
        self.points_ = color_points(ax, placed[shown], values[shown])
        clipped = "min" if values.min() < self.points_.norm.vmin else "neither"
        self.colorbar_ = draw_colorbar(ax, self.points_, self.value_name, extend=clipped)
        self.outliers_ = ring_outliers(ax, placed[lowest])
        limit_axes(ax, frame_limits(points) if grid is None else grid.limits, self.axis_names)
        self._finish(
            *self.notes,
            sample_note(len(shown), len(points)),
            lines,
            f"ringed, by row: the {len(lowest)} of lowest {self.value_name}" if n_outliers else "",
            outside_note(ax, placed[shown]),
        )
        self.names_ = name_outliers(ax, placed[lowest], rows[lowest])
        return self

    def _checked(self) -> tuple[NDArray, NDArray, NDArray]:
        """Points, their log-densities and what they are called."""
        points = check_array(self.points, dtype=np.float64, input_name="points")
        if points.shape[1] > 2:
            raise ValueError(
                f"points has {points.shape[1]} columns, but a picture has 2: from_predictions "
                "finds a plane for more."
            )
        values = np.asarray(column_or_1d(self.log_density), dtype=np.float64)
        rows = np.arange(len(points)) if self.rows is None else column_or_1d(self.rows)
        check_consistent_length(points, values, rows)
        if np.isnan(values).any():
            raise ValueError(f"log_density is NaN for {int(np.isnan(values).sum())} points.")
        return points, values, rows

    def _grid(self) -> Grid | None:
        if self.grid is None or self.grid_log_density is None:
            return None
        return Grid(self.grid, self.grid_log_density)
