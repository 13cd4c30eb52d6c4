"""How well clusters agree with classes."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils import check_consistent_length, column_or_1d

__all__ = ["permutation_accuracy", "purity"]


def permutation_accuracy(y_true: ArrayLike, labels: ArrayLike) -> float:
    """Accuracy of clusters when each is matched to a class of its own, in the best way.

    Where there are more clusters than classes, those without a class count as wrong.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes.
    labels : array-like of shape (n_samples,)
        Clusters.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from vicinal.metrics import permutation_accuracy
    >>> permutation_accuracy(["a", "a", "b", "b"], [1, 1, 0, 0])
    1.0
    >>> permutation_accuracy(["a", "a", "b", "b"], [0, 1, 2, 2])
    0.75
    """
    table = _table(y_true, labels)
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / table.sum())


def purity(y_true: ArrayLike, labels: ArrayLike) -> float:
    """Share of the rows that are of the most frequent class of their cluster.

    Many small clusters are always pure: it is 1 where every row is a cluster.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes.
    labels : array-like of shape (n_samples,)
        Clusters.

    Returns
    -------
    float
        From 0 to 1.

    Examples
    --------
    >>> from vicinal.metrics import purity
    >>> purity(["a", "a", "b", "b"], [0, 0, 0, 1])
    0.75
    """
    table = _table(y_true, labels)
    return float(table.max(axis=0).sum() / table.sum())


def _table(y_true: ArrayLike, labels: ArrayLike) -> NDArray:
    """Rows of each class in each cluster."""
    classes, clusters = column_or_1d(y_true), column_or_1d(labels)
    check_consistent_length(classes, clusters)
    if not len(classes):
        raise ValueError("y_true has no rows: there is nothing to compare.")
    return np.asarray(contingency_matrix(classes, clusters))
