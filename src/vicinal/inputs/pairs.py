"""Explicit lists of pairs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

__all__ = ["check_pairs"]


def check_pairs(pairs: Any, n_features: int) -> NDArray:
    """Pairs of points as a finite float array of shape (n_pairs, 2, n_features)."""
    array = check_array(
        pairs,
        dtype=(np.float64, np.float32),
        allow_nd=True,
        ensure_2d=False,
        ensure_min_samples=0,
        input_name="pairs",
    )
    if array.ndim != 3 or array.shape[1:] != (2, n_features):
        raise ValueError(
            f"pairs has shape {array.shape}, expected (n_pairs, 2, {n_features}): two points "
            f"of {n_features} features each."
        )
    return array
