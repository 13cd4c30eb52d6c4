"""Pieces of the picture of a density: lines or a curve, colored points, outliers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vicinal.report.drawing.axes import frame_plane
from vicinal.report.drawing.labels import Label, draw_labels
from vicinal.report.drawing.points import inside, scatter
from vicinal.report.numbers.marginals import Grid

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.text import Annotation

__all__ = [
    "color_points",
    "draw_contours",
    "draw_curve",
    "limit_axes",
    "name_outliers",
    "ring_outliers",
]

SHARES = (0.5, 0.8, 0.95, 0.99)  # of the points inside the lines
_FAINTEST = 0.01  # quantile of log-densities below which colors do not change
_RING = 13.0  # width of a ring and its surroundings, in points of 1/72 inch
_STRIP = 0.12  # height of a strip of points below a curve, as a share of the curve's


def draw_contours(ax: "Axes", grid: Grid, points: NDArray) -> tuple[Any, str]:
    """Lines of equal density around shares of the points, and what they are."""
    from vicinal.report.drawing.colors import ink

    heights = np.ma.masked_invalid(grid.log_density)
    at = np.nan_to_num(grid.at(points), nan=-np.inf, neginf=-np.inf)
    wanted = np.quantile(at, [1.0 - share for share in SHARES], method="lower")
    levels, first = np.unique(wanted, return_index=True)
    seen = (levels > heights.min()) & (levels < heights.max())
    if not seen.any():  # the same density everywhere
        return None, ""
    x, y = grid.axes
    drawn = ax.contour(
        x,
        y,
        heights.T,
        levels[seen],
        colors=[ink(0.55)],
        linewidths=0.9,
        linestyles="solid",
        zorder=2.2,
    )
    shares = " / ".join(f"{100 * SHARES[i]:g}" for i in sorted(first[seen]))
    return drawn, f"lines of equal density around {shares} % of the points"


def draw_curve(ax: "Axes", values: NDArray, grid: Grid | None) -> tuple[Any, NDArray]:
    """The density over a line, and where its points go: a strip below it, shape (n, 2)."""
    from vicinal.report.drawing.colors import PALETTE

    line, height = None, 1.0
    if grid is not None:
        density = np.exp(grid.log_density)
        height = float(density.max())
        (line,) = ax.plot(grid.axes[0], density, color=PALETTE[0], linewidth=1.6)
        ax.fill_between(grid.axes[0], density, color=PALETTE[0], alpha=0.15, linewidth=0)
    below = -height * _STRIP * np.random.default_rng(0).uniform(0.2, 1.0, len(values))
    return line, np.column_stack([values, below])


def color_points(ax: "Axes", points: NDArray, values: NDArray) -> "PathCollection":
    """Points by value, the lowest on top; far lower ones than most share a color."""
    from vicinal.report.drawing.colors import sequential

    finite = values[np.isfinite(values)]
    low, high = np.quantile(finite, (_FAINTEST, 1.0)) if len(finite) else (0.0, 1.0)
    order = np.argsort(-values, kind="stable")
    return scatter(
        ax,
        points[order],
        len(points),
        c=np.where(np.isfinite(values), values, low)[order],
        cmap=sequential(),
        vmin=low,
        vmax=high,
        alpha=0.9,
    )


def ring_outliers(ax: "Axes", points: NDArray) -> "PathCollection":
    """Rings around points."""
    from vicinal.report.drawing.colors import ink

    return ax.scatter(
        points[:, 0],
        points[:, 1],
        s=90,
        facecolors="none",
        edgecolors=[ink()],
        linewidths=1.2,
        zorder=3,
    )


def name_outliers(ax: "Axes", points: NDArray, rows: NDArray) -> "list[Annotation]":
    """Rows above the rings that are inside the frame."""
    seen = inside(ax, points)
    named = zip(rows[seen], points[seen], strict=True)
    labels = [Label(str(row), point, lift=_RING) for row, point in named]
    return draw_labels(ax, labels, 9, points[seen], _RING)


def limit_axes(ax: "Axes", limits: NDArray, axis_names: Sequence[str] | None) -> None:
    """Frame, names of the axes, and what they span, shape (2, 1) or (2, 2)."""
    flat = limits.shape[1] == 1
    frame_plane(ax, axis_names or ("value",) if flat else axis_names)
    if flat:
        ax.set_xlim(*limits[:, 0])
        # Heights in the strip of points below the curve have no meaning.
        ax.set_yticks([tick for tick in ax.get_yticks() if tick >= 0 and ax.lines])
        ax.set_ylabel("density" if ax.lines else "", fontsize=9)
        return
    # The limits stay free, as equal units of both axes need one of them to widen.
    ax.margins(0)
    ax.dataLim.update_from_data_xy(limits, ignore=True)
    ax.autoscale_view()
    ax.apply_aspect()
