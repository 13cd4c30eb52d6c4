"""ProjectionDisplay: labeled points in the plane."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from vicinal.report.labels import class_anchors, spread_labels
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ProjectionDisplay"]

MAX_POINTS = 20_000  # more of them make a slow picture, not a better one
MAX_LABELS = 40  # more names than this cover the points
_MAX_VECTOR_POINTS = 2_000  # above, the points become pixels inside a PDF or SVG too
_MAX_NAME = 18
_CORE = (0.005, 0.995)  # quantiles of each coordinate that are always inside the frame
_STRETCH = 1.5  # how many times wider than that the frame may get to hold all points
_INK = "#555555"


class ProjectionDisplay:
    """Picture of points projected to the plane, colored and named by class.

    Classes are named amid their points rather than in a legend. Both axes have
    the same unit, since distances are what a projection is about.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Projected points. Of more than two components the plane of largest
        variance is shown; one component is shown as a strip per class.
    labels : array-like of shape (n_samples,)
        Class of each point.
    class_names : sequence of str, optional
        Names in the order of the sorted classes. None: the labels themselves.
    title : str, optional
        Title of the picture.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What `plot` drew on.
    figure_ : matplotlib Figure
        The figure that holds it.

    See Also
    --------
    ProjectionDisplay.from_estimator : Project with a fitted model, then plot.

    Notes
    -----
    Of more than 20 000 points a sample is drawn, always the same one, in which
    every class keeps its share and at least one point; of more than 40 classes
    the 40 largest are named; a few points so far away that they would crowd all
    others into a corner lie outside the frame. Each is said below the picture.

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

    ax_: "Axes"
    figure_: "Figure"

    def __init__(
        self,
        embedding: ArrayLike,
        labels: ArrayLike,
        class_names: Sequence[str] | None = None,
        title: str | None = None,
    ) -> None:
        self.embedding = embedding
        self.labels = labels
        self.class_names = class_names
        self.title = title

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        ax: "Axes | None" = None,
        *,
        class_names: Sequence[str] | None = None,
        title: str | None = None,
    ) -> "ProjectionDisplay":
        """Project points with a fitted model and plot them.

        Parameters
        ----------
        estimator : fitted transformer or pipeline
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class of each point.
        ax : matplotlib Axes, optional
            Where to draw. None: a new figure.
        class_names : sequence of str, optional
            Names in the order of the sorted classes.
        title : str, optional
            None: the name of the model.

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
        >>> display = ProjectionDisplay.from_estimator(model, X, y, ax=Figure().subplots())
        >>> display.ax_.get_title()
        'NeighborhoodComponents'
        """
        require_matplotlib("ProjectionDisplay.from_estimator")
        if not hasattr(estimator, "transform"):
            raise TypeError(f"estimator={estimator!r} has no transform: nothing to project with.")
        named = title if title is not None else _name(estimator)
        return cls(estimator.transform(X), y, class_names, named).plot(ax=ax)

    def plot(self, ax: "Axes | None" = None) -> "ProjectionDisplay":
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. None: a new figure.

        Returns
        -------
        ProjectionDisplay
            With `ax_` and `figure_` set.
        """
        require_matplotlib("ProjectionDisplay.plot")
        embedding = check_array(self.embedding, dtype=np.float64, input_name="embedding")
        classes, labels = self._classes(embedding)
        names = self._names(classes)
        points, note = _in_the_plane(embedding, labels)
        shown = _sample(labels)
        self.ax_ = ax if ax is not None else _new_axes()
        self.figure_ = self.ax_.figure  # type: ignore[assignment]
        _draw_points(self.ax_, points[shown], labels[shown])
        _frame(self.ax_, self.title, equal=embedding.shape[1] > 1)
        anchors, named = class_anchors(points, labels, len(classes)), _largest(labels)
        outside = _crop(self.ax_, points[shown], anchors)
        _draw_names(self.ax_, anchors[named], names, named)
        notes = [note, _sample_note(shown, labels), _names_note(named, names), outside]
        _draw_note(self.ax_, "\n".join(filter(None, notes)))
        return self

    def _classes(self, embedding: NDArray) -> tuple[NDArray, NDArray]:
        """Sorted classes and the code of each point."""
        labels = column_or_1d(self.labels)
        check_consistent_length(embedding, labels)
        return np.unique(labels, return_inverse=True)

    def _names(self, classes: NDArray) -> list[str]:
        names = classes if self.class_names is None else self.class_names
        if len(names) != len(classes):
            raise ValueError(
                f"class_names has {len(names)} names, but labels has {len(classes)} classes: "
                "give one name for each, in sorted order."
            )
        return [_short(str(name)) for name in names]


def _name(estimator: Any) -> str:
    """Class of the model, of the last step for a pipeline."""
    steps = getattr(estimator, "steps", None)
    return type(steps[-1][1] if steps else estimator).__name__


def _short(name: str) -> str:
    return name if len(name) <= _MAX_NAME else name[: _MAX_NAME - 1] + "…"


def _in_the_plane(embedding: NDArray, labels: NDArray) -> tuple[NDArray, str]:
    """Points of shape (n, 2), and what was done to get them."""
    if embedding.shape[1] == 2:
        return embedding, ""
    if embedding.shape[1] == 1:
        heights = np.random.default_rng(0).uniform(-0.35, 0.35, len(labels)) - labels
        return np.column_stack([embedding[:, 0], heights]), "one component; height has no meaning"
    # A learned metric knows no first component, only distances: turn it to its widest plane.
    centered = embedding - embedding.mean(axis=0)
    _, widths, directions = np.linalg.svd(centered, full_matrices=False)
    share = np.square(widths[:2]).sum() / (np.square(widths).sum() or 1.0)
    note = f"plane of largest variance: {share:.0%} of {embedding.shape[1]} components"
    return centered @ directions[:2].T, note


def _sample(labels: NDArray) -> NDArray:
    """Rows to draw, in random order so that no class always covers the others."""
    order = np.random.default_rng(0).permutation(len(labels))
    if len(labels) <= MAX_POINTS:
        return order
    counts = np.bincount(labels)
    keep = np.maximum(1, counts * MAX_POINTS // len(labels))
    by_class = order[np.argsort(labels[order], kind="stable")]
    rank = np.arange(len(labels)) - np.repeat(np.cumsum(counts) - counts, counts)
    chosen = np.zeros(len(labels), dtype=bool)
    chosen[by_class[rank < np.repeat(keep, counts)]] = True
    return order[chosen[order]]


def _sample_note(shown: NDArray, labels: NDArray) -> str:
    if len(shown) == len(labels):
        return ""
    return f"a sample of {len(shown):,} of {len(labels):,} points"


def _largest(labels: NDArray) -> NDArray:
    """Codes of the classes to name, in sorted order."""
    return np.sort(np.argsort(-np.bincount(labels), kind="stable")[:MAX_LABELS])


def _names_note(named: NDArray, names: list[str]) -> str:
    if len(named) == len(names):
        return ""
    return f"named: the {len(named)} largest of {len(names)} classes"


def _new_axes() -> "Axes":
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def _draw_points(ax: "Axes", points: NDArray, labels: NDArray) -> None:
    """One scatter per marker, so that colors mix in the order of the points."""
    from vicinal.report.colors import class_style

    styles = [class_style(c) for c in range(labels.max() + 1)]
    colors = np.array([color for color, _ in styles])[labels]
    markers = np.array([marker for _, marker in styles])[labels]
    size = float(np.clip(9_000 / len(points), 2, 24))
    for marker in dict.fromkeys(marker for _, marker in styles):
        rows = markers == marker
        ax.scatter(
            points[rows, 0],
            points[rows, 1],
            s=size,
            c=colors[rows],
            marker=marker,
            linewidths=0,
            alpha=0.75,
            rasterized=len(points) > _MAX_VECTOR_POINTS,
        )


def _frame(ax: "Axes", title: str | None, *, equal: bool) -> None:
    """Neither ticks nor labels: a projection has no unit and no preferred axes."""
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_color("#cccccc")
    if equal:
        ax.set_aspect("equal", adjustable="datalim")
    if title:
        ax.set_title(title, parse_math=False)


def _crop(ax: "Axes", points: NDArray, anchors: NDArray) -> str:
    """Leave out a few far points that would crowd all others into a corner, and say so."""
    low, high = np.quantile(points, _CORE, axis=0)
    low, high = np.minimum(low, anchors.min(axis=0)), np.maximum(high, anchors.max(axis=0))
    core = float((high - low).max())
    if core > 0 and np.ptp(points, axis=0).max() > _STRETCH * core:
        reach = (_STRETCH - 1) / 2 * core
        near = ((points >= low - reach) & (points <= high + reach)).all(axis=1)
        # The limits stay free, as equal units of both axes need one of them to widen.
        ax.dataLim.update_from_data_xy(points[near], ignore=True)
    ax.autoscale_view()
    ax.apply_aspect()
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    inside = (points >= (left, bottom)) & (points <= (right, top))
    n_outside = int((~inside.all(axis=1)).sum())
    return f"{n_outside:,} far point{'s' * (n_outside > 1)} outside the frame" if n_outside else ""


def _draw_names(ax: "Axes", anchors: NDArray, names: list[str], named: NDArray) -> None:
    """Names at their anchors, or near and with a line where those are too close."""
    from matplotlib.patheffects import withStroke

    from vicinal.report.colors import class_style, readable

    texts = [names[c] for c in named]
    font = 13 if len("".join(texts)) <= 40 and len(texts) <= 12 else 10
    for c, text, anchor, place in zip(
        named, texts, anchors, _places(ax, anchors, texts, font), strict=True
    ):
        color = readable(class_style(c)[0])
        ax.annotate(
            text,
            xy=anchor,
            xytext=place,
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=font,
            fontweight="bold",
            color=color,
            parse_math=False,  # a class may be called "$"
            path_effects=[withStroke(linewidth=3, foreground="white")],
            arrowprops=_line(color) if np.hypot(*place) > 0.9 * font else None,
        )


def _line(color: str) -> dict[str, Any]:
    return {"arrowstyle": "-", "color": color, "linewidth": 0.8, "shrinkA": 5, "shrinkB": 0}


def _places(ax: "Axes", anchors: NDArray, texts: list[str], font: float) -> NDArray:
    """Offsets of names from their anchors, in points of 1/72 inch, for the figure's size now."""
    to_points = 72 / ax.figure.dpi
    pixels = ax.transData.transform(anchors) * to_points
    lower, upper = ax.bbox.get_points() * to_points
    sizes = np.array([(0.75 * font * max(len(text), 1) + 2, 1.15 * font) for text in texts])
    return spread_labels(pixels, sizes, lower, upper) - pixels


def _draw_note(ax: "Axes", note: str) -> None:
    if note:
        ax.annotate(
            note,
            xy=(0, 0),
            xycoords="axes fraction",
            xytext=(0, -5),
            textcoords="offset points",
            va="top",
            fontsize=8,
            color=_INK,
        )
