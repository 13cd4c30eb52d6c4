"""A covariance for every point, from the one they share: the second run of a fit."""

from collections.abc import Callable
from typing import NamedTuple

from numpy.typing import NDArray

from vicinal.fitting import EM, Outcome, run
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
from vicinal.neighborhood.arrays import on_host

__all__ = ["PerPointFit", "fit_per_point"]


class PerPointFit(NamedTuple):
    """What a run found.

    Attributes
    ----------
    outcome : Outcome
    density : PerPointDensity
    smoothing : int
        Neighbors that covariances are held to.
    log_likelihood : float
        Mean of the points, each left out.
    """

    outcome: Outcome
    density: PerPointDensity
    smoothing: int
    log_likelihood: float


def fit_per_point(
    settings: LocalSettings,
    material: Material,
    held: WeightedPoints | None,
    shared: ParzenDensity,
    smoothing: int | None,
    engine_for: Callable[[Workload], Engine],
) -> PerPointFit:
    """EM for the covariances of kernels, one for each point to learn from.

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
    """
    points = material.points
    (n, d), mean, shape = points.X.shape, shared.mean, shared.shape
    max_iter = settings.max_iter or MAX_ITER
    engine = engine_for(Workload(n, n, d * (d + 3) // 2, max_iter))
    size = smoothing or settings.smoothing
    if isinstance(size, str):
        size = choose_smoothing(points, mean, shape, engine)
    centers = points.at(shape.coordinates(points.X - mean))
    problem = local_problem(centers, size, shape.log_volume, engine, material.copies_count)

    def density(covariances: NDArray) -> PerPointDensity:
        return PerPointDensity(points, mean, shape, covariances)

    outcome = run(
        EM(problem.step),
        problem.prior,
        max_iter=max_iter,
        tol=settings.tol,
        origin=-shape.log_volume,
        validation=None if held is None else per_point_validation(density, held, engine),
        name="LocalComponents",
        verbose=settings.verbose,
    )
    found = on_host(outcome.parameters)
    final = density(found)
    which = material.which if held is None else None
    if which is not None and len(which) == len(shared.points):
        final = PerPointDensity(shared.points, mean, shape, found[which])
    return PerPointFit(outcome, final, size, problem.log_likelihood(outcome.parameters))
