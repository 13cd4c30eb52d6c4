"""Adam and stochastic gradient ascent, run in the one loop.

Here `value_and_gradient` speaks of a new batch at every call: the value told to
the loop is that of the batch the next step is taken from.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting.descent import ValueAndGradient
from vicinal.fitting.loop import Method, Report

__all__ = ["Adam", "adam", "cosine", "gradient_ascent", "search_offset"]

# A rate for update t = 0, 1, ...
Rate = Callable[[int], float]

# Thesis 3.3.1: t0 on an exponential scale from 0.1 to 1000; here two values per decade.
_OFFSETS = np.logspace(-1, 3, 9)

# Gradients whose squares are no numbers any more: Adam takes no step for them.
_NO_GRADIENT = 1e-150

# A trial that grows by this factor has failed; going on could only overflow.
_RUNAWAY = 1e3


class Adam:
    """Adam's running moments (Kingma and Ba 2015, algorithm 1) and the step they give."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.n_steps = 0
        self.mean = np.zeros(shape)
        self.square = np.zeros(shape)

    def step(self, gradient: NDArray, rate: float) -> NDArray:
        """The change of the parameters for this gradient of what is maximized."""
        self.n_steps += 1
        self.mean += 0.1 * (gradient - self.mean)
        self.square += 0.001 * (np.square(gradient) - self.square)
        mean = self.mean / (1.0 - 0.9**self.n_steps)
        square = self.square / (1.0 - 0.999**self.n_steps)
        return rate * mean / (np.sqrt(square) + _NO_GRADIENT)


def cosine(first: float, n_updates: int) -> Rate:
    """From `first` down to zero along half a cosine wave (Loshchilov and Hutter 2017)."""
    return lambda t: 0.5 * first * (1.0 + np.cos(np.pi * t / n_updates))


def adam(value_and_gradient: ValueAndGradient, rate: Rate) -> Method:
    """Adam with a rate per update; it ends when the loop says so."""

    def method(start: NDArray, report: Report) -> tuple[bool, str]:
        state = Adam(start.shape)
        return _ascend(value_and_gradient, start, report, lambda t, g: state.step(g, rate(t)))

    return method


def gradient_ascent(value_and_gradient: ValueAndGradient, first: float, offset: float) -> Method:
    """Steps η₀ / (t + t₀) along the gradient (thesis 3.3.1), η₀ = `first`, t₀ = `offset`."""

    def method(start: NDArray, report: Report) -> tuple[bool, str]:
        return _ascend(value_and_gradient, start, report, lambda t, g: first / (t + offset) * g)

    return method


def search_offset(
    value_and_gradient: ValueAndGradient,
    start: NDArray,
    score: Callable[[NDArray], float],
    n_updates: int,
) -> tuple[float, float]:
    """η₀ and the t₀ with the best score after a short run.

    η₀ makes the first step 10 / t₀ of the start's norm, so that the scale of t₀
    runs from absurd to timid whatever the units.
    """
    norm = float(np.linalg.norm(value_and_gradient(start)[1]))
    first = 10.0 * float(np.linalg.norm(start)) / norm if norm else 1.0
    limit = _RUNAWAY * float(np.linalg.norm(start))

    def trial(offset: float) -> float:
        parameters = start
        for t in range(n_updates):
            parameters = parameters + first / (t + offset) * value_and_gradient(parameters)[1]
            if not np.linalg.norm(parameters) <= limit:
                return -np.inf
        return score(parameters)

    return first, float(max(_OFFSETS, key=trial))


def _ascend(
    value_and_gradient: ValueAndGradient,
    start: NDArray,
    report: Report,
    step: Callable[[int, NDArray], NDArray],
) -> tuple[bool, str]:
    parameters, t = start, 0
    while True:
        value, gradient = value_and_gradient(parameters)
        if report(parameters, value):
            return False, "told to stop"
        parameters = parameters + step(t, np.asarray(gradient, dtype=np.float64))
        t += 1
