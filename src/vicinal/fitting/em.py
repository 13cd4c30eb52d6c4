"""Expectation-maximization, and its acceleration by SQUAREM."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting.draws import Draws
from vicinal.fitting.numbers import norm
from vicinal.fitting.solver import State, StepwiseSolver

__all__ = ["EM", "SQUAREM", "CollapseError", "EMState", "SquaremState", "Step"]

# From parameters to their objective (an E-step) and to the next parameters (an M-step).
Step = Callable[[NDArray], tuple[float, NDArray]]

# Of coordinates.
Change = Callable[[NDArray], NDArray]


class CollapseError(ValueError):
    """Parameters or data are degenerate: there is no likelihood, or no bound to it."""


@dataclass(frozen=True)
class EMState(State):
    """Where EM stands.

    Attributes
    ----------
    parameters : ndarray
    objective : float
    following : ndarray
        Where a step leads from the parameters.
    """

    following: NDArray


@dataclass(frozen=True)
class EM(StepwiseSolver[EMState]):
    """Every step is an update.

    Parameters
    ----------
    em_step : Step
    kept : float, default=0.0
        Share of the parameters that stays where they are averages over points
        and a step sees only some of these: stochastic EM. 0: plain EM.
    draws : Draws, optional
        From which a step takes the points it sees.
    """

    em_step: Step
    kept: float = 0.0
    draws: Draws | None = None

    def start(self, parameters: NDArray) -> EMState:
        """The parameters, and where a step leads from there."""
        return EMState(parameters, *self.em_step(parameters))

    def step(self, state: EMState) -> EMState:
        """The step that is known, and the one after it."""
        parameters = state.following
        if self.kept:
            parameters = self.kept * state.parameters + (1.0 - self.kept) * state.following
        return self.start(parameters)


@dataclass(frozen=True)
class SquaremState(EMState):
    """Where SQUAREM stands.

    Attributes
    ----------
    parameters : ndarray
    objective : float
    following : ndarray
        Where a step of EM leads from the parameters.
    before : ndarray or None
        From where a step of EM led to the parameters, if they were not extrapolated.
    """

    before: NDArray | None = None


@dataclass(frozen=True)
class SQUAREM(StepwiseSolver[SquaremState]):
    """EM, extrapolated, and never below where plain EM would be (Varadhan and Roland 2008, S3).

    After two steps of EM the next parameters are extrapolated from both; where
    the objective there is not above that after the first step, they are those of
    plain EM.

    Parameters
    ----------
    em_step : Step
    inward, outward : callable
        From parameters to a space without bounds, where they are extrapolated,
        and back.
    """

    em_step: Step
    inward: Change
    outward: Change

    def start(self, parameters: NDArray) -> SquaremState:
        """The parameters, and where a step leads from there."""
        return SquaremState(parameters, *self.em_step(parameters))

    def step(self, state: SquaremState) -> SquaremState:
        """A step of EM first, then an extrapolation."""
        if state.before is None:
            return SquaremState(state.following, *self.em_step(state.following), state.parameters)
        iterates = (state.before, state.parameters, state.following)
        jump = self.outward(_extrapolate(*map(self.inward, iterates)))
        objective, following = self._try(jump)
        if objective >= state.objective:
            return SquaremState(jump, objective, following)
        return self.start(state.following)

    def _try(self, parameters: NDArray) -> tuple[float, NDArray]:
        """A step, or minus infinity where the extrapolation went too far."""
        try:
            return self.em_step(parameters)
        except CollapseError:
            return -np.inf, parameters


def _extrapolate(start: NDArray, first: NDArray, second: NDArray) -> NDArray:
    change = first - start
    curvature = (second - first) - change
    bend = float(norm(curvature))
    length = max(1.0, float(norm(change)) / bend) if bend else 1.0
    return start + 2.0 * length * change + length**2 * curvature
