"""Gradient ascent with the "bold driver" (Vogl et al. 1988; thesis 3.3.1)."""

from dataclasses import dataclass

from vicinal.fitting.ending import Ending, Reason
from vicinal.fitting.numbers import norm
from vicinal.fitting.solver import ExactState, StepwiseSolver, ValueAndGradient
from vicinal.neighborhood.arrays import Array

__all__ = ["BoldDriver", "BoldState"]

# After a gain the rate grows by this factor, after a loss it shrinks and the step is taken back.
_GROW, _SHRINK = 1.1, 0.5

# A step this small beside the parameters is lost in rounding.
_SMALLEST_STEP = 1e-12

_NO_GAIN = Ending(Reason.SOLVER_DONE, "no step along the gradient gains anything")


@dataclass(frozen=True)
class BoldState(ExactState):
    """Where the bold driver stands.

    Attributes
    ----------
    parameters : array
    objective : float or array
    gradient : array
    rate : float
        Of the next step.
    """

    rate: float


@dataclass(frozen=True)
class BoldDriver(StepwiseSolver[BoldState]):
    """Gradient ascent whose rate grows while the objective does; it never falls."""

    value_and_gradient: ValueAndGradient

    def start(self, parameters: Array) -> BoldState:
        """A rate that gives the first step norm 1."""
        value, gradient = self.value_and_gradient(parameters)
        rate = 1.0 / (float(norm(gradient)) or 1.0)
        return BoldState(parameters, value, gradient, rate)

    def step(self, state: BoldState) -> BoldState | Ending:
        """The first step that gains, at ever smaller rates."""
        rate = state.rate
        while True:
            step = rate * state.gradient
            if norm(step) <= _SMALLEST_STEP * (1.0 + norm(state.parameters)):
                return _NO_GAIN
            trial = state.parameters + step
            value, gradient = self.value_and_gradient(trial)
            if value > state.objective:
                return BoldState(trial, value, gradient, rate * _GROW)
            rate *= _SHRINK
