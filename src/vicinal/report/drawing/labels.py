"""Where names go so that they can be read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

__all__ = ["Label", "class_anchors", "draw_labels", "name_size", "spread_labels"]

_ROUNDS = 300


@dataclass(frozen=True)
class Label:
    """A name for a place in a picture.

    Attributes
    ----------
    text : str
    anchor : ndarray of shape (2,)
        The place, in the coordinates of the data.
    color : str or None
        None: that of other text.
    lift : float
        How far above it the name stands, in points of 1/72 inch.
    """

    text: str
    anchor: NDArray
    color: str | None = None
    lift: float = 0.0


def class_anchors(points: NDArray, labels: NDArray, classes: NDArray) -> NDArray:
    """A point of each of some classes amid its others: the one nearest to their median.

    The median itself may lie where the class has no points at all.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
    labels : ndarray of shape (n,)
    classes : ndarray of shape (n_classes,)
        Those looked for, each with at least one point.

    Returns
    -------
    ndarray of shape (n_classes, 2)

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.drawing.labels import class_anchors
    >>> points = np.array([[0.0, 0.0], [1.0, 1.0], [9.0, 2.0], [5.0, 5.0]])
    >>> class_anchors(points, np.array([0, 0, 0, 1]), np.arange(2))
    array([[1., 1.],
           [5., 5.]])
    """
    return np.array([_most_central(points[labels == c]) for c in classes])


def _most_central(members: NDArray) -> NDArray:
    offsets = members - np.median(members, axis=0)
    size = np.abs(offsets).max() or 1.0  # squares of very large or small numbers are none
    return members[np.square(offsets / size).sum(axis=1).argmin()]


def spread_labels(
    anchors: NDArray,
    sizes: NDArray,
    lower: NDArray,
    upper: NDArray,
    obstacles: NDArray | None = None,
    obstacle_size: float = 0.0,
) -> NDArray:
    """Centers of boxes near their anchors, pushed apart until none overlap.

    In a space too crowded for all of them some overlap remains.

    Parameters
    ----------
    anchors : ndarray of shape (n, 2)
        Where the boxes would like to be.
    sizes : ndarray of shape (n, 2)
        Their widths and heights.
    lower, upper : ndarray of shape (2,)
        Corners of the space that the boxes stay in.
    obstacles : ndarray of shape (m, 2), optional
        Centers of squares that stay where they are and that no box should cover.
    obstacle_size : float, default=0.0
        Their width.

    Returns
    -------
    ndarray of shape (n, 2)

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.drawing.labels import spread_labels
    >>> anchors, sizes = np.array([[5.0, 5.0], [5.0, 6.0]]), np.full((2, 2), 2.0)
    >>> centers = spread_labels(anchors, sizes, np.zeros(2), np.full(2, 10.0))
    >>> float(centers[1, 1] - centers[0, 1]) >= 2.0
    True
    """
    low, high = lower + sizes / 2, np.maximum(upper - sizes / 2, lower + sizes / 2)
    centers, n = anchors.astype(float), len(anchors)
    fixed = np.empty((0, 2)) if obstacles is None else obstacles
    all_sizes = np.vstack([sizes, np.full(fixed.shape, obstacle_size)])
    for _ in range(_ROUNDS):
        centers = np.clip(centers, low, high)
        pushes = _pushes(np.vstack([centers, fixed]), all_sizes)[:n]
        if not pushes.any():
            break
        centers = centers + pushes
    return np.clip(centers, low, high)


def _pushes(centers: NDArray, sizes: NDArray) -> NDArray:
    """How far each box moves off those it overlaps, along the shorter way out."""
    n = len(centers)
    gaps = centers[:, None] - centers[None, :]  # (n, n, 2)
    overlaps = (sizes[:, None] + sizes[None, :]) / 2 - np.abs(gaps)
    colliding = (overlaps > 0).all(axis=2) & ~np.eye(n, dtype=bool)
    shorter = overlaps.argmin(axis=2)[:, :, None] == np.arange(2)
    # Boxes at the very same place part by their order.
    order = np.sign(np.subtract.outer(np.arange(n), np.arange(n)))[:, :, None]
    ways = np.where(gaps == 0, order, np.sign(gaps))
    # A little more than half the overlap: halves alone approach their aim but never get there.
    return np.where(colliding[:, :, None] & shorter, 0.52 * overlaps * ways, 0.0).sum(axis=1)


def name_size(labels: Sequence[Label]) -> float:
    """Size of names in points of 1/72 inch: large where they are few and short."""
    return 13 if sum(len(x.text) for x in labels) <= 40 and len(labels) <= 12 else 10


def draw_labels(
    ax: "Axes",
    labels: Sequence[Label],
    font: float,
    obstacles: NDArray | None = None,
    obstacle_size: float = 0.0,
) -> "list[Annotation]":
    """Write names at their anchors, or near and with a line where those are too close.

    They are placed for the figure's size now.

    Parameters
    ----------
    ax : matplotlib Axes
    labels : sequence of Label
    font : float
        Size, in points of 1/72 inch.
    obstacles : ndarray of shape (m, 2), optional
        Places, in the coordinates of the data, that no name should cover.
    obstacle_size : float, default=0.0
        Their width, in points of 1/72 inch.

    Returns
    -------
    list of matplotlib Annotation
    """
    if not labels:
        return []
    places = _places(ax, labels, font, obstacles, obstacle_size)
    return [_draw_label(ax, one, place, font) for one, place in zip(labels, places, strict=True)]


def _places(
    ax: "Axes",
    labels: Sequence[Label],
    font: float,
    obstacles: NDArray | None,
    obstacle_size: float,
) -> NDArray:
    """Offsets of names from their anchors, in points of 1/72 inch."""
    to_points = 72 / ax.figure.dpi
    anchors = ax.transData.transform([label.anchor for label in labels]) * to_points
    lower, upper = ax.bbox.get_points() * to_points
    sizes = np.array([(0.75 * font * max(len(x.text), 1) + 4, 1.15 * font) for x in labels])
    lifts = np.array([(0.0, label.lift) for label in labels])
    fixed = None if obstacles is None else ax.transData.transform(obstacles) * to_points
    wanted = anchors + lifts
    return spread_labels(wanted, sizes, lower, upper, fixed, obstacle_size) - anchors


def _draw_label(ax: "Axes", label: Label, place: NDArray, font: float) -> "Annotation":
    from matplotlib.patheffects import withStroke

    from vicinal.report.drawing.colors import background, ink, readable

    ground = background(ax)
    # On an unknown ground only the color of other text can be trusted.
    plain = label.color is None or ground is None
    color = ink() if plain else readable(str(label.color), str(ground))
    moved = float(np.hypot(place[0], place[1] - label.lift))
    return ax.annotate(
        label.text,
        xy=(float(label.anchor[0]), float(label.anchor[1])),
        xytext=(float(place[0]), float(place[1])),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=font,
        fontweight="bold",
        color=color,
        parse_math=False,  # a class may be called "$"
        path_effects=[withStroke(linewidth=3, foreground=ground)] if ground else [],
        arrowprops=_line(color) if moved > 0.9 * font else None,
    )


def _line(color: Any) -> dict[str, Any]:
    return {"arrowstyle": "-", "color": color, "linewidth": 0.8, "shrinkA": 5, "shrinkB": 0}
