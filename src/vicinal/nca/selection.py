"""Which penalty, and how soft neighborhoods are: by folds, along a path with warm starts.

Every fold learns a map for one penalty after the other, from the weakest on, each from the map
before. (From the strongest on, maps would lose dimensions that they never find again.) Each of
these maps, and the start itself, is tried at several sizes: the smaller a map, the softer its
neighborhoods. What predicts the rows held back best is chosen. Measured in docs/decisions/0017.
"""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting import few_updates, lbfgs
from vicinal.fitting.checkpoints import remembered
from vicinal.fitting.progress import display_of
from vicinal.fitting.update import Update
from vicinal.inputs.points import LabeledPoints
from vicinal.inputs.splits import class_folds
from vicinal.nca.calibration import CERTAIN, Calibration, calibrate
from vicinal.nca.equations import Objective, class_counts, class_log_priors
from vicinal.nca.prediction import Classifier, under_map
from vicinal.nca.preparation import (
    AS_GIVEN,
    DISCRIMINANTS,
    FEATURES,
    QUICK,
    Preparation,
    plain_objective,
    prepare,
    unlearned,
)
from vicinal.nca.recipe import USUAL_PENALTY, Recipe
from vicinal.nca.settings import NeighborhoodSettings
from vicinal.nca.training_set import TrainingSet
from vicinal.neighborhood import Engine, choose_engine

__all__ = [
    "NOT_LEARNED",
    "SCALES",
    "Choice",
    "Trials",
    "choose",
    "choose_scale",
    "path_of",
    "try_folds",
]

# λ in the unit of `Preparation.penalty_unit`, the weakest first.
SHARES = (0.1, 1.0, 10.0)

# λ of a map that is the start itself.
NOT_LEARNED = math.nan

# Sizes of a map, beside its own.
SCALES = 10.0 ** np.arange(-0.5, 0.51, 0.25)

# Updates for each penalty, and the gain below which they end: to compare takes less than to fit.
_UPDATES, _LEAST_GAIN = 12, 1e-3

# Folds, fewer where rows are many; and most rows to choose by.
_FOLDS, _FEWER_FOLDS, _MANY = 5, 3, 1000
_MOST_ROWS, _MOST_NUMBERS = 5000, 400_000  # the latter: rows times classes

# Candidates whose accuracy is within this many standard errors of the best are equally accurate:
# of these the one with the most likely probabilities is chosen.
_AS_GOOD = 0.5


@dataclass(frozen=True)
class Choice:
    """What folds, or the user, have decided.

    Attributes
    ----------
    init : str
        "init": the start that the user chose or the default; "features": features as they are;
        "discriminants": linear discriminants.
    regularization : float
        λ; NaN where the start is kept as it is.
    scale : float
        Of the map, in predictions.
    calibration : Calibration
        Of their probabilities.
    """

    init: str
    regularization: float
    scale: float = 1.0
    calibration: Calibration = CERTAIN

    @property
    def learns(self) -> bool:
        """Whether the map is learned at all."""
        return not math.isnan(self.regularization)

    @property
    def penalty(self) -> float:
        """λ of the objective."""
        return self.regularization if self.learns else 0.0


@dataclass(frozen=True)
class Trials:
    """What every candidate says about the rows held back.

    Attributes
    ----------
    init : tuple of str
        What each of K candidates starts from.
    shares : tuple of float
        λ of each, in units of `Preparation.penalty_unit`.
    log_p : ndarray of shape (K, len(SCALES), n, n_classes)
        Log probabilities of the classes of n rows held back.
    labels : ndarray of shape (n,)
    weights : ndarray of shape (n,)
        Weight of each row; their sum is the effective number of rows.
    """

    init: tuple[str, ...]
    shares: tuple[float, ...]
    log_p: NDArray
    labels: NDArray
    weights: NDArray

    @property
    def is_unlearned(self) -> NDArray:
        """Which candidates are starts as they are, shape (K,)."""
        return np.isnan(self.shares)

    @cached_property
    def hits(self) -> NDArray:
        """Whether each is right, shape (K, len(SCALES), n)."""
        return self.log_p.argmax(axis=-1) == self.labels

    @property
    def accuracy(self) -> NDArray:
        """Share of the rows that each labels right, shape (K, len(SCALES))."""
        return np.average(self.hits, axis=-1, weights=self.weights)

    def errors(self, of: NDArray) -> NDArray:
        """Standard error of the mean of values of the rows, its last axis."""
        mean = np.average(of, axis=-1, weights=self.weights, keepdims=True)
        variance = np.average(np.square(of - mean), axis=-1, weights=self.weights)
        return np.sqrt(variance / self.weights.sum())

    @property
    def own_size(self) -> tuple[int, int]:
        """The first candidate at the size it was learned at."""
        return 0, int(np.abs(np.log(SCALES)).argmin())

    @cached_property
    def calibrations(self) -> list[list[Calibration]]:
        """The likeliest calibration of each."""
        return [[calibrate(p, self.labels, self.weights) for p in row] for row in self.log_p]

    @cached_property
    def log_likelihood(self) -> NDArray:
        """Mean log probability of the true classes, calibrated, shape (K, len(SCALES))."""
        return np.array(
            [
                [c.log_likelihood(p, self.labels, self.weights) for c, p in zip(*row, strict=True)]
                for row in zip(self.calibrations, self.log_p, strict=True)
            ]
        )

    def best(self, among: NDArray | None = None) -> tuple[int, int]:
        """The most likely of those as accurate as the most accurate, within its error.

        With `among`, a mask of candidates, of these.
        """
        hits, likelihood = self.hits, self.log_likelihood
        accuracy = self.accuracy if among is None else np.where(among[:, None], self.accuracy, -1)
        top = _first_largest(accuracy, likelihood)
        apart = hits[top].astype(np.float64) - hits
        as_good = accuracy[top] - accuracy <= _AS_GOOD * self.errors(apart) + 1e-12
        return _first_largest(np.where(as_good, likelihood, -np.inf))


def _first_largest(values: NDArray, ties: NDArray | None = None) -> tuple[int, int]:
    """Position of the largest value; where several are equal, of the largest in `ties`."""
    if ties is not None:
        values = np.where(values >= values.max() - 1e-12, ties, -np.inf)
    row, column = np.unravel_index(int(values.argmax()), values.shape)
    return int(row), int(column)


def choose(
    trials: Trials, penalty_unit: float, among: NDArray | None = None
) -> tuple[Choice, tuple[int, int]]:
    """The candidate that predicts best, and its place.

    Parameters
    ----------
    trials : Trials
    penalty_unit : float
        λ of share 1 for all rows, of which folds had fewer.
    among : ndarray of bool, optional
        Candidates to choose from. None: all.
    """
    k, s = place = trials.best(among)
    known = (trials.init[k], trials.shares[k] * penalty_unit, float(SCALES[s]))
    return Choice(*known, trials.calibrations[k][s]), place


def path_of(trials: Trials, penalty_unit: float, chosen: tuple[int, int]) -> dict[str, Any]:
    """What was tried and how it scored, for users."""
    return {
        "init": np.array(trials.init),
        "regularization": np.array(trials.shares) * penalty_unit,
        "scale": SCALES.copy(),
        "accuracy": trials.accuracy,
        "accuracy_error": trials.errors(trials.hits),
        "log_likelihood": trials.log_likelihood,
        "chosen": chosen,
    }


def choose_scale(
    A: NDArray,
    logit: float,
    objective: Objective,
    data: TrainingSet,
    queries: LabeledPoints,
    engine: Engine,
) -> tuple[float, Calibration]:
    """Size and calibration of a map, by rows held back."""
    log_p = _at_all_scales(A, logit, objective, data, queries, engine)[None]
    weights = expected_weights(objective, queries)
    trials = Trials((AS_GIVEN,), (USUAL_PENALTY,), log_p, queries.labels, weights)
    chosen, _ = choose(trials, 1.0)
    return chosen.scale, chosen.calibration


def try_folds(
    settings: NeighborhoodSettings,
    data: TrainingSet,
    n_components: int,
    recipe: Recipe,
    rng: np.random.Generator,
) -> Trials | None:
    """What every candidate says about rows it has not learned from; None where none can be spared.

    Parameters
    ----------
    settings : NeighborhoodSettings
    data : TrainingSet
        Rows to learn from, and to hold back in turn.
    n_components : int
    recipe : Recipe
        Where it has λ, that is the only candidate. A batched fit learns more from all rows than
        the start knows, so that the start is no candidate there.
    rng : numpy.random.Generator
    """
    data = data.subset(min(_MOST_ROWS, _MOST_NUMBERS // len(settings.classes_)), rng)
    everything = data.points(slice(None))
    n_folds = _FOLDS if len(data) <= _MANY else _FEWER_FOLDS
    folds = class_folds(everything.X, everything.labels, n_folds)
    numbers = np.unique(folds[folds >= 0])
    if not len(numbers):
        return None
    fits = _Fits(settings, n_components, recipe, rng, len(data), n_folds=len(numbers))
    held_back = [np.flatnonzero(folds == fold) for fold in numbers]
    log_p = [
        fits.try_fold(data.among(np.flatnonzero(folds != fold)), everything[held])
        for fold, held in zip(numbers, held_back, strict=True)
    ]
    fits.close()
    queries = everything[np.concatenate(held_back)]
    init, shares = zip(*fits.names, strict=True)
    weights = expected_weights(plain_objective(settings), queries)
    return Trials(init, shares, np.concatenate(log_p, axis=2), queries.labels, weights)


def expected_weights(objective: Objective, queries: LabeledPoints) -> NDArray:
    """Weights of held-out rows under which classes are as frequent as the prior says.

    They sum to the effective number of rows, (Σ w)² / Σ w²: that of rows of equal weight whose mean
    would have the same variance.
    """
    counts = queries.counts
    if isinstance(objective.prior, str) and objective.prior == "empirical":
        return counts
    in_class = class_counts(queries, objective.n_classes)
    factors = np.exp(class_log_priors(objective, in_class)) / np.maximum(in_class, 1e-300)
    weights = counts * factors[queries.labels]
    return weights * (weights.sum() / (weights * factors[queries.labels]).sum())


class _Fits:
    """Candidates of one fold after the other, with a line of progress for all of them."""

    def __init__(
        self,
        settings: NeighborhoodSettings,
        n_components: int,
        recipe: Recipe,
        rng: np.random.Generator,
        n_rows: int,
        n_folds: int,
    ) -> None:
        self.settings, self.n_components, self.rng = settings, n_components, rng
        self.n_rows = n_rows
        self.recipe = replace(recipe, batching="full", batch_size=None)
        self.given = None if recipe.chooses else float(recipe.regularization)
        self.learned_only = recipe.is_batched or self.given is not None
        self.names: list[tuple[str, float]] = []
        name = f"NeighborhoodComponents({n_components}), choosing by folds"
        self._display = display_of(name, n_folds * len(SHARES), settings.verbose)
        self._n_done, self._began = 0, time.perf_counter()

    def try_fold(self, data: TrainingSet, queries: LabeledPoints) -> NDArray:
        """Log probabilities of the queries by every candidate, at every scale."""
        self.names, log_p = remembered(lambda: self._tried(data, queries))
        return log_p

    def _tried(
        self, data: TrainingSet, queries: LabeledPoints
    ) -> tuple[list[tuple[str, float]], NDArray]:
        ready = prepare(self.settings, data, self.n_components, self.recipe, self.rng, QUICK)
        engine, _ = choose_engine(
            self.settings.engine,
            # That of the fit to all rows: what it loads, folds may as well use.
            replace(ready.workload(self.recipe), n_queries=self.n_rows, n_keys=self.n_rows),
            tolerance=self.settings.tolerance,
            n_jobs=self.settings.n_jobs,
            precision=self.settings.precision,
        )
        names, log_p = [], []
        for name, A, logit in self._candidates(ready, engine):
            names.append(name)
            log_p.append(_at_all_scales(A, logit, ready.objective, data, queries, engine))
        return names, np.stack(log_p)

    def close(self) -> None:
        """All folds are done."""
        if self._display is not None:
            self._display.close(f"{len(self.names)} maps at {len(SCALES)} sizes tried")

    def _candidates(
        self, ready: Preparation, engine: Engine
    ) -> Iterator[tuple[tuple[str, float], NDArray, float]]:
        """Start and penalty, map, and logit of each."""
        parameters = ready.start
        for share in SHARES if self.given is None else (USUAL_PENALTY,):
            penalty = share * ready.penalty_unit if self.given is None else self.given
            solver = lbfgs(ready.problem(engine, penalty).exact())
            parameters, value = few_updates(solver, parameters, _UPDATES, _LEAST_GAIN)
            self._tell(value)
            yield (AS_GIVEN, share), *ready.coordinates.unpack(parameters)
        if self.learned_only:
            return
        A, logit = ready.first_map
        yield (AS_GIVEN, NOT_LEARNED), A, logit
        if isinstance(self.settings.init, str) and self.settings.init == "auto":
            for which in self._simple_maps(len(A)):
                simple = unlearned(self.settings, which, ready.data, ready.known, len(A))
                yield (which, NOT_LEARNED), simple, logit

    def _simple_maps(self, d: int) -> tuple[str, ...]:
        """What users would try without learning; a start of few rows is discriminants already."""
        has_others = d > len(self.settings.classes_) - 1
        return (FEATURES, DISCRIMINANTS) if has_others else (FEATURES,)

    def _tell(self, objective: float) -> None:
        self._n_done += 1
        if self._display is not None:
            elapsed = time.perf_counter() - self._began
            self._display(Update(self._n_done, np.empty(0), objective, 0.0, elapsed))


def _at_all_scales(
    A: NDArray,
    logit: float,
    objective: Objective,
    data: TrainingSet,
    queries: LabeledPoints,
    engine: Engine,
) -> NDArray:
    """Log probabilities of the queries under a map at every size."""
    keys, projected = under_map(A, data.points(slice(None)), objective)
    Z = under_map(A, queries, objective)[0].X
    return Classifier.of(keys, projected, logit).log_probabilities_at(SCALES, Z, engine)
