"""Test accuracy of projected points, by the same rules for every method."""

import numpy as np


def nca_rule_accuracy(
    Z: np.ndarray, y: np.ndarray, Z_test: np.ndarray, y_test: np.ndarray
) -> float:
    """Share of test points whose class has most of the soft neighborhood exp(-|z - z'|²)."""
    from scipy.spatial.distance import cdist

    classes, labels = np.unique(y, return_inverse=True)
    member = np.eye(len(classes))[labels]
    right = 0
    for start in range(0, len(Z_test), 100):  # 100 × n at a time
        rows = slice(start, start + 100)
        s = cdist(Z_test[rows], Z, "sqeuclidean")
        mass = np.exp(s.min(axis=1, keepdims=True) - s) @ member
        right += int((classes[mass.argmax(axis=1)] == y_test[rows]).sum())
    return right / len(Z_test)


def neighbor_accuracy(
    k: int, Z: np.ndarray, y: np.ndarray, Z_test: np.ndarray, y_test: np.ndarray
) -> float:
    """Share of test points whose k nearest training points vote for their class."""
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(k).fit(Z, y).score(Z_test, y_test)
