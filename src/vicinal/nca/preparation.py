"""Everything a fit needs before its first update."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.special
from numpy.typing import NDArray

from vicinal.fitting.checkpoints import chance, remembered
from vicinal.inputs.checks import check_choice, check_prior
from vicinal.inputs.features import Features, Moments, class_units
from vicinal.inputs.points import LabeledPoints
from vicinal.inputs.span import check_components, check_width
from vicinal.inputs.splits import hold_back
from vicinal.inputs.starts import (
    STARTS,
    discriminant_map,
    given_map,
    principal_map,
    reach_neighbors,
    solver_coordinates,
    starting_map,
    unlearned_map,
)
from vicinal.nca.annealing import anneal
from vicinal.nca.background import ClassGaussians
from vicinal.nca.criteria import CRITERIA
from vicinal.nca.equations import Objective, evaluate
from vicinal.nca.learning import Coordinates, NeighborhoodProblem
from vicinal.nca.recipe import STREAMED_PENALTY, Recipe
from vicinal.nca.settings import NeighborhoodSettings
from vicinal.nca.stream import Stream
from vicinal.nca.training_set import TrainingSet
from vicinal.neighborhood import Engine, Law, Workload, choose_engine, law_named

__all__ = [
    "AS_GIVEN",
    "DISCRIMINANTS",
    "FEATURES",
    "MOST_COMPONENTS",
    "QUICK",
    "Preparation",
    "n_components_of",
    "penalty_unit",
    "plain_objective",
    "prepare",
    "start_stream",
    "training_set",
    "unlearned",
]

# Starts: as the parameters have it; without annealing and without what an earlier fit has learned.
AS_GIVEN, QUICK = "init", "quick"

# Maps to which nothing needs to be added: features as they are, and linear discriminants.
FEATURES, DISCRIMINANTS = "features", "discriminants"

# Points per feature and class below which a stream begins anew with every call.
_FEW_POINTS = 10

# Annealing evaluates maps of many rows many times: on this many points at most.
_ANNEALING_SAMPLE = 2000

# Components where none are asked for: more cost much and gain nothing (docs/decisions/0017).
MOST_COMPONENTS = 100

# Of the map to start from: its penalty, and how far apart it may map points.
_MOST_PENALTY, _FARTHEST = 1e50, 1e60


@dataclass(frozen=True)
class Preparation:
    """What `prepare` finds.

    Attributes
    ----------
    data : TrainingSet
        Rows to learn from.
    known : Moments
        Of them.
    objective : Objective
    coordinates : Coordinates
    start : ndarray
        In the solver's coordinates.
    """

    data: TrainingSet
    known: Moments
    objective: Objective
    coordinates: Coordinates
    start: NDArray

    @property
    def penalty_unit(self) -> float:
        """λ in units of which penalties are chosen."""
        return penalty_unit(self.known)

    @property
    def first_map(self) -> tuple[NDArray, float]:
        """Map and logit of the start."""
        return self.coordinates.unpack(self.start)

    def random_start(self, rng: np.random.Generator) -> NDArray:
        """A start in a random direction, of the size of the first one."""
        size = float(np.linalg.norm(self.start))
        draw = rng.standard_normal(self.coordinates.shape)
        return self.coordinates.pack(draw * (size / np.linalg.norm(draw)))

    def workload(self, recipe: Recipe) -> Workload:
        """How many pairs the fit will look at."""
        n_queries = n_keys = len(self.data)
        if recipe.is_batched and recipe.batch_size:
            n_queries = recipe.batch_size
            n_keys = n_keys if recipe.batching == "stochastic" else n_queries
        d, dtype = self.coordinates.shape[0], self.data.features.dtype
        law = self.objective.law
        return Workload(n_queries, n_keys, d, recipe.max_iter, law, np.dtype(dtype).name)

    def problem(self, engine: Engine, penalty: float) -> NeighborhoodProblem:
        """The objective less a penalty λ, to be computed by this engine."""
        return NeighborhoodProblem(self.data, self.objective, engine, self.coordinates, penalty)


def penalty_unit(known: Moments) -> float:
    """λ of share 1: the variances of all features within classes, over the number of points."""
    if known.counts.max() <= 1:
        return 0.0  # nobody has a neighbor of its class: the penalty would be all there is
    return float(np.trace(known.within)) / float(known.counts.sum())


def n_components_of(settings: NeighborhoodSettings, n_features: int) -> int:
    """The dimension that the user asks for, that of a map given, or the number of features."""
    if settings.n_components is not None:
        return int(settings.n_components)
    if not isinstance(settings.init, str) and np.ndim(settings.init) == 2:
        return len(settings.init)
    return min(n_features, MOST_COMPONENTS)


def training_set(
    settings: NeighborhoodSettings,
    points: NDArray,
    labels: NDArray,
    weights: NDArray | None,
    recipe: Recipe,
    rng: np.random.Generator,
) -> tuple[TrainingSet, NDArray]:
    """Rows to learn from, and positions of those held back."""
    check_width(points.shape[1], "NeighborhoodComponents needs")
    rows, held_back = None, np.empty(0, dtype=int)
    learning = weights
    if recipe.early_stopping:
        rows, held_back = hold_back(labels, settings.validation_fraction, rng)
        learning = np.ones(len(labels)) if weights is None else weights.copy()
        learning[held_back] = 0.0  # nor do they have a say in the units
    features = class_units(points, labels, len(settings.classes_), learning)
    if features.basis is not None and not isinstance(settings.n_components, str):
        check_components(settings.n_components, *features.shape)
    return TrainingSet(features, labels, weights, rows), held_back


def prepare(
    settings: NeighborhoodSettings,
    data: TrainingSet,
    n_components: int,
    recipe: Recipe,
    rng: np.random.Generator,
    start: str = AS_GIVEN,
) -> Preparation:
    """From rows to learn from and the estimator's parameters to a problem for a solver.

    `start`: what `AS_GIVEN`, `QUICK`, `FEATURES` and `DISCRIMINANTS` stand for.
    """
    known = data.moments(len(settings.classes_))
    objective, logit = _objective(settings, data, known)
    if start == AS_GIVEN:
        A = _start(settings, data, known, n_components, objective, logit, rng)
    elif start == QUICK:
        A = _first_map(settings, settings.init, n_components, data, known)
    else:
        A = unlearned(settings, start, data, known, n_components)
    B, coordinates = _coordinates(settings, A, known, logit)
    _check_penalty(settings, A)
    if recipe.batching == "subsample":
        data = data.subset(recipe.batch_size or len(data), rng)
    return Preparation(data, known, objective, coordinates, B)


def plain_objective(settings: NeighborhoodSettings) -> Objective:
    """What is maximized, without background."""
    n_classes = len(settings.classes_)
    prior = check_prior(settings.prior, n_classes)
    return Objective(_law(settings), CRITERIA[settings.objective], prior, n_classes)


def _law(settings: NeighborhoodSettings) -> Law:
    return law_named(settings.kernel, degrees_of_freedom=settings.degrees_of_freedom)


def start_stream(
    settings: NeighborhoodSettings,
    first: LabeledPoints,
    rng: np.random.Generator,
    before: Stream | None = None,
) -> Stream:
    """State of `partial_fit` before the first update, from the first points or the last fit.

    With `before`: in place of a stream of too few points, all of which are among the first.
    """
    check_width(first.X.shape[1], "partial_fit needs")
    n_classes = len(settings.classes_)
    features = class_units(first.X, first.labels, n_classes, first.weights, is_whole=False)
    data = TrainingSet(features, first.labels, first.weights)
    known, fitted = data.moments(n_classes), getattr(settings, "components_", None)
    if is_new := before is not None or fitted is None:
        d = n_components_of(settings, first.X.shape[1])
        A = _first_map(settings, settings.init, d, data, known)
    else:
        A = _first_map(settings, fitted, len(fitted), data, known)
    B, P = solver_coordinates(A, known)
    share, penalty = None, 0.0
    if settings.regularization == "auto":
        share = STREAMED_PENALTY * float(np.trace(known.within))
    else:
        penalty = float(settings.regularization)
        _check_penalty(settings, A)
    stream = Stream(
        B, Coordinates(P, A.shape), features, share, penalty, settings.reservoir_size, rng
    )
    stream.n_enough = _FEW_POINTS * (first.X.shape[1] + n_classes) if is_new else 0
    stream.objectives = [] if before is None else before.objectives
    return stream


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
    n_components: int,
    objective: Objective,
    logit: float,
    rng: np.random.Generator,
) -> NDArray:
    """The map of the first update."""
    D, d = data.features.shape[1], n_components
    if settings.warm_start and hasattr(settings, "components_"):
        return _last_map(settings.components_, d, data.features)
    if not settings.annealing:
        return _first_map(settings, settings.init, d, data, known)
    full_rank = _first_map(settings, settings.init, D, data, known)
    return _annealed(settings, full_rank, data, known, d, objective, logit, rng)


def _first_map(
    settings: NeighborhoodSettings, init: Any, n_components: int, data: TrainingSet, known: Moments
) -> NDArray:
    features, n_columns = data.features, data.features.X.shape[1]
    if not isinstance(init, str):
        start = features.inward(given_map(init, n_components, n_columns))
        return _near_enough(start, "the map")
    if check_choice("init", init, STARTS) == "identity":
        start = _near_enough(features.inward(np.eye(n_components, n_columns)), "'identity'")
    elif init == "pca":
        start = principal_map(features, known, n_components)
    else:
        seed = chance(settings.random_state)
        start = remembered(lambda: starting_map(init, known, n_components, seed))
    return _within_reach(settings, start, data)


def unlearned(
    settings: NeighborhoodSettings, which: str, data: TrainingSet, known: Moments, d: int
) -> NDArray:
    """The map of nearest neighbors among features in their own units, or among discriminants."""
    start = unlearned_map(known, d) if which == FEATURES else discriminant_map(known, d)
    return _within_reach(settings, start, data)


def _within_reach(settings: NeighborhoodSettings, start: NDArray, data: TrainingSet) -> NDArray:
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
    n_components: int,
    objective: Objective,
    logit: float,
    rng: np.random.Generator,
) -> NDArray:
    points = data.subset(_ANNEALING_SAMPLE, rng).points(slice(None))
    size, dtype = len(points), points.X.dtype.name
    work = Workload(size, size, len(full_rank), 100, objective.law, dtype)
    engine, _ = choose_engine(
        settings.engine,
        work,
        tolerance=settings.tolerance,
        n_jobs=settings.n_jobs,
        precision=settings.precision,
    )

    def mean_objective(A: NDArray) -> tuple[float, NDArray]:
        found = evaluate(A, objective, engine, points, logit=logit)
        return found.value / points.total, found.gradient / points.total

    _, P = solver_coordinates(full_rank, known)
    order = "projected" if settings.annealing is True else str(settings.annealing)
    covariance = known.total
    return remembered(lambda: anneal(mean_objective, full_rank, P, n_components, covariance, order))


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


def _check_penalty(settings: NeighborhoodSettings, A: NDArray) -> None:
    """Refuse λ whose penalty is all there is, by orders of magnitude that numbers cannot bridge."""
    if isinstance(settings.regularization, str):
        return
    at_start = float(settings.regularization) * float(np.square(A).sum())
    if at_start > _MOST_PENALTY:
        raise ValueError(
            f"regularization={settings.regularization!r} makes the penalty {at_start:.3g} at the "
            "start, beside an objective of at most 1: choose a smaller one."
        )
