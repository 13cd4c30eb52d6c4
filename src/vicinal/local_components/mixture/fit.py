"""A mixture from rows to a density: choose, begin, run EM."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting import EM, run
from vicinal.fitting.callbacks import ScikitLearnCallbacks
from vicinal.fitting.progress import stage
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.checks import check_penalty
from vicinal.local_components.frame import global_moments
from vicinal.local_components.learning import Penalty
from vicinal.local_components.mixture.density import LEAST_FLOOR, MixtureDensity
from vicinal.local_components.mixture.equations import Parts
from vicinal.local_components.mixture.learning import MixtureProblem
from vicinal.local_components.mixture.selection import (
    choose_recipe,
    numbers_of_parts,
    one_gaussian,
)
from vicinal.local_components.mixture.trials import Recipe, begin, first_shares
from vicinal.local_components.plan import MAX_ITER, plain_penalty
from vicinal.neighborhood import Engine, Workload
from vicinal.neighborhood.arrays import Array

if TYPE_CHECKING:
    from vicinal.local_components.estimator import LocalComponents

__all__ = ["MOST_ROWS", "MixtureFit", "fit_mixture"]

# Rows to learn from, which are the centers of the kernels; more would be a sample of so many.
MOST_ROWS = 20_000

# Where EM may begin: of so many starts the one under which rows, each left out, are likeliest. Of
# more rows there is one, for k-means errs less there and a start takes long.
_N_STARTS, _MOST_ROWS_TO_START_AGAIN = 5, 5000

# Variances of columns that differ by no more are as good as the same.
_ALIKE = 4.0

_NAME = "LocalComponents"


@dataclass(frozen=True)
class MixtureFit:
    """The fit of a mixture to points.

    Attributes
    ----------
    points : WeightedPoints
        As the user has them.
    mean, units : ndarray of shape (d,)
        What columns count from, and in.
    penalty : Penalty or None
        Variances that are added to parts and kernels. None: they are chosen.
    engine : Engine
    rng : Generator
    """

    points: WeightedPoints
    mean: NDArray
    units: NDArray
    penalty: Penalty | None
    engine: Engine
    rng: np.random.Generator

    @classmethod
    def of(
        cls,
        points: WeightedPoints,
        penalty: Penalty | None,
        engine: Engine,
        rng: np.random.Generator,
    ) -> "MixtureFit":
        """In the units under which one Gaussian makes rows held back likeliest.

        Each column may have its own, or all that of a column of the mean variance: in pixels some
        of which hardly vary, what varies little counts little.
        """
        mean, covariance = global_moments(points)
        variances = np.diag(covariance)
        some = variances[variances > 0]
        common = np.full(len(mean), float(some.mean()) if len(some) else 1.0)
        own = np.where(variances > 0, variances, common)
        fits = [cls(points, mean, np.sqrt(each), penalty, engine, rng) for each in (own, common)]
        if own.max() <= _ALIKE * own.min():
            return fits[0]
        seed = int(rng.integers(2**31))
        return max(fits, key=lambda fit: one_gaussian(fit.inner, engine, seed) - fit.log_volume)

    @cached_property
    def inner(self) -> WeightedPoints:
        """The points around their mean, in units of the columns."""
        return self.points.at((self.points.X - self.mean).astype(np.float64) / self.units)

    @property
    def log_volume(self) -> float:
        """By which log-densities are lower in the coordinates of the user."""
        return float(np.log(self.units).sum())

    def choose(self, n_mixture: int | str, verbose: int) -> Recipe:
        """What the fit will do, chosen on rows held back in turn."""
        most = max(1, len(self.points) // 2)
        numbers = (
            numbers_of_parts(len(self.points))
            if isinstance(n_mixture, str)
            else (min(int(n_mixture), most),)
        )
        with stage(f"{_NAME}, choosing", 2 * len(numbers), verbose) as tell:
            return choose_recipe(self.inner, numbers, self._floors(), self.engine, self.rng, tell)

    def problem(self, recipe: Recipe, verbose: int = 0) -> tuple[MixtureProblem, Array]:
        """EM, and where it begins."""
        has_many_starts = recipe.n_parts > 1 and len(self.points) <= _MOST_ROWS_TO_START_AGAIN
        n_starts = _N_STARTS if has_many_starts else 1
        with stage(f"{_NAME}, starting", n_starts, verbose) as tell:
            found = [self._start(recipe, tell) for _ in range(n_starts)]
        problem, parts = max(found, key=lambda start: start[0].log_likelihood(start[1]))
        return problem, problem.packed(parts)

    def _start(self, recipe: Recipe, tell: Callable[[float], None]) -> tuple[MixtureProblem, Parts]:
        """From k-means, where chance has a hand."""
        shares = first_shares(self.inner, recipe, int(self.rng.integers(2**31)))
        start = begin(self.inner, shares, recipe, self.engine)
        tell(1)
        return MixtureProblem(self.inner, start.prior, self.engine, self.log_volume), start.parts

    def density(self, parts: Parts) -> MixtureDensity:
        """In the coordinates of the user."""
        return MixtureDensity.of(self.points, parts, self.mean, self.units)

    def variances(self, recipe: Recipe) -> tuple[float, float]:
        """ν_G and ν_L, means over the columns."""
        squares = np.square(self.units)
        return float(np.mean(squares * recipe.wide)), float(np.mean(squares * recipe.near))

    def _floors(self) -> tuple[NDArray, NDArray] | None:
        if self.penalty is None:
            return None
        squares = np.square(self.units)
        wide, near = (
            np.maximum(variance / squares, LEAST_FLOOR)
            for variance in (self.penalty.global_, self.penalty.local)
        )
        return wide, near


def fit_mixture(
    model: "LocalComponents", points: WeightedPoints, rng: np.random.Generator
) -> "LocalComponents":
    """Fit several parts, all that is not given chosen on rows held back."""
    points = points.some(MOST_ROWS, rng)
    is_auto = isinstance(model.regularization, str)
    penalty = None if is_auto else plain_penalty(model.regularization)
    check_penalty(model, penalty or Penalty(), points)
    n, d = points.X.shape
    fit = MixtureFit.of(points, penalty, model._choose_engine(Workload(n, n, d, MAX_ITER)), rng)
    recipe = fit.choose(model.n_mixture, model.verbose)
    problem, start = fit.problem(recipe, model.verbose)
    max_iter = recipe.n_updates if model.max_iter is None else model.max_iter

    def fitted(parameters: Array) -> dict[str, Any]:
        return model._fitted_attributes(fit.density(problem.parts(parameters)))

    listeners = ScikitLearnCallbacks(model, max_iter, points.X, None, fitted)
    outcome = run(
        EM(problem.step),
        start,
        max_iter=max_iter,
        tol=model.tol,
        origin=-problem.log_volume,
        scheduled=True,  # as many updates as were chosen are the proper end
        callbacks=[listeners],
        name=_NAME,
        verbose=model.verbose,
    )
    model._forget("_stream", "local_covariances_", "smoothing_", "path_", "recipe_")
    model._take(outcome, fitted(outcome.parameters))
    model.regularization_ = fit.variances(recipe)
    model._penalty = Penalty(*model.regularization_)  # that a stream would go on with
    model._scatter = model.covariance_
    model.loo_log_likelihood_ = problem.log_likelihood(problem.parts(outcome.parameters))
    model._set_offset(rng)
    listeners.close(outcome.parameters)
    return model
