"""A line that tells how a fit is doing: rewritten in place on a terminal, else now and then."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TextIO

import numpy as np

from vicinal.fitting.status_line import StatusLine
from vicinal.fitting.update import Update

__all__ = ["Display", "ProgressBar", "display_of", "say", "shown_by", "stage", "standing"]

_WIDTH = 20

# A stage that takes less is not worth a line.
_SECONDS_BEFORE_SHOWN = 1.0

# Up to this share of the updates their time says little about that of the others.
_TOO_EARLY = 0.05


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


def standing(update: Update, total: int) -> str:
    """Updates made of those to be made at most, the objective, and times in words.

    Parameters
    ----------
    update : Update
        Without an objective (NaN) there is none to tell; without a likely end no time left.
    total : int

    Returns
    -------
    str
    """
    seconds = f"{update.time:.1f} s" if update.time < 10 else f"{update.time:.0f} s"
    value = float(update.objective)
    objective = "" if math.isnan(value) else f"  objective {value:.5g}"
    left = ""
    if update.likely_last is not None and update.iteration > _TOO_EARLY * update.likely_last:
        per_update = update.time / update.iteration
        left = f", about {math.ceil(per_update * (update.likely_last - update.iteration))} s left"
    return f"{update.iteration}/{total}{objective}  {seconds}{left}"


def say(label: str, message: str, verbose: int) -> None:
    """Tell whoever watches a fit, on a line of its own.

    Parameters
    ----------
    label : str
    message : str
    verbose : int
    """
    if verbose and _make_display.get() is None:
        sys.stderr.write(f"{label}: {message}\n")
        sys.stderr.flush()


@contextmanager
def stage(name: str, total: int, verbose: int) -> Iterator[Callable[[float], None]]:
    """Show how far a stage of a fit has come that makes no updates, once it takes a second.

    Parameters
    ----------
    name : str
    total : int
        Steps to be made.
    verbose : int

    Yields
    ------
    callable
        To be told of steps made, or parts of them, each time how many more.
    """
    began, done, display = time.perf_counter(), 0.0, None

    def tell(more: float) -> None:
        nonlocal done, display
        done, elapsed = min(done + more, total), time.perf_counter() - began
        if display is None and elapsed > _SECONDS_BEFORE_SHOWN:
            display = display_of(name, total, verbose)
        if display is not None:
            nothing = np.empty(0)
            display(Update(int(done), nothing, math.nan, 0.0, elapsed, likely_last=total))

    yield tell
    if display is not None:
        display.close(f"done in {time.perf_counter() - began:.1f} s")


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
        return f"{self.label} {bar} {standing(update, self.max_iter)}"
