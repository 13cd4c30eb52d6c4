"""How likely rows held back are under mixtures that were fitted to the others."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting import EM, few_updates
from vicinal.fitting.checkpoints import remembered
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.mixture.density import MixtureDensity
from vicinal.local_components.mixture.directions import with_local_directions
from vicinal.local_components.mixture.equations import Parts
from vicinal.local_components.mixture.learning import MixtureProblem
from vicinal.local_components.mixture.starts import (
    Floors,
    Start,
    gaussian_shares,
    k_means_shares,
    settled,
)
from vicinal.neighborhood import Engine

__all__ = ["Recipe", "Trials", "begin", "first_shares"]

# Share of the rows that is held back; how many rows, or numbers, are enough in all. Where they are
# fewer, others are held back in turn.
_SHARE, _ENOUGH_ROWS, _ENOUGH_NUMBERS, _MOST_FOLDS = 0.2, 400, 40_000, 5


@dataclass(frozen=True)
class Recipe:
    """All that is to be known before a mixture is fitted.

    Attributes
    ----------
    n_parts : int
    strength : float
        Points of the prior, for every dimension.
    wide, near : float or ndarray of shape (d,)
        Variances that are added to those of parts and kernels, in units of the columns.
    is_local : bool
        Whether parts may have local directions.
    n_updates : int
        Of EM for all parts together.
    """

    n_parts: int
    strength: float
    wide: float | NDArray
    near: float | NDArray
    is_local: bool = True
    n_updates: int = 0

    def floors(self, d: int) -> Floors:
        """One for every column."""
        return Floors(np.full(d, self.wide), np.full(d, self.near))


def first_shares(points: WeightedPoints, recipe: Recipe, seed: int) -> NDArray:
    """Shares of points in the parts of a Gaussian mixture."""
    shares, d = k_means_shares(points, recipe.n_parts, seed), points.X.shape[1]
    return gaussian_shares(points, shares, d * recipe.strength, recipe.floors(d))


def begin(points: WeightedPoints, shares: NDArray, recipe: Recipe, engine: Engine) -> Start:
    """Where EM for all parts together begins, from the shares that points have in parts."""
    d = points.X.shape[1]
    start = settled(points, shares, d * recipe.strength, recipe.floors(d))
    if not recipe.is_local:
        return start
    return Start(with_local_directions(points, start.parts, start.prior, engine), start.prior)


@dataclass(frozen=True)
class _Fold:
    learning: WeightedPoints
    held: WeightedPoints
    seed: int
    shares: dict[str, NDArray] = field(default_factory=dict)  # by what they depend on

    def begin(self, recipe: Recipe, engine: Engine) -> Start:
        """Where a fit to the rows not held back begins."""
        # A call to remember even where shares are known: one that goes on may not know them yet.
        shares = remembered(lambda: self._first_shares(recipe))
        return begin(self.learning, shares, recipe, engine)

    def _first_shares(self, recipe: Recipe) -> NDArray:
        key = repr((recipe.n_parts, recipe.strength, recipe.wide))
        if key not in self.shares:
            self.shares[key] = first_shares(self.learning, recipe, self.seed)
        return self.shares[key]

    def score(self, parts: Parts, engine: Engine) -> float:
        """Mean log-density of the rows held back."""
        d = self.learning.X.shape[1]
        density = MixtureDensity.of(self.learning, parts, np.zeros(d), np.ones(d))
        log_p = density.log_density(self.held.X, engine)
        return float(np.average(log_p, weights=self.held.weights))


class Trials:
    """Recipes, tried on the same folds.

    Parameters
    ----------
    points : WeightedPoints
        In units of the columns.
    engine : Engine
    rng : Generator
    """

    def __init__(self, points: WeightedPoints, engine: Engine, rng: np.random.Generator) -> None:
        self.engine = engine
        self.folds = list(_folds(points, rng))

    def score(self, recipe: Recipe) -> float:
        """Mean over the folds, without updates for all parts together."""
        return remembered(
            lambda: self._mean_score([fold.begin(recipe, self.engine) for fold in self.folds])
        )

    def updated(self, recipe: Recipe, counts: tuple[int, ...]) -> Recipe:
        """The recipe with as many updates as are best, the counts being tried until one is not."""
        starts = [fold.begin(recipe, self.engine) for fold in self.folds]
        reached, best = self._mean_score(starts), 0
        for before, count in pairwise((0, *counts)):
            each = zip(self.folds, starts, strict=True)
            starts = [self._after(fold, start, count - before) for fold, start in each]
            last, reached = reached, self._mean_score(starts)
            if reached <= last:
                break
            best = count
        return replace(recipe, n_updates=best)

    def _after(self, fold: _Fold, start: Start, n_updates: int) -> Start:
        problem = MixtureProblem(fold.learning, start.prior, self.engine)
        packed, _ = few_updates(EM(problem.step), problem.packed(start.parts), n_updates)
        return Start(problem.parts(packed), start.prior)

    def _mean_score(self, starts: list[Start]) -> float:
        each = zip(self.folds, starts, strict=True)
        return float(np.mean([fold.score(start.parts, self.engine) for fold, start in each]))


def _folds(points: WeightedPoints, rng: np.random.Generator) -> Iterator[_Fold]:
    """Rows to learn from and rows held back, one or several times."""
    n, d = points.X.shape
    n_held = max(1, int(_SHARE * n))
    order, seed = rng.permutation(n), int(rng.integers(2**31))
    enough = min(_ENOUGH_ROWS, _ENOUGH_NUMBERS // d)
    n_folds = min(_MOST_FOLDS, max(1, -(-enough // n_held)), n // n_held)
    for k in range(n_folds):
        held = np.sort(order[k * n_held : (k + 1) * n_held])
        learning = np.setdiff1d(order, held)
        yield _Fold(points[learning], points[held], seed)
