"""ν by the likelihood of points held back (`regularization="auto"`)."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting import CollapseError, few_updates
from vicinal.inputs.points import WeightedPoints
from vicinal.inputs.splits import hold_back_any
from vicinal.local_components.bounds import why_unbounded
from vicinal.local_components.equations import Form, Shape
from vicinal.local_components.frame import GlobalFrame, global_moments
from vicinal.local_components.learning import LocalProblem, Penalty
from vicinal.local_components.per_point import (
    PerPointDensity,
    PerPointProblem,
    neighborhood_covariances,
)
from vicinal.neighborhood import Engine

__all__ = ["choose_penalty", "choose_smoothing"]

# Candidates, as shares of the mean variance of a feature: decades down from 1, then 0.
_SHARES = (*(10.0**-k for k in range(8)), 0.0)

# What is tried around the best of them in the end.
_FINER = 10.0**0.5

# Candidates in a row that may bring nothing; updates of EM for each, and the least one must gain
# per dimension; points to learn from.
_PATIENCE, _N_UPDATES, _LEAST_GAIN, _MOST_POINTS = 2, 30, 3e-4, 5000

# Few points held back say little: then hold others back in turn, until so many were, or five times.
_ENOUGH_HELD, _MOST_FOLDS = 400, 5

# Sizes of neighborhoods to try.
_NEIGHBORHOODS = (10, 20, 40, 80, 160, 320)

Fold = tuple[WeightedPoints, WeightedPoints]


def choose_penalty(
    points: WeightedPoints,
    form: Form,
    accelerate: bool,
    fraction: float,
    engine: Engine,
    rng: np.random.Generator,
) -> Penalty:
    """The variances ν under which points held back are likeliest.

    As in the paper, ν_G is what is best for a Gaussian alone; ν_L is then the best beside it.
    The points, if many, are a sample.
    """
    # A part of the points may have a bound where all of them have none.
    has_bound = why_unbounded(points, form, 1 if form.gaussian else points.X.shape[1]) is None
    shares = _SHARES if has_bound and np.ptp(points.X, axis=0).all() else _SHARES[:-1]
    points = points.some(_MOST_POINTS, rng)
    unit = float(np.trace(global_moments(points)[1])) / points.X.shape[1]
    if unit == 0.0:
        raise ValueError("all rows of X are the same: a density has no width anywhere.")
    folds = _folds(points, fraction, rng)
    nu_global = 0.0
    if form.gaussian:
        nu_global = unit * _best(lambda share: _gaussian_score(folds, unit * share), _SHARES)

    def score(share: float) -> float:
        nu = unit * share
        penalty = Penalty(nu_global if form.gaussian else nu, nu)
        return _score(folds, form, penalty, accelerate, engine, rng)

    nu_local = unit * _best(score, shares)
    return Penalty(nu_global if form.gaussian else nu_local, nu_local)


def choose_smoothing(
    points: WeightedPoints,
    shape: Shape,
    mean: NDArray,
    fraction: float,
    engine: Engine,
    rng: np.random.Generator,
) -> int:
    """The size of neighborhoods under whose covariances points held back are likeliest."""
    points = points.some(_MOST_POINTS, rng)
    folds = _folds(points, fraction, rng)
    n = min(len(learning) for learning, _ in folds)

    def score(n_neighbors: int) -> float:
        def of(learning: WeightedPoints, held: WeightedPoints) -> float:
            centers = learning.at(shape.coordinates(learning.X - mean))
            prior = neighborhood_covariances(centers, n_neighbors)
            problem = PerPointProblem(centers, prior, n_neighbors, shape.log_volume, engine)
            density = PerPointDensity(learning, mean, shape, problem.scaled().prior)
            log_p = density.log_density(held.X, engine)
            return float(np.average(log_p, weights=held.weights))

        return _mean(folds, of)

    sizes = [size for size in _NEIGHBORHOODS if size < n] or [max(1, n - 1)]
    return max(sizes, key=score)


def _folds(points: WeightedPoints, fraction: float, rng: np.random.Generator) -> list[Fold]:
    """Points to learn from and points held back, one or several times."""
    n_held = len(hold_back_any(len(points), fraction, rng)[1])
    n_folds = min(_MOST_FOLDS, int(np.ceil(_ENOUGH_HELD / n_held)), len(points) // n_held)
    order = rng.permutation(len(points))
    parts = [order[k * n_held : (k + 1) * n_held] for k in range(max(1, n_folds))]
    return [(points[np.setdiff1d(order, part)], points[np.sort(part)]) for part in parts]


def _best(score: Callable[[float], float], shares: Sequence[float]) -> float:
    """The share with the highest score, from the largest down until none is better."""
    best, highest, without_gain = np.nan, -np.inf, 0
    for share in shares:
        reached = score(share)
        better = reached > highest
        best, highest = (share, reached) if better else (best, highest)
        without_gain = 0 if better else without_gain + 1
        if without_gain == _PATIENCE:
            break
    finer = {share: score(share) for share in (best / _FINER, best * _FINER) if share > 0}
    finer[best] = highest
    return float(max(finer, key=lambda share: finer[share]))


def _score(
    folds: list[Fold],
    form: Form,
    penalty: Penalty,
    accelerate: bool,
    engine: Engine,
    rng: np.random.Generator,
) -> float:
    """Mean log-likelihood of the points held back after EM; -inf where it collapses."""

    def of(learning: WeightedPoints, held: WeightedPoints) -> float:
        frame = GlobalFrame.of(learning, form, penalty.global_)
        problem = LocalProblem(learning, frame, form, penalty, engine)
        solver = problem.solver(accelerate, None, rng)
        least_gain = _LEAST_GAIN * len(frame.mean)
        scatter, _ = few_updates(solver, frame.start(form), _N_UPDATES, least_gain)
        return problem.validation(held, 1, None, rng).score(scatter)

    return _mean(folds, of)


def _gaussian_score(folds: list[Fold], nu: float) -> float:
    """Mean log-likelihood of the points held back under a Gaussian, but for a constant."""

    def of(learning: WeightedPoints, held: WeightedPoints) -> float:
        frame = GlobalFrame.of(learning, Form(), nu)
        log_p: NDArray = -0.5 * np.square(frame.inward(held).X).sum(axis=1)
        return float(np.average(log_p, weights=held.weights)) - frame.log_volume

    return _mean(folds, of)


def _mean(folds: list[Fold], score: Callable[[WeightedPoints, WeightedPoints], float]) -> float:
    try:
        return float(np.mean([score(learning, held) for learning, held in folds]))
    except CollapseError:
        return -np.inf
