"""Checks whose messages name the argument, the value and what to do."""

from collections.abc import Collection
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

__all__ = ["check_choice", "check_classes", "check_count", "check_nonnegative", "check_prior"]


def check_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Return `value` if it is one of `choices`."""
    if isinstance(value, str) and value in choices:
        return value
    allowed = ", ".join(repr(choice) for choice in choices)
    raise ValueError(f"{name}={value!r} is unknown: use one of {allowed}.")


def check_count(name: str, value: Any, low: int, high: int | None = None, why: str = "") -> int:
    """Return `value` as an int if it is a whole number from `low` to `high`."""
    bounds = f"at least {low}" if high is None else f"from {low} to {high}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name}={value!r} must be a whole number {bounds}{why}.")
    count = int(value)
    if count < low or (high is not None and count > high):
        raise ValueError(f"{name}={value!r} must be a whole number {bounds}{why}.")
    return count


def check_nonnegative(name: str, value: Any) -> float:
    """Return `value` as a float if it is finite and not negative."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} must be a number, 0 or larger.")
    number = float(value)
    if not 0 <= number < np.inf:
        raise ValueError(f"{name}={value!r} must be finite and 0 or larger.")
    return number


def check_classes(y: NDArray) -> tuple[NDArray, NDArray]:
    """Distinct labels and each row's position among them; at least two classes."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y has 1 class ({classes[0]!r} only): a metric that tells classes apart needs at "
            "least two classes."
        )
    return classes, codes


def check_prior(prior: Any, n_classes: int) -> str | NDArray:
    """Return "empirical", "uniform", or positive probabilities of the classes."""
    if isinstance(prior, str):
        return check_choice("prior", prior, ("empirical", "uniform"))
    array = np.asarray(prior, dtype=np.float64)
    if array.shape != (n_classes,) or not (array > 0).all() or not np.isclose(array.sum(), 1.0):
        raise ValueError(
            f"prior={prior!r} must be {n_classes} positive numbers that sum to 1, one per class."
        )
    return array
