"""Labels of points as positions among the sorted classes."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d

__all__ = ["coded", "coded_together"]


def coded(labels: ArrayLike, what: str) -> tuple[NDArray, NDArray]:
    """Sorted classes, and the position of each label among them."""
    values = _checked(labels, what)
    try:
        classes, codes = np.unique(values, return_inverse=True)
    except TypeError as error:
        kinds = ", ".join(sorted({type(value).__name__ for value in values}))
        raise TypeError(
            f"{what} has labels of types without a common order ({kinds}): make them all text, "
            "or all numbers."
        ) from error
    return classes, codes


def coded_together(y: ArrayLike, y_test: ArrayLike) -> tuple[NDArray, NDArray]:
    """Positions of labels among the sorted classes of both."""
    first, second = _checked(y, "y"), _checked(y_test, "y_test")
    joined = np.append(first, second)
    if joined.dtype.kind == "f" and "i" in first.dtype.kind + second.dtype.kind:
        # As floats, large whole numbers would lose their last digits.
        joined = np.append(first.astype(object), second.astype(object))
    codes = coded(joined, "y and y_test")[1]
    return codes[: len(first)], codes[len(first) :]


def _checked(labels: ArrayLike, what: str) -> NDArray:
    """Labels that all name a class."""
    values = column_or_1d(labels)
    missing = int(_missing(values).sum())
    if missing:
        raise ValueError(
            f"{what} names no class (None, NaN or infinite) in {missing:,} of {len(values):,} "
            "rows: leave these out, or give them a class."
        )
    return values


def _missing(values: NDArray) -> NDArray:
    if values.dtype.kind == "O":
        return np.array([_is_missing(value) for value in values], dtype=bool)
    if values.dtype.kind == "f":
        return ~np.isfinite(values)
    return np.isnat(values) if values.dtype.kind in "mM" else np.zeros(len(values), dtype=bool)


def _is_missing(value: Any) -> bool:
    """Whether it is None, pandas' NA, or a NaN or NaT, which do not equal themselves."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)
