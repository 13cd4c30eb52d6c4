"""One fit from its settings to a map: what all fits share, and the fit to labeled points."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.coincidence.choice import Choice, choose, n_steps, starts_to_try
from vicinal.coincidence.equations import LatentMap
from vicinal.coincidence.learning import CoincidenceProblem
from vicinal.coincidence.neighbors import LabeledPoints
from vicinal.coincidence.sample import MOST_ANCHORS, MOST_IMPOSTORS, some_of
from vicinal.coincidence.scales import with_local_scales
from vicinal.coincidence.starts import Frame, frame_of
from vicinal.coincidence.trial import turns_of
from vicinal.coincidence.ways import Task, pairs_or_all, problem_of, start_of, ways_to_try
from vicinal.fitting import Ending, Outcome, Reason, run
from vicinal.fitting.callbacks import ScikitLearnCallbacks
from vicinal.fitting.checkpoints import cut_short
from vicinal.fitting.loop import warn_of_surprise, warn_user
from vicinal.fitting.progress import stage

__all__ = ["NAME", "Begun", "LabelsFit", "Learned", "Listen", "Settings", "final_run"]

NAME = "LatentCoincidence"


@dataclass(frozen=True)
class Settings:
    """Parameters of the estimator that a fit looks at."""

    pairs: str
    scale: str
    init: Any
    solver: str
    max_iter: int
    tol: float
    early_stopping: bool | str
    validation_fraction: float
    verbose: int


@dataclass(frozen=True)
class Begun:
    """A problem that is about to be solved.

    Attributes
    ----------
    problem : CoincidenceProblem
        In the coordinates of the frame.
    frame : Frame
    stops_early : bool
        Whether its map will be kept for neighbors, and not for its likelihood.
    """

    problem: CoincidenceProblem
    frame: Frame
    stops_early: bool

    def finished(self, parameters: NDArray) -> LatentMap:
        """The map of parameters, with the scales, the noise and the size that serve new pairs."""
        latent = self.problem.without_null_space(self.problem.unpack(parameters))
        if self.problem.local:
            return with_local_scales(self.problem, latent)
        return self.problem.calibrated(latent) if self.stops_early else latent


@dataclass(frozen=True)
class Learned:
    """What a fit found.

    Attributes
    ----------
    begun : Begun
    outcome : Outcome
    solver : str
    validation_score : float or None
    """

    begun: Begun
    outcome: Outcome
    solver: str
    validation_score: float | None = None


# From a fit that is about to begin to who is told of its updates.
Listen = Callable[[Begun], ScikitLearnCallbacks]


def final_run(
    begun: Begun,
    solver: str,
    start: NDArray,
    settings: Settings,
    n_updates: int | None,
    listen: Listen,
) -> Outcome:
    """The run whose map is kept: for a number of updates, or until convergence (None)."""
    listeners = listen(begun)
    limit = settings.max_iter if n_updates is None else n_updates
    outcome = run(
        begun.problem.solver(solver),
        start,
        max_iter=limit,
        tol=settings.tol,
        scheduled=n_updates is not None and n_updates < settings.max_iter,
        callbacks=[listeners],
        name=NAME,
        verbose=settings.verbose if limit else 0,
    )
    listeners.close(outcome.parameters)
    return outcome


@dataclass
class LabelsFit:
    """A fit to labeled points.

    Parameters
    ----------
    table : LabeledPoints
        Around 0.
    task : Task
    settings : Settings
    rng : Generator
    """

    table: LabeledPoints
    task: Task
    settings: Settings
    rng: np.random.Generator

    def learn(self, listen: Listen) -> tuple[Learned, dict[str, Any]]:
        """The map, and how it was learned."""
        choice = self._choice()
        try:
            if choice.interrupted:
                raise KeyboardInterrupt
            begun, pairs = self._begin(choice)
        except KeyboardInterrupt:
            if not choice.checks:
                raise
            cut_short()
            return self._as_tried(choice), self._recipe(choice, choice.way.pairs)
        start = start_of(begun.problem, begun.frame, self.task)
        solver, n_updates = choice.way.solver, choice.n_updates
        outcome = final_run(begun, solver, start, self.settings, n_updates, listen)
        return self._learned(begun, outcome, choice), self._recipe(choice, pairs)

    def _choice(self) -> Choice:
        """What settings leave open, by trials on rows held back where there are any."""
        settings, table = self.settings, self.table
        n_classes = int(np.count_nonzero(np.bincount(table.labels)))
        starts = starts_to_try(settings.init, self.task, table.X, n_classes)
        ways = ways_to_try(settings.pairs, settings.scale, settings.solver)
        usual = "rca" if len(starts) > 1 else starts[0]
        if settings.early_stopping is False:
            return Choice(usual, ways[0], None, "early_stopping=False")
        turns = turns_of(table, settings.validation_fraction, self.task, self.rng)
        if not turns:
            return Choice(usual, ways[0], 0, "the start: no row can be held back")
        total = n_steps(turns, len(starts), ways, settings.max_iter)
        with stage(f"{NAME}, trials on rows held back", total, settings.verbose) as tell:
            return choose(turns, starts, ways, settings.max_iter, tell)

    def _begin(self, choice: Choice) -> tuple[Begun, str]:
        """The problem of all rows, and which pairs it has."""
        frame = frame_of(choice.init, self.table.X, self.table.labels, self.task.basis)
        anchors = some_of(len(self.table), MOST_ANCHORS, self.rng)
        points = replace(
            self.table,
            X=frame.points(self.table.X),
            anchors=anchors,
            most_impostors=None if anchors is None else MOST_IMPOSTORS,
        )
        n_passes = 1 if choice.way.pairs == "all" else 2
        total, verbose = n_passes * points.n_anchors, self.settings.verbose
        with stage(f"{NAME}, search for neighbors", total, verbose) as tell:
            found, pairs = pairs_or_all(points, self.task.n_targets, choice.way.pairs, tell)
        if pairs != choice.way.pairs:
            warn_user(
                "no point has an impostor, one of another class nearer than its targets: all "
                "pairs are learned from instead, as with pairs='all'.",
                UserWarning,
            )
        stops_early = choice.n_updates is not None
        return Begun(problem_of(points, choice.way, self.task, found), frame, stops_early), pairs

    def _as_tried(self, choice: Choice) -> Learned:
        """After Ctrl-C: the best map of the trials."""
        check = choice.checks[0]
        begun = Begun(check.problem, check.frame, stops_early=True)
        solver = check.problem.solver(choice.way.solver)
        outcome = run(solver, check.parameters, max_iter=0, tol=None, scheduled=True)
        ending = Ending(Reason.INTERRUPTED, "interrupted; the best map of the trials is kept")
        outcome = replace(outcome, ending=ending)
        warn_of_surprise(NAME, outcome)
        return self._learned(begun, outcome, choice)

    def _learned(self, begun: Begun, outcome: Outcome, choice: Choice) -> Learned:
        if not choice.checks:
            return Learned(begun, outcome, choice.way.solver)
        validation = np.full(outcome.n_iter + 1, np.nan)
        for n_updates, accuracy in choice.accuracies.items():
            if n_updates <= outcome.n_iter:
                validation[n_updates] = accuracy
        history = {**outcome.history, "validation": validation}
        outcome = replace(outcome, history=history)
        return Learned(begun, outcome, choice.way.solver, choice.accuracy)

    def _recipe(self, choice: Choice, pairs: str) -> dict[str, Any]:
        return {
            "init": choice.init if isinstance(choice.init, str) else "given",
            "pairs": pairs,
            "scale": choice.way.scale,
            "solver": choice.way.solver,
            "n_updates": choice.n_updates,
            "n_rows": len(self.table),
            "n_anchors": min(len(self.table), MOST_ANCHORS),
            "reason": choice.reason,
            "tried": list(choice.tried),
        }
