"""Explicit lists of pairs: two points each, or two positions among points given once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

__all__ = ["check_pair_labels", "check_pairs", "check_positions", "split_pairs"]


def split_pairs(
    pairs: Any, X: Any = None, n_features: int | None = None
) -> tuple[NDArray, NDArray]:
    """Points (n, D), and the positions of both points of every pair, shape (n_pairs, 2).

    Points of pairs that come as (n_pairs, 2, D) are not copied.
    """
    if X is None:
        values = check_pairs(pairs, n_features)
        n_pairs, _, D = values.shape
        return values.reshape(2 * n_pairs, D), np.arange(2 * n_pairs).reshape(n_pairs, 2)
    points = check_array(X, dtype=(np.float64, np.float32), input_name="X")
    if n_features is not None and points.shape[1] != n_features:
        raise ValueError(f"X has {points.shape[1]} features, expected {n_features}.")
    return points, check_positions(pairs, len(points))


def check_pairs(pairs: Any, n_features: int | None = None) -> NDArray:
    """Pairs of points as a finite float array of shape (n_pairs, 2, n_features)."""
    array = check_array(
        pairs,
        dtype=(np.float64, np.float32),
        allow_nd=True,
        ensure_2d=False,
        ensure_min_samples=0,
        input_name="pairs",
    )
    if array.ndim != 3 or array.shape[1] != 2 or n_features not in (None, array.shape[2]):
        width = "n_features" if n_features is None else n_features
        raise ValueError(
            f"pairs has shape {array.shape}, expected (n_pairs, 2, {width}): two points "
            f"of {width} features each; or positions of shape (n_pairs, 2), with X given, too."
        )
    return array


def check_positions(pairs: Any, n_points: int) -> NDArray:
    """Positions among n_points, shape (n_pairs, 2)."""
    array = np.asarray(pairs)
    if array.ndim != 2 or array.shape[1] != 2 or not np.issubdtype(array.dtype, np.integer):
        raise ValueError(
            f"pairs has shape {array.shape} and type {array.dtype}: where X is given, pairs are "
            "whole numbers of shape (n_pairs, 2), positions of its rows."
        )
    if len(array) and (array.min() < 0 or array.max() >= n_points):
        raise ValueError(
            f"pairs names rows from {array.min()} to {array.max()}, but X has {n_points} rows, "
            f"0 to {n_points - 1}."
        )
    return array


def check_pair_labels(y: Any, n_pairs: int, *, both: bool = True) -> NDArray:
    """Whether each pair coincides, as bool, from 1 and 0, True and False, or 1 and -1.

    With `both`, there must be pairs of both kinds.
    """
    labels = np.asarray(y)
    if labels.shape != (n_pairs,):
        raise ValueError(f"y has shape {labels.shape}, expected ({n_pairs},): a label per pair.")
    if not any(np.isin(labels, kinds).all() for kinds in ((0, 1), (-1, 1))):
        strange = np.unique(labels[~np.isin(labels, (0, 1))])[:5]
        raise ValueError(
            f"y has labels {strange!r}: 1 says that a pair coincides, and 0 (or -1 instead, for "
            "all of these) that it does not."
        )
    coincide = labels == 1
    if both and len(np.unique(coincide)) < 2:
        kind = "coincide" if coincide.any() else "do not coincide"
        raise ValueError(
            f"all {n_pairs} pairs in y {kind}: pairs of both kinds are needed, y = 0 and y = 1."
        )
    return coincide
