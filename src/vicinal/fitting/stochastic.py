"""Adam and stochastic gradient ascent.

Here `value_and_gradient` speaks of a new batch at every call: the value told to
the loop is that of the batch the next step is taken from.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vicinal.fitting.draws import Draws
from vicinal.fitting.numbers import Number, in_doubles, norm
from vicinal.fitting.solver import State, StepwiseSolver, ValueAndGradient
from vicinal.neighborhood.arrays import Array, namespace, placed_like

__all__ = [
    "Adam",
    "AdamMoments",
    "AdamState",
    "AscentState",
    "GradientAscent",
    "cosine",
    "search_offset",
]

# A rate for update t = 0, 1, ...
Rate = Callable[[int], float]

# Thesis 3.3.1: t0 on an exponential scale from 0.1 to 1000; here two values per decade.
_OFFSETS = np.logspace(-1, 3, 9)

# Gradients whose squares are no numbers any more: Adam takes no step for them.
_NO_GRADIENT = 1e-150

# What the best of these is multiplied by, to look between it and the next on either side.
_BETWEEN = (10**-0.25, 10**0.25)

# A trial that grows by this factor has failed; going on could only overflow.
_RUNAWAY = 1e3


@dataclass(frozen=True)
class AscentState(State):
    """Where stochastic gradient ascent stands.

    Attributes
    ----------
    parameters : array
    objective : float or array
        Of one batch.
    gradient : array
        Of the same batch.
    n_steps : int
        Steps that were taken.
    """

    gradient: Array
    n_steps: int


@dataclass(frozen=True)
class GradientAscent(StepwiseSolver[AscentState]):
    """Steps η₀ / (t + t₀) along the gradient (thesis 3.3.1).

    Parameters
    ----------
    value_and_gradient : ValueAndGradient
    first, offset : float
        η₀ and t₀.
    draws : Draws, optional
        From which the batches come.
    """

    value_and_gradient: ValueAndGradient
    first: float
    offset: float
    draws: Draws | None = None

    def start(self, parameters: Array) -> AscentState:
        """The parameters, before the first step."""
        return AscentState(parameters, *_evaluate(self.value_and_gradient, parameters), 0)

    def step(self, state: AscentState) -> AscentState:
        """Along the gradient of the last batch."""
        rate = self.first / (state.n_steps + self.offset)
        parameters = state.parameters + rate * state.gradient
        found = _evaluate(self.value_and_gradient, parameters)
        return AscentState(parameters, *found, state.n_steps + 1)


@dataclass(frozen=True)
class AdamMoments:
    """Running moments of gradients (Kingma and Ba 2015, algorithm 1).

    Attributes
    ----------
    mean, square : array
        Of the gradients so far, the latest counting most; not yet corrected for their start at 0.
    n_steps : int
        Number of gradients.
    """

    mean: Array
    square: Array
    n_steps: int = 0

    @classmethod
    def none(cls, shape: tuple[int, ...], like: Array = 0.0) -> "AdamMoments":
        """Before the first gradient, in arrays of the kind of another one."""
        return cls(placed_like(np.zeros(shape), like), placed_like(np.zeros(shape), like))

    def after(self, gradient: Array) -> "AdamMoments":
        """With one more gradient of what is maximized."""
        mean = self.mean + 0.1 * (gradient - self.mean)
        square = self.square + 0.001 * (namespace(gradient).square(gradient) - self.square)
        return AdamMoments(mean, square, self.n_steps + 1)

    def change(self, rate: float) -> Array:
        """What is to be added to the parameters."""
        mean = self.mean / (1.0 - 0.9**self.n_steps)
        square = self.square / (1.0 - 0.999**self.n_steps)
        return rate * mean / (namespace(square).sqrt(square) + _NO_GRADIENT)


@dataclass(frozen=True)
class AdamState(State):
    """Where Adam stands.

    Attributes
    ----------
    parameters : array
    objective : float or array
        Of one batch.
    gradient : array
        Of the same batch; the moments do not know of it yet.
    moments : AdamMoments
    """

    gradient: Array
    moments: AdamMoments


@dataclass(frozen=True)
class Adam(StepwiseSolver[AdamState]):
    """Adam with a rate per update; it ends when the loop says so.

    Parameters
    ----------
    value_and_gradient : ValueAndGradient
    rate : Rate
    draws : Draws, optional
        From which the batches come.
    """

    value_and_gradient: ValueAndGradient
    rate: Rate
    draws: Draws | None = None

    def start(self, parameters: Array) -> AdamState:
        """The parameters, before the first step."""
        found = _evaluate(self.value_and_gradient, parameters)
        return AdamState(parameters, *found, AdamMoments.none(parameters.shape, parameters))

    def step(self, state: AdamState) -> AdamState:
        """By the moments, the gradient of the last batch among them."""
        moments = state.moments.after(state.gradient)
        parameters = state.parameters + moments.change(self.rate(state.moments.n_steps))
        return AdamState(parameters, *_evaluate(self.value_and_gradient, parameters), moments)


def cosine(first: float, n_updates: int) -> Rate:
    """From `first` down to zero along half a cosine wave (Loshchilov and Hutter 2017)."""
    return lambda t: float(0.5 * first * (1.0 + np.cos(np.pi * t / n_updates)))


def search_offset(
    value_and_gradient: ValueAndGradient,
    start: Array,
    score: Callable[[Array], float],
    n_updates: int,
    first: float | None = None,
    offset: float | None = None,
) -> tuple[float, float]:
    """η₀ and the t₀ with the best score after a short run: the best of a scale, then refined.

    Nothing is tried where t₀ is given (`offset`). Where η₀ is not (`first`), it makes the first
    step 10 / t₀ of the start's norm, so that the scale of t₀ runs from absurd to timid whatever
    the units.
    """
    if first is None:
        slope = float(norm(value_and_gradient(start)[1]))
        first = 10.0 * float(norm(start)) / slope if slope else 1.0
    if offset is not None:
        return first, offset
    limit = _RUNAWAY * float(norm(start))

    def trial(offset: float) -> float:
        parameters = start
        for t in range(n_updates):
            parameters = parameters + first / (t + offset) * value_and_gradient(parameters)[1]
            if not float(norm(parameters)) <= limit:
                return -np.inf
        return score(parameters)

    scores = {float(offset): trial(offset) for offset in _OFFSETS}
    best = max(scores, key=scores.__getitem__)
    scores |= {between: trial(between) for between in (best * f for f in _BETWEEN)}
    return first, max(scores, key=scores.__getitem__)


def _evaluate(value_and_gradient: ValueAndGradient, at: Array) -> tuple[Number, Array]:
    """Value and gradient in double precision."""
    value, gradient = value_and_gradient(at)
    return value, in_doubles(gradient)
