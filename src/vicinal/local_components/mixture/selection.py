"""Number of parts, prior and Gaussian directions by the likelihood of rows held back."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.mixture.density import LEAST_FLOOR
from vicinal.local_components.mixture.trials import Recipe, Trials
from vicinal.neighborhood import Engine

__all__ = ["choose_recipe", "numbers_of_parts", "one_gaussian"]

# What is tried.
_NUMBERS = (1, 2, 3, 4, 6, 9, 13, 18, 25)
_STRENGTHS = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
_WIDE = (LEAST_FLOOR, 1e-4, 1e-3, 1e-2, 1e-1)
_NEAR = (LEAST_FLOOR, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)

# Of n ≤ 2 d rows in d dimensions a covariance knows too little, and steps from a small variance to
# the next find no gain: all of these are tried first.
_WIDE_OF_FEW = (*_WIDE, 0.3, 1.0)

_UPDATES = (5, 10, 20, 40)

# Rows to choose with; rows for every part; numbers of parts in a row that may bring nothing.
_MOST_ROWS, _ROWS_PER_PART, _PATIENCE = 3000, 8, 2

# Up to so many parts several variances are tried for kernels; then the best of them goes on. Where
# local directions lose at two numbers of parts in a row, they do so at larger ones.
_SETTLED, _LOSSES = 3, 2

# What a step of the search must gain, in nats per row: less is chance.
_LEAST_GAIN = 3e-3

# Where the search for a prior begins.
_FIRST = Recipe(1, 0.3, 1e-4, 1e-2)

Score = Callable[[Recipe], float]
Axes = dict[str, tuple[float, ...]]


def numbers_of_parts(n: int) -> tuple[int, ...]:
    """Of which the best for n points is chosen."""
    return tuple(K for K in _NUMBERS if K == 1 or n >= K * _ROWS_PER_PART)


def one_gaussian(points: WeightedPoints, engine: Engine, seed: int) -> float:
    """How likely rows held back are under one Gaussian, the variance that is added to it chosen."""
    rng = np.random.default_rng(seed)
    score = _remembered(Trials(points.some(_MOST_ROWS, rng), engine, rng).score)
    wide = _variances(points)
    return score(_climbed(_first_of(wide, score), {"wide": wide}, score))


def _variances(points: WeightedPoints) -> tuple[float, ...]:
    """What may be added to those of parts."""
    n, d = points.X.shape
    return _WIDE_OF_FEW if n <= 2 * d else _WIDE


def _first_of(wide: tuple[float, ...], score: Score) -> Recipe:
    """Where the search for a prior begins: of few rows, at the best variance of one Gaussian."""
    first = replace(_FIRST, is_local=False)
    if wide is _WIDE:
        return first
    return max((replace(first, wide=one) for one in wide), key=score)


def choose_recipe(
    points: WeightedPoints,
    numbers: Sequence[int],
    floors: tuple[np.ndarray, np.ndarray] | None,
    engine: Engine,
    rng: np.random.Generator,
    tell: Callable[[float], None],
) -> Recipe:
    """The recipe under which rows held back are likeliest.

    For every number of parts the prior of a Gaussian mixture first, for it is quick; then local
    directions beside it. Around the best of all more is tried.

    Parameters
    ----------
    points : WeightedPoints
        In units of the columns.
    numbers : sequence of int
        Of parts.
    floors : tuple of ndarray, optional
        Variances that are added to parts and kernels. None: they are chosen.
    engine : Engine
    rng : Generator
    tell : callable
        Told of every number of parts that was tried, and of the end.
    """
    trials = Trials(points.some(_MOST_ROWS, rng), engine, rng)
    score = _remembered(trials.score)
    axes: Axes = {"strength": _STRENGTHS}
    if floors is None:
        axes["wide"] = _variances(points)
        first = _first_of(axes["wide"], score)
    else:
        first = replace(_FIRST, wide=floors[0], near=floors[1])
    best, highest, without_gain, losses = first, -np.inf, 0, 0
    for number in numbers:
        first = _climbed(replace(first, n_parts=number, is_local=False), axes, score)
        if number <= _SETTLED or losses < _LOSSES:
            first = max([first, *_beside(first, floors is None)], key=score)
            losses = 0 if first.is_local else losses + 1
        reached = score(first)
        better = reached > highest + _LEAST_GAIN
        best, highest = (first, reached) if better else (best, highest)
        without_gain = 0 if better else without_gain + 1
        tell(1)
        if without_gain == _PATIENCE:
            break
    if floors is None:
        axes["near"] = _NEAR
    if best.is_local:
        best = _climbed(best, axes, score)
    found = trials.updated(best, _UPDATES)
    tell(len(numbers))
    return found


def _beside(gaussian: Recipe, free: bool) -> list[Recipe]:
    """A Gaussian mixture with local directions."""
    near = [gaussian.near]
    if free and gaussian.n_parts <= _SETTLED:
        near += [_FIRST.near, LEAST_FLOOR]
    return [replace(gaussian, is_local=True, near=one) for one in near]


def _climbed(start: Recipe, axes: Axes, score: Score) -> Recipe:
    """The best recipe that is reached by steps along one axis at a time."""
    best = start
    while True:
        found = best
        for name, values in axes.items():
            for neighbor in _neighbors(getattr(best, name), values):
                trial = replace(best, **{name: neighbor})  # type: ignore[arg-type]
                best = trial if score(trial) > score(best) + _LEAST_GAIN else best
        if found is best:
            return best


def _neighbors(value: float, values: tuple[float, ...]) -> list[float]:
    position = values.index(value)
    return [values[k] for k in (position - 1, position + 1) if 0 <= k < len(values)]


def _remembered(score: Score) -> Score:
    """A score that is computed once for every recipe, and minus infinity where it is no number."""
    known: dict[str, float] = {}

    def remembering(recipe: Recipe) -> float:
        if repr(recipe) not in known:
            reached = score(recipe)
            known[repr(recipe)] = reached if np.isfinite(reached) else -np.inf
        return known[repr(recipe)]

    return remembering
