"""Points in a plane, by class, and which of them the frame holds."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vicinal.report.drawing.classes import Classes
from vicinal.report.numbers.plane import CORE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection

__all__ = ["crop", "draw_points", "inside", "outside_note", "scatter"]

MAX_VECTOR_POINTS = 2_000  # above, the points become pixels inside a PDF or SVG too


def draw_points(
    ax: "Axes", points: NDArray, groups: NDArray, classes: Classes, **options: Any
) -> "list[PathCollection]":
    """One scatter per marker, so that colors mix in the order of the points; others below all."""
    from vicinal.report.drawing.colors import MARKERS

    colors, markers = np.array(classes.styles)[groups].T
    markers[groups == len(classes.told_apart)] = "others"
    drawn = []
    for marker in ("others", *MARKERS):
        rows = markers == marker
        if rows.any():
            shape = MARKERS[0] if marker == "others" else marker
            style = {"c": colors[rows], "marker": shape, "alpha": 0.75, **options}
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
