"""Numbers that compiled kernels and Python share; nothing here loads a compiler."""

from typing import NamedTuple

import numpy as np

__all__ = ["COMPACT", "CUT_DOUBLE", "CUT_SINGLE", "GAUSSIAN", "STUDENT", "LawNumbers"]

# What compiled kernels branch on, once per row of a tile. A law without a code has none of them.
GAUSSIAN, COMPACT, STUDENT = 0, 1, 2

# Powers of two below these count as zero: far below rounding for any sum, yet far enough above
# the smallest normal number that products with a coordinate never become subnormal (slow).
CUT_DOUBLE = -900.0
CUT_SINGLE = np.float32(-100.0)


class LawNumbers(NamedTuple):
    """A law in some number of dimensions, as compiled kernels see it.

    Squared distances s come in the law's own units (`Law.scale`).

    Attributes
    ----------
    code : int
    power : float
        a of (1 + s)^(-a) for Student's law.
    decay : float
        -k' / k at s = 0, by the squared distance as the user has it.
    log_decay : float
        log2 of it.
    scale : float
        What points were multiplied by.
    """

    code: int
    power: float = 0.0
    decay: float = 1.0
    log_decay: float = 0.0
    scale: float = 1.0
