"""How far a comparison is, and how much time is left."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from math import ceil
from statistics import fmean

from vicinal.fitting.status_line import StatusLine
from vicinal.interrupts import Interrupts

__all__ = ["Audience", "Progress", "Watch", "audience", "show_nothing", "watched_by"]


class Progress:
    """How far a comparison is.

    Parameters
    ----------
    labels : sequence of str
        Of the methods, in the order in which they are fitted to each fold.
    n_folds : int

    Attributes
    ----------
    fold : int
        Position of the fold that is being worked on.
    label : str
        What is being fitted to it.
    seconds, accuracies : dict of str to list of float
        Of the folds that a method has done.
    """

    def __init__(self, labels: Sequence[str], n_folds: int) -> None:
        self.n_folds = n_folds
        self.fold, self.label = 0, ""
        self.seconds: dict[str, list[float]] = {label: [] for label in labels}
        self.accuracies: dict[str, list[float]] = {label: [] for label in labels}
        self._began = self._step_began = time.perf_counter()

    def begin(self, fold: int, label: str) -> None:
        """A method is fitted to a fold."""
        self.fold, self.label, self._step_began = fold, label, time.perf_counter()

    def end(self, accuracy: float) -> None:
        """It has been judged."""
        self.seconds[self.label].append(time.perf_counter() - self._step_began)
        self.accuracies[self.label].append(accuracy)
        self.label = ""

    def give_up(self) -> None:
        """The method cannot be fitted."""
        del self.seconds[self.label], self.accuracies[self.label]
        self.label = ""

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._began

    @property
    def left(self) -> tuple[float, bool]:
        """Seconds left, and whether all methods have been seen that they are made of."""
        done = {label: times for label, times in self.seconds.items() if times}
        left = sum((self.n_folds - len(times)) * fmean(times) for times in done.values())
        if self.label in done:
            left -= min(time.perf_counter() - self._step_began, fmean(done[self.label]))
        return float(left), len(done) == len(self.seconds)

    def __str__(self) -> str:
        """Time elapsed and left, as it is when it is asked for."""
        left, is_all = self.left
        if left == 0:
            return f"{self.elapsed:.0f} s"
        return f"{self.elapsed:.0f} s, {'about' if is_all else 'at least'} {ceil(left)} s left"


# Told how far it is: at every step, and while models of this library are being fitted.
Watch = Callable[[Progress], None]
# Who watches, and what hears Ctrl-C already.
Audience = tuple[Watch, Interrupts | None]

_watching: ContextVar[Audience | None] = ContextVar("watching", default=None)


@contextmanager
def watched_by(watch: Watch, interrupts: Interrupts | None = None) -> Iterator[None]:
    """Let all comparisons in the block be watched, whatever their `verbose`.

    For programs around the library that have a screen of their own.

    Parameters
    ----------
    watch : callable
        Told how far it is.
    interrupts : Interrupts, optional
        What hears Ctrl-C already.
    """
    token = _watching.set((watch, interrupts))
    try:
        yield
    finally:
        _watching.reset(token)


@contextmanager
def audience(verbose: int) -> Iterator[Audience]:
    """Who watches the comparison in the block: those around it, a line of text, or nobody.

    Parameters
    ----------
    verbose : int

    Yields
    ------
    watch : callable
    interrupts : Interrupts or None
    """
    given = _watching.get()
    if given is not None or not verbose:
        yield given or (show_nothing, None)
        return
    line = StatusLine()
    yield partial(_show, line), None
    line.close("compare: done")


def show_nothing(progress: Progress) -> None:
    """For comparisons that nobody watches."""


def _show(line: StatusLine, progress: Progress) -> None:
    where = f"compare: fold {progress.fold + 1} of {progress.n_folds}"
    what = f", {progress.label}" if progress.label else ""
    line.show(f"{where}{what}  {progress}")
