"""Training and test parts of the sets, prepared: none of it is told by the poster."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.utils import Bunch

from benchmarks.common.scaling import standardized
from benchmarks.common.splits import TEST_SHARE, Split, split_at
from reproduce.experiment import Unit
from vicinal import datasets

SETS = ("iris", "balance-scale", "segment", "usps", "isolet", "letter", "mnist")

# Customary training rows are used, but for this set, which has only 210 of them.
_DRAWN = "segment"

# Sets of more features are brought to principal components with this share of the variance.
_MANY_FEATURES, _SHARE_OF_VARIANCE = 50, 0.9


def part_of(unit: Unit) -> Split:
    """Of a set and a seed; at most so many rows of each part."""
    data, seed = _load(unit["set"]), unit["seed"]
    train, test = (_some(rows, data.target, unit["most_rows"], seed) for rows in _rows(data, seed))
    part = split_at(data.data, data.target, train, test).mapped(lambda rows: rows.astype(float))
    return _principal(part) if part.X.shape[1] > _MANY_FEATURES else standardized(part)


@lru_cache(maxsize=1)
def _load(name: str) -> Bunch:
    return datasets.load(name, download=False)


def _rows(data: Bunch, seed: int) -> tuple[NDArray, NDArray]:
    """Positions of training and test rows."""
    if data.train is not None and data.name != _DRAWN:
        return np.flatnonzero(data.train), np.flatnonzero(~data.train)
    rows = np.arange(len(data.target))
    train, test = train_test_split(
        rows, test_size=TEST_SHARE, stratify=data.target, random_state=seed
    )
    return train, test


def _some(rows: NDArray, labels: NDArray, most: int, seed: int) -> NDArray:
    """All, or as many of each class as their shares allow."""
    if len(rows) <= most:
        return rows
    return train_test_split(rows, train_size=most, stratify=labels[rows], random_state=seed)[0]


def _principal(part: Split) -> Split:
    pca = PCA(svd_solver="covariance_eigh").fit(part.X)
    enough = np.cumsum(pca.explained_variance_ratio_).searchsorted(_SHARE_OF_VARIANCE) + 1
    unit = np.sqrt(pca.explained_variance_[:enough].mean())  # one for all: neighbors stay
    return part.mapped(lambda rows: pca.transform(rows)[:, :enough] / unit)
