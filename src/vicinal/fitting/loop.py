"""The one loop: record every update, decide when to stop, keep the best, survive an interrupt.

A method (L-BFGS, EM, ...) moves parameters and reports them; everything else
about iterating happens here, once, for all of them.
"""

import inspect
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from vicinal.fitting.progress import ProgressBar
from vicinal.fitting.update import Update

__all__ = ["Callback", "Method", "Outcome", "Report", "Update", "run"]


# A warning should point at the user's own line, past scikit-learn's decorators and pipelines.
_OURS = ("vicinal", "sklearn")

# Called after every update; True asks to stop.
Callback = Callable[[Update], bool | None]

# What a method calls with parameters and objective, the start included; True: stop now.
Report = Callable[[NDArray, float], bool]

# Moves parameters from a start, reporting each update. Returns why it ended by itself, and
# whether that counts as convergence.
Method = Callable[[NDArray, Report], tuple[bool, str]]


@dataclass(frozen=True)
class Outcome:
    """Result of a fit.

    Attributes
    ----------
    parameters : ndarray
        The best seen.
    objective : float
        Theirs.
    n_iter : int
        Updates made.
    converged : bool
    message : str
        Why it ended.
    history : dict of str to ndarray
        "objective", "step", "time" after each update, the start first.
    """

    parameters: NDArray
    objective: float
    n_iter: int
    converged: bool
    message: str
    history: dict[str, NDArray]


def run(
    method: Method,
    start: NDArray,
    *,
    max_iter: int,
    tol: float,
    callbacks: Sequence[Callback] = (),
    name: str = "The fit",
    verbose: int = 0,
) -> Outcome:
    """Run `method` from `start` until it converges, is told to stop, or runs out of updates.

    Parameters
    ----------
    method : Method
    start : ndarray
    max_iter : int
        Largest number of updates.
    tol : float
        Converged when an update gains at most tol · max(1, |objective|).
    callbacks : sequence of Callback
    name : str
        For warnings and progress.
    verbose : int, default=0
        1: show a line of progress.

    Returns
    -------
    Outcome

    Warns
    -----
    ConvergenceWarning
        If it ends for any reason but convergence or a callback's wish.
    """
    progress = ProgressBar(name, max_iter) if verbose else None
    record = _Record(max_iter, tol, [*callbacks, *([progress] if progress else [])])
    try:
        own_end = method(start, record.report)
        ended = record.ended or own_end
    except KeyboardInterrupt:
        if record.last is None:
            raise
        ended = (False, "interrupted; the best parameters so far are kept")
    converged, message = ended
    outcome = record.outcome(converged, message)
    if progress:
        progress.close(message)
    if not converged and not record.stopped_by_callback:
        warnings.warn(
            f"{name} stopped before convergence after {outcome.n_iter} updates: {message}.",
            ConvergenceWarning,
            stacklevel=_users_level(),
        )
    return outcome


def _users_level() -> int:
    """Stack level, seen from the caller, of the first frame that is neither ours nor sklearn's."""
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in _OURS:
        level, frame = level + 1, frame.f_back
    return level


@dataclass
class _Record:
    """What the loop remembers of a run."""

    max_iter: int
    tol: float
    callbacks: Sequence[Callback]
    history: dict[str, list[float]] = field(
        default_factory=lambda: {"objective": [], "step": [], "time": []}
    )
    last: Update | None = None
    best: Update | None = None
    ended: tuple[bool, str] | None = None
    stopped_by_callback: bool = False
    began: float = field(default_factory=time.perf_counter)

    def report(self, parameters: NDArray, objective: float) -> bool:
        """Take in an update; True when the method should stop."""
        before, update = self.last, self._update(parameters, objective)
        for column, values in self.history.items():
            values.append(getattr(update, column))
        self.last = update
        if self.best is None or update.objective > self.best.objective:
            self.best = update
        wishes = [callback(update) for callback in self.callbacks]  # each one is told
        self.stopped_by_callback = any(wishes)
        self.ended = self._verdict(before, update)
        return self.ended is not None

    def _update(self, parameters: NDArray, objective: float) -> Update:
        elapsed = time.perf_counter() - self.began
        if self.last is None:
            return Update(0, parameters.copy(), float(objective), 0.0, elapsed)
        step = float(np.linalg.norm(parameters - self.last.parameters))
        iteration = self.last.iteration + 1
        return Update(iteration, parameters.copy(), float(objective), step, elapsed)

    def _verdict(self, before: Update | None, update: Update) -> tuple[bool, str] | None:
        """Why to stop after this update: (converged, message), or None to go on."""
        if self.stopped_by_callback:
            return False, "a callback asked to stop"
        if before is not None:
            gain = update.objective - before.objective
            if abs(gain) <= self.tol * max(1.0, abs(update.objective)):
                return True, f"the objective changed by {gain:.1e}, within tol={self.tol:g}"
        if update.iteration >= self.max_iter:
            return False, f"max_iter={self.max_iter} reached; raise it, or tol"
        return None

    def outcome(self, converged: bool, message: str) -> Outcome:
        """The best parameters and how they came about."""
        if self.best is None or self.last is None:
            raise RuntimeError("the method reported nothing, not even its start")
        return Outcome(
            self.best.parameters,
            self.best.objective,
            self.last.iteration,
            converged,
            message,
            {column: np.array(values) for column, values in self.history.items()},
        )
