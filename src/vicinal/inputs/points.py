"""Points to learn from or to compare with, and how often each of them counts."""

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from vicinal.neighborhood.arrays import Array, as_number, joined, namespace, ones, picked

__all__ = ["LabeledPoints", "WeightedPoints"]


@dataclass(frozen=True)
class WeightedPoints:
    """Points, and how often each counts, in arrays of one library on one device.

    Of points on a cluster, weights and labels are NumPy's.

    Attributes
    ----------
    X : array of shape (n, d)
    weights : array of shape (n,), optional
        Positive; weight k means k copies of the point. None: every point counts once.
    """

    X: Array
    weights: Array | None = None

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, which: Array | slice) -> Self:
        return replace(self, X=picked(self.X, which), weights=_part(self.weights, which))

    @property
    def counts(self) -> Array:
        """Copies of each point, shape (n,)."""
        return ones(self.X) if self.weights is None else self.weights

    @property
    def once(self) -> Array:
        """What a point counts that is looked at once: 1, or its weight where that is less."""
        counts = self.counts
        return namespace(counts).where(counts < 1.0, counts, 1.0)

    @property
    def log_counts(self) -> Array | None:
        """Logarithm of the counts, None where all are 1."""
        return None if self.weights is None else namespace(self.weights).log(self.weights)

    @property
    def total(self) -> Array:
        """Number of points, copies counted: a float, or a tensor's sum on its device."""
        return float(len(self)) if self.weights is None else as_number(self.weights.sum())

    def some(self, most: int, rng: np.random.Generator) -> Self:
        """All points, or so many of them at random."""
        if len(self) <= most:
            return self
        return self[np.sort(rng.choice(len(self), most, replace=False))]

    def at(self, X: Array) -> Self:
        """The points in other coordinates."""
        return replace(self, X=X)

    def followed_by(self, others: Self) -> Self:
        """These points and then the others; without weights where neither have any."""
        weights = None
        if self.weights is not None or others.weights is not None:
            weights = np.concatenate([self.counts, others.counts])
        return replace(self, X=joined(self.X, others.X), weights=weights)


@dataclass(frozen=True)
class LabeledPoints(WeightedPoints):
    """Points whose classes are known.

    Attributes
    ----------
    X : array of shape (n, d)
    weights : array of shape (n,), optional
        Positive; weight k means k copies of the point. None: every point counts once.
    labels : array of int, shape (n,)
    """

    labels: Array = field(kw_only=True)

    def __getitem__(self, which: Array | slice) -> Self:
        return replace(super().__getitem__(which), labels=self.labels[which])

    def followed_by(self, others: Self) -> Self:
        """These points and then the others; without weights where neither have any."""
        labels = np.concatenate([self.labels, others.labels])
        return replace(super().followed_by(others), labels=labels)


def _part(weights: Array | None, which: Array | slice) -> Array | None:
    return None if weights is None else weights[which]
