"""How likely rows held back are after a fit to the others: what every choice by folds asks for."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting import CollapseError, few_updates
from vicinal.fitting.checkpoints import remembered
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.equations import Form
from vicinal.local_components.frame import GlobalFrame
from vicinal.local_components.learning import LocalProblem, Penalty
from vicinal.local_components.search import search
from vicinal.local_components.shapes import KernelShape
from vicinal.neighborhood import Engine

__all__ = ["Fold", "Trials", "row_folds"]

# Rows are held back in so many turns, but no more turns are taken once so many rows were.
N_FOLDS, _ENOUGH_HELD = 5, 1000

# Updates of EM for each trial, and the least one must gain per dimension.
_N_UPDATES, _LEAST_GAIN = 30, 3e-4

Fold = tuple[WeightedPoints, WeightedPoints]


def row_folds(points: WeightedPoints, most: int = N_FOLDS) -> list[Fold]:
    """Points to learn from, two at least, and points held back, in up to five turns.

    Rows that are equal should have been merged: a twin of a row held back would tell all about it.
    The folds depend on the rows alone, so that fits can be compared.
    """
    n = len(points)
    n_folds = min(N_FOLDS, n)
    dealt = np.random.default_rng(0).permutation(np.arange(n) % n_folds)
    n_turns = min(most, n_folds, -(-_ENOUGH_HELD * n_folds // n))
    return [(points[dealt != turn], points[dealt == turn]) for turn in range(n_turns)]


@dataclass
class Trials:
    """Short fits of one form to the points of every fold.

    Attributes
    ----------
    folds : list of Fold
    form : Form
    accelerate : bool
    searches : bool
        Whether each of them searches for Gaussian directions.
    engine : Engine
    tell : callable
        Told of every fit that was made.
    """

    folds: list[Fold]
    form: Form
    accelerate: bool
    searches: bool
    engine: Engine
    tell: Callable[[float], None] = lambda _: None
    # Where the fit to each fold before this one ended, in the coordinates of the user.
    reached: dict[int, NDArray] = field(default_factory=dict)

    def score(self, penalty: Penalty) -> float:
        """Mean log-likelihood of the points held back; -inf where a fit collapses."""

        def of(turn: int, learning: WeightedPoints, held: WeightedPoints) -> float:
            problem, scatter = self._fit(turn, learning, penalty)
            return problem.log_likelihood_of(held, scatter)

        found, self.reached = remembered(lambda: (self._mean(of), self.reached))
        return found

    def shapes(self, penalty: Penalty) -> list[tuple[NDArray, KernelShape]]:
        """Mean of the points to learn from, and the shape of the kernels, of every fold."""
        fits = [self._fit(turn, fold[0], penalty) for turn, fold in enumerate(self.folds)]
        return [(problem.frame.mean, problem.shape(scatter)) for problem, scatter in fits]

    def gaussian_score(self, penalty: Penalty) -> float:
        """Mean log-likelihood of the points held back under a Gaussian, but for a constant."""

        def of(_: int, learning: WeightedPoints, held: WeightedPoints) -> float:
            frame = GlobalFrame.of(learning, Form(), penalty.global_variances)
            log_p: NDArray = -0.5 * np.square(frame.inward(held).X).sum(axis=1)
            return float(np.average(log_p, weights=held.weights)) - frame.log_volume

        return self._mean(of)

    def _mean(self, score: Callable[[int, WeightedPoints, WeightedPoints], float]) -> float:
        totals = [held.total for _, held in self.folds]
        try:
            scores = [score(turn, *fold) for turn, fold in enumerate(self.folds)]
        except CollapseError:
            return -np.inf
        return float(np.average(scores, weights=totals))

    def _fit(
        self, turn: int, learning: WeightedPoints, penalty: Penalty
    ) -> tuple[LocalProblem, NDArray]:
        """The problem of a fold and a scatter close to its solution."""
        frame = GlobalFrame.of(learning, self.form, penalty.global_variances)
        problem = LocalProblem(learning, frame, self.form, penalty, self.engine, copies_count=False)
        least_gain = _LEAST_GAIN * len(frame.mean)
        start = self._start(turn, problem, least_gain)
        solver = problem.solver(self.accelerate, None, np.random.default_rng(0))
        scatter, _ = few_updates(solver, start, _N_UPDATES, least_gain)
        self.reached[turn] = frame.covariance_outward(scatter)
        self.tell(1.0 / len(self.folds))
        return problem, scatter

    def _start(self, turn: int, problem: LocalProblem, least_gain: float) -> NDArray:
        """Where the fit before ended, but for Gaussian directions, which it cannot leave."""
        if self.searches:
            return search(problem.step, self.form, problem.start, least_gain)
        if self.form.gaussian or problem.penalty.is_all or turn not in self.reached:
            return problem.start
        return problem.frame.covariance_inward(self.reached[turn])
