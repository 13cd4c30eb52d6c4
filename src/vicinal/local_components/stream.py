"""Learning from a stream: stochastic EM against a bounded sample of what came before."""

import numpy as np
from numpy.typing import NDArray

from vicinal.inputs.points import WeightedPoints
from vicinal.inputs.reservoir import Reservoir
from vicinal.local_components.equations import Form, Shape
from vicinal.local_components.frame import GlobalFrame, global_moments
from vicinal.local_components.learning import LocalProblem, Penalty
from vicinal.neighborhood import Engine

__all__ = ["Stream"]


class Stream:
    """State of `partial_fit`: moments of all points seen, a discounted scatter, the reservoir.

    Parameters
    ----------
    form : Form
    penalty : Penalty
    discount : float
        γ: weight left of an old scatter after as many new points as were seen before.
    reservoir_size : int
    rng : numpy.random.Generator
    """

    def __init__(
        self,
        form: Form,
        penalty: Penalty,
        discount: float,
        reservoir_size: int,
        rng: np.random.Generator,
    ) -> None:
        self.form, self.penalty, self.discount, self.rng = form, penalty, discount, rng
        self.reservoir = Reservoir(reservoir_size)
        self.total, self.mean, self.covariance = 0.0, np.zeros(0), np.zeros((0, 0))
        self.scatter: NDArray | None = None
        self.objectives: list[float] = []

    @property
    def points(self) -> WeightedPoints:
        """The points kept, as the user gave them."""
        X, weights = self.reservoir.kept
        return WeightedPoints(X, None if (weights == 1).all() else weights)

    @property
    def frame(self) -> GlobalFrame:
        """Of all points seen."""
        return GlobalFrame.of_moments(self.mean, self.covariance, self.form, self.penalty.global_)

    @property
    def shape(self) -> Shape:
        """Of the density, in the coordinates of the user."""
        if self.scatter is None:
            raise RuntimeError("nothing was learned yet")
        frame = self.frame
        return self.form.shape(frame.covariance_inward(self.scatter)).moved(frame.factor)

    def remember(self, points: WeightedPoints, scatter: NDArray) -> None:
        """Go on from a fit: its points, and its expected scatter in the user's coordinates."""
        self._count(points)
        self.reservoir.add((points.X, points.counts), self.rng)
        self.scatter = scatter

    def learn(self, new: WeightedPoints, engine: Engine, batch_size: int) -> None:
        """One update per batch of new points, each against the batch and the reservoir."""
        for positions in self._batches(new, batch_size):
            batch = new[positions]
            self._update(batch, engine)
            self.reservoir.add((batch.X, batch.counts), self.rng)

    def _batches(self, new: WeightedPoints, batch_size: int) -> list[NDArray]:
        """Positions in parts of about that size; the very first weighs two points, if all do."""
        order = self.rng.permutation(len(new))
        parts = np.array_split(order, -(-len(new) // batch_size))
        if self.total or new[parts[0]].total >= 2:
            return parts
        enough = int(np.searchsorted(np.cumsum(new.counts[order]), 2.0)) + 1
        rest = np.array_split(order[enough:], max(1, -(-(len(new) - enough) // batch_size)))
        return [part for part in (order[:enough], *rest) if len(part)]

    def _update(self, batch: WeightedPoints, engine: Engine) -> None:
        self._count(batch)
        keys = batch.followed_by(self.points) if self.reservoir.n_seen else batch
        problem = LocalProblem(keys, self.frame, self.form, self.penalty, engine)
        frame, before = problem.frame, problem.frame.start(self.form)
        if self.scatter is not None:
            before = frame.covariance_inward(self.scatter)
        objective, new = problem.of_first(before, len(batch))
        kept = self.discount ** (batch.total / self.total)
        self.scatter = frame.covariance_outward(kept * before + (1.0 - kept) * new)
        self.objectives.append(objective)

    def _count(self, points: WeightedPoints) -> None:
        """Merge mean and covariance of new points into those of all."""
        mean, covariance = global_moments(points)
        if not self.total:
            self.total, self.mean, self.covariance = points.total, mean, covariance
            return
        share = points.total / (self.total + points.total)
        apart = mean - self.mean
        self.covariance = (1.0 - share) * self.covariance + share * covariance
        self.covariance += share * (1.0 - share) * np.outer(apart, apart)
        self.mean = self.mean + share * apart
        self.total += points.total
