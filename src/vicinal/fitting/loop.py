"""The one loop: record every update, decide when to stop, keep the best, survive an interrupt.

A solver (L-BFGS, EM, ...) moves from state to state; everything else about
iterating happens here, once, for all of them.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from vicinal.fitting.checkpoints.journal import Page, Unwritten, a_page, remembered, written_by
from vicinal.fitting.checkpoints.kinds import OF_A_FIT
from vicinal.fitting.draws import DrawState
from vicinal.fitting.ending import Ending, Reason
from vicinal.fitting.forecast import SEEN, likely_last
from vicinal.fitting.numbers import Number, norm, numbers
from vicinal.fitting.outcome import FitState, Outcome
from vicinal.fitting.progress import display_of
from vicinal.fitting.remarks import warn_user
from vicinal.fitting.rescue import Copies
from vicinal.fitting.solver import Solver, State
from vicinal.fitting.update import Update, arrived
from vicinal.neighborhood.arrays import Array, as_number
from vicinal.neighborhood.gpu import is_device_failure

__all__ = ["Callback", "Validation", "few_updates", "run", "warn_of_surprise", "warn_user"]

# Called after every update; True asks to stop.
Callback = Callable[[Update], bool | None]

_KEPT = "the best parameters so far are kept"

_ASKED_TO_STOP = Ending(Reason.CALLBACK, "a callback asked to stop")


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

    score: Callable[[Array], float]
    every: int = 1
    patience: int | None = None


def run(
    solver: Solver,
    start: Array | FitState,
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
    """Run `solver` from `start` until it converges, is told to stop, or runs out of updates.

    Parameters
    ----------
    solver : Solver
    start : array or FitState
        Parameters, or where an earlier run with the same problem stopped.
    max_iter : int
        Largest number of updates, those of an earlier run included.
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
        The solver plans for `max_iter` updates: making them all is its proper end.
    callbacks : sequence of Callback, default=()
    name : str, default="The fit"
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
    # The run is one call of the fit: what solvers and callbacks ask for within it is no other.
    with a_page(OF_A_FIT, like=start) as page, written_by(None):
        if page.is_kept:
            solver = solver.recording()
        record = _Record(solver, max_iter, tol, origin, validation, scheduled, listeners, page)
        ending = _ending(solver, start, record)
        outcome = record.outcome(ending)
        if ending.reason.is_from_outside:
            page.leave()
        elif page.result is None:
            page.keep((outcome.state.concluded(), ending))
    if progress:
        progress.close(outcome.ending.message)
    warn_of_surprise(name, outcome)
    return outcome


def warn_of_surprise(name: str, outcome: Outcome) -> None:
    """Warn of an end that is neither convergence nor a user's wish."""
    if outcome.ending.reason.is_a_surprise:
        warn_user(
            f"{name} stopped before convergence after {outcome.n_iter} updates: "
            f"{outcome.ending.message}.",
            ConvergenceWarning,
        )


def few_updates(
    solver: Solver, start: Array, n: int, least_gain: float = -math.inf
) -> tuple[Array, Number]:
    """Parameters and objective after at most `n` updates; nothing recorded, no warning.

    It ends before where an update gains less than `least_gain`. In the journal of a fit that keeps
    one it is one call: nothing of it is known before its end.
    """
    return remembered(lambda: _few_updates(solver, start, n, least_gain), like=start)


def _few_updates(solver: Solver, start: Array, n: int, least_gain: float) -> tuple[Array, Number]:
    reached, n_updates = solver.start(start), 0

    def tell(state: State) -> bool:
        nonlocal reached, n_updates
        gain, n_updates = state.objective - reached.objective, n_updates + 1
        reached = state
        return gain < least_gain or n_updates >= n

    if n > 0:
        solver.follow(reached, tell)
    return reached.parameters, reached.objective


def _ending(solver: Solver, start: Array | FitState, record: "_Record") -> Ending:
    """Follow the solver to the end, from where the page of this run says that it stands."""
    if record.page.result is not None:
        start, ending = record.page.result[0]
        record.resume(start)
        return ending
    if record.page.standing is not None:
        start = record.page.standing
    try:
        if isinstance(start, FitState):
            state = record.resume(start)
        else:
            state = solver.start(start)
            record.tell(state)
        own = None if record.ended else solver.follow(state, record.tell)
    except KeyboardInterrupt:
        if record.state is None:
            raise
        return Ending(Reason.INTERRUPTED, f"interrupted; {_KEPT}")
    except Exception as error:
        if record.state is None or not is_device_failure(error):
            raise
        record.rescue()
        said = str(error).splitlines()[0]
        return Ending(Reason.DEVICE_LOST, f"{said} {_KEPT.capitalize()}.")
    ending = record.ended or own
    if ending is None:
        raise RuntimeError("the solver stopped before it was told to, without a reason")
    return ending


@dataclass
class _Record:
    """What the loop remembers of a run."""

    solver: Solver
    max_iter: int
    tol: float | None
    origin: float
    validation: Validation | None
    scheduled: bool
    callbacks: Sequence[Callback]
    page: Page | Unwritten
    updates: list[Update] = field(default_factory=list)  # the parameters of all but the last: empty
    best: Update | None = None
    checks_without_gain: int = 0
    state: State | None = None
    draws: DrawState | None = None
    ended: Ending | None = None
    stood: Any = None  # all of it when the last update was told
    began: float = field(default_factory=time.perf_counter)
    copies: Copies = field(default_factory=Copies)

    @property
    def last(self) -> Update | None:
        return self.updates[-1] if self.updates else None

    def tell(self, state: State) -> bool:
        """Take in an update; True when the solver should stop."""
        update = self._update(state.parameters, state.objective)
        if self.last is not None:
            self.updates[-1] = replace(self.last, parameters=np.empty(0))
        self.updates.append(update)
        self.state = state
        self.draws = self.solver.draws.state if self.solver.draws else None
        self._keep_if_best(update)
        self.copies.follow(self.updates, self.best)
        wishes = [callback(update) for callback in self.callbacks]  # each one is told
        self.ended = _ASKED_TO_STOP if any(wishes) else self._verdict()
        self._stands()
        self.page.note(self.standing)
        return self.ended is not None

    def _stands(self) -> None:
        """All is told of the last update; in one assignment, as Ctrl-C may come anywhere."""
        n_updates, best, checks = len(self.updates), self.best, self.checks_without_gain
        self.stood = self.state, self.draws, n_updates, best, checks

    def standing(self) -> FitState:
        """Where it stood when the last update was told."""
        state, draws, n_updates, best, checks = self.stood
        *updates, best = arrived([*self.updates[:n_updates], best])
        last = replace(updates.pop(), parameters=state.parameters)
        return FitState(state, draws, (*updates, last), best, checks)

    def resume(self, fit: FitState) -> State:
        """Take in all of an earlier run."""
        self.state, self.draws = fit.solver, fit.draws
        self.updates, self.best = list(fit.updates), fit.best
        self.checks_without_gain = fit.checks_without_gain
        self.began -= fit.updates[-1].time
        if self.solver.draws and fit.draws:
            self.solver.draws.restore(fit.draws)
        self.ended = self._verdict()
        self._stands()
        return fit.solver

    def _update(self, parameters: Array, objective: Number) -> Update:
        last, iteration, step = self.last, 0, 0.0
        if last is not None:
            iteration = last.iteration + 1
            step = norm(parameters - last.parameters)
        score = self._score(iteration, parameters)
        objective = as_number(objective)
        if self.tol is not None:  # who looks for convergence has to wait for numbers
            objective, step = numbers([objective, step])
        elapsed = time.perf_counter() - self.began
        if isinstance(parameters, np.ndarray):  # scipy's own, which change
            parameters = parameters.copy()
        end = self._likely_last(objective)
        return Update(iteration, parameters, objective, step, elapsed, score, end)

    def _likely_last(self, objective: Number) -> int | None:
        if self.scheduled:
            return self.max_iter
        if self.tol is None:
            return None
        least_gain = self.tol * max(1.0, abs(objective - self.origin))
        recent = [*(update.objective for update in self.updates[-SEEN:]), objective]
        return likely_last(len(self.updates), recent, least_gain, self.max_iter)

    def _score(self, iteration: int, parameters: Array) -> float:
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

    def rescue(self) -> None:
        """After a device has failed: go on with what is left of it."""
        if self.best is not None:
            self.updates, self.best = self.copies.rescued(self.updates, self.best)

    def _verdict(self) -> Ending | None:
        """Why to stop after the last update, or None to go on."""
        patience = self.validation.patience if self.validation else None
        if patience is not None and self.checks_without_gain >= patience:
            return Ending(Reason.PATIENCE_LOST, f"no better validation score in {patience} checks")
        converged = self._converged()
        if converged or self.updates[-1].iteration < self.max_iter:
            return converged
        if self.scheduled:
            message = f"all {self.max_iter} updates of the schedule were made"
            return Ending(Reason.SCHEDULE_DONE, message)
        return Ending(Reason.MAX_ITER, f"max_iter={self.max_iter} reached; raise it, or tol")

    def _converged(self) -> Ending | None:
        """By which criterion, if any."""
        if self.tol is None or self.state is None or len(self.updates) < 2:
            return None
        before, update = self.updates[-2:]
        within = f"within tol={self.tol:g}"
        unit = max(1.0, abs(update.objective - self.origin))
        size = float(norm(update.parameters))
        gain = update.objective - before.objective
        if abs(gain) <= self.tol * unit:
            message = f"the objective changed by {gain:.1e}, {within}"
            return Ending(Reason.OBJECTIVE_STILL, message)
        if update.step <= self.tol * size:
            share = f"{update.step / size:.1e} of their norm"
            return Ending(Reason.PARAMETERS_STILL, f"the parameters changed by {share}, {within}")
        gradient = self.state.exact_gradient
        slope = math.inf if gradient is None else float(norm(gradient))
        if slope * size <= self.tol * unit:
            message = f"the gradient is {slope:.1e}, {within}"
            return Ending(Reason.GRADIENT_GONE, message)
        return None

    def outcome(self, ending: Ending) -> Outcome:
        """The best parameters and how they came about."""
        if self.state is None or self.best is None:
            raise RuntimeError("the solver has not even started")
        columns = ["objective", "step", "time"] + ["validation"] * (self.validation is not None)
        *updates, best = arrived([*self.updates, self.best])
        return Outcome(
            best,
            ending,
            {name: np.array([getattr(u, name) for u in updates]) for name in columns},
            FitState(self.state, self.draws, tuple(updates), best, self.checks_without_gain),
        )
