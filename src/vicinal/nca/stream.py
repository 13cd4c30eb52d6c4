"""Learning from a stream: new points against a bounded sample of what came before."""

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting import AdamMoments, split
from vicinal.inputs.features import Features
from vicinal.inputs.mapped import in_any_order
from vicinal.inputs.points import LabeledPoints
from vicinal.inputs.reservoir import Reservoir
from vicinal.nca.equations import Objective, evaluate, penalized
from vicinal.nca.learning import Coordinates, first_rate
from vicinal.neighborhood import Engine

__all__ = ["Stream"]

# A stream has no end to spread a schedule over: the rate falls as 1 / sqrt(1 + t / this).
_STEADY_UPDATES = 100


class Stream:
    """State of `partial_fit`: the map in solver coordinates, Adam's moments, the reservoir.

    Parameters
    ----------
    start : ndarray of shape (d, D)
        Map in the solver's coordinates.
    coordinates : Coordinates
    features : Features
        Center and unit of the first points; later ones are measured by them.
    penalty_share : float or None
        λ times the number of points seen; None: `penalty` is λ itself.
    penalty : float
    reservoir_size : int
    rng : numpy.random.Generator

    Attributes
    ----------
    n_enough : int
        Points from which on the stream does not begin anew.
    """

    def __init__(
        self,
        start: NDArray,
        coordinates: Coordinates,
        features: Features,
        penalty_share: float | None,
        penalty: float,
        reservoir_size: int,
        rng: np.random.Generator,
    ) -> None:
        self.parameters, self.coordinates = start, coordinates
        self.center, self.unit = features.center, features.unit
        self.penalty_share, self.penalty = penalty_share, penalty
        self.reservoir, self.rng = Reservoir(reservoir_size), rng
        self.adam = AdamMoments.none(start.shape)
        self.rate = first_rate(start)
        self.objectives: list[float] = []
        self.n_enough = 0

    @property
    def is_young(self) -> bool:
        """Whether the points so far, all of which are kept, tell too little to have begun with."""
        return self.reservoir.n_seen < min(self.n_enough, self.reservoir.size)

    @property
    def map(self) -> NDArray:
        """A, for the features as the user has them."""
        return self.coordinates.unpack(self.parameters)[0] / self.unit

    @property
    def keys(self) -> LabeledPoints:
        """The points kept, as the user gave them."""
        kept = self._kept
        return kept.at(kept.X * self.unit + self.center)

    @property
    def _kept(self) -> LabeledPoints:
        X, labels, weights = self.reservoir.kept
        return LabeledPoints(X, None if (weights == 1).all() else weights, labels=labels)

    def learn(
        self, new: LabeledPoints, objective: Objective, engine: Engine, batch_size: int
    ) -> None:
        """One update per batch of new points, each against the batch and the reservoir."""
        with in_any_order(new.X):
            for positions in split(self.rng.permutation(len(new)), batch_size):
                batch = new[positions]  # new points may be in a file: never all of them at once
                batch = batch.at((batch.X - self.center) / self.unit)
                self._update(batch, objective, engine)
                self.reservoir.add((batch.X, batch.labels, batch.counts), self.rng)

    def _update(self, batch: LabeledPoints, objective: Objective, engine: Engine) -> None:
        keys = batch.followed_by(self._kept) if self.reservoir.n_seen else batch
        A, _ = self.coordinates.unpack(self.parameters)
        found = evaluate(A, objective, engine, batch, keys, np.arange(len(batch)))
        n_seen = self.reservoir.n_seen + len(batch)
        penalty = self.penalty if self.penalty_share is None else self.penalty_share / n_seen
        value, gradient = penalized(
            found.value / batch.total, found.gradient / batch.total, A, penalty
        )
        rate = self.rate / np.sqrt(1.0 + self.adam.n_steps / _STEADY_UPDATES)
        self.adam = self.adam.after(self.coordinates.gradient(gradient, 0.0))
        self.parameters = self.parameters + self.adam.change(rate)
        self.objectives.append(value)
