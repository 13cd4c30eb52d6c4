"""Everything a fit needs before its first update."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import NDArray
from scipy.linalg import norm

from vicinal.inputs.checks import check_choice, check_prior
from vicinal.inputs.features import Features, Moments, moments, standard_units
from vicinal.inputs.span import check_components, check_width
from vicinal.inputs.splits import hold_back
from vicinal.inputs.starts import (
    STARTS,
    given_map,
    reach_neighbors,
    solver_coordinates,
    starting_map,
)
from vicinal.nca.annealing import anneal
from vicinal.nca.background import ClassGaussians
from vicinal.nca.criteria import CRITERIA
from vicinal.nca.equations import Objective, evaluate
from vicinal.nca.learning import Coordinates, NeighborhoodProblem, TrainingSet
from vicinal.nca.recipe import BATCHED_PENALTY, Recipe
from vicinal.nca.settings import NeighborhoodSettings
from vicinal.nca.stream import Stream
from vicinal.neighborhood import Engine, Law, Workload, choose_engine, law_named

__all__ = ["Preparation", "plain_objective", "prepare", "start_stream"]

# Annealing evaluates maps of many rows many times: on this many points at most.
_ANNEALING_SAMPLE = 2000

# Of the map to start from: its penalty, and how far apart it may map points.
_MOST_PENALTY, _FARTHEST = 1e50, 1e60


@dataclass(frozen=True)
class Preparation:
    """What `prepare` finds.

    Attributes
    ----------
    data : TrainingSet
        Rows to learn from.
    held_back : ndarray
        Positions of the others.
    objective : Objective
    coordinates : Coordinates
    start : ndarray
        In the solver's coordinates.
    penalty : float
        λ for features in standard units.
    """

    data: TrainingSet
    held_back: NDArray
    objective: Objective
    coordinates: Coordinates
    start: NDArray
    penalty: float

    def workload(self, recipe: Recipe) -> Workload:
        """How many pairs the fit will look at."""
        n_queries = n_keys = len(self.data)
        if recipe.is_batched and recipe.batch_size:
            n_queries = recipe.batch_size
            n_keys = n_keys if recipe.batching == "stochastic" else n_queries
        d, dtype = self.coordinates.shape[0], self.data.features.dtype
        law = self.objective.law
        return Workload(n_queries, n_keys, d, recipe.max_iter, law, np.dtype(dtype).name)

    def problem(self, engine: Engine) -> NeighborhoodProblem:
        """The objective, to be computed by this engine."""
        return NeighborhoodProblem(
            self.data, self.objective, engine, self.coordinates, self.penalty
        )


def prepare(
    settings: NeighborhoodSettings,
    points: NDArray,
    labels: NDArray,
    weights: NDArray | None,
    recipe: Recipe,
    rng: np.random.Generator,
) -> Preparation:
    """From checked data and the estimator's parameters to a problem for a solver."""
    data, held_back = _divide(settings, points, labels, weights, recipe, rng)
    known = moments(data.features, labels, len(settings.classes_), data.learning_weights)
    objective, logit = _objective(settings, data, known)
    A = _start(settings, data, known, objective, logit, rng)
    start, coordinates = _coordinates(settings, A, known, logit)
    penalty = _penalty(settings, recipe, known, data.features.unit)
    _check_penalty(settings, penalty, A)
    if recipe.batching == "subsample":
        data = data.subset(recipe.batch_size or len(data), rng)
    return Preparation(data, held_back, objective, coordinates, start, penalty)


def plain_objective(settings: NeighborhoodSettings) -> Objective:
    """What is maximized, without background."""
    n_classes = len(settings.classes_)
    prior = check_prior(settings.prior, n_classes)
    return Objective(_law(settings), CRITERIA[settings.objective], prior, n_classes)


def _law(settings: NeighborhoodSettings) -> Law:
    return law_named(settings.kernel, degrees_of_freedom=settings.degrees_of_freedom)


def start_stream(
    settings: NeighborhoodSettings,
    points: NDArray,
    labels: NDArray,
    weights: NDArray | None,
    rng: np.random.Generator,
) -> Stream:
    """State of `partial_fit` before the first update, from the first points or the last fit."""
    check_width(points.shape[1], "partial_fit needs")
    data = TrainingSet(standard_units(points, weights, is_whole=False), labels, weights)
    known = moments(data.features, labels, len(settings.classes_), weights)
    n_components = settings.n_components or points.shape[1]
    init = getattr(settings, "components_", settings.init)
    A = _first_map(settings, init, n_components, data, known)
    B, P = solver_coordinates(A, known)
    share, penalty = None, 0.0
    if settings.regularization == "auto":
        share = BATCHED_PENALTY * float(np.trace(known.total))
    else:
        penalty = float(settings.regularization) / data.features.unit / data.features.unit
        _check_penalty(settings, penalty, A)
    coordinates = Coordinates(P, A.shape)
    return Stream(B, coordinates, data.features, share, penalty, settings.reservoir_size, rng)


def _divide(
    settings: NeighborhoodSettings,
    points: NDArray,
    labels: NDArray,
    weights: NDArray | None,
    recipe: Recipe,
    rng: np.random.Generator,
) -> tuple[TrainingSet, NDArray]:
    """Rows to learn from, and positions of those held back."""
    features = standard_units(points, weights)
    check_width(features.shape[1], "NeighborhoodComponents needs")
    if features.basis is not None:
        check_components(settings.n_components, *features.shape)
    if not recipe.early_stopping:
        return TrainingSet(features, labels, weights), np.empty(0, dtype=int)
    rows, held_back = hold_back(labels, settings.validation_fraction, rng)
    return TrainingSet(features, labels, weights, rows), held_back


def _objective(
    settings: NeighborhoodSettings, data: TrainingSet, known: Moments
) -> tuple[Objective, float]:
    """What is maximized, and the logit of β at the start."""
    objective = plain_objective(settings)
    if settings.background is False:
        return objective, 0.0
    # To learn β, start where background and each kernel weigh the same (thesis 4.6).
    equal = 1.0 / (1.0 + float(known.counts.mean()))
    beta = equal if settings.background is True else float(settings.background)
    gaussians = ClassGaussians.of(data.features, data.labels, known, data.learning_weights)
    return replace(objective, background=gaussians), float(scipy.special.logit(beta))


def _start(
    settings: NeighborhoodSettings,
    data: TrainingSet,
    known: Moments,
    objective: Objective,
    logit: float,
    rng: np.random.Generator,
) -> NDArray:
    """The map of the first update."""
    D = data.features.shape[1]
    d = settings.n_components or D
    if settings.warm_start and hasattr(settings, "components_"):
        return _last_map(settings.components_, d, data.features)
    if not settings.annealing:
        return _first_map(settings, settings.init, d, data, known)
    full_rank = _first_map(settings, settings.init, D, data, known)
    return _annealed(settings, full_rank, data, known, objective, logit, rng)


def _first_map(
    settings: NeighborhoodSettings, init: Any, n_components: int, data: TrainingSet, known: Moments
) -> NDArray:
    features, n_columns = data.features, data.features.X.shape[1]
    if not isinstance(init, str):
        start = features.inward(given_map(init, n_components, n_columns))
        return _near_enough(start, "the map")
    if check_choice("init", init, STARTS) == "identity":
        start = _near_enough(features.inward(np.eye(n_components, n_columns)), "'identity'")
    else:
        start = starting_map(init, known, n_components, settings.random_state)
    if _law(settings).has_support:  # from a larger start most points would have no neighbor
        return reach_neighbors(start, data.features.project(start), data.weights)
    return start


def _near_enough(start: NDArray, which: str) -> NDArray:
    """A map of features of size 1, if it leaves them within reach of numbers."""
    farthest = float(np.abs(start).max())
    if farthest > _FARTHEST:
        raise ValueError(
            f"init is {which}, which maps points {farthest:.1g} apart: squared distances overflow. "
            "Scale X or the map down, or use init='auto'."
        )
    return start


def _last_map(components: NDArray, n_components: int, features: Features) -> NDArray:
    shape = (n_components, features.X.shape[1])
    if components.shape != shape:
        raise ValueError(
            f"warm_start=True goes on from a map of shape {components.shape}, but this fit needs "
            f"{shape}: set warm_start=False, or keep n_components and the features."
        )
    return features.inward(components)


def _annealed(
    settings: NeighborhoodSettings,
    full_rank: NDArray,
    data: TrainingSet,
    known: Moments,
    objective: Objective,
    logit: float,
    rng: np.random.Generator,
) -> NDArray:
    points = data.subset(_ANNEALING_SAMPLE, rng).points(slice(None))
    size, dtype = len(points), points.X.dtype.name
    work = Workload(size, size, len(full_rank), 100, objective.law, dtype)
    engine, _ = choose_engine(
        settings.engine, work, tolerance=settings.tolerance, n_jobs=settings.n_jobs
    )

    def mean_objective(A: NDArray) -> tuple[float, NDArray]:
        found = evaluate(A, objective, engine, points, logit=logit)
        return found.value / points.total, found.gradient / points.total

    _, P = solver_coordinates(full_rank, known)
    order = "projected" if settings.annealing is True else str(settings.annealing)
    n_components = settings.n_components or len(full_rank)
    return anneal(mean_objective, full_rank, P, n_components, known.total, order)


def _coordinates(
    settings: NeighborhoodSettings, A: NDArray, known: Moments, logit: float
) -> tuple[NDArray, Coordinates]:
    B, P = solver_coordinates(A, known)
    logit_unit = 0.0
    if settings.background is True:
        # A step of Adam then moves the logit by as much as it moves the map, relatively.
        logit_unit = float(np.sqrt(np.mean(np.square(B)))) or 1.0
    coordinates = Coordinates(P, A.shape, logit, logit_unit)
    return coordinates.pack(B), coordinates


def _penalty(settings: NeighborhoodSettings, recipe: Recipe, known: Moments, unit: float) -> float:
    """λ for features in standard units; the user's λ speaks of the features as they are."""
    if recipe.penalty_share is None:
        return float(settings.regularization) / unit / unit  # their square could overflow
    if known.counts.max() <= 1:
        return 0.0  # nobody has a neighbor of its class: the penalty would be all there is
    return recipe.penalty_share * float(np.trace(known.total)) / float(known.counts.sum())


def _check_penalty(settings: NeighborhoodSettings, penalty: float, A: NDArray) -> None:
    """Refuse λ whose penalty is all there is, by orders of magnitude that numbers cannot bridge."""
    if isinstance(settings.regularization, str):
        return
    squares = float(norm(A.ravel())) ** 2  # the norm that cannot overflow
    at_start = penalty * squares if np.isfinite(penalty) else np.inf
    if at_start > _MOST_PENALTY:
        raise ValueError(
            f"regularization={settings.regularization!r} makes the penalty {at_start:.3g} at the "
            "start, beside an objective of at most 1: choose a smaller one."
        )
