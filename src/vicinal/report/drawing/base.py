"""What all displays share: a title, the note below, and room for both."""

from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal.report.names import plain_text
from vicinal.report.support import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation, Text
    from matplotlib.transforms import Bbox

__all__ = ["BaseDisplay", "settle", "write_note"]

_MOST_SAID = 240  # characters of a title, or of a note: more would leave the picture no room
_NOTE_SIZE = 8
_MARGIN = 3.0  # points of 1/72 inch left free at the edge of the figure
_LEAST_SHARE = 0.2  # of the figure that its axes keep, however long the names beside them


class BaseDisplay:
    """Axes and figure of a plot, and the note below it.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the plot.
    figure_ : matplotlib Figure
        Figure that contains the axes.
    note_ : matplotlib Annotation or None
        The note below the plot.
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
    from vicinal.report.drawing.colors import ink

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
