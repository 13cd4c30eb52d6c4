"""Table 2: k-means in embeddings by Euclid's distance, and by divergences."""

from collections.abc import Iterator, Sequence

import numpy as np

from reproduce.divergence_spaces import data
from reproduce.divergence_spaces.clusters import MEASURES, Found, held_out, tally
from reproduce.divergence_spaces.embeddings import EMBEDDERS, Tried
from reproduce.divergence_spaces.spaces import space
from reproduce.experiment import Measured, Unit

# Euclid has no neighborhoods: this says nothing.
ANY_SIZE = 3


def measure_euclid(unit: Unit) -> Found:
    """All settings of one learner, or one of the two baselines."""
    return _measure(unit, "euclidean", ANY_SIZE)


def measure_divergence(unit: Unit) -> Found:
    """The same settings, by one divergence of neighborhoods of one size."""
    return _measure(unit, unit["divergence"], unit["m"])


def _measure(unit: Unit, metric: str, m: int) -> Found:
    rows = data.load(unit["set"])
    placed = EMBEDDERS[unit["learner"]](
        space(unit["set"], metric, m), rows, Tried.of(unit), unit["seed"]
    )
    return tally(placed, rows, unit["seed"])


def gather_euclid(units: Sequence[Measured]) -> Iterator[Found]:
    """The best, the mean and what is held out, of one unit."""
    (_, found) = units[0]
    yield {name: value for name, value in found.items() if name != "halves"}
    yield from held_out([found])


def gather_divergences(units: Sequence[Measured]) -> Iterator[Found]:
    """The same over all divergences and sizes of neighborhoods.

    "ari-equal" is the mean of what is best by one divergence and size: the best of as many settings
    as Euclid's distance has, which has the same grid for all else.
    """
    every = [found for _, found in units]
    best = {name: max(found[name] for found in every) for name in MEASURES}
    equal = {f"{name}-equal": _mean(every, name) for name in MEASURES}
    mean = {f"{name}-mean": _mean(every, f"{name}-mean") for name in MEASURES}
    yield {**best, **equal, **mean, "n_settings": sum(found["n_settings"] for found in every)}
    yield from held_out(every)


def _mean(every: Sequence[Found], name: str) -> float:
    return float(np.mean([found[name] for found in every]))
