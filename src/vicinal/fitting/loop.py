"""The one loop: record every update, decide when to stop, keep the best, survive an interrupt.

A method (L-BFGS, EM, ...) moves parameters and reports them; everything else
about iterating happens here, once, for all of them.
"""

import inspect
import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from vicinal.fitting.progress import display_of
from vicinal.fitting.update import Update

__all__ = ["Callback", "Method", "Outcome", "Report", "Update", "Validation", "few_updates", "run"]


# A warning should point at the user's own line, past scikit-learn's decorators and pipelines.
_OURS = ("vicinal", "sklearn")

# Called after every update; True asks to stop.
Callback = Callable[[Update], bool | None]


class Report(Protocol):
    """What a method calls after every update, the start included; True: stop now."""

    def __call__(
        self, parameters: NDArray, objective: float, gradient: NDArray | None = None
    ) -> bool:
        """Tell of parameters, their objective and, where known, its gradient."""
        ...


# Moves parameters from a start, reporting each update. Returns why it ended by itself, and
# whether that counts as convergence.
Method = Callable[[NDArray, Report], tuple[bool, str]]


@dataclass(frozen=True)
class Validation:
    """A score on points held back: the best map by it is kept.

    Attributes
    ----------
    score : callable
        Of parameters; larger is better.
    every : int
        Updates between two checks.
    patience : int or None
        Checks in a row without a better score after which to stop; None: never.
    """

    score: Callable[[NDArray], float]
    every: int = 1
    patience: int | None = None


@dataclass(frozen=True)
class Outcome:
    """Result of a fit.

    Attributes
    ----------
    parameters : ndarray
        The best seen: by the score on points held back where there are any, else
        by the objective; the last ones where that is too noisy to tell.
    objective : float
        Theirs.
    validation : float
        Their score on points held back, or NaN.
    n_iter : int
        Updates made.
    converged : bool
    message : str
        Why it ended.
    history : dict of str to ndarray
        "objective", "step", "time" after each update, the start first, and
        "validation" (NaN where it was not checked) where points are held back.
    """

    parameters: NDArray
    objective: float
    validation: float
    n_iter: int
    converged: bool
    message: str
    history: dict[str, NDArray]


def run(
    method: Method,
    start: NDArray,
    *,
    max_iter: int,
    tol: float | None,
    origin: float = 0.0,
    validation: Validation | None = None,
    scheduled: bool = False,
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
    tol : float or None
        Converged when an update gains at most tol · max(1, |objective - origin|),
        moves the parameters by at most tol times their norm, or when moving them by
        their whole norm along the gradient would gain no more than that first amount.
        None: the objective is noisy and says nothing about convergence.
    origin : float, default=0.0
        Where the objective counts from: a log-density changes with the units of the
        data, and when to stop should not.
    validation : Validation, optional
    scheduled : bool, default=False
        The method plans for `max_iter` updates: making them all is its proper end.
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
    progress = display_of(name, max_iter, verbose)
    listeners: list[Callback] = [*callbacks, *([progress] if progress else [])]
    record = _Record(max_iter, tol, origin, validation, scheduled, listeners)
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


def few_updates(
    method: Method, start: NDArray, n: int, least_gain: float = -math.inf
) -> tuple[NDArray, float]:
    """Parameters and objective after at most `n` updates; nothing recorded, no warning.

    It ends before where an update gains less than `least_gain`.
    """
    reached, value, n_reports = start, -math.inf, 0

    def report(parameters: NDArray, objective: float, gradient: NDArray | None = None) -> bool:
        nonlocal reached, value, n_reports
        gain, n_reports = objective - value, n_reports + 1
        reached, value = parameters.copy(), objective
        return gain < least_gain or n_reports > n  # the start is reported, too

    method(start, report)
    return reached, value


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
    tol: float | None
    origin: float
    validation: Validation | None
    scheduled: bool
    callbacks: Sequence[Callback]
    updates: list[Update] = field(default_factory=list)  # the parameters of all but the last: empty
    best: Update | None = None
    checks_without_gain: int = 0
    ended: tuple[bool, str] | None = None
    stopped_by_callback: bool = False
    began: float = field(default_factory=time.perf_counter)

    @property
    def last(self) -> Update | None:
        return self.updates[-1] if self.updates else None

    def report(
        self, parameters: NDArray, objective: float, gradient: NDArray | None = None
    ) -> bool:
        """Take in an update; True when the method should stop."""
        before, update = self.last, self._update(parameters, objective)
        if before is not None:
            self.updates[-1] = replace(before, parameters=np.empty(0))
        self.updates.append(update)
        self._keep_if_best(update)
        wishes = [callback(update) for callback in self.callbacks]  # each one is told
        self.stopped_by_callback = any(wishes)
        self.ended = self._verdict(before, update, gradient)
        return self.ended is not None

    def _update(self, parameters: NDArray, objective: float) -> Update:
        last, iteration, step = self.last, 0, 0.0
        if last is not None:
            iteration = last.iteration + 1
            step = float(np.linalg.norm(parameters - last.parameters))
        score = self._score(iteration, parameters)
        elapsed = time.perf_counter() - self.began
        return Update(iteration, parameters.copy(), float(objective), step, elapsed, score)

    def _score(self, iteration: int, parameters: NDArray) -> float:
        if self.validation is None:
            return math.nan
        if iteration % self.validation.every and iteration < self.max_iter:
            return math.nan
        return float(self.validation.score(parameters))

    def _keep_if_best(self, update: Update) -> None:
        if self.validation is not None:
            if math.isnan(update.validation):
                return
            better = self.best is None or update.validation > self.best.validation
            self.checks_without_gain = 0 if better else self.checks_without_gain + 1
        else:
            noisy = self.tol is None
            better = noisy or self.best is None or update.objective > self.best.objective
        if better:
            self.best = update

    def _verdict(
        self, before: Update | None, update: Update, gradient: NDArray | None
    ) -> tuple[bool, str] | None:
        """Why to stop after this update: (converged, message), or None to go on."""
        if self.stopped_by_callback:
            return False, "a callback asked to stop"
        patience = self.validation.patience if self.validation else None
        if patience is not None and self.checks_without_gain >= patience:
            return True, f"no better validation score in {patience} checks"
        converged = self._converged(before, update, gradient)
        if converged:
            return True, converged
        if update.iteration >= self.max_iter:
            if self.scheduled:
                return True, f"all {self.max_iter} updates of the schedule were made"
            return False, f"max_iter={self.max_iter} reached; raise it, or tol"
        return None

    def _converged(
        self, before: Update | None, update: Update, gradient: NDArray | None
    ) -> str | None:
        """By which criterion, if any."""
        if self.tol is None or before is None:
            return None
        within = f"within tol={self.tol:g}"
        unit = max(1.0, abs(update.objective - self.origin))
        size = float(np.linalg.norm(update.parameters))
        gain = update.objective - before.objective
        if abs(gain) <= self.tol * unit:
            return f"the objective changed by {gain:.1e}, {within}"
        if update.step <= self.tol * size:
            return f"the parameters changed by {update.step / size:.1e} of their norm, {within}"
        if gradient is not None and np.linalg.norm(gradient) * size <= self.tol * unit:
            return f"the gradient is {np.linalg.norm(gradient):.1e}, {within}"
        return None

    def outcome(self, converged: bool, message: str) -> Outcome:
        """The best parameters and how they came about."""
        if self.best is None or self.last is None:
            raise RuntimeError("the method reported nothing, not even its start")
        columns = ["objective", "step", "time"] + ["validation"] * (self.validation is not None)
        return Outcome(
            self.best.parameters,
            self.best.objective,
            self.best.validation,
            self.last.iteration,
            converged,
            message,
            {name: np.array([getattr(u, name) for u in self.updates]) for name in columns},
        )
