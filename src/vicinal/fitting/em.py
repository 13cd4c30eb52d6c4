"""Expectation-maximization and its acceleration by SQUAREM, run in the one loop."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting.loop import Method, Report

__all__ = ["CollapseError", "Step", "accelerated_em", "em"]

# From parameters to their objective (an E-step) and to the next parameters (an M-step).
Step = Callable[[NDArray], tuple[float, NDArray]]

# Of coordinates.
Change = Callable[[NDArray], NDArray]


class CollapseError(ValueError):
    """Parameters or data are degenerate: there is no likelihood, or no bound to it."""


def em(step: Step, kept: float = 0.0) -> Method:
    """Every step is an update.

    Parameters
    ----------
    step : Step
    kept : float, default=0.0
        Share of the parameters that stays where they are averages over points
        and a step sees only some of these: stochastic EM. 0: plain EM.
    """

    def method(start: NDArray, report: Report) -> tuple[bool, str]:
        parameters = start
        while True:
            objective, following = step(parameters)
            if report(parameters, objective):
                return False, "told to stop"
            parameters = kept * parameters + (1.0 - kept) * following if kept else following

    return method


def accelerated_em(step: Step, inward: Change, outward: Change) -> Method:
    """SQUAREM (Varadhan and Roland 2008, scheme S3), never below where plain EM would be.

    After two steps of EM the next parameters are extrapolated from both; where
    the objective there is not above that after the first step, they are those of
    plain EM.

    Parameters
    ----------
    step : Step
    inward, outward : callable
        From parameters to a space without bounds, where they are extrapolated,
        and back.
    """

    def method(start: NDArray, report: Report) -> tuple[bool, str]:
        objective, first = step(start)
        parameters = start
        while not report(parameters, objective):
            after_first, second = step(first)
            if report(first, after_first):
                break
            jump = outward(_extrapolate(*map(inward, (parameters, first, second))))
            objective, following = _try(step, jump)
            if objective >= after_first:
                parameters, first = jump, following
            else:
                parameters = second
                objective, first = step(second)
        return False, "told to stop"

    return method


def _try(step: Step, parameters: NDArray) -> tuple[float, NDArray]:
    """A step, or minus infinity where the extrapolation went too far."""
    try:
        return step(parameters)
    except CollapseError:
        return -np.inf, parameters


def _extrapolate(start: NDArray, first: NDArray, second: NDArray) -> NDArray:
    change = first - start
    curvature = (second - first) - change
    norm = float(np.linalg.norm(curvature))
    length = max(1.0, float(np.linalg.norm(change)) / norm) if norm else 1.0
    return start + 2.0 * length * change + length**2 * curvature
