"""Learning from a stream: stochastic EM against a bounded sample of what came before."""

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting import few_updates
from vicinal.inputs.copies import distinct_points
from vicinal.inputs.mapped import in_any_order
from vicinal.inputs.points import WeightedPoints
from vicinal.inputs.reservoir import Reservoir
from vicinal.local_components.columns import Columns
from vicinal.local_components.equations import Form
from vicinal.local_components.frame import GlobalFrame, moments_for
from vicinal.local_components.learning import LocalProblem, Penalty
from vicinal.local_components.selection import MOST_POINTS, choose_penalty
from vicinal.local_components.shapes import KernelShape
from vicinal.local_components.trials import Trials, row_folds
from vicinal.neighborhood import Engine
from vicinal.neighborhood.arrays import on_host

__all__ = ["MOST_TO_CHOOSE_FROM", "Stream"]

# Updates of EM over the points kept, whenever the points seen have doubled.
_N_UPDATES, _LEAST_GAIN = 30, 1e-4

# Rows of a first call that are looked at for copies of each other before some are chosen.
MOST_TO_CHOOSE_FROM = 20_000


class Stream:
    """State of `partial_fit`: moments of all points seen, a discounted scatter, the reservoir.

    Parameters
    ----------
    form : Form
    penalty : Penalty or None
        None: to be chosen, with exact EM over the points kept, whenever the points seen have
        doubled.
    discount : float
        γ: weight left of an old scatter after as many new points as were seen before.
    reservoir_size : int
    rng : numpy.random.Generator
    """

    def __init__(
        self,
        form: Form,
        penalty: Penalty | None,
        discount: float,
        reservoir_size: int,
        rng: np.random.Generator,
    ) -> None:
        self.form, self.discount, self.rng = form, discount, rng
        self.penalty, self.chooses, self.settled = penalty or Penalty(), penalty is None, 0.0
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
        return GlobalFrame.of_moments(
            self.mean, self.covariance, self.form, self.penalty.global_variances
        )

    @property
    def shape(self) -> KernelShape:
        """Of the density, in the coordinates of the user."""
        frame = self.frame
        return frame.shape(self.form, frame.covariance_inward(self.learned))

    @property
    def learned(self) -> NDArray:
        """The expected scatter, in the coordinates of the user."""
        if self.scatter is None:
            raise RuntimeError("nothing was learned yet")
        return self.scatter

    def remember(self, points: WeightedPoints, scatter: NDArray, penalty: Penalty) -> None:
        """Go on from a fit: its points, and its expected scatter in the user's coordinates."""
        self._count(points)
        self.reservoir.add((points.X, points.counts), self.rng)
        self.scatter = self.form.adopt(scatter)
        self.penalty, self.settled = penalty, self.total

    def learn(self, new: WeightedPoints, engine: Engine, batch_size: int) -> None:
        """One update per batch of new points, each against the batch and the reservoir."""
        if self.chooses and not self.settled:
            self._settle(new, engine)
        with in_any_order(new.X):
            for positions in self._batches(new, batch_size):
                batch = new[positions]
                self._update(batch, engine)
                self.reservoir.add((batch.X, batch.counts), self.rng)
        if self.chooses and self.total >= 2.0 * self.settled:
            self._settle(self.points, engine)
            self.settled = self.total

    def _settle(self, points: WeightedPoints, engine: Engine) -> None:
        """Choose the penalty by folds of some points, and learn from them by exact EM."""
        many = points.some(MOST_TO_CHOOSE_FROM, self.rng)  # they may be in a file, or elsewhere
        some = distinct_points(many.at(on_host(many.X)))[0].some(MOST_POINTS, self.rng)
        trials = Trials(row_folds(some), self.form, False, False, engine)
        self.penalty = choose_penalty(Columns.of(some, self.form), trials).penalty
        if len(some) == 1:
            return
        frame = GlobalFrame.of(some, self.form, self.penalty.global_variances)
        problem = LocalProblem(some, frame, self.form, self.penalty, engine, copies_count=False)
        solver = problem.solver(not self.form.gaussian, None, self.rng)
        scatter, _ = few_updates(solver, problem.start, _N_UPDATES, _LEAST_GAIN)
        self.scatter = frame.covariance_outward(scatter)

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
        mean, covariance = moments_for(self.form, points)
        if not self.total:
            self.total, self.mean, self.covariance = points.total, mean, covariance
            return
        share = points.total / (self.total + points.total)
        apart = mean - self.mean
        self.covariance = (1.0 - share) * self.covariance + share * covariance
        squares = np.square(apart) if self.form.is_diagonal else np.outer(apart, apart)
        self.covariance += share * (1.0 - share) * squares
        self.mean = self.mean + share * apart
        self.total += points.total
