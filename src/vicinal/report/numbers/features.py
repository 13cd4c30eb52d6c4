"""Features that reach a model: their names, their spread, and how much a map makes of each."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from vicinal.pipelines import steps_before
from vicinal.report.names import plain_text
from vicinal.report.numbers.fitted import fitted_model, map_of

__all__ = [
    "check_names",
    "feature_names_of",
    "feature_positions",
    "importances_of",
    "metric_of",
    "spreads",
]

_MOST_MAGNITUDE = 100  # power of ten of entries whose squares, and sums of these, are floats


def spreads(X: NDArray) -> NDArray:
    """Standard deviations of columns, however large or small their numbers are.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.numbers.features import spreads
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


def metric_of(estimator: BaseEstimator, scales: NDArray | float = 1.0) -> tuple[NDArray, int]:
    """Mahalanobis matrix M = AᵀA of a model for features in units of `scales`, shape (d, d).

    Beside it, the power of ten to multiply it with: not 0 where no float could hold its entries.
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
    estimator: BaseEstimator, feature_names: Sequence[str] | None, n_features: int
) -> list[str]:
    """Names of the features that reach a model: those given, those it has seen, or x0, x1, ..."""
    names: Any = feature_names
    if names is None:
        names = getattr(fitted_model(estimator), "feature_names_in_", None)
    before = steps_before(estimator)
    if names is None and before is not None:
        try:
            names = before.get_feature_names_out()
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
