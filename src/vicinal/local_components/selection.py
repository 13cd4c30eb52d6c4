"""ν and the size of neighborhoods by the likelihood of points held back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting.checkpoints import remembered
from vicinal.inputs.copies import distinct_points
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.columns import LEAST_SHARE, Columns
from vicinal.local_components.learning import Penalty
from vicinal.local_components.per_point import PerPointDensity, local_problem
from vicinal.local_components.shapes import KernelShape
from vicinal.local_components.trials import Fold, Trials, row_folds
from vicinal.neighborhood import Engine
from vicinal.neighborhood.arrays import on_host

__all__ = ["MOST_POINTS", "PenaltyChoice", "choose_penalty", "choose_smoothing", "smoothing_scores"]

# Candidates for ν, as shares of the variance of a column, from wide kernels to narrow ones. The
# last of them are not tried where the likelihood of any rows of these columns may rise for ever.
_SHARES = (1.0, 1e-1, 1e-2, 1e-3, LEAST_SHARE, 1e-6, 1e-8, 1e-10)

# What is tried around the best of them in the end, and around the best of these.
_FINER = (10.0**0.5, 10.0**0.25)

# Candidates in a row that may bring nothing; points that choices are made on.
_PATIENCE, MOST_POINTS = 2, 5000

_Candidate = TypeVar("_Candidate", int, float)

# Sizes of neighborhoods to try.
_NEIGHBORHOODS = (10, 20, 40, 80, 160, 320)


@dataclass(frozen=True)
class PenaltyChoice:
    """What was chosen, and how it scored.

    Attributes
    ----------
    penalty : Penalty
    score : float
        Mean log-likelihood of the points held back.
    tried : dict of float to float
        Score of every ν_L that was tried, in the order of trials.
    """

    penalty: Penalty
    score: float
    tried: dict[float, float]


def choose_penalty(columns: Columns, trials: Trials) -> PenaltyChoice:
    """The share ν of the variance of every column under which points held back are likeliest.

    As in the paper, ν_G is what is best for a Gaussian alone; ν_L is then the best beside it.
    Kernels of these variances alone, as of a `KernelDensity` of scaled columns, are tried as well.
    Where there are too few points to hold any back, kernels are as wide as the data.
    """
    if min(len(learning) for learning, _ in trials.folds) < 2:
        return PenaltyChoice(columns.penalty(1.0), np.nan, {})
    shares = [s for s in _SHARES if s >= LEAST_SHARE or not columns.are_degenerate]
    nu_global = None
    if trials.form.gaussian:
        nu_global = _best(_scores(lambda s: trials.gaussian_score(columns.penalty(s)), shares))
    learned = _Path(lambda s: columns.penalty(s, nu_global), trials, shares)
    if trials.form.gaussian:
        return learned.choice
    fixed = _Path(lambda s: columns.penalty(s, is_all=True), trials, shares)
    return max(learned.choice, fixed.choice, key=lambda choice: choice.score)


class _Path:
    """The best of the penalties that a share of the variances may make."""

    def __init__(
        self, penalty: Callable[[float], Penalty], trials: Trials, shares: Sequence[float]
    ) -> None:
        tried = _scores(lambda share: trials.score(penalty(share)), shares)
        best = _best(tried)
        self.choice = PenaltyChoice(penalty(best), tried[best], tried)


def choose_smoothing(
    points: WeightedPoints, mean: NDArray, shape: KernelShape, engine: Engine
) -> int:
    """The size of neighborhoods under whose covariances points held back are likeliest."""
    distinct, _ = distinct_points(points)
    if len(distinct) < 3:
        return _NEIGHBORHOODS[0]
    folds = row_folds(distinct.some(MOST_POINTS, np.random.default_rng(0)))
    return _best(smoothing_scores(folds, [(mean, shape)] * len(folds), engine))


def smoothing_scores(
    folds: Sequence[Fold], shapes: Sequence[tuple[NDArray, KernelShape]], engine: Engine
) -> dict[int, float]:
    """Mean log-likelihood of points held back for every size of neighborhoods to try."""
    n = min(len(learning) for learning, _ in folds)
    totals = [held.total for _, held in folds]

    def score(size: int) -> float:
        scores = [
            _local_score(*fold, *shape, size, engine)
            for fold, shape in zip(folds, shapes, strict=True)
        ]
        return float(np.average(scores, weights=totals))

    sizes = [k for k in _NEIGHBORHOODS if k < n] or [max(1, n - 1)]
    return {size: remembered(partial(score, size)) for size in sizes}


def _local_score(
    learning: WeightedPoints,
    held: WeightedPoints,
    mean: NDArray,
    shape: KernelShape,
    size: int,
    engine: Engine,
) -> float:
    """Mean log-likelihood of points held back under kernels like the neighborhoods of others."""
    centers = learning.at(shape.coordinates(learning.X - mean))
    problem = local_problem(centers, size, shape.log_volume, engine, copies_count=False)
    density = PerPointDensity(learning, mean, shape, on_host(problem.prior))
    return float(np.average(density.log_density(held.X, engine), weights=held.weights))


def _scores(score: Callable[[float], float], shares: Sequence[float]) -> dict[float, float]:
    """Scores of shares from the largest down until none is better, and around the best of them."""
    tried: dict[float, float] = {}
    for position, share in enumerate(shares):
        tried[share] = score(share)
        if position - shares.index(_best(tried)) == _PATIENCE:
            break
    for factor in _FINER:
        best = _best(tried)
        for share in (best * factor, best / factor):
            tried[share] = score(share)
    return tried


def _best(tried: dict[_Candidate, float]) -> _Candidate:
    """The candidate with the highest score, the first of several."""
    return max(tried, key=tried.__getitem__)
