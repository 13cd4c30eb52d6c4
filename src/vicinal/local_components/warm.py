"""Where a warm start goes on from: the covariance of the fit before, and what that had chosen."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vicinal.local_components.columns import LEAST_SHARE, Columns
from vicinal.local_components.decision import Decision, Material
from vicinal.local_components.learning import LocalProblem
from vicinal.local_components.plan import Plan

if TYPE_CHECKING:
    from vicinal.local_components.estimator import LocalComponents

__all__ = ["check_features", "last_decision", "last_scatter"]

# Variances, in units of those of the data, within which an old covariance tells anything.
_NEAR = (1e-9, 1e9)


def check_features(model: "LocalComponents", n_features: int) -> None:
    """Refuse to go on from a covariance of other features."""
    if not _is_warm(model):
        return
    before = model._density.shape.n_features
    if before != n_features:
        raise ValueError(
            f"warm_start=True goes on from a covariance of {before} features, but X has "
            f"{n_features}: set warm_start=False, or keep the features."
        )


def last_decision(model: "LocalComponents", material: Material) -> Decision | None:
    """What the fit before had chosen by folds, if this one would ask the same."""
    if not (_is_warm(model) and isinstance(model.regularization, str)):
        return None
    recipe, penalty = getattr(model, "recipe_", {}), model._penalty
    same_shape = recipe.get("covariance") == model.covariance and (
        model.gaussian in ("auto", recipe["gaussian"])
    )
    if not same_shape or penalty.units is None:
        return None
    plan = Plan.of(model, material.points, model.covariance, recipe["gaussian"])
    columns = Columns.of(material.points, plan.form)
    if columns.are_degenerate and penalty.local < LEAST_SHARE:
        return None  # what was enough for other rows has no bound for these
    return Decision(model.covariance, recipe["gaussian"], plan, penalty)


def last_scatter(model: "LocalComponents", problem: LocalProblem) -> NDArray | None:
    """Where EM ended in the fit before, in white coordinates, or None to begin anew."""
    if not _is_warm(model) or problem.penalty.is_all:
        return None
    start = problem.frame.adopted(problem.form, model._scatter)
    variances = start if start.ndim == 1 else np.linalg.eigvalsh(start)
    is_near = _NEAR[0] < variances.min() and variances.max() < _NEAR[1]
    return problem.form.restrict(start) if is_near else None


def _is_warm(model: "LocalComponents") -> bool:
    return model.warm_start and hasattr(model, "_scatter")
