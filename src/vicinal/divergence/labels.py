"""Neighborhoods of points of the same class, where labels are known (section 2.1)."""

import warnings

import numpy as np
from numpy.typing import NDArray

from vicinal.divergence.gaussians import Neighborhoods
from vicinal.divergence.local import LocalModel

__all__ = ["neighborhoods_in_classes"]


def neighborhoods_in_classes(local: LocalModel, X: NDArray, y: NDArray) -> Neighborhoods:
    """The neighbors of every row of X among the rows of its class; all of these where few.

    Warns
    -----
    UserWarning
        If a class has one member, whose neighborhood is itself.
    """
    classes, codes = np.unique(y, return_inverse=True)
    parts = [np.flatnonzero(codes == code) for code in range(len(classes))]
    alone = [classes[code] for code, rows in enumerate(parts) if len(rows) == 1]
    if alone:
        warnings.warn(
            f"classes {alone} have one member each, whose neighborhood is empty: its Gaussian has "
            "the regularization only.",
            stacklevel=2,
        )
    found = [local.neighborhoods(X[rows]) if len(rows) > 1 else _NOBODY for rows in parts]
    width = max(near.positions.shape[1] for near in found)
    positions = np.zeros((len(X), width), dtype=np.intp)
    counts = np.zeros(len(X), dtype=np.intp)
    for rows, near in zip(parts, found, strict=True):
        positions[rows, : near.positions.shape[1]] = rows[near.positions]
        counts[rows] = near.counts
    return Neighborhoods(positions, counts)


_NOBODY = Neighborhoods(np.zeros((1, 1), dtype=np.intp), np.zeros(1, dtype=np.intp))
