"""What every estimator needs around a fit."""

from typing import Any

import numpy as np

from vicinal.inputs.checks import check_seed

__all__ = ["FitSupport"]


class FitSupport:
    """One random generator per fit, and forgetting of earlier fits."""

    random_state: int | np.random.RandomState | None

    # Parameters that methods of a fitted model look at, as they were when it was fitted.
    _fitted_with: dict[str, Any]

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng(check_seed(self.random_state).randint(2**31 - 1))

    def _parameters(self, *names: str) -> dict[str, Any]:
        """To be kept as `_fitted_with`: `set_params` after `fit` speaks of the next fit."""
        return {name: getattr(self, name) for name in names}

    def _forget(self, *names: str) -> None:
        """Drop attributes of an earlier fit."""
        for name in names:
            vars(self).pop(name, None)
