"""What all displays share: axes, frame, title, the note below, and room for all of them."""

from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal.report.names import plain_text, shortened
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Annotation, Text
    from matplotlib.transforms import Bbox

__all__ = [
    "LONGEST",
    "BaseDisplay",
    "draw_colorbar",
    "draw_legend",
    "drawing_unit",
    "equal_units",
    "frame",
    "frame_plane",
    "percent",
    "percent_tick",
    "quiet_corner",
    "settle",
    "write_note",
]

_DRAWABLE = 1e-100, 1e100  # sizes of numbers with whose squares matplotlib can work
LONGEST = 60  # of what stands along an axis
_MOST_SAID = 240  # characters of a title, or of a note: more would leave the picture no room
_NOTE_SIZE = 8
_MOST_IN_LEGEND = 16
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
            title = self.ax_.set_title(self.title, parse_math=False)
            middle, room = sum(self.ax_.bbox.intervalx) / 2, self.figure_.bbox
            _break_lines(self.ax_, title, [self.title], 2 * min(middle - room.x0, room.x1 - middle))
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

    said = [note for note in notes if note]
    if not said:
        return None
    written = ax.annotate(
        "",
        xy=(0, 0),
        xycoords=_Below(ax),
        xytext=(0, -5),
        textcoords="offset points",
        va="top",
        fontsize=_NOTE_SIZE,
        color=ink(0.7),
        parse_math=False,
    )
    _break_lines(ax, written, said, ax.figure.bbox.x1 - ax.bbox.x0)
    return written


def _break_lines(ax: "Axes", written: "Text", paragraphs: Sequence[str], room: float) -> None:
    """Break lines at about the width of the axes, sooner where wide letters need more room."""
    cut = [text if len(text) <= _MOST_SAID else f"{text[:_MOST_SAID]}…" for text in paragraphs]
    lines = [line for text in cut for line in plain_text(text).splitlines()]
    points = ax.bbox.width * 72 / ax.figure.dpi
    width = max(24, int(points / (0.5 * float(written.get_fontsize()))))
    written.set_text("\n".join(fill(line, width) for line in lines))
    drawn = written.get_window_extent().width
    if drawn > room:
        width = max(8, int(width * room / drawn))
        written.set_text("\n".join(fill(line, width) for line in lines))


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
    """A legend that takes names as they are, not as mathematics; of many lines, the first."""
    from matplotlib.lines import Line2D

    from vicinal.report.colors import background

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


def drawing_unit(size: float) -> tuple[float, str]:
    """A unit in which numbers of a size can be drawn, and what to say of it: 1 and "", mostly.

    Examples
    --------
    >>> from vicinal.report.drawing import drawing_unit
    >>> drawing_unit(5000.0), drawing_unit(2e-200)
    ((1.0, ''), (1e-200, '; unit: 1e-200'))
    """
    if size == 0 or _DRAWABLE[0] <= size <= _DRAWABLE[1]:
        return 1.0, ""
    power = max(round(np.log10(size)), -300)
    return 10.0**power, f"; unit: 1e{power}"


def draw_colorbar(ax: "Axes", colored: Any, name: str, **options: Any) -> "Colorbar":
    """A slim bar to the right that tells what the colors mean."""
    from vicinal.report.colors import edge

    bar = ax.figure.colorbar(colored, ax=ax, fraction=0.046, pad=0.03, **options)
    bar.set_label(shortened(name, LONGEST), fontsize=9, parse_math=False)
    bar.ax.tick_params(labelsize=8, color=edge())
    bar.outline.set_edgecolor(edge())
    return bar


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
    if 0.99 < share < 1 - 1e-12:  # sums of shares err by less
        return ">99 %"
    return f"{share:.0%}".replace("%", " %")


def percent_tick(share: float, position: float = 0.0) -> str:
    """Text of a tick for a share, for matplotlib's axes."""
    return f"{100 * share:.4g} %".replace("-", "−")
