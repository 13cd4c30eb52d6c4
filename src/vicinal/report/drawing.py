"""What all displays share: axes, frame, title, the note below, and room for all of them."""

from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Annotation
    from matplotlib.transforms import Bbox

__all__ = [
    "BaseDisplay",
    "draw_colorbar",
    "draw_legend",
    "equal_units",
    "frame",
    "frame_plane",
    "percent",
    "percent_tick",
    "quiet_corner",
    "settle",
    "shortened",
    "write_note",
]

MAX_NAME = 18
_NOTE_SIZE = 8
_MARGIN = 3.0  # points of 1/72 inch left free at the edge of the figure
_LEAST_SHARE = 0.2  # of the figure that its axes keep, however long the names beside them


class BaseDisplay:
    """Where a picture is drawn, and what stands around it.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What `plot` drew on.
    figure_ : matplotlib Figure
        The figure that holds it.
    note_ : matplotlib Annotation or None
        What is said below the picture.
    """

    title: str | None
    ax_: "Axes"
    figure_: "Figure"
    note_: "Annotation | None"

    def _begin(self, ax: "Axes | None") -> "Axes":
        """Axes to draw on: those given, or of a new figure."""
        require_matplotlib(f"{type(self).__name__}.plot")
        self.ax_ = ax if ax is not None else _new_axes()
        self.figure_ = self.ax_.figure  # type: ignore[assignment]
        return self.ax_

    def _finish(self, *notes: str) -> None:
        """Title, note, and room for what has been drawn."""
        settle(self.ax_)  # the lines of title and note break at the width that is left
        if self.title:
            width = _characters(self.ax_, float(self.ax_.title.get_fontsize()))
            self.ax_.set_title(_wrapped(self.title, width), parse_math=False)
        self.note_ = write_note(self.ax_, notes)
        settle(self.ax_)


def _new_axes() -> "Axes":
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def frame(ax: "Axes", *, open_: bool = False) -> None:
    """Thin lines around the axes; open above and to the right where axes have ticks to read."""
    from vicinal.report.colors import edge

    ax.spines[:].set_color(edge())
    if open_:
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(which="both", color=edge(), labelsize=9)
        ax.set_axisbelow(True)
        ax.grid(color=edge(0.1), linewidth=0.8)
    else:
        ax.set(xticks=[], yticks=[])


def equal_units(ax: "Axes") -> None:
    """The same unit on both axes, since distances are what is looked at."""
    ax.set_aspect("equal", adjustable="datalim")


def frame_plane(ax: "Axes", axis_names: Sequence[str] | None) -> None:
    """Ticks and names where the axes are features; else neither, and the same unit on both."""
    frame(ax, open_=axis_names is not None)
    if axis_names is None:
        equal_units(ax)
        return
    for axis, name in zip((ax.xaxis, ax.yaxis), axis_names, strict=False):
        axis.set_label_text(shortened(name, 40), fontsize=9, parse_math=False)


class _Below:
    """The axes' box, and what stands below it on the x axis: where a note begins.

    An object rather than a function inside one, so that figures can be pickled.
    """

    def __init__(self, ax: "Axes") -> None:
        self.ax = ax

    def __call__(self, renderer: Any) -> "Bbox":
        from matplotlib.transforms import Bbox

        self.ax.apply_aspect()
        box, axis = self.ax.bbox, self.ax.xaxis.get_tightbbox(renderer)
        bottom = box.y0 if axis is None else min(box.y0, axis.y0)
        return Bbox.from_extents(box.x0, bottom, box.x1, box.y1)


def write_note(ax: "Axes", notes: Iterable[str]) -> "Annotation | None":
    """Small print below the axes, a line for each note that is not empty."""
    from vicinal.report.colors import ink

    width = _characters(ax, _NOTE_SIZE)
    text = "\n".join(_wrapped(note, width) for note in notes if note)
    if not text:
        return None
    return ax.annotate(
        text,
        xy=(0, 0),
        xycoords=_Below(ax),
        xytext=(0, -5),
        textcoords="offset points",
        va="top",
        fontsize=_NOTE_SIZE,
        color=ink(0.7),
        parse_math=False,
    )


def _wrapped(text: str, width: int) -> str:
    return "\n".join(fill(line, width) for line in text.splitlines())


def _characters(ax: "Axes", font: float) -> int:
    """How many characters fit into the width of the axes, about."""
    points = ax.bbox.width * 72 / ax.figure.dpi
    return max(24, int(points / (0.5 * font)))


def settle(ax: "Axes") -> None:
    """Let the axes take their final place, so that nothing around them is cut off.

    By the figure's own layout where it has one, otherwise by wider margins. What is
    placed by size, such as names amid points, comes after.
    """
    from matplotlib.figure import Figure

    figure = ax.figure
    engine = figure.get_layout_engine()
    if engine is not None:
        if isinstance(figure, Figure):
            engine.execute(figure)
    elif ax.get_subplotspec() is not None:
        _widen_margins(figure)
    ax.apply_aspect()


def _widen_margins(figure: Any) -> None:
    """Move the subplots inwards by what reaches over the figure's edges."""
    dpi, old = figure.dpi, figure.subplotpars
    room, drawn = figure.bbox.extents, figure.get_tightbbox().extents * dpi
    beyond = np.clip(np.array([1, 1, -1, -1]) * (room - drawn), 0.0, None)
    if not beyond.any():
        return
    margin = _MARGIN * dpi / 72
    shares = np.where(beyond > 0, beyond + margin, 0.0) / np.tile((room[2:] - room[:2]), 2)
    left, bottom = old.left + shares[0], old.bottom + shares[1]
    right, top = old.right - shares[2], old.top - shares[3]
    if right - left >= _LEAST_SHARE and top - bottom >= _LEAST_SHARE:
        figure.subplots_adjust(left=left, bottom=bottom, right=right, top=top)


def draw_legend(ax: "Axes", **options: Any) -> "Legend":
    """A legend that takes names as they are, not as mathematics."""
    from vicinal.report.colors import background

    legend = ax.legend(fontsize=9, frameon=True, edgecolor="none", framealpha=0.8, **options)
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
    from vicinal.report.colors import edge

    bar = ax.figure.colorbar(colored, ax=ax, fraction=0.046, pad=0.03, **options)
    bar.set_label(name, fontsize=9, parse_math=False)
    bar.ax.tick_params(labelsize=8, color=edge())
    bar.outline.set_edgecolor(edge())
    return bar


def shortened(name: object, most: int = MAX_NAME) -> str:
    """The name, cut to a length that can be shown.

    Examples
    --------
    >>> from vicinal.report.drawing import shortened
    >>> shortened("a name that is far too long")
    'a name that is fa…'
    """
    text = " ".join(str(name).split())
    return text if len(text) <= most else text[: most - 1] + "…"


def percent(share: float) -> str:
    """A share in percent, never rounded to none or all.

    Examples
    --------
    >>> from vicinal.report.drawing import percent
    >>> percent(0.123), percent(0.001), percent(0.9999), percent(1.0)
    ('12 %', '<1 %', '>99 %', '100 %')
    """
    if 0 < share < 0.01:
        return "<1 %"
    if 0.99 < share < 1:
        return ">99 %"
    return f"{share:.0%}".replace("%", " %")


def percent_tick(share: float, position: float = 0.0) -> str:
    """Text of a tick for a share, for matplotlib's axes."""
    return f"{100 * share:.4g} %".replace("-", "−")
