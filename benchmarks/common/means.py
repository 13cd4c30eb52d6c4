"""Means over splits or seeds."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Mean(NamedTuple):
    """A mean, its standard error where there is one, and of how many values, if that is known."""

    value: float
    error: float | None = None
    n: int | None = None

    @classmethod
    def of(cls, values: Sequence[float] | np.ndarray) -> "Mean":
        """Of one value for each split."""
        values, n = np.asarray(values), len(values)
        error = float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else None
        return cls(float(values.mean()), error, n)

    @classmethod
    def of_shares(cls, shares: Sequence[float]) -> "Mean":
        """In percent, of shares between 0 and 1."""
        return cls.of(100 * np.array(shares))

    def words(self, digits: int = 1, sign: str = "") -> str:
        """Mean ± error; the sign "+" shows that of positive means, too."""
        error = "" if self.error is None else f" ± {self.error:.{digits}f}"
        return f"{self.value:{sign}.{digits}f}{error}"
