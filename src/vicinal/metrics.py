"""Metrics of how well clusters agree with classes."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils import check_consistent_length, column_or_1d

__all__ = ["permutation_accuracy", "purity"]


def permutation_accuracy(y_true: ArrayLike, labels: ArrayLike) -> float:
    """Accuracy of a clustering under the best one-to-one assignment of clusters to classes.

    If there are more clusters than classes, rows in clusters without a class count as wrong.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True class labels.
    labels : array-like of shape (n_samples,)
        Cluster labels.

    Returns
    -------
    float
        Accuracy, from 0 to 1.

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
    """Share of rows whose class is the most frequent one in their cluster.

    Many small clusters always have a high purity: 1 if every row is a cluster of its own.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True class labels.
    labels : array-like of shape (n_samples,)
        Cluster labels.

    Returns
    -------
    float
        Purity, from 0 to 1.

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
