"""What displays read from fitted models, alone or at the end of a pipeline."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from vicinal.pipelines import last_step, steps_before

__all__ = [
    "entering",
    "fitted_model",
    "map_of",
    "model_name",
    "projected",
    "titled",
    "without_names",
]


def fitted_model(estimator: BaseEstimator) -> BaseEstimator:
    """The model itself, or the last step of a pipeline; an error where it is not fitted."""
    model = last_step(estimator)
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise TypeError(f"estimator={model!r} is not a fitted model.")
    check_is_fitted(model, msg="estimator is a %(name)s that is not fitted: call fit first.")
    return model


def model_name(estimator: BaseEstimator) -> str:
    """Class of the model, of the last step for a pipeline."""
    return type(last_step(estimator)).__name__


def titled(title: str | None, estimator: BaseEstimator) -> str:
    """The title given, or the name of the model."""
    return model_name(estimator) if title is None else title


def entering(estimator: BaseEstimator, X: ArrayLike) -> NDArray:
    """Rows as they reach the model: through the steps before it, in a pipeline."""
    before = steps_before(estimator)
    rows = X if before is None else before.transform(X)
    points = check_array(rows, dtype=np.float64, input_name="X")
    wanted = getattr(fitted_model(estimator), "n_features_in_", points.shape[1])
    if points.shape[1] != wanted:
        raise ValueError(f"X has {points.shape[1]} features, but the model was fitted to {wanted}.")
    return points


def projected(estimator: BaseEstimator, X: ArrayLike) -> NDArray:
    """What a transformer makes of rows, as an array."""
    if not hasattr(estimator, "transform"):
        advice = "; give its embedding_" if hasattr(estimator, "embedding_") else ""
        raise TypeError(
            f"estimator={estimator!r} has no transform: nothing to project with{advice}."
        )
    if hasattr(last_step(estimator), "gaussians_"):
        raise TypeError(
            "estimator is a DivergenceNeighbors, which gives distances rather than places: use a "
            "DivergenceEmbedding."
        )
    return np.asarray(estimator.transform(X))  # set_output may have made a data frame of it


@contextmanager
def without_names() -> Iterator[None]:
    """Rows reach a model without the names of their columns; it need not wonder."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        yield


def map_of(estimator: BaseEstimator) -> NDArray:
    """The linear map of a model, shape (n_components, n_features)."""
    model = fitted_model(estimator)
    components = getattr(model, "components_", None)
    if components is None or np.ndim(components) != 2:
        raise TypeError(
            f"estimator is a {type(model).__name__}, which has no linear map: a model with "
            "components_ of shape (n_components, n_features) is needed."
        )
    return np.asarray(components, dtype=np.float64)
