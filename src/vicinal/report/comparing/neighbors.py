"""The rule of k nearest neighbors after a transformer, k chosen by folds."""

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from vicinal.voting import nearest_points, votes

__all__ = ["NUMBERS", "NeighborsByFolds"]

NUMBERS = (1, 3, 5, 7, 9, 11, 15, 21, 31)
_FOLDS = 3


class NeighborsByFolds(ClassifierMixin, BaseEstimator):
    """k nearest neighbors after a transformer, with the k that folds of the training rows prefer.

    It is what a search over ``n_neighbors`` of the pipeline of both finds, at the cost
    of one fit of the transformer for each fold: one search for neighbors serves every k.

    Parameters
    ----------
    transformer : transformer or pipeline
        Fitted anew to the rows of each fold that learn, and in the end to all rows.
    random_state : int, optional
        Of the folds.
    n_jobs : int, optional
        Threads of the search for neighbors of new rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_neighbors_ : int
        The smallest of the best.
    transformer_ : transformer
    rule_ : KNeighborsClassifier

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import StandardScaler
    >>> from vicinal.report.comparing.neighbors import NeighborsByFolds
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NeighborsByFolds(StandardScaler(), random_state=0).fit(X, y)
    >>> model.n_neighbors_ in (1, 3, 5, 7, 9, 11, 15, 21, 31)
    True
    """

    def __init__(
        self,
        transformer: BaseEstimator,
        *,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.transformer = transformer
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: NDArray, y: NDArray) -> "NeighborsByFolds":
        """Choose k, then fit to all rows."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.n_neighbors_ = self._best_number(X, codes)
        self.transformer_ = clone(self.transformer).fit(X, y)
        rule = KNeighborsClassifier(self.n_neighbors_, n_jobs=self.n_jobs)
        self.rule_ = rule.fit(self.transformer_.transform(X), y)
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Rows where the neighbors are looked for."""
        return np.asarray(self.transformer_.transform(X))

    def predict(self, X: ArrayLike) -> NDArray:
        """Classes that most neighbors have."""
        return np.asarray(self.rule_.predict(self.transform(X)))

    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Shares of the neighbors, in the order of `classes_`."""
        return np.asarray(self.rule_.predict_proba(self.transform(X)))

    def _best_number(self, X: NDArray, codes: NDArray) -> int:
        if np.bincount(codes).max() < 2:
            return 1  # no row has another of its class to be found by
        n_right = np.zeros(max(NUMBERS), dtype=np.int64)
        most = max(NUMBERS)
        for train, test in self._folds(X, codes):
            right = self._right(X, codes, train, test)
            most = min(most, right.shape[1])
            n_right[:most] += right[:, :most].sum(axis=0)
        numbers = [k for k in NUMBERS if k <= most]
        return max(numbers, key=lambda k: n_right[k - 1])  # of equals the first

    def _right(self, X: NDArray, codes: NDArray, train: NDArray, test: NDArray) -> NDArray:
        """Which test rows are named right by the first k neighbors, for every k."""
        transformer = clone(self.transformer).fit(X[train], codes[train])
        keys, queries = transformer.transform(X[train]), transformer.transform(X[test])
        _, near = nearest_points(keys, queries, min(max(NUMBERS), len(train)))
        return np.asarray(votes(codes[train][near]) == codes[test, None])

    def _folds(self, X: NDArray, codes: NDArray) -> list[tuple[NDArray, NDArray]]:
        counts = np.bincount(codes)
        n_folds = int(np.clip(counts.max(), 2, _FOLDS))
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=self.random_state)
        with warnings.catch_warnings():  # a class of few rows is told of once, not here
            warnings.filterwarnings("ignore", "The least populated class")
            return list(folds.split(X, codes))
