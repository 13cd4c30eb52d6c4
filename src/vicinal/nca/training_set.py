"""The rows that a fit learns from, whether they are here or on the workers of a cluster."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import DTypeLike, NDArray

from vicinal.inputs.features import Features, Moments, moments
from vicinal.inputs.places import rows_in_place
from vicinal.inputs.points import LabeledPoints
from vicinal.neighborhood import Engine
from vicinal.neighborhood.arrays import picked

__all__ = ["TrainingSet"]


@dataclass(frozen=True)
class TrainingSet:
    """Rows to learn from, converted when they are needed.

    Attributes
    ----------
    features : Features
    labels : ndarray of shape (n,)
    weights : ndarray of shape (n,) or None
    positions : ndarray or None
        Of the rows that are not held back; None: all.
    """

    features: Features
    labels: NDArray
    weights: NDArray | None = None
    positions: NDArray | None = None

    def __len__(self) -> int:
        return len(self.labels) if self.positions is None else len(self.positions)

    @property
    def learning_weights(self) -> NDArray | None:
        """Weights of all rows, 0 for those that are held back."""
        if self.positions is None:
            return self.weights
        weights = np.zeros(len(self.labels))
        weights[self.positions] = 1.0 if self.weights is None else self.weights[self.positions]
        return weights

    def moments(self, n_classes: int) -> Moments:
        """Of the rows to learn from; several ask, and to sweep over many rows takes seconds."""
        if n_classes not in self._known:
            self._known[n_classes] = self._moments(n_classes)
        return self._known[n_classes]

    @cached_property
    def _known(self) -> dict[int, Moments]:
        return {}

    def _moments(self, n_classes: int) -> Moments:
        if self.positions is None or 2 * len(self) > len(self.labels):
            return moments(self.features, self.labels, n_classes, self.learning_weights)
        few = replace(self.features, X=picked(self.features.X, self.positions))
        weights = None if self.weights is None else self.weights[self.positions]
        return moments(few, self.labels[self.positions], n_classes, weights)

    def among(self, positions: NDArray) -> "TrainingSet":
        """Those of the rows to learn from at these places among them."""
        known = positions if self.positions is None else self.positions[positions]
        return TrainingSet(self.features, self.labels, self.weights, known)

    def points(self, which: NDArray | slice, dtype: DTypeLike | None = None) -> LabeledPoints:
        """Points by their place among those to learn from."""
        taken = which if self.positions is None else self.positions[which]
        weights = None if self.weights is None else self.weights[taken]
        X = self.features.take(taken, dtype or self.features.dtype)
        return LabeledPoints(X, weights, labels=self.labels[taken])

    def in_place(self, engine: Engine, dtype: DTypeLike) -> LabeledPoints | None:
        """All rows to learn from where the engine computes, unless that is here, or too full."""
        taken = slice(None) if self.positions is None else self.positions
        weights = None if self.weights is None else self.weights[taken]

        def load(rows: slice) -> NDArray:
            return self.points(rows, dtype).X

        return rows_in_place(engine, load, self.labels[taken], weights)

    def on_cluster(self, dtype: DTypeLike) -> LabeledPoints:
        """All rows to learn from on the workers; their classes and weights stay here."""
        taken = slice(None) if self.positions is None else self.positions
        weights = None if self.weights is None else self.weights[taken]
        return LabeledPoints(self.features.spread(taken, dtype), weights, labels=self.labels[taken])

    def project(self, A: NDArray) -> NDArray:
        """All rows to learn from under a map."""
        Z = self.features.project(A)
        return Z if self.positions is None else Z[self.positions]

    def subset(self, size: int, rng: np.random.Generator) -> "TrainingSet":
        """Some of the rows to learn from, chosen once."""
        if size >= len(self):
            return self
        return self.among(np.sort(rng.choice(len(self), size, replace=False)))
