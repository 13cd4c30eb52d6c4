"""From the kernels of a sample of many rows to those of all of them."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting import EM, Draws, run
from vicinal.inputs.copies import distinct_points
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.equations import leave_one_out
from vicinal.local_components.learning import Batching, LocalProblem
from vicinal.neighborhood.arrays import placed_like

__all__ = ["MOST_KEYS", "refined"]

# Rows that kernels are refined among, rows whose neighborhoods an update looks at, updates, and
# what each of them leaves of the scatter before it.
MOST_KEYS, _BATCH, _N_UPDATES, _KEPT = 100_000, 500, 30, 0.7

# Rows that tell whether that was a gain.
_MOST_JUDGES = 1000


def refined(
    problem: LocalProblem,
    scatter: NDArray,
    points: WeightedPoints,
    rng: np.random.Generator,
    verbose: int,
) -> NDArray:
    """The scatter after some updates of stochastic EM among more rows, if these gain by it.

    More rows have narrower kernels: by exact EM on a sample they are a little too wide. Who
    interrupts keeps those.

    Parameters
    ----------
    problem : LocalProblem
        Of the sample.
    scatter : ndarray of shape (d, d)
        Where exact EM ended, in white coordinates.
    points : WeightedPoints
        All rows.
    rng : numpy.random.Generator
    verbose : int
    """
    more = points.some(MOST_KEYS, rng)
    if not problem.copies_count:
        more, _ = distinct_points(more)
    if len(more) <= len(problem.points):
        return scatter  # the sample had all rows that differ
    wider = replace(problem, points=more)
    draws = Draws(rng)
    step = wider.batched(Batching(_BATCH, len(more), 0.0), draws)
    outcome = run(
        EM(step, _KEPT, draws),
        scatter,
        max_iter=_N_UPDATES,
        tol=None,
        scheduled=True,
        name="LocalComponents, refining",
        verbose=verbose,
    )
    if outcome.ending.reason.is_cut_short:
        return scatter
    judges = np.sort(rng.choice(len(more), min(_MOST_JUDGES, len(more)), replace=False))
    return max(scatter, outcome.parameters, key=lambda found: _gain(wider, found, judges))


def _gain(problem: LocalProblem, scatter: NDArray, judges: NDArray) -> float:
    """Mean leave-one-out log-likelihood of some points."""
    keys, shape = problem.white, problem.form.shape(scatter)
    own = placed_like(judges, keys.X)
    return leave_one_out(shape, problem.engine, keys[own], keys, own, problem.copies_count)
