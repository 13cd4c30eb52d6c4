"""Checks whose messages name the argument, the value and what to do."""

from collections.abc import Collection
from inspect import signature
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

__all__ = [
    "check_choice",
    "check_classes",
    "check_count",
    "check_flag",
    "check_known_classes",
    "check_nonnegative",
    "check_positive",
    "check_prior",
    "check_seed",
    "check_share",
    "check_total_weight",
    "check_weights",
    "column_name",
]


# Least and largest sum of weights: in single precision, too, shares of it are numbers.
_TOTAL_WEIGHT = (1e-20, 1e20)

# Newer versions of scikit-learn refuse weights that are all zero, without naming the argument.
_ALL_MAY_BE_ZERO = (
    {"allow_all_zero_weights": True}
    if "allow_all_zero_weights" in signature(_check_sample_weight).parameters
    else {}
)


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


def check_positive(name: str, value: Any) -> float:
    """Return `value` as a float if it is finite and positive."""
    number = check_nonnegative(name, value)
    if number == 0:
        raise ValueError(f"{name}={value!r} must be larger than 0.")
    return number


def check_seed(value: Any, name: str = "random_state") -> np.random.RandomState:
    """A generator of random numbers from None, a seed or a generator, as in scikit-learn."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    known = value is None or value is np.random or isinstance(value, np.random.RandomState)
    if not known and not (whole and 0 <= int(value) < 2**32):
        raise ValueError(
            f"{name}={value!r} must be None, a whole number from 0 to 2**32 - 1, or a "
            "numpy.random.RandomState."
        )
    return check_random_state(value)


def check_share(name: str, value: Any, *, ends: bool = False) -> float:
    """Return `value` as a float if it lies between 0 and 1, both excluded but for `ends`."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name}={value!r} must be a number between 0 and 1.")
    if not (0 < float(value) < 1 or (ends and float(value) in (0.0, 1.0))):
        kind = "included" if ends else "excluded"
        raise ValueError(f"{name}={value!r} must lie between 0 and 1, both {kind}.")
    return float(value)


def check_flag(name: str, value: Any, choices: Collection[str] = ()) -> None:
    """Accept True, False or one of `choices`."""
    if isinstance(value, bool | np.bool_):
        return
    if not (isinstance(value, str) and value in choices):
        allowed = ", ".join(["True", "False", *(repr(choice) for choice in choices)])
        raise ValueError(f"{name}={value!r} is unknown: use one of {allowed}.")


def column_name(settings: object, position: int) -> str:
    """A column as the user named it to the estimator, else by its position."""
    names = getattr(settings, "feature_names_in_", None)
    return f"column {position}" if names is None else f"column {names[position]!r}"


def check_weights(sample_weight: Any, X: NDArray) -> NDArray | None:
    """Weights as non-negative float64, one per row of X; None where all are 1."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(
        sample_weight,
        X,
        dtype=np.float64,
        ensure_non_negative=True,
        **_ALL_MAY_BE_ZERO,
    )
    if not weights.any():
        raise ValueError("sample_weight is zero for every row: nothing is left to learn from.")
    with np.errstate(over="ignore"):
        check_total_weight(float(weights.sum()))
    return None if (weights == 1).all() else weights


def check_total_weight(total: float) -> None:
    """Refuse weights whose shares of their sum would be no numbers in single precision."""
    least, most = _TOTAL_WEIGHT
    if not least <= total <= most:
        raise ValueError(
            f"sample_weight sums to {total:.3g}: a weight is a number of copies. Multiply all "
            f"weights by a number that brings their sum between {least:g} and {most:g}."
        )


def check_classes(y: NDArray) -> tuple[NDArray, NDArray]:
    """Distinct labels and each row's position among them; at least two classes."""
    classes, codes = _distinct(y)
    if len(classes) < 2:
        raise ValueError(
            f"y has 1 class ({classes.tolist()[0]!r} only): a metric that tells classes apart "
            "needs at least two classes."
        )
    return classes, codes


def _distinct(y: NDArray) -> tuple[NDArray, NDArray]:
    """Distinct labels of a kind that classes have, and each row's position among them."""
    try:
        classes, codes = np.unique(y, return_inverse=True)
    except TypeError as error:
        kinds = ", ".join(sorted({type(label).__name__ for label in y}))
        raise TypeError(f"y mixes labels of the types {kinds}: use one type for all.") from error
    # Three times over: few rows of many classes are no sign of a regression to warn of.
    check_classification_targets(np.tile(classes, 3))
    return classes, codes


def check_known_classes(
    y: NDArray, classes: Any, before: NDArray | None
) -> tuple[NDArray, NDArray]:
    """All classes of a stream and each row's position there.

    Those of this call, or of the calls `before`, or all there are in `y`.
    """
    _distinct(y)
    if classes is not None:
        known = check_classes(np.asarray(classes))[0]
    elif before is not None:
        known = before
    else:
        known = check_classes(y)[0]
    if before is not None and not np.array_equal(known, before):
        raise ValueError(f"classes={classes!r} differ from those of the earlier calls, {before!r}.")
    unknown = np.setdiff1d(y, known)
    if len(unknown):
        raise ValueError(
            f"y has labels that were not announced: {unknown!r}. Name all classes there will be "
            "in the first call of partial_fit, classes=[...]."
        )
    return known, np.searchsorted(known, y)


def check_prior(prior: Any, n_classes: int) -> str | NDArray:
    """Return "empirical", "uniform", or positive probabilities of the classes."""
    if isinstance(prior, str):
        return check_choice("prior", prior, ("empirical", "uniform"))
    try:
        array = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (n_classes,) or not (array > 0).all() or not np.isclose(array.sum(), 1.0):
        raise ValueError(
            f"prior={prior!r} must be {n_classes} positive numbers that sum to 1, one per class."
        )
    return array
