"""What fits recorded of their updates."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from vicinal.report.numbers.fitted import model_name

__all__ = [
    "abscissa",
    "check_history",
    "kept_update",
    "named_models",
    "recorded_history",
    "stride_of",
]

MAX_UPDATES = 2_000  # of more, every second, third, ... is drawn


def named_models(
    estimators: Mapping[str, BaseEstimator] | Sequence[BaseEstimator],
) -> dict[str, BaseEstimator]:
    """Models by name: as given, or by their classes."""
    if isinstance(estimators, Mapping):
        named = {str(name): estimator for name, estimator in estimators.items()}
    else:
        named = {}
        for estimator in estimators:
            name, n = model_name(estimator), 2
            while name in named:
                name, n = f"{model_name(estimator)} {n}", n + 1
            named[name] = estimator
    if not named:
        raise ValueError("estimators is empty: give at least one fitted model.")
    return named


def recorded_history(model: BaseEstimator, name: str) -> dict[str, NDArray]:
    """What a fit recorded."""
    history = getattr(model, "history_", None)
    if not isinstance(history, dict) or "objective" not in history:
        raise TypeError(
            f"estimator {name!r} is a {type(model).__name__} without history_: it does not record "
            "how its fit went."
        )
    return history


def kept_update(model: BaseEstimator, history: dict[str, NDArray]) -> int:
    """Number of the update whose parameters a model has."""
    objective, validation = history["objective"], history.get("validation")
    if validation is not None and np.isfinite(validation).any():
        return int(np.nanargmax(validation))
    reached = np.flatnonzero(objective == getattr(model, "objective_", np.nan))
    if len(reached):
        return int(reached[-1])
    # A noisy objective cannot tell which one is best: the last is kept.
    noisy = "time" not in history or getattr(model, "batch_size", None) is not None
    return len(objective) - 1 if noisy else int(np.argmax(objective))


def check_history(name: str, history: Mapping[str, ArrayLike], against: str) -> dict[str, NDArray]:
    """Columns of the same length, with all that is to be drawn."""
    arrays = {key: np.asarray(values, dtype=np.float64) for key, values in history.items()}
    if "objective" not in arrays:
        raise ValueError(f"the history of {name!r} has no 'objective'.")
    if against == "time" and "time" not in arrays:
        raise ValueError(f"the history of {name!r} has no 'time': use against='update'.")
    lengths = {len(values) for values in arrays.values()}
    if len(lengths) > 1 or lengths == {0}:
        raise ValueError(f"the history of {name!r} has columns of {sorted(lengths)} updates.")
    return arrays


def abscissa(history: dict[str, NDArray], against: str) -> NDArray:
    """Where updates stand along the horizontal axis."""
    return history["time"] if against == "time" else np.arange(len(history["objective"]))


def stride_of(n: int) -> int:
    """The number of updates of which one is drawn."""
    return -(-n // MAX_UPDATES)
