"""What a fit tells about each of its updates."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from vicinal.fitting.numbers import Number, numbers
from vicinal.neighborhood.arrays import Array, is_numpy

__all__ = ["Update", "arrived"]


@dataclass(frozen=True)
class Update:
    """Parameters after an update; iteration 0 is the start.

    Attributes
    ----------
    iteration : int
    parameters : array
    objective : float or array
        What is maximized; an array without dimensions where that is to come from a device, and
        `float` waits for it.
    step : float or array
        Norm of the change of the parameters, as the objective.
    time : float
        Seconds since the loop began.
    validation : float
        Score on points held back; NaN where it was not asked for.
    likely_last : int or None
        Number of the update that will likely be the last; None where nobody knows.
    """

    iteration: int
    parameters: Array
    objective: Number
    step: Number
    time: float
    validation: float = math.nan
    likely_last: int | None = None


def arrived(updates: Sequence[Update]) -> list[Update]:
    """Updates with floats for all numbers; what is to come from a device in one transfer."""
    if is_numpy(*(value for update in updates for value in (update.objective, update.step))):
        return list(updates)
    found = numbers([update.objective for update in updates] + [update.step for update in updates])
    values = zip(updates, found[: len(updates)], found[len(updates) :], strict=True)
    return [replace(update, objective=value, step=step) for update, value, step in values]
