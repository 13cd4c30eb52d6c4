"""Points in the plane: how they get there, which of them are drawn, and what the frame holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from vicinal.report.drawing import percent, shortened
from vicinal.report.labels import Label, class_anchors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

__all__ = [
    "CORE",
    "MAX_POINTS",
    "Classes",
    "Plane",
    "class_labels",
    "crop",
    "draw_points",
    "in_the_plane",
    "inside",
    "names_note",
    "outside_note",
    "sample",
    "sample_note",
    "scatter",
]

MAX_POINTS = 20_000  # more of them make a slow picture, not a better one
MAX_VECTOR_POINTS = 2_000  # above, the points become pixels inside a PDF or SVG too
MAX_NAMED = 40  # more names than this cover the points
CORE = (0.005, 0.995)  # quantiles of each coordinate that are always inside the frame


@dataclass(frozen=True)
class Classes:
    """Classes of points, or that they have none.

    Attributes
    ----------
    codes : ndarray of int, shape (n,)
        Position of each point's class; 0 where there are no labels.
    names : list of str
        Of the sorted classes; empty where there are no labels.
    """

    codes: NDArray
    names: list[str]

    @classmethod
    def of(cls, labels: ArrayLike | None, class_names: Sequence[str] | None, n: int) -> "Classes":
        """Read labels of n points, and check that their names fit."""
        if labels is None:
            if class_names is not None:
                raise ValueError("class_names are given without labels: there is nothing to name.")
            return cls(np.zeros(n, dtype=np.intp), [])
        values = column_or_1d(labels)
        check_consistent_length(np.empty(n), values)
        classes, codes = np.unique(values, return_inverse=True)
        names = classes if class_names is None else class_names
        if len(names) != len(classes):
            raise ValueError(
                f"class_names has {len(names)} names, but labels has {len(classes)} classes: "
                "give one name for each, in sorted order."
            )
        return cls(codes, [shortened(name) for name in names])

    @property
    def colors(self) -> list[str]:
        """One per class, in their order."""
        from vicinal.report.colors import NEUTRAL, class_style

        return [class_style(c)[0] for c in range(len(self.names))] or [NEUTRAL]

    @property
    def markers(self) -> list[str]:
        """Likewise."""
        from vicinal.report.colors import MARKERS, class_style

        return [class_style(c)[1] for c in range(len(self.names))] or [MARKERS[0]]


@dataclass(frozen=True)
class Plane:
    """A plane that points are shown in: x ↦ (x - center) directionsᵀ.

    Attributes
    ----------
    center : ndarray of shape (d,)
    directions : ndarray of shape (2, d), or (1, d) where there is one dimension only
    note : str
        Which plane it is, where that is not plain.
    """

    center: NDArray
    directions: NDArray
    note: str = ""

    @classmethod
    def widest(cls, points: NDArray, what: str = "components") -> "Plane":
        """The plane itself where there are two dimensions, else that of largest variance."""
        d = points.shape[1]
        if d <= 2:
            note = "one component; height has no meaning" if d == 1 else ""
            return cls(np.zeros(d), np.eye(d), note)
        # A learned metric knows no first component, only distances: turn it to its widest plane.
        center = points.mean(axis=0)
        centered = points - center
        variances, directions = np.linalg.eigh(centered.T @ centered)
        share = variances[-2:].sum() / (variances.sum() or 1.0)
        note = f"plane of largest variance: {percent(share)} of {d} {what}"
        return cls(center, directions[:, ::-1][:, :2].T, note)

    def project(self, points: ArrayLike) -> NDArray:
        """Coordinates in the plane, shape (n, 2) or (n, 1)."""
        values = check_array(points, dtype=np.float64)
        return (values - self.center) @ self.directions.T

    def place(self, points: NDArray, codes: NDArray) -> NDArray:
        """Where points are drawn, shape (n, 2).

        In one dimension at random heights, a strip for each class.
        """
        placed = self.project(points)
        if placed.shape[1] == 2:
            return placed
        heights = np.random.default_rng(0).uniform(-0.35, 0.35, len(codes)) - codes
        return np.column_stack([placed[:, 0], heights])


def in_the_plane(embedding: NDArray, codes: NDArray) -> tuple[NDArray, str]:
    """Points of shape (n, 2), and what was done to get them."""
    plane = Plane.widest(embedding)
    return plane.place(embedding, codes), plane.note


def sample(codes: NDArray, most: int = MAX_POINTS, also: ArrayLike = ()) -> NDArray:
    """Rows to draw, in random order so that no class always covers the others.

    Of more than `most` about as many, always the same, in which every class keeps its share
    and at least one row; and those in `also`.
    """
    order = np.random.default_rng(0).permutation(len(codes))
    if len(codes) <= most:
        return order
    counts = np.bincount(codes)
    keep = np.maximum(counts > 0, counts * most // len(codes))
    by_class = order[np.argsort(codes[order], kind="stable")]
    rank = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    chosen = np.zeros(len(codes), dtype=bool)
    chosen[by_class[rank < np.repeat(keep, counts)]] = True
    chosen[np.asarray(also, dtype=np.intp)] = True
    return order[chosen[order]]


def sample_note(n_shown: int, n: int) -> str:
    """That not all points are shown."""
    return "" if n_shown == n else f"a sample of {n_shown:,} of {n:,} points"


def draw_points(
    ax: "Axes", points: NDArray, codes: NDArray, classes: Classes, **options: Any
) -> "list[PathCollection]":
    """One scatter per marker, so that colors mix in the order of the points."""
    colors, markers = np.array(classes.colors)[codes], np.array(classes.markers)[codes]
    drawn = []
    for marker in dict.fromkeys(classes.markers):
        rows = markers == marker
        style = {"c": colors[rows], "marker": marker, "alpha": 0.75, **options}
        drawn.append(scatter(ax, points[rows], len(points), **style))
    return drawn


def scatter(ax: "Axes", points: NDArray, n: int, **style: Any) -> "PathCollection":
    """Marks as large as n of them in all allow."""
    return ax.scatter(
        points[:, 0],
        points[:, 1],
        **{
            "s": float(np.clip(9_000 / n, 2, 24)),
            "linewidths": 0,
            "rasterized": n > MAX_VECTOR_POINTS,
            **style,
        },
    )


def crop(ax: "Axes", points: NDArray, keep: NDArray, stretch: float = 1.5) -> None:
    """Leave out a few far points that would crowd all others into a corner.

    Parameters
    ----------
    ax : matplotlib Axes
    points : ndarray of shape (n, 2)
    keep : ndarray of shape (m, 2)
        Points that stay inside in any case; there may be none.
    stretch : float, default=1.5
        How many times wider than the bulk the frame may get to hold all points.
    """
    low, high = np.quantile(points, CORE, axis=0)
    low, high = np.vstack([low, keep]).min(axis=0), np.vstack([high, keep]).max(axis=0)
    core = float((high - low).max())
    if core > 0 and np.ptp(points, axis=0).max() > stretch * core:
        reach = (stretch - 1) / 2 * core
        near = ((points >= low - reach) & (points <= high + reach)).all(axis=1)
        # The limits stay free, as equal units of both axes need one of them to widen.
        ax.dataLim.update_from_data_xy(points[near], ignore=True)
    ax.update_datalim(keep)
    ax.autoscale_view()
    ax.apply_aspect()


def inside(ax: "Axes", points: NDArray) -> NDArray:
    """Which points the frame holds."""
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    return np.all((points >= (left, bottom)) & (points <= (right, top)), axis=1)


def outside_note(ax: "Axes", points: NDArray) -> str:
    """How many points the frame leaves out."""
    n = int((~inside(ax, points)).sum())
    return f"{n:,} far point{'s' * (n > 1)} outside the frame" if n else ""


def class_labels(points: NDArray, classes: Classes) -> list[Label]:
    """A name amid the points of each class; of the largest ones, where there are many."""
    n_classes = len(classes.names)
    if n_classes == 0:
        return []
    anchors = class_anchors(points, classes.codes, n_classes)
    named = np.sort(np.argsort(-np.bincount(classes.codes), kind="stable")[:MAX_NAMED])
    return [Label(classes.names[c], anchors[c], classes.colors[c]) for c in named]


def names_note(labels: Sequence[Label], classes: Classes) -> str:
    """That not all classes are named."""
    if len(labels) == len(classes.names):
        return ""
    return f"named: the {len(labels)} largest of {len(classes.names)} classes"
