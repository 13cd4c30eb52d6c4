"""What a solver is: from parameters to a state, and from one state to the next.

A state holds all that the next step needs besides the problem: parameters, moments, rates. It is
made of arrays and numbers that nobody changes afterwards, so that it can be looked at, stored, and
handed to a solver of the same problem, which then goes on as if nothing had happened.

Arrays are NumPy's, or tensors on a device; an objective there is a number to come (`numbers.py`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

from vicinal.fitting.draws import Draws
from vicinal.fitting.ending import Ending
from vicinal.fitting.numbers import Number
from vicinal.neighborhood.arrays import Array

__all__ = ["ExactState", "Solver", "State", "StepwiseSolver", "Tell", "ValueAndGradient"]

# Parameters to the objective (maximized) and its gradient, of the parameters' shape.
ValueAndGradient = Callable[[Array], tuple[Number, Array]]


@dataclass(frozen=True)
class State:
    """Where a solver stands after an update; at first, where it starts.

    Attributes
    ----------
    parameters : array
    objective : float or array
        What is maximized, at the parameters.
    """

    parameters: Array
    objective: Number

    @property
    def exact_gradient(self) -> Array | None:
        """Gradient of the objective, where it is known and not that of a batch only."""
        return None

    def concluded(self) -> "State":
        """After the last update: without what only the next one would need."""
        return self


@dataclass(frozen=True)
class ExactState(State):
    """Where a solver stands that knows the gradient of the whole objective.

    Attributes
    ----------
    parameters : array
    objective : float or array
    gradient : array
        Of the shape of the parameters.
    """

    gradient: Array

    @property
    def exact_gradient(self) -> Array:
        """Gradient of the objective."""
        return self.gradient


# Called with the state after every update; True: stop now.
Tell = Callable[[State], bool]

AnyState = TypeVar("AnyState", bound=State)


class Solver(Protocol):
    """Moves parameters uphill."""

    @property
    def draws(self) -> Draws | None:
        """What is drawn for every update, if anything: its state belongs to that of the fit."""
        ...

    def recording(self) -> "Solver":
        """One whose states have all that it takes to go on from them."""
        ...

    def start(self, parameters: Array) -> State:
        """The state before the first update."""
        ...

    def follow(self, state: Any, tell: Tell) -> Ending | None:
        """Go on from a state of its own and tell of every update.

        Returns why there is no further update, or None where it was told to stop.
        """
        ...


class StepwiseSolver(ABC, Generic[AnyState]):
    """A solver that goes from one state to the next."""

    draws: Draws | None = None

    def recording(self) -> Self:
        """Itself: the next step needs a state and nothing else."""
        return self

    @abstractmethod
    def start(self, parameters: Array) -> AnyState:
        """The state before the first update."""

    @abstractmethod
    def step(self, state: AnyState) -> AnyState | Ending:
        """The state after one more update, or why there is none."""

    def follow(self, state: AnyState, tell: Tell) -> Ending | None:
        """Step for step, until told to stop."""
        while True:
            following = self.step(state)
            if isinstance(following, Ending):
                return following
            if tell(following):
                return None
            state = following
