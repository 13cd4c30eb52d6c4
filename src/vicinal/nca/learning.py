"""The objective as solvers see it: in their coordinates, over all points or one batch."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from threading import Thread

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting import (
    Adam,
    BoldDriver,
    GradientAscent,
    Solver,
    Validation,
    ValueAndGradient,
    conjugate_gradients,
    cosine,
    lbfgs,
    search_offset,
)
from vicinal.inputs.features import Features, Moments, moments
from vicinal.inputs.points import LabeledPoints
from vicinal.inputs.splits import MOST_VALIDATION_KEYS
from vicinal.nca.batches import Batches
from vicinal.nca.equations import (
    Evaluation,
    Objective,
    evaluate,
    own_class_log_probabilities,
    penalized,
)
from vicinal.nca.prediction import Classifier, under_map
from vicinal.nca.recipe import Recipe
from vicinal.neighborhood import Engine

__all__ = ["Coordinates", "NeighborhoodProblem", "TrainingSet", "first_rate"]

EXACT: dict[str, Callable[[ValueAndGradient], Solver]] = {
    "lbfgs": lbfgs,
    "cg": conjugate_gradients,
    "bold-driver": BoldDriver,
}

# Adam's first rate, as a share of the root mean square of the start (docs/decisions/0006).
ADAM_RATE = 0.03

# Validation checks over a batched fit, and how many in a row may bring nothing (thesis 5.3.2).
N_CHECKS, PATIENCE = 40, 25

# A trial of the search for t0 lasts this share of the fit.
TRIAL_SHARE = 0.02


def first_rate(start: NDArray) -> float:
    """Adam's first rate for a fit from this start."""
    return ADAM_RATE * float(np.sqrt(np.mean(np.square(start))))


@dataclass(frozen=True)
class Coordinates:
    """Parameters of a solver: B with A = B P and, where β is learned, its logit as last entry.

    Attributes
    ----------
    P : ndarray of shape (D, D)
    shape : (d, D)
    logit : float
        Of β where it is fixed.
    logit_unit : float
        What one unit of the logit is in the solver's parameters; 0: fixed.
    """

    P: NDArray
    shape: tuple[int, int]
    logit: float = 0.0
    logit_unit: float = 0.0

    def pack(self, B: NDArray) -> NDArray:
        """Parameters for a map, the logit at its start."""
        if not self.logit_unit:
            return B
        return np.append(B.ravel(), self.logit * self.logit_unit)

    def unpack(self, parameters: NDArray) -> tuple[NDArray, float]:
        """The map A and the logit of β."""
        if not self.logit_unit:
            return parameters @ self.P, self.logit
        return (
            parameters[:-1].reshape(self.shape) @ self.P,
            float(parameters[-1]) / self.logit_unit,
        )

    def gradient(self, in_map: NDArray, in_logit: float) -> NDArray:
        """From gradients in A and the logit to one in the parameters."""
        in_B = in_map @ self.P.T
        return np.append(in_B.ravel(), in_logit / self.logit_unit) if self.logit_unit else in_B


@dataclass(frozen=True)
class TrainingSet:
    """Rows to learn from, converted when they are needed.

    Attributes
    ----------
    features : Features
    labels : ndarray of shape (n,)
    weights : ndarray of shape (n,) or None
    positions : ndarray or None
        Of the rows that are not held back; None: all.
    """

    features: Features
    labels: NDArray
    weights: NDArray | None = None
    positions: NDArray | None = None

    def __len__(self) -> int:
        return len(self.labels) if self.positions is None else len(self.positions)

    @property
    def learning_weights(self) -> NDArray | None:
        """Weights of all rows, 0 for those that are held back."""
        if self.positions is None:
            return self.weights
        weights = np.zeros(len(self.labels))
        weights[self.positions] = 1.0 if self.weights is None else self.weights[self.positions]
        return weights

    def moments(self, n_classes: int) -> Moments:
        """Of the rows to learn from."""
        return moments(self.features, self.labels, n_classes, self.learning_weights)

    def among(self, positions: NDArray) -> "TrainingSet":
        """Those of the rows to learn from at these places among them."""
        known = positions if self.positions is None else self.positions[positions]
        return TrainingSet(self.features, self.labels, self.weights, known)

    def points(self, which: NDArray | slice, dtype: type | None = None) -> LabeledPoints:
        """Points by their place among those to learn from."""
        taken = which if self.positions is None else self.positions[which]
        weights = None if self.weights is None else self.weights[taken]
        X = self.features.take(taken, dtype or self.features.dtype)
        return LabeledPoints(X, weights, labels=self.labels[taken])

    def project(self, A: NDArray) -> NDArray:
        """All rows to learn from under a map."""
        Z = self.features.project(A)
        return Z if self.positions is None else Z[self.positions]

    def subset(self, size: int, rng: np.random.Generator) -> "TrainingSet":
        """Some of the rows to learn from, chosen once."""
        if size >= len(self):
            return self
        return self.among(np.sort(rng.choice(len(self), size, replace=False)))


class _Ahead:
    """Loads the next batch while the present one is worked on, in a thread of its own."""

    def __init__(self, load: Callable[[NDArray], LabeledPoints]) -> None:
        self._load = load
        self._waiting: tuple[NDArray, Thread, list[LabeledPoints]] | None = None

    def get(self, positions: NDArray, following: NDArray | None) -> LabeledPoints:
        """The batch at these positions; start on the following one."""
        batch = None
        if self._waiting is not None and self._waiting[0] is positions:
            _, thread, loaded = self._waiting
            thread.join()
            batch = loaded.pop() if loaded else None  # empty if loading failed: it will again
        if batch is None:
            batch = self._load(positions)
        self._waiting = None if following is None else self._begin(following)
        return batch

    def _begin(self, positions: NDArray) -> tuple[NDArray, Thread, list[LabeledPoints]]:
        loaded: list[LabeledPoints] = []
        thread = Thread(target=lambda: loaded.append(self._load(positions)), daemon=True)
        thread.start()
        return positions, thread, loaded


@dataclass(frozen=True)
class NeighborhoodProblem:
    """The mean objective, less the penalty, over the training points.

    Attributes
    ----------
    data : TrainingSet
    objective : Objective
    engine : Engine
    coordinates : Coordinates
    penalty : float
        λ in the units of the features.
    """

    data: TrainingSet
    objective: Objective
    engine: Engine
    coordinates: Coordinates
    penalty: float

    @cached_property
    def everything(self) -> LabeledPoints:
        """All rows to learn from, in memory."""
        return self.data.points(slice(None))

    def solver(
        self,
        recipe: Recipe,
        start: NDArray,
        validation: Validation | None,
        rng: np.random.Generator,
    ) -> Solver:
        """The solver, told what to maximize; SGD looks for its t₀ on the points held back."""
        if recipe.solver in EXACT:
            return EXACT[recipe.solver](self.exact)
        batches = self._batches(recipe, rng) if recipe.is_batched else None
        objective = self.batched(recipe, batches) if batches else self.exact
        if recipe.solver == "adam":
            return Adam(objective, cosine(first_rate(start), recipe.max_iter), batches)
        score = validation.score if validation else self._score_on_one_batch(recipe, rng)
        n_trial = max(10, int(TRIAL_SHARE * recipe.max_iter))
        first, offset = search_offset(objective, start, score, n_trial, recipe.eta0, recipe.t0)
        return GradientAscent(objective, first, offset, batches)

    def exact(self, parameters: NDArray) -> tuple[float, NDArray]:
        """Over all points, each against all others."""
        A, logit = self.coordinates.unpack(parameters)
        found = evaluate(A, self.objective, self.engine, self.everything, logit=logit)
        return self._finish(found, A, self.everything.total)

    def batched(self, recipe: Recipe, batches: Batches) -> ValueAndGradient:
        """Over a new batch at every call (algorithms 4.1 and 4.4)."""
        # float32: the choice of the batch is noise enough.
        loader = _Ahead(lambda positions: self.data.points(positions, np.float32))

        def of_next_batch(parameters: NDArray) -> tuple[float, NDArray]:
            A, logit = self.coordinates.unpack(parameters)
            chosen = batches.next(A)
            if recipe.batching == "stochastic":
                queries, keys, own = self.everything[chosen], self.everything, chosen
            else:
                queries, keys, own = loader.get(chosen, batches.peek()), None, None
            found = evaluate(A, self.objective, self.engine, queries, keys, own, logit)
            return self._finish(found, A, queries.total)

        return of_next_batch

    def validation(
        self, held_back: NDArray, recipe: Recipe, patience: int | None, rng: np.random.Generator
    ) -> Validation:
        """Mean objective of the points held back, against points to learn from."""
        whole = TrainingSet(self.data.features, self.data.labels, self.data.weights, held_back)
        queries = whole.points(slice(None))
        keys = self.data.subset(MOST_VALIDATION_KEYS, rng).points(slice(None))

        def mean_objective(parameters: NDArray) -> float:
            A, logit = self.coordinates.unpack(parameters)
            log_p = own_class_log_probabilities(
                A, self.objective, self.engine, queries, keys, logit=logit
            )
            each, _ = self.objective.criterion.terms(log_p)
            return float(np.average(each, weights=queries.weights))

        def accuracy(parameters: NDArray) -> float:
            A, logit = self.coordinates.unpack(parameters)
            rule = Classifier.of(*under_map(A, keys, self.objective), logit)
            return rule.accuracy(under_map(A, queries, self.objective)[0], self.engine)

        score = accuracy if recipe.validation_metric == "accuracy" else mean_objective
        usual = max(1, recipe.max_iter // N_CHECKS) if recipe.is_batched else 1
        every = recipe.validation_every or usual
        if patience is None and not recipe.is_scheduled:
            patience = PATIENCE
        return Validation(score, every, patience)

    def _batches(self, recipe: Recipe, rng: np.random.Generator) -> Batches:
        size = recipe.batch_size or len(self.data)
        return Batches(recipe.batching, len(self.data), size, rng, self.data.project)

    def _score_on_one_batch(
        self, recipe: Recipe, rng: np.random.Generator
    ) -> Callable[[NDArray], float]:
        """The objective over one batch that stays the same, where no points are held back."""
        fixed = self.data.subset(recipe.batch_size or len(self.data), rng).points(slice(None))

        def score(parameters: NDArray) -> float:
            A, logit = self.coordinates.unpack(parameters)
            found = evaluate(A, self.objective, self.engine, fixed, logit=logit)
            return self._finish(found, A, fixed.total)[0]

        return score

    def _finish(self, found: Evaluation, A: NDArray, total: float) -> tuple[float, NDArray]:
        value, gradient = penalized(found.value / total, found.gradient / total, A, self.penalty)
        return value, self.coordinates.gradient(gradient, found.logit_gradient / total)
