"""A fit of the covariance that all kernels share, from rows to a density."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting import Outcome, run
from vicinal.fitting.callbacks import ScikitLearnCallbacks
from vicinal.inputs.points import WeightedPoints
from vicinal.inputs.splits import MOST_VALIDATION_KEYS
from vicinal.local_components.checks import check_bound, check_columns, check_penalty
from vicinal.local_components.decision import Material, decide, divided
from vicinal.local_components.density import ParzenDensity
from vicinal.local_components.frame import GlobalFrame
from vicinal.local_components.learning import LocalProblem
from vicinal.local_components.per_point_fit import PerPointFit, fit_per_point, per_point_updates
from vicinal.local_components.plan import MOST_LEFT_OUT, Plan, mean_leave_one_out
from vicinal.local_components.refining import refined
from vicinal.local_components.warm import check_features, last_decision, last_scatter
from vicinal.neighborhood import Engine

if TYPE_CHECKING:
    from vicinal.local_components.estimator import LocalComponents

__all__ = ["fit_shared"]


def fit_shared(
    model: "LocalComponents", points: WeightedPoints, rng: np.random.Generator
) -> "LocalComponents":
    """Fit one covariance for all kernels, and from there, where asked for, one for each."""
    check_features(model, points.X.shape[1])
    material = Material.of(model, points, rng)
    decision = last_decision(model, material)
    if decision is None:
        decision = decide(model, material, model._choose_engine, rng)
    plan, penalty = decision.plan, decision.penalty
    engine = model._choose_engine(plan.work)
    check_penalty(model, penalty, points)
    check_bound(model, points, plan.form, penalty)
    learning, held = divided(model, material.points, rng)
    check_columns(model, learning, penalty)
    frame = GlobalFrame.of(learning, plan.form, penalty.global_variances)
    problem = LocalProblem(learning, frame, plan.form, penalty, engine, material.copies_count)

    def density(scatter: NDArray) -> ParzenDensity:
        return ParzenDensity(points, frame.mean, problem.shape(scatter))

    def fitted(scatter: NDArray) -> dict[str, Any]:
        return model._fitted_attributes(density(scatter))

    is_local = decision.covariance == "local"
    most = plan.max_iter + (per_point_updates(model) if is_local else 0)
    listeners = ScikitLearnCallbacks(model, most, points.X, None, fitted)
    outcome = _run(model, problem, plan, held, listeners, rng)
    reached = outcome.parameters
    if material.is_sample and not outcome.ending.reason.is_from_outside:
        reached = refined(problem, reached, points, rng, model.verbose)
    shared = density(reached)
    check_bound(model, points, plan.form, penalty, shared.shape.n_local)
    log_likelihood, found = _left_out(shared, material, plan, engine, rng), None
    if is_local:
        learned = replace(material, points=learning)
        found = fit_per_point(
            model,
            learned,
            held,
            shared,
            decision.smoothing,
            model._choose_engine,
            outcome,
            listeners,
            model._fitted_attributes,
        )
    attributes = model._with_offset(found.density if found else shared, rng)
    # Whoever interrupts has the model as it was before, and from here on the new one.
    model._forget("_stream", "local_covariances_", "smoothing_", "path_")
    model._take(found.outcome if found else outcome, attributes)
    model._take_decision(decision)
    model._scatter = frame.covariance_outward(reached)
    if shared.shape.is_compact:
        model._scatter = shared.shape.compact
    model.loo_log_likelihood_ = log_likelihood
    if found:
        _take_local(model, found)
    listeners.close(found.covariances if found else reached)
    return model


def _run(
    model: "LocalComponents",
    problem: LocalProblem,
    plan: Plan,
    held: WeightedPoints | None,
    listeners: ScikitLearnCallbacks,
    rng: np.random.Generator,
) -> Outcome:
    """EM for the covariance that all kernels share."""
    start = last_scatter(model, problem)
    return run(
        problem.solver(plan.accelerate, plan.batching, rng),
        plan.start(problem) if start is None else start,
        max_iter=plan.max_iter,
        tol=None if plan.is_scheduled else model.tol,
        origin=-problem.frame.log_volume,
        validation=None if held is None else plan.validation(problem, held, rng),
        scheduled=plan.is_scheduled,
        callbacks=[listeners],
        name="LocalComponents",
        verbose=model.verbose,
    )


def _left_out(
    shared: ParzenDensity,
    material: Material,
    plan: Plan,
    engine: Engine,
    rng: np.random.Generator,
) -> float:
    """Mean log-likelihood of rows, each left out; of some among some where there are many."""
    explained = replace(shared, points=shared.points.some(MOST_VALIDATION_KEYS, rng))
    if not material.is_sample:
        explained = replace(shared, points=material.points)
    most = MOST_LEFT_OUT if plan.batching or material.is_sample else None
    return mean_leave_one_out(explained, engine, rng, most, material.copies_count)


def _take_local(model: "LocalComponents", found: PerPointFit) -> None:
    """Keep what is known of covariances, one for every point."""
    model.local_covariances_ = found.density.local_covariances
    model.smoothing_, model.loo_log_likelihood_ = found.smoothing, found.log_likelihood
