"""What displays read from fitted models, alone or at the end of a pipeline."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from vicinal.report.names import plain_text

__all__ = [
    "check_names",
    "entering",
    "feature_names_of",
    "feature_positions",
    "importances_of",
    "last_step",
    "map_of",
    "metric_of",
    "model_name",
    "projected",
    "spreads",
    "titled",
    "without_names",
]

_MOST_MAGNITUDE = 100  # power of ten of entries whose squares, and sums of these, are floats


def _end_of(estimator: Any) -> Any:
    steps = getattr(estimator, "steps", None)
    return steps[-1][1] if steps else estimator


def last_step(estimator: Any) -> Any:
    """The fitted model itself, or the last step of a pipeline."""
    model = _end_of(estimator)
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise TypeError(f"estimator={model!r} is not a fitted model.")
    check_is_fitted(model, msg="estimator is a %(name)s that is not fitted: call fit first.")
    return model


def model_name(estimator: Any) -> str:
    """Class of the model, of the last step for a pipeline."""
    return type(_end_of(estimator)).__name__


def titled(title: str | None, estimator: Any) -> str:
    """The title given, or the name of the model."""
    return model_name(estimator) if title is None else title


def entering(estimator: Any, X: ArrayLike) -> NDArray:
    """Rows as they reach the model: through the steps before it, in a pipeline."""
    steps = getattr(estimator, "steps", None)
    rows = estimator[:-1].transform(X) if steps and len(steps) > 1 else X
    points = check_array(rows, dtype=np.float64, input_name="X")
    wanted = getattr(last_step(estimator), "n_features_in_", points.shape[1])
    if points.shape[1] != wanted:
        raise ValueError(f"X has {points.shape[1]} features, but the model was fitted to {wanted}.")
    return points


def projected(estimator: Any, X: ArrayLike) -> NDArray:
    """What a transformer makes of rows, as an array."""
    if not hasattr(estimator, "transform"):
        advice = "; give its embedding_" if hasattr(estimator, "embedding_") else ""
        raise TypeError(
            f"estimator={estimator!r} has no transform: nothing to project with{advice}."
        )
    if hasattr(_end_of(estimator), "gaussians_"):
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


def map_of(estimator: Any) -> NDArray:
    """The linear map of a model, shape (n_components, n_features)."""
    model = last_step(estimator)
    components = getattr(model, "components_", None)
    if components is None or np.ndim(components) != 2:
        raise TypeError(
            f"estimator is a {type(model).__name__}, which has no linear map: a model with "
            "components_ of shape (n_components, n_features) is needed."
        )
    return np.asarray(components, dtype=np.float64)


def spreads(X: NDArray) -> NDArray:
    """Standard deviations of columns, however large or small their numbers are.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.models import spreads
    >>> spreads(np.array([[-1.0, 1e300, 0.1], [1.0, 3e300, 0.1]]))
    array([1.e+000, 1.e+300, 0.e+000])
    """
    sizes = np.abs(X).max(axis=0)
    sizes = np.where(sizes > 0, sizes, 1.0)
    return np.std(X / sizes, axis=0) * sizes


def importances_of(A: NDArray, scales: NDArray | float = 1.0) -> NDArray:
    """Shares of features in the squared lengths of a map, for differences of the given sizes."""
    squares = np.square(_of_size_one(A, scales)[0]).sum(axis=0)
    return squares / (squares.sum() or 1.0)


def metric_of(estimator: Any, scales: NDArray | float = 1.0) -> tuple[NDArray, int]:
    """Its Mahalanobis matrix M = AᵀA for features in units of `scales`, shape (d, d).

    And the power of ten to multiply it with: not 0 where no float could hold its entries.
    """
    A, half = map_of(estimator), 0
    leveled, magnitude = _of_size_one(A, scales)
    if abs(magnitude) < _MOST_MAGNITUDE:
        A = A * scales
    else:
        half = int(np.floor(magnitude))
        A = leveled * 10.0 ** (magnitude - half)
    return A.T @ A, 2 * half


def _of_size_one(A: NDArray, scales: NDArray | float) -> tuple[NDArray, float]:
    """The map for features in other units, with 1 as its largest entry; and log10 of that before.

    By steps, since the product itself may be too large for a float, or too small.
    """
    magnitude = 0.0
    for factor in (np.max(scales), np.abs(A).max()):
        magnitude += float(np.log10(factor)) if factor > 0 else 0.0
    B = (A / (np.abs(A).max() or 1.0)) * (scales / (np.max(scales) or 1.0))
    size = float(np.abs(B).max()) or 1.0
    return B / size, magnitude + float(np.log10(size))


def feature_names_of(
    estimator: Any, feature_names: Sequence[str] | None, n_features: int
) -> list[str]:
    """Names of the features that reach a model: those given, those it has seen, or x0, x1, ..."""
    names: Any = feature_names
    if names is None:
        names = getattr(last_step(estimator), "feature_names_in_", None)
    if names is None and len(getattr(estimator, "steps", ())) > 1:
        try:
            names = estimator[:-1].get_feature_names_out()
        except (AttributeError, ValueError):  # a step that cannot tell
            names = None
    return check_names(names, n_features)


def check_names(names: Sequence[str] | None, n_features: int) -> list[str]:
    """One name per feature."""
    if names is None:
        return [f"x{j}" for j in range(n_features)]
    if isinstance(names, str) or len(names) != n_features:
        count = "one string" if isinstance(names, str) else f"{len(names)} names"
        raise ValueError(
            f"feature_names is {count}, but there are {n_features} features: give a name for each."
        )
    return [plain_text(name) for name in names]


def feature_positions(features: Any, names: Sequence[str]) -> list[int]:
    """Positions of two features, given by position or by name."""
    if isinstance(features, str) or np.ndim(features) != 1 or len(features) != 2:
        raise ValueError(f"features={features!r} must be two names or two positions of features.")
    found = [_position(feature, list(names)) for feature in features]
    if found[0] == found[1]:
        raise ValueError(f"features={features!r} names the same feature twice: give two.")
    return found


def _position(feature: Any, names: list[str]) -> int:
    if isinstance(feature, str):
        if names.count(feature) != 1:
            raise ValueError(
                f"features: {feature!r} is the name of {names.count(feature)} features, not one; "
                f"there are {', '.join(names[:10])}{', …' * (len(names) > 10)}."
            )
        return names.index(feature)
    if not isinstance(feature, int | np.integer) or not 0 <= feature < len(names):
        raise ValueError(f"features: {feature!r} is no position from 0 to {len(names) - 1}.")
    return int(feature)
