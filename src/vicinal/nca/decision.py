"""What a fit decides before it learns: the dimension, the penalty, the size of neighborhoods."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting.checkpoints import remembered
from vicinal.nca.calibration import Calibration
from vicinal.nca.preparation import AS_GIVEN, MOST_COMPONENTS, n_components_of, penalty_unit
from vicinal.nca.recipe import USUAL_PENALTY, Recipe
from vicinal.nca.selection import Choice, choose, path_of, try_folds
from vicinal.nca.settings import NeighborhoodSettings
from vicinal.nca.training_set import TrainingSet

__all__ = ["Decision", "decide"]

# Dimensions that "auto" tries, as long as there are as many features.
_DIMENSIONS = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89)


@dataclass(frozen=True)
class Decision:
    """How many components, and what folds have chosen for them.

    Attributes
    ----------
    n_components : int
    choice : Choice
    otherwise : Choice or None
        The best without learning, for a choice whose map collapses.
    path : dict or None
        What was tried; None where nothing was.
    dimensions : dict or None
        What was tried for ``n_components="auto"``.
    """

    n_components: int
    choice: Choice
    otherwise: Choice | None = None
    path: dict[str, Any] | None = None
    dimensions: dict[str, NDArray] | None = None

    @property
    def attributes(self) -> dict[str, Any]:
        """What the fitted model tells about it."""
        known = {"path_": self.path, "dimensions_": self.dimensions}
        return {name: value for name, value in known.items() if value is not None}


def decide(
    settings: NeighborhoodSettings, data: TrainingSet, recipe: Recipe, rng: np.random.Generator
) -> Decision:
    """Dimension, penalty and size of neighborhoods: as the user has them, or by folds."""
    folds = _Folds(settings, data, recipe, rng)
    if isinstance(settings.n_components, str):
        return _with_dimension(folds, folds.dimensions())
    d = n_components_of(settings, data.features.shape[1])
    if not recipe.chooses:
        return Decision(d, Choice(AS_GIVEN, float(recipe.regularization)))
    if settings.warm_start and hasattr(settings, "recipe_"):
        return Decision(d, _last_choice(settings))
    return folds.judged(d).decision


def _last_choice(settings: Any) -> Choice:
    """That of the fit which a warm start goes on from."""
    rule, last = settings._classifier, settings.recipe_["regularization"]
    return Choice(AS_GIVEN, 0.0 if last is None else last, rule.scale, rule.calibration)


def _with_dimension(folds: "_Folds", dimensions: list[int]) -> Decision:
    """The smallest dimension within one standard error of the best."""
    judged = [folds.judged(d) for d in dimensions]
    accuracy, errors = np.array([(each.accuracy, each.error) for each in judged]).T
    if np.isnan(accuracy).any():
        return judged[-1].decision
    best = int(accuracy.argmax())
    smallest = int((accuracy >= accuracy[best] - errors[best]).argmax())
    known = {"n_components": np.array(dimensions), "accuracy": accuracy, "accuracy_error": errors}
    return replace(judged[smallest].decision, dimensions=known)


class _Judged(NamedTuple):
    """A decision for one dimension, and how well it labels rows held back; NaN without any."""

    decision: Decision
    accuracy: float = np.nan
    error: float = np.nan


# What such a decision is made of.
_KINDS = (_Judged, Decision, Choice, Calibration)


@dataclass(frozen=True)
class _Folds:
    """Trials by folds of the same rows, for one dimension after the other."""

    settings: NeighborhoodSettings
    data: TrainingSet
    recipe: Recipe
    rng: np.random.Generator

    def dimensions(self) -> list[int]:
        """Those to try, up to the number of features."""
        D = min(self.data.features.shape[1], MOST_COMPONENTS)
        return sorted({d for d in _DIMENSIONS if d < D} | {D})

    def judged(self, n_components: int) -> _Judged:
        """What folds decide for a dimension; where λ is given, how good it is."""
        return remembered(lambda: self._judged(n_components), _KINDS)

    def _judged(self, n_components: int) -> _Judged:
        trials = try_folds(self.settings, self.data, n_components, self.recipe, self.rng)
        if trials is None:
            return _Judged(Decision(n_components, self._usual()))
        if self.recipe.chooses:
            choice, cell = choose(trials, self._unit)
            starts = trials.is_unlearned
            otherwise = choose(trials, self._unit, starts)[0] if starts.any() else None
            path = path_of(trials, self._unit, cell)
            decision = Decision(n_components, choice, otherwise, path)
        else:
            decision, cell = Decision(n_components, self._usual()), trials.own_size
        error = trials.errors(trials.hits)[cell]
        return _Judged(decision, float(trials.accuracy[cell]), float(error))

    @property
    def _unit(self) -> float:
        return penalty_unit(self.data.moments(len(self.settings.classes_)))

    def _usual(self) -> Choice:
        """λ as it is given, or as it is usual where no rows can be held back."""
        if self.recipe.chooses:
            return Choice(AS_GIVEN, USUAL_PENALTY * self._unit)
        return Choice(AS_GIVEN, float(self.recipe.regularization))
