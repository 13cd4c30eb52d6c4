"""A covariance for every point, from the one they share: the second run of a fit."""

from collections.abc import Callable
from typing import Any, NamedTuple

from numpy.typing import NDArray

from vicinal.fitting import EM, Outcome, run
from vicinal.fitting.callbacks import ScikitLearnCallbacks
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.decision import Material
from vicinal.local_components.density import ParzenDensity
from vicinal.local_components.per_point import (
    PerPointDensity,
    local_problem,
    per_point_validation,
)
from vicinal.local_components.plan import MAX_ITER
from vicinal.local_components.selection import choose_smoothing
from vicinal.local_components.settings import LocalSettings
from vicinal.neighborhood import Engine, Workload
from vicinal.neighborhood.arrays import Array, on_host

__all__ = ["PerPointFit", "fit_per_point", "per_point_updates"]


class PerPointFit(NamedTuple):
    """What a run found.

    Attributes
    ----------
    outcome : Outcome
        Of the run for the shared covariance, where that was ended from outside.
    density : PerPointDensity
    smoothing : int
        Neighbors that covariances are held to.
    log_likelihood : float
        Mean of the points, each left out.
    covariances : array of shape (n, d, d)
        Of the points that were learned from.
    """

    outcome: Outcome
    density: PerPointDensity
    smoothing: int
    log_likelihood: float
    covariances: Array


def per_point_updates(settings: LocalSettings) -> int:
    """How many updates of the second run there are at most."""
    return settings.max_iter or MAX_ITER


def fit_per_point(
    settings: LocalSettings,
    material: Material,
    held: WeightedPoints | None,
    shared: ParzenDensity,
    smoothing: int | None,
    engine_for: Callable[[Workload], Engine],
    before: Outcome,
    listeners: ScikitLearnCallbacks,
    attributes_of: Callable[[PerPointDensity], dict[str, Any]],
) -> PerPointFit:
    """EM for the covariances of kernels, one for each point to learn from.

    Who has ended the run before wants no other: covariances are then those it would begin with.

    Parameters
    ----------
    settings : LocalSettings
    material : Material
    held : WeightedPoints, optional
        Points held back, which tell when to stop.
    shared : ParzenDensity
        At all rows of the user.
    smoothing : int, optional
        Neighbors that covariances are held to. None: as the settings say.
    engine_for : callable
        From a workload to the engine that will do it.
    before : Outcome
        Of the run for the covariance that kernels share.
    listeners : ScikitLearnCallbacks
    attributes_of : callable
        From a density to what callbacks are shown of it.
    """
    points = material.points
    (n, d), mean, shape = points.X.shape, shared.mean, shared.shape
    max_iter = per_point_updates(settings)
    engine = engine_for(Workload(n, n, d * (d + 3) // 2, max_iter))
    size = smoothing or settings.smoothing
    if isinstance(size, str):
        size = choose_smoothing(points, mean, shape, engine)
    centers = points.at(shape.coordinates(points.X - mean))
    problem = local_problem(centers, size, shape.log_volume, engine, material.copies_count)

    def density(covariances: NDArray) -> PerPointDensity:
        return PerPointDensity(points, mean, shape, covariances)

    listeners.fitted_attributes = lambda found: attributes_of(density(on_host(found)))
    outcome, learned = before, problem.prior
    if not before.ending.reason.is_from_outside:
        outcome = run(
            EM(problem.step),
            problem.prior,
            max_iter=max_iter,
            tol=settings.tol,
            origin=-shape.log_volume,
            validation=None if held is None else per_point_validation(density, held, engine),
            callbacks=[listeners],
            name="LocalComponents",
            verbose=settings.verbose,
        )
        learned = outcome.parameters
    found = on_host(learned)
    final = density(found)
    which = material.which if held is None else None
    if which is not None and len(which) == len(shared.points):
        final = PerPointDensity(shared.points, mean, shape, found[which])
    return PerPointFit(outcome, final, size, problem.log_likelihood(learned), learned)
