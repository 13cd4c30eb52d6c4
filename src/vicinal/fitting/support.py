"""What every estimator needs around a fit."""

import numpy as np
from sklearn.utils import check_random_state

__all__ = ["FitSupport"]


class FitSupport:
    """One random generator per fit, and forgetting of earlier fits."""

    random_state: int | np.random.RandomState | None

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))

    def _forget(self, *names: str) -> None:
        """Drop attributes of an earlier fit."""
        for name in names:
            if hasattr(self, name):
                delattr(self, name)
