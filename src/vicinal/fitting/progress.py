"""A line that tells how a fit is doing: rewritten in place on a terminal, else now and then."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TextIO

from vicinal.fitting.status_line import StatusLine
from vicinal.fitting.update import Update

__all__ = ["Display", "ProgressBar", "display_of", "shown_by"]

_WIDTH = 20


class Display(Protocol):
    """What shows how a fit is doing."""

    def __call__(self, update: Update) -> None:
        """Show the update."""
        ...

    def close(self, message: str) -> None:
        """Say why it ended."""
        ...


# Makes a display from the name of a fit and its largest number of updates.
MakeDisplay = Callable[[str, int], Display]

_make_display: ContextVar[MakeDisplay | None] = ContextVar("make_display", default=None)


@contextmanager
def shown_by(make: MakeDisplay) -> Iterator[None]:
    """Let all fits in the block be shown by displays of another kind, whatever their `verbose`.

    For programs around the library that have a screen of their own.

    Parameters
    ----------
    make : callable
        From the name of a fit and its largest number of updates to a `Display`.
    """
    token = _make_display.set(make)
    try:
        yield
    finally:
        _make_display.reset(token)


def display_of(name: str, max_iter: int, verbose: int) -> Display | None:
    """The display of a fit, or None where nobody asked for one.

    Parameters
    ----------
    name : str
    max_iter : int
    verbose : int

    Returns
    -------
    Display or None
    """
    make = _make_display.get()
    if make is not None:
        return make(name, max_iter)
    return ProgressBar(name, max_iter) if verbose else None


class ProgressBar:
    """Callback that shows iteration, objective, elapsed and remaining time.

    Parameters
    ----------
    label : str
    max_iter : int
    stream : text stream, default=sys.stderr
    """

    def __init__(self, label: str, max_iter: int, stream: TextIO | None = None) -> None:
        self.label = label
        self.max_iter = max_iter
        self._status = StatusLine(stream)

    def __call__(self, update: Update) -> None:
        """Show the update."""
        self._status.show(self._line(update))

    def close(self, message: str) -> None:
        """Say why it ended, on a line of its own."""
        self._status.close(f"{self.label}: {message}")

    def _line(self, update: Update) -> str:
        done = update.iteration / max(1, self.max_iter)
        filled = int(_WIDTH * done)
        bar = "█" * filled + "░" * (_WIDTH - filled)
        return (
            f"{self.label} {bar} {update.iteration}/{self.max_iter}"
            f"  objective {update.objective:.6g}  {update.time:.1f} s{self._left(update)}"
        )

    def _left(self, update: Update) -> str:
        if update.iteration == 0:
            return ""
        left = update.time / update.iteration * (self.max_iter - update.iteration)
        return f", at most {left:.0f} s left"
