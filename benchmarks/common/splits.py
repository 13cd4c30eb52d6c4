"""Training and test parts of data sets: the same rows for every method."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

TEST_SHARE = 0.3


class Split(NamedTuple):
    """Training and test part of a set; without labels where none are needed."""

    X: np.ndarray
    X_test: np.ndarray
    y: np.ndarray | None = None
    y_test: np.ndarray | None = None

    def mapped(self, change: Callable[[np.ndarray], np.ndarray]) -> "Split":
        """Both parts changed in the same way."""
        return self._replace(X=change(self.X), X_test=change(self.X_test))


def random_split(X: np.ndarray, y: np.ndarray, seed: int, test_size: float = TEST_SHARE) -> Split:
    """Rows at random, whatever their classes."""
    return Split(*train_test_split(X, y, test_size=test_size, random_state=seed))


def stratified_split(
    X: np.ndarray,
    y: np.ndarray,
    seed: int,
    *,
    test_size: float | None = None,
    train_size: float | None = None,
) -> Split:
    """Rows at random, as many of each class as there are in all; sizes: shares or numbers."""
    sizes = {"test_size": test_size, "train_size": train_size}
    return Split(*train_test_split(X, y, **sizes, stratify=y, random_state=seed))


def unlabeled_split(X: np.ndarray, seed: int, test_size: float) -> Split:
    """Rows at random."""
    return Split(*train_test_split(X, test_size=test_size, random_state=seed))


def split_at(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Split:
    """The rows of two masks or lists of positions."""
    return Split(X[train], X[test], y[train], y[test])
