"""What a fit tells about each of its updates."""

import math
from dataclasses import dataclass

from numpy.typing import NDArray

__all__ = ["Update"]


@dataclass(frozen=True)
class Update:
    """Parameters after an update; iteration 0 is the start.

    Attributes
    ----------
    iteration : int
    parameters : ndarray
    objective : float
        What is maximized.
    step : float
        Norm of the change of the parameters.
    time : float
        Seconds since the loop began.
    validation : float
        Score on points held back; NaN where it was not asked for.
    likely_last : int or None
        Number of the update that will likely be the last; None where nobody knows.
    """

    iteration: int
    parameters: NDArray
    objective: float
    step: float
    time: float
    validation: float = math.nan
    likely_last: int | None = None
