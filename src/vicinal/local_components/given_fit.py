"""A fit in which nothing is learned: kernels of a covariance that is given, or made by a rule."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting.callbacks import ScikitLearnCallbacks
from vicinal.fitting.loop import warn_user
from vicinal.inputs.points import WeightedPoints
from vicinal.inputs.splits import MOST_VALIDATION_KEYS
from vicinal.inputs.units import check_projection
from vicinal.local_components.bandwidth import (
    FACTORS,
    effective_number,
    fixed_point_width,
    unbiased_covariance,
)
from vicinal.local_components.columns import (
    LEAST_SHARE,
    OF_CONSTANT,
    are_dependent,
    rounding_variance,
    without_width,
)
from vicinal.local_components.density import ParzenDensity
from vicinal.local_components.frame import column_moments
from vicinal.local_components.given import given_shape
from vicinal.local_components.learning import Penalty
from vicinal.local_components.oddities import NO_NARROWER, constant_columns
from vicinal.local_components.plan import MOST_LEFT_OUT, mean_leave_one_out
from vicinal.neighborhood import Engine, Workload, law_named

if TYPE_CHECKING:
    from vicinal.local_components.estimator import LocalComponents

__all__ = ["fit_given", "rule_covariance"]


def fit_given(
    model: "LocalComponents", points: WeightedPoints, rng: np.random.Generator
) -> "LocalComponents":
    """Put kernels of a covariance that is given, or that a rule makes of the rows, at all rows."""
    law = law_named(model.kernel, degrees_of_freedom=model.degrees_of_freedom)
    (n, d), covariance, kind = points.X.shape, model.covariance, "given"
    if isinstance(covariance, str):
        kind, covariance = covariance, rule_covariance(model, covariance, points)
    density = ParzenDensity(points, column_moments(points)[0], given_shape(covariance, d, law))
    check_projection(points.X, density.shape.stretches, squares=True)
    engine = model._choose_engine(Workload(n, n, d, law=law))
    listeners = ScikitLearnCallbacks(model, 1, points.X, None, lambda _: attributes)
    attributes = model._with_offset(density, rng)
    log_likelihood = _left_out(density, engine, rng)
    model._forget("_stream", "local_covariances_", "smoothing_", "path_", "validation_score_")
    model._adopt(attributes)
    model.n_iter_, model.converged_ = 1, True
    model.regularization_, model._penalty = (0.0, 0.0), Penalty()
    model.recipe_ = {"covariance": kind, "gaussian": None, "regularization": 0.0}
    model._scatter = density.shape.compact
    model.loo_log_likelihood_, objective = log_likelihood, np.array([log_likelihood])
    model.history_ = {"objective": objective, "step": np.zeros(1), "time": np.zeros(1)}
    listeners.close(model._scatter)
    return model


def rule_covariance(settings: object, rule: str, points: WeightedPoints) -> NDArray:
    """The covariance that a rule makes of the rows, wide enough in every direction.

    Parameters
    ----------
    settings : object
        The estimator, which knows the names of columns.
    rule : {"scott", "silverman", "isj"}
    points : WeightedPoints

    Returns
    -------
    ndarray of shape (d, d)
    """
    data, remarks = unbiased_covariance(points), list[str]()
    variances = np.diag(data).copy()
    is_constant = without_width(variances, points.X.dtype)
    covariance = _scaled(rule, points, data, is_constant, remarks)
    varying = np.flatnonzero(~is_constant)
    if are_dependent(covariance[np.ix_(varying, varying)]):
        remarks.append(f"columns of X are linearly dependent: {NO_NARROWER}")
        covariance[varying, varying] += LEAST_SHARE * variances[varying]
    if is_constant.any():
        remarks.append(constant_columns(settings, is_constant))
        covariance[is_constant], covariance[:, is_constant] = 0.0, 0.0
        covariance[is_constant, is_constant] = OF_CONSTANT
    if remarks:
        warn_user(f"LocalComponents with covariance={rule!r}: {'; '.join(remarks)}.", UserWarning)
    return covariance


def _scaled(
    rule: str, points: WeightedPoints, data: NDArray, is_constant: NDArray, remarks: list[str]
) -> NDArray:
    """The covariance of the data by the factor of a rule, or that of the fixed point."""
    n, d = effective_number(points), len(data)
    if rule in FACTORS:
        return data * FACTORS[rule](n, d) ** 2
    if is_constant[0]:
        return data
    width = fixed_point_width(points)
    if width is None:
        remarks.append("so few rows, or values, have no such width, and get that of 'silverman'")
        return data * FACTORS["silverman"](n, d) ** 2
    return np.full((1, 1), max(width**2, rounding_variance(points.X[:, 0])))


def _left_out(density: ParzenDensity, engine: Engine, rng: np.random.Generator) -> float:
    """Mean log-likelihood of the rows, each left out with all of its copies."""
    merged, most = density.merged(MOST_VALIDATION_KEYS, rng), None
    if len(merged.points) == 1:
        return float(merged.left_out(engine)[0])
    if len(density.points) > MOST_VALIDATION_KEYS:
        most = MOST_LEFT_OUT
    return mean_leave_one_out(merged, engine, rng, most, copies_count=False)
