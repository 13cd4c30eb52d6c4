"""The objective as solvers see it: in their coordinates, over all points or one batch."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

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
from vicinal.fitting.checkpoints import remembered
from vicinal.fitting.draws import DrawState
from vicinal.fitting.numbers import Number, average
from vicinal.inputs.places import in_place
from vicinal.inputs.points import LabeledPoints
from vicinal.inputs.splits import MOST_VALIDATION_KEYS
from vicinal.nca.batches import Batches
from vicinal.nca.equations import (
    Objective,
    evaluate,
    own_class_log_probabilities,
    penalized,
)
from vicinal.nca.loading import Sent, batch_loader
from vicinal.nca.prediction import Classifier, under_map
from vicinal.nca.recipe import Recipe
from vicinal.nca.training_set import TrainingSet
from vicinal.neighborhood import Engine, placed, repeated, spreads_rows
from vicinal.neighborhood.arrays import (
    Array,
    is_numpy,
    namespace,
    on_host,
    placed_like,
    sums_are_here,
)
from vicinal.neighborhood.products import few_times

__all__ = ["Coordinates", "NeighborhoodProblem", "first_rate"]

EXACT: dict[str, Callable[[ValueAndGradient], Solver]] = {
    "lbfgs": lbfgs,
    "cg": conjugate_gradients,
    "bold-driver": BoldDriver,
}

# Scipy's, which compute with NumPy's arrays.
ON_HOST = ("lbfgs", "cg")

# Of parameters; larger is better.
Score = Callable[[Array], float]

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
    P : array of shape (D, D)
    shape : (d, D)
    logit : float
        Of β where it is fixed.
    logit_unit : float
        What one unit of the logit is in the solver's parameters; 0: fixed.
    """

    P: Array
    shape: tuple[int, int]
    logit: float = 0.0
    logit_unit: float = 0.0

    def placed(self, engine: Engine) -> "Coordinates":
        """Those where the engine computes."""
        return replace(self, P=placed(engine, self.P))

    def pack(self, B: NDArray) -> NDArray:
        """Parameters for a map, the logit at its start."""
        if not self.logit_unit:
            return B
        return np.append(B.ravel(), self.logit * self.logit_unit)

    def unpack(self, parameters: Array) -> tuple[Array, float]:
        """The map A and the logit of β."""
        if not self.logit_unit:
            return few_times(parameters, self.P), self.logit
        return (
            few_times(parameters[:-1].reshape(self.shape), self.P),
            float(parameters[-1]) / self.logit_unit,
        )

    def gradient(self, in_map: Array, in_logit: Number) -> Array:
        """From gradients in A and the logit to one in the parameters."""
        in_B = few_times(in_map, self.P.T)
        if not self.logit_unit:
            return in_B
        if is_numpy(in_B):
            return np.append(in_B.ravel(), in_logit / self.logit_unit)
        last = placed_like(in_logit / self.logit_unit, in_B).reshape(1)
        return namespace(in_B).concat([in_B.reshape(-1), last])


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
        """All rows to learn from, in memory: that of the engine, where it has room."""
        if spreads_rows(self.engine, len(self.data)) and self.objective.background is None:
            return self.data.on_cluster(self.data.features.dtype)
        rows = self.data.in_place(self.engine, self.data.features.dtype)
        return self.data.points(slice(None)) if rows is None else rows

    @cached_property
    def _placed_coordinates(self) -> Coordinates:
        return self.coordinates.placed(self.engine)

    @cached_property
    def _placed_objective(self) -> Objective:
        if isinstance(self.objective.prior, str):
            return self.objective
        return replace(self.objective, prior=placed(self.engine, self.objective.prior))

    def start(self, recipe: Recipe, start: NDArray) -> Array:
        """The start where the solver keeps its parameters: scipy does on the host.

        There, parameters travel and a gradient comes back for every evaluation, d x D numbers each.
        """
        return start if recipe.solver in ON_HOST else placed(self.engine, start)

    def solver(
        self,
        recipe: Recipe,
        start: NDArray,
        validation: Validation | None,
        rng: np.random.Generator,
    ) -> Solver:
        """The solver, told what to maximize; SGD looks for its t₀ on the points held back."""
        if recipe.solver in EXACT:
            return EXACT[recipe.solver](self.exact())
        batches = self._batches(recipe, rng) if recipe.is_batched else None
        objective = self.batched(recipe, batches) if batches else self.exact()
        if recipe.solver == "adam":
            return Adam(objective, cosine(first_rate(start), recipe.max_iter), batches)
        score = validation.score if validation else self._score_on_one_batch(recipe, rng)
        n_trial = max(10, int(TRIAL_SHARE * recipe.max_iter))
        given = recipe.eta0, recipe.t0

        def found() -> tuple[tuple[float, float], DrawState | None]:
            at = self.start(recipe, start)
            rates = search_offset(objective, at, score, n_trial, *given)
            return rates, batches.state if batches else None

        (first, offset), drawn = remembered(found, (DrawState,))
        if batches and drawn:
            batches.restore(drawn)
        return GradientAscent(objective, first, offset, batches)

    def exact(self) -> ValueAndGradient:
        """Over all points, each against all others."""
        rows = self.everything
        if sums_are_here(rows.X):
            return lambda parameters: self._evaluated(parameters, rows)
        repeated = self._repeated(lambda at: self._evaluated(at, rows), len(rows) ** 2)

        def in_place(parameters: Array) -> tuple[Number, Array]:
            value, gradient = repeated(placed(self.engine, parameters))
            return value, placed_like(gradient, parameters)

        return in_place

    def batched(self, recipe: Recipe, batches: Batches) -> ValueAndGradient:
        """Over a new batch at every call (algorithms 4.1 and 4.4)."""
        size = recipe.batch_size or len(self.data)
        if recipe.batching == "stochastic":
            return self._drawn(batches, self.everything, self._of_rows, size * len(self.data))
        # float32: the choice of the batch is noise enough.
        rows = self.data.in_place(self.engine, np.float32)
        if rows is None:
            return self._loaded(batches)
        return self._drawn(
            batches, rows, lambda them, at, which: self._evaluated(at, them[which]), size * size
        )

    def _drawn(
        self, batches: Batches, rows: LabeledPoints, of: Callable[..., Any], n_pairs: int
    ) -> ValueAndGradient:
        """Of rows in memory, here or where the engine computes, at positions that are drawn."""
        function: Callable[..., Any] = partial(of, rows)
        if sums_are_here(rows.X):
            return lambda parameters: function(parameters, batches.next(parameters))
        repeated = self._repeated(function, n_pairs)
        sent = Sent(self.engine, batches, rows.labels)

        def of_next(parameters: Array) -> tuple[Number, Array]:
            batches.next(parameters)
            return repeated(parameters, sent())

        return of_next

    def _loaded(self, batches: Batches) -> ValueAndGradient:
        """Over batches that are converted on the host, ahead of their time."""
        load = batch_loader(lambda which: self.data.points(which, np.float32), self.engine, batches)

        def of_next(parameters: Array) -> tuple[Number, Array]:
            batches.next(parameters)
            return self._evaluated(parameters, load())

        return of_next

    def _of_rows(self, rows: LabeledPoints, at: Array, own: Array) -> tuple[Number, Array]:
        """Some rows against all of them (algorithm 4.4)."""
        return self._evaluated(at, rows[own], rows, own)

    def _repeated(self, function: Callable[..., Any], n_pairs: int) -> Callable[..., Any]:
        """For many calls with arrays where the engine computes."""
        if self.objective.background is not None:  # whose covariances are those of the host
            return function
        return repeated(self.engine, function, n_pairs)

    def validation(
        self, held_back: NDArray, recipe: Recipe, patience: int | None, rng: np.random.Generator
    ) -> Validation:
        """Mean objective of the points held back, against points to learn from."""
        whole = TrainingSet(self.data.features, self.data.labels, self.data.weights, held_back)
        queries = whole.points(slice(None))
        keys = self.data.subset(MOST_VALIDATION_KEYS, rng).points(slice(None))
        of = self._accuracy if recipe.validation_metric == "accuracy" else self._mean_objective
        usual = max(1, recipe.max_iter // N_CHECKS) if recipe.is_batched else 1
        every = recipe.validation_every or usual
        if patience is None and not recipe.is_scheduled:
            patience = PATIENCE
        return Validation(of(queries, keys), every, patience)

    def _mean_objective(self, queries: LabeledPoints, keys: LabeledPoints) -> Score:
        queries, keys = in_place(self.engine, queries, keys)

        def score(parameters: Array) -> float:
            A, logit = self._unpacked(parameters, keys)
            log_p = own_class_log_probabilities(
                A, self.objective, self.engine, queries, keys, logit=logit
            )
            each, _ = self.objective.criterion.terms(log_p)
            return float(average(each, queries.weights))

        return score

    def _accuracy(self, queries: LabeledPoints, keys: LabeledPoints) -> Score:
        def score(parameters: Array) -> float:
            A, logit = self.coordinates.unpack(on_host(parameters))
            rule = Classifier.of(*under_map(A, keys, self.objective), logit)
            return rule.accuracy(under_map(A, queries, self.objective)[0], self.engine)

        return score

    def _batches(self, recipe: Recipe, rng: np.random.Generator) -> Batches:
        def project(parameters: Array) -> NDArray:
            return self.data.project(self.coordinates.unpack(on_host(parameters))[0])

        size = recipe.batch_size or len(self.data)
        return Batches(recipe.batching, len(self.data), size, rng, project)

    def _score_on_one_batch(self, recipe: Recipe, rng: np.random.Generator) -> Score:
        """The objective over one batch that stays the same, where no points are held back."""
        fixed = self.data.subset(recipe.batch_size or len(self.data), rng).points(slice(None))
        (batch,) = in_place(self.engine, fixed)
        return lambda parameters: float(self._evaluated(parameters, batch)[0])

    def _unpacked(self, parameters: Array, beside: LabeledPoints) -> tuple[Array, float]:
        """Map and logit of β, where some points are."""
        if sums_are_here(beside.X):
            return self.coordinates.unpack(on_host(parameters))
        return self._placed_coordinates.unpack(placed(self.engine, parameters))

    def _evaluated(
        self,
        parameters: Array,
        queries: LabeledPoints,
        keys: LabeledPoints | None = None,
        own: Array | None = None,
    ) -> tuple[Number, Array]:
        """Penalized mean objective and its gradient, the latter where the parameters are."""
        A, logit = self._unpacked(parameters, queries)
        found = evaluate(A, self._placed_objective, self.engine, queries, keys, own, logit)
        total = queries.total
        value, in_map = penalized(found.value / total, found.gradient / total, A, self.penalty)
        coordinates = self.coordinates if is_numpy(in_map) else self._placed_coordinates
        gradient = coordinates.gradient(in_map, found.logit_gradient / total)
        return value, placed_like(gradient, parameters)
