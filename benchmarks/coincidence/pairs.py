"""Pairs of points to ask about, and how probabilities that were said of them turned out."""

from typing import NamedTuple

import numpy as np

from vicinal.coincidence.neighbors import LabeledPoints, labeled_pairs

N_PAIRS = 4000
N_BINS = 10


class Pairs(NamedTuple):
    """Positions of two rows each, and whether they are of the same class."""

    positions: np.ndarray
    same: np.ndarray


def random_pairs(labels: np.ndarray, rng: np.random.Generator) -> Pairs:
    """Half of the same class, half of different classes, in random order."""
    first, second = rng.integers(len(labels), size=(2, 200 * N_PAIRS))
    same = labels[first] == labels[second]
    rows = [np.flatnonzero(kind)[: N_PAIRS // 2] for kind in (same & (first != second), ~same)]
    chosen = rng.permutation(np.concatenate(rows))
    return Pairs(np.column_stack([first, second])[chosen], same[chosen])


def near_pairs(X: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> Pairs:
    """The kind that is learned from: the nearest of the same class and of others."""
    first, second, same = labeled_pairs(LabeledPoints(X, labels), 3, "all")
    chosen = rng.permutation(len(first))[:N_PAIRS]
    return Pairs(np.column_stack([first, second])[chosen], np.asarray(same, dtype=bool)[chosen])


class Bins(NamedTuple):
    """Mean probability and share of pairs that are the same, in bins of equal mass."""

    said: np.ndarray
    was: np.ndarray

    @property
    def error(self) -> float:
        """Expected calibration error."""
        return float(np.abs(self.said - self.was).mean())


def binned(probability: np.ndarray, same: np.ndarray) -> Bins:
    groups = np.array_split(np.argsort(probability, kind="stable"), N_BINS)
    said = np.array([probability[group].mean() for group in groups])
    return Bins(said, np.array([same[group].mean() for group in groups]))
