"""Rows held back for validation."""

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MOST_HELD_BACK",
    "MOST_VALIDATION_KEYS",
    "class_folds",
    "hold_back",
    "hold_back_any",
    "in_turn",
]

# What a validation score costs must not grow with the data: at most so many points held back,
# against at most so many others.
MOST_HELD_BACK, MOST_VALIDATION_KEYS = 5000, 20_000


def hold_back(
    labels: NDArray, fraction: float, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """Rows to learn from and rows for validation: a share of every class, two left in each.

    Both are sorted. At most `MOST_HELD_BACK` are held back.
    """
    share = min(fraction, MOST_HELD_BACK / len(labels))
    shuffled = rng.permutation(len(labels))
    shuffled = shuffled[np.argsort(labels[shuffled], kind="stable")]
    counts = np.bincount(labels)
    first = np.cumsum(counts) - counts
    # Rounding up or down at random keeps the share of small classes right on average.
    wanted = np.floor(share * counts + rng.random(len(counts))).astype(int)
    wanted = np.minimum(wanted, np.maximum(counts - 2, 0))
    if not wanted.any() and counts.max() > 2:
        wanted[counts.argmax()] = 1
    if not wanted.any():
        raise ValueError(
            f"validation_fraction={fraction} of {len(labels)} points leaves none to validate on: "
            "raise it, or set early_stopping=False."
        )
    rank = np.arange(len(labels)) - first[labels[shuffled]]
    held = rank < wanted[labels[shuffled]]
    return np.sort(shuffled[~held]), np.sort(shuffled[held])


def hold_back_any(n: int, fraction: float, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Rows to learn from, two at least, and rows for validation, where there are no classes."""
    n_held = min(int(np.ceil(fraction * n)), MOST_HELD_BACK)
    if n - n_held < 2:
        raise ValueError(
            f"validation_fraction={fraction} of {n} points leaves {n - n_held} to learn from: "
            "lower it, or set early_stopping=False, and regularization and smoothing to numbers."
        )
    order = rng.permutation(n)
    return np.sort(order[n_held:]), np.sort(order[:n_held])


def class_folds(X: NDArray, labels: NDArray, n_folds: int) -> NDArray:
    """Fold of every row, dealt out class by class, shape (n,); -1: never held back.

    Rows that are equal share a fold, and the order of the rows does not matter: weighted rows
    and copies are held back together. Two different rows at least stay in every class, so one of
    fewer than three is never held back.
    """
    folds = np.full(len(labels), -1)
    draw = np.random.default_rng(0)  # the same folds in every fit, so that fits can be compared
    first = 0
    for c in np.unique(labels):
        mine = np.flatnonzero(labels == c)
        _, group = np.unique(X[mine], axis=0, return_inverse=True)
        n_groups = int(group.max()) + 1
        if n_groups > 2:
            dealt = (first + np.arange(n_groups)) % n_folds
            folds[mine] = draw.permutation(dealt)[group.ravel()]
            first += n_groups  # so that folds of many small classes are of one size
    return folds


def in_turn(
    labels: NDArray, fraction: float, most: int, rng: np.random.Generator
) -> list[tuple[NDArray, NDArray]]:
    """Rows to learn from and rows held back, `most` times at most: others each time.

    A share of every class is held back, of none that has two members or fewer; nothing where
    there is no other. Both are sorted.
    """
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    large = np.bincount(labels)[labels[order]] > 2
    place, turns = np.arange(len(labels)), []
    for turn in range(max(1, min(most, int(1.0 / fraction)))):
        held = np.floor((place + turn + 1) * fraction) > np.floor((place + turn) * fraction)
        held &= large
        if held.any():
            turns.append((np.sort(order[~held]), np.sort(order[held])))
    return turns
