"""Where the names of classes go so that they can be read."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["class_anchors", "spread_labels"]

_ROUNDS = 300


def class_anchors(points: NDArray, labels: NDArray, n_classes: int) -> NDArray:
    """A point of each class amid the others: the one nearest to their median.

    The median itself may lie where the class has no points at all.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
    labels : ndarray of shape (n,)
        Classes coded 0, 1, ..., each with at least one point.
    n_classes : int

    Returns
    -------
    ndarray of shape (n_classes, 2)

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.labels import class_anchors
    >>> points = np.array([[0.0, 0.0], [1.0, 1.0], [9.0, 2.0], [5.0, 5.0]])
    >>> class_anchors(points, np.array([0, 0, 0, 1]), 2)
    array([[1., 1.],
           [5., 5.]])
    """
    return np.array([_most_central(points[labels == c]) for c in range(n_classes)])


def _most_central(members: NDArray) -> NDArray:
    distances = np.square(members - np.median(members, axis=0)).sum(axis=1)
    return members[distances.argmin()]


def spread_labels(anchors: NDArray, sizes: NDArray, lower: NDArray, upper: NDArray) -> NDArray:
    """Centers of boxes near their anchors, pushed apart until none overlap.

    In a space too crowded for all of them some overlap remains.

    Parameters
    ----------
    anchors : ndarray of shape (n, 2)
        Where the boxes would like to be.
    sizes : ndarray of shape (n, 2)
        Their widths and heights.
    lower, upper : ndarray of shape (2,)
        Corners of the space that the boxes stay in.

    Returns
    -------
    ndarray of shape (n, 2)

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.labels import spread_labels
    >>> anchors, sizes = np.array([[5.0, 5.0], [5.0, 6.0]]), np.full((2, 2), 2.0)
    >>> centers = spread_labels(anchors, sizes, np.zeros(2), np.full(2, 10.0))
    >>> float(centers[1, 1] - centers[0, 1]) >= 2.0
    True
    """
    low, high = lower + sizes / 2, np.maximum(upper - sizes / 2, lower + sizes / 2)
    centers = anchors.astype(float)
    for _ in range(_ROUNDS):
        centers = np.clip(centers, low, high)
        pushes = _pushes(centers, sizes)
        if not pushes.any():
            break
        centers = centers + pushes
    return np.clip(centers, low, high)


def _pushes(centers: NDArray, sizes: NDArray) -> NDArray:
    """How far each box moves off those it overlaps, along the shorter way out."""
    n = len(centers)
    gaps = centers[:, None] - centers[None, :]  # (n, n, 2)
    overlaps = (sizes[:, None] + sizes[None, :]) / 2 - np.abs(gaps)
    colliding = (overlaps > 0).all(axis=2) & ~np.eye(n, dtype=bool)
    shorter = overlaps.argmin(axis=2)[:, :, None] == np.arange(2)
    # Boxes at the very same place part by their order.
    order = np.sign(np.subtract.outer(np.arange(n), np.arange(n)))[:, :, None]
    ways = np.where(gaps == 0, order, np.sign(gaps))
    # A little more than half the overlap: halves alone approach their aim but never get there.
    return np.where(colliding[:, :, None] & shorter, 0.52 * overlaps * ways, 0.0).sum(axis=1)
