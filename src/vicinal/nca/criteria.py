"""What each point adds to the objective: every criterion is a value in one table.

p_i is the probability that point i picks a neighbor of its own class. A criterion is a function of
log p_i, as p_i itself may be too small for a number.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from vicinal.neighborhood import namespace
from vicinal.neighborhood.arrays import Array

__all__ = ["ACCURACY", "CRITERIA", "LOG", "Criterion"]

# From log p_i to what each point adds, and to the derivative of that in log p_i; all of shape (n,).
Terms = Callable[[Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Criterion:
    """What is summed over points.

    Attributes
    ----------
    name : str
        What the parameter `objective` calls it.
    mean : str
        What its mean over points is called in words.
    terms : callable
        From log p_i, shape (n,), to what each point adds and to the derivative of that in
        log p_i, in arrays of the same library (`namespace`). Where log p_i is -inf both must be
        numbers: in a batch it happens to the only member of a class.
    bounded : bool, default=True
        Whether p_i = 0 is a finite loss. Where not, data and kernels that leave a point without
        any neighbor of its class are refused.
    """

    name: str
    mean: str
    terms: Terms
    bounded: bool = True


def _accuracy(log_p: Array) -> tuple[Array, Array]:
    p = namespace(log_p).exp(log_p)
    return p, p


def _log(log_p: Array) -> tuple[Array, Array]:
    """A point without any neighbor of its class counts nothing."""
    xp, alone = namespace(log_p), log_p == -np.inf
    return xp.where(alone, 0.0, log_p), xp.where(alone, 0.0, xp.ones_like(log_p))


ACCURACY = Criterion("accuracy", "mean p", _accuracy)
LOG = Criterion("log", "mean log p", _log, bounded=False)

CRITERIA = {criterion.name: criterion for criterion in (ACCURACY, LOG)}
