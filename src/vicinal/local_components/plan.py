"""What a fit will do, settled from the parameters and the size of the data."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting import Validation
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.density import ParzenDensity
from vicinal.local_components.equations import Form, leave_one_out
from vicinal.local_components.learning import N_CHECKS, PATIENCE, Batching, LocalProblem, Penalty
from vicinal.local_components.search import search
from vicinal.local_components.settings import LocalSettings
from vicinal.neighborhood import Engine, Workload, law_named

__all__ = ["MAX_ITER", "MOST_LEFT_OUT", "Plan", "mean_leave_one_out", "plain_penalty"]

# Updates of EM, and passes over the data of stochastic EM (20 in the paper), unless told otherwise.
MAX_ITER, N_PASSES = 500, 20

# Points whose leave-one-out likelihood is looked at after stochastic EM.
MOST_LEFT_OUT = 2000


@dataclass(frozen=True)
class Plan:
    """How the shape that all kernels share is fitted.

    Attributes
    ----------
    form : Form
    searches : bool
        Whether the number of Gaussian directions is searched for.
    accelerate : bool
    batching : Batching or None
    max_iter : int
    work : Workload
    """

    form: Form
    searches: bool
    accelerate: bool
    batching: Batching | None
    max_iter: int
    work: Workload

    @classmethod
    def of(
        cls, settings: LocalSettings, points: WeightedPoints, covariance: str, gaussian: str | None
    ) -> "Plan":
        """From the parameters of the estimator, with a covariance and a Gaussian part."""
        n, d = points.X.shape
        structure = "full" if covariance == "local" else covariance
        rank = settings.rank or max(1, d // 2)
        law = law_named(settings.kernel, degrees_of_freedom=settings.degrees_of_freedom)
        batching = _batching(settings, n)
        steps_should_be_small = gaussian or settings.early_stopping or batching
        size, n_keys = (batching.size, batching.n_keys) if batching else (n, n)
        max_iter = settings.max_iter
        if max_iter is None or covariance == "local":
            max_iter = N_PASSES * -(-n // size) if batching else MAX_ITER
        return cls(
            Form(structure, rank, gaussian is not None, law, n_features=d),
            gaussian == "search",
            bool(settings.accelerate and not steps_should_be_small),
            batching,
            max_iter,
            Workload(size, n_keys, d, max_iter, law),
        )

    @property
    def is_scheduled(self) -> bool:
        """Whether to make all updates is the proper end of the fit, and no other is looked for."""
        return self.batching is not None

    def start(self, problem: LocalProblem) -> NDArray:
        """The global covariance, or where the search for Gaussian directions leads from there."""
        start = problem.start
        return search(problem.step, self.form, start) if self.searches else start

    def validation(
        self, problem: LocalProblem, held: WeightedPoints, rng: np.random.Generator
    ) -> Validation:
        """After every update, or some 40 times in stochastic EM, which has an end of its own."""
        if self.batching is None:
            return problem.validation(held, 1, PATIENCE, rng)
        return problem.validation(held, max(1, self.max_iter // N_CHECKS), None, rng)


def mean_leave_one_out(
    density: ParzenDensity,
    engine: Engine,
    rng: np.random.Generator,
    most: int | None,
    copies_count: bool = True,
) -> float:
    """Mean log-likelihood of the points of a density, or so many of them, under all others."""
    points = density.points.at(density.points.X - density.mean)
    own, queries = np.arange(len(points)), points
    if most is not None and len(points) > most:
        own = np.sort(rng.choice(len(points), most, replace=False))
        queries = points[own]
    return leave_one_out(density.shape, engine, queries, points, own, copies_count)


def plain_penalty(regularization: Any) -> Penalty:
    """ν, or (ν_G, ν_L)."""
    if isinstance(regularization, tuple | list):
        return Penalty(float(regularization[0]), float(regularization[1]))
    return Penalty(float(regularization), float(regularization))


def _batching(settings: LocalSettings, n: int) -> Batching | None:
    if settings.batch_size is None and settings.n_neighbors is None:
        return None
    size, n_keys = settings.batch_size or n, settings.n_neighbors or n
    return Batching(min(size, n), min(n_keys, n), float(settings.discount))
