"""Gradient ascent with the "bold driver" (Vogl et al. 1988; thesis 3.3.1), run in the one loop."""

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting.descent import ValueAndGradient
from vicinal.fitting.loop import Method, Report

__all__ = ["bold_driver"]

# After a gain the rate grows by this factor, after a loss it shrinks and the step is taken back.
_GROW, _SHRINK = 1.1, 0.5

# A step this small beside the parameters is lost in rounding.
_SMALLEST_STEP = 1e-12


def bold_driver(value_and_gradient: ValueAndGradient) -> Method:
    """Gradient ascent whose rate grows while the objective does; it never falls."""

    def method(start: NDArray, report: Report) -> tuple[bool, str]:
        parameters = start
        value, gradient = value_and_gradient(parameters)
        stop = report(parameters, value, gradient)
        rate = 1.0 / (float(np.linalg.norm(gradient)) or 1.0)  # the first step has norm 1
        while not stop:
            step = rate * gradient
            if np.linalg.norm(step) <= _SMALLEST_STEP * (1.0 + np.linalg.norm(parameters)):
                return True, "no step along the gradient gains anything"
            trial_value, trial_gradient = value_and_gradient(parameters + step)
            if trial_value > value:
                parameters, value, gradient = parameters + step, trial_value, trial_gradient
                rate *= _GROW
                stop = report(parameters, value, gradient)
            else:
                rate *= _SHRINK
        return False, "told to stop"

    return method
