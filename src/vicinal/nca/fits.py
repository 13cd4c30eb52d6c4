"""A fit for what was chosen: from a decision to the best of its runs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting import Outcome, Reason, Validation, run
from vicinal.fitting.callbacks import ScikitLearnCallbacks
from vicinal.inputs.mapped import in_any_order
from vicinal.inputs.splits import MOST_VALIDATION_KEYS
from vicinal.nca.decision import Decision
from vicinal.nca.equations import Objective
from vicinal.nca.learning import NeighborhoodProblem
from vicinal.nca.preparation import Preparation, prepare
from vicinal.nca.recipe import Recipe
from vicinal.nca.selection import Choice, choose_scale
from vicinal.nca.settings import NeighborhoodSettings
from vicinal.nca.training_set import TrainingSet
from vicinal.neighborhood import Engine, Workload
from vicinal.neighborhood.arrays import on_host

__all__ = ["ChosenFit", "Found", "Parts"]

# Points nearer than this are neighbors of equal weight, one as the other.
_DEAD = 1e-3


class Parts(NamedTuple):
    """What the estimator does for a fit.

    Attributes
    ----------
    choose_engine : callable
    attributes : callable
        From a map, a logit, rows, an objective and a choice to what transform and predict need.
    listen : callable
        From the number of updates to scikit-learn's callbacks.
    """

    choose_engine: Callable[[Workload], Engine]
    attributes: Callable[[NDArray, float, TrainingSet, Objective, Choice], dict[str, Any]]
    listen: Callable[[int], ScikitLearnCallbacks]


class Found(NamedTuple):
    """What a fit for one choice has found."""

    outcome: Outcome
    attributes: dict[str, Any]
    choice: Choice
    recipe: Recipe

    @property
    def reach(self) -> float:
        """How far apart points are in predictions, along the coordinate that tells most."""
        return float(np.ptp(self.attributes["_classifier"].keys, axis=0).max())

    @property
    def is_dead(self) -> bool:
        """Whether all points look alike."""
        return self.reach < _DEAD


@dataclass(frozen=True)
class ChosenFit:
    """Rows to learn from and how, for one choice after the other.

    Attributes
    ----------
    settings : NeighborhoodSettings
    data : TrainingSet
    held_back : ndarray
        Positions of rows for early stopping.
    recipe : Recipe
    decision : Decision
    rng : numpy.random.Generator
    parts : Parts
    """

    settings: NeighborhoodSettings
    data: TrainingSet
    held_back: NDArray
    recipe: Recipe
    decision: Decision
    rng: np.random.Generator
    parts: Parts

    def found(self) -> Found:
        """The map for what was decided; for the best start, where that one collapses."""
        decision = self.decision
        n_updates = self._recipe(decision.choice).max_iter * self.settings.n_init
        listeners = self.parts.listen(n_updates)  # once: to them it is one fit
        found = self._attempt(decision.choice, listeners)
        if found.is_dead and decision.otherwise is not None:
            found = self._attempt(decision.otherwise, listeners)
        listeners.close(found.outcome.parameters)
        return found

    def _recipe(self, choice: Choice) -> Recipe:
        return self.recipe if choice.learns else self.recipe.without_updates()

    def _attempt(self, choice: Choice, listeners: ScikitLearnCallbacks) -> Found:
        """Learn the map for a choice, or take the start where it says so."""
        recipe, d = self._recipe(choice), self.decision.n_components
        ready = prepare(self.settings, self.data, d, recipe, self.rng, choice.init)
        engine = self.parts.choose_engine(ready.workload(recipe))
        problem = ready.problem(engine, choice.penalty)

        def attributes(parameters: NDArray) -> dict[str, Any]:
            A, logit = ready.coordinates.unpack(on_host(parameters))
            return self.parts.attributes(A, logit, ready.data, ready.objective, choice)

        listeners.fitted_attributes = attributes
        outcome = self._best_run(ready, problem, recipe, listeners)
        is_lost = outcome.ending.reason is Reason.DEVICE_LOST
        if recipe.is_batched and recipe.early_stopping and self.decision.path and not is_lost:
            choice = self._resized(choice, problem, outcome)  # `attributes` follow
        return Found(outcome, attributes(outcome.parameters), choice, recipe)

    def _best_run(
        self,
        ready: Preparation,
        problem: NeighborhoodProblem,
        recipe: Recipe,
        listeners: ScikitLearnCallbacks,
    ) -> Outcome:
        """The best of `n_init` runs, the first from `init` and the others from random starts."""
        settings, rng = self.settings, self.rng
        validation: Validation | None = None
        if recipe.early_stopping:
            patience = settings.n_iter_no_change
            validation = problem.validation(self.held_back, recipe, patience, rng)
        outcomes: list[Outcome] = []
        n_runs = settings.n_init if recipe.max_iter else 1
        for number in range(n_runs):
            start = ready.start if number == 0 else ready.random_start(rng)
            part = f", start {number + 1} of {n_runs}" if n_runs > 1 else ""
            with in_any_order(self.data.features.X):
                outcome = run(
                    problem.solver(recipe, start, validation, rng),
                    problem.start(recipe, start),
                    max_iter=recipe.max_iter,
                    tol=settings.tol if recipe.ends_by_gain else None,
                    validation=validation,
                    scheduled=recipe.is_scheduled,
                    callbacks=[listeners],
                    name=f"NeighborhoodComponents{part}",
                    verbose=settings.verbose,
                )
            outcomes.append(outcome)
            if outcome.ending.reason.is_cut_short:
                break  # once, for all runs
        return max(outcomes, key=lambda found: found.score)

    def _resized(self, choice: Choice, problem: NeighborhoodProblem, outcome: Outcome) -> Choice:
        """How soft neighborhoods are, by the rows that a batched fit has held back."""
        A, logit = problem.coordinates.unpack(on_host(outcome.parameters))
        data = self.data
        held_back = TrainingSet(data.features, data.labels, data.weights, self.held_back)
        keys = problem.data.subset(MOST_VALIDATION_KEYS, self.rng)
        queries = held_back.points(slice(None))
        scale, calibration = choose_scale(
            A, logit, problem.objective, keys, queries, problem.engine
        )
        return replace(choice, scale=scale, calibration=calibration)
