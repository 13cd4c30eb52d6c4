"""The digits that three chapters are about."""

from numpy.typing import NDArray
from sklearn.datasets import load_digits

__all__ = ["load_pixels"]


def load_pixels(n_rows: int | None) -> tuple[NDArray, NDArray]:
    """scikit-learn's digits, pixels from 0 to 1, and which digits they are."""
    X, y = load_digits(return_X_y=True)
    return X[:n_rows] / 16, y[:n_rows]
