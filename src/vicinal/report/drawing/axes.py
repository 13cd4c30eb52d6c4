"""Axes: their frame, units, legend, and what their colors mean."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal.report.names import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.legend import Legend

__all__ = [
    "LONGEST",
    "draw_colorbar",
    "draw_legend",
    "equal_units",
    "frame",
    "frame_plane",
    "quiet_corner",
]

LONGEST = 60  # of what stands along an axis
_MOST_IN_LEGEND = 16


def frame(ax: "Axes", *, open_: bool = False) -> None:
    """Thin lines around the axes; open above and to the right where axes have ticks to read."""
    from vicinal.report.drawing.colors import edge

    ax.spines[:].set_color(edge())
    if open_:
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(which="both", color=edge(), labelsize=9)
        ax.set_axisbelow(True)
        ax.grid(color=edge(0.1), linewidth=0.8)
    else:
        ax.set(xticks=[], yticks=[])


def equal_units(ax: "Axes") -> None:
    """Give both axes one unit, since distances are what is looked at."""
    ax.set_aspect("equal", adjustable="datalim")


def frame_plane(ax: "Axes", axis_names: Sequence[str] | None) -> None:
    """Ticks and names where the axes are features; else neither, and the same unit on both."""
    frame(ax, open_=axis_names is not None)
    if axis_names is None:
        equal_units(ax)
        return
    for axis, name in zip((ax.xaxis, ax.yaxis), axis_names, strict=False):
        axis.set_label_text(shortened(name, 40), fontsize=9, parse_math=False)


def draw_legend(ax: "Axes", **options: Any) -> "Legend":
    """A legend that takes names as they are, not as mathematics; of many lines, the first."""
    from matplotlib.lines import Line2D

    from vicinal.report.drawing.colors import background

    handles = options.pop("handles", ax.get_legend_handles_labels()[0])
    if len(handles) > _MOST_IN_LEGEND:
        rest = f"and {len(handles) - _MOST_IN_LEGEND:,} others"
        handles = [*handles[:_MOST_IN_LEGEND], Line2D([], [], linestyle="none", label=rest)]
    legend = ax.legend(
        handles=handles, fontsize=9, frameon=True, edgecolor="none", framealpha=0.8, **options
    )
    legend.get_frame().set_facecolor(background(ax) or "none")
    for text in legend.get_texts():
        text.set_parse_math(False)
    return legend


def quiet_corner(axes: "Iterable[Axes]") -> str:
    """Corner that the lines of axes, one over the other, use least: a place for a legend.

    matplotlib's "best" looks at one of them only.
    """
    places = []
    for ax in axes:
        for line in ax.lines:
            shown = ax.transData.transform(line.get_xydata())
            places.append(ax.transAxes.inverted().transform(shown))
    x, y = np.concatenate(places).T
    corners = {
        f"{vertical} {side}": int((high & near).sum())
        for vertical, high in (("upper", y > 0.7), ("lower", y < 0.3))
        for side, near in (("right", x > 0.55), ("left", x < 0.45))
    }
    return min(corners, key=corners.__getitem__)


def draw_colorbar(ax: "Axes", colored: Any, name: str, **options: Any) -> "Colorbar":
    """A slim bar to the right that tells what the colors mean."""
    from vicinal.report.drawing.colors import edge

    bar = ax.figure.colorbar(colored, ax=ax, fraction=0.046, pad=0.03, **options)
    bar.set_label(shortened(name, LONGEST), fontsize=9, parse_math=False)
    bar.ax.tick_params(labelsize=8, color=edge())
    bar.outline.set_edgecolor(edge())
    return bar
