"""What every estimator needs around a fit."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from vicinal.fitting.checkpoints import chance, checkpointed, current, remembered
from vicinal.inputs.checks import check_seed

__all__ = ["FitSupport", "as_it_was"]


@contextmanager
def as_it_was(model: Any) -> Iterator[None]:
    """Let a model have the attributes it had, where an error, or Ctrl-C, ends the block."""
    before = dict(vars(model))
    try:
        yield
    except BaseException:
        vars(model).clear()
        vars(model).update(before)
        raise


class FitSupport:
    """One random generator per fit, and forgetting of earlier fits."""

    random_state: int | np.random.RandomState | None

    # Parameters that methods of a fitted model look at, as they were when it was fitted.
    _fitted_with: dict[str, Any]

    def _generator(self) -> np.random.Generator:
        random_state = check_seed(chance(self.random_state))
        seed = remembered(lambda: int(random_state.randint(2**31 - 1)))
        generator, journal = np.random.default_rng(seed), current()
        if journal is not None:
            journal.watch(generator)
        return generator

    def _checkpointed(self, method: str, **data: Any) -> AbstractContextManager[None]:
        """Around all of a fit that takes long, from the first random number on."""
        return checkpointed(self, method, data)

    def _parameters(self, *names: str) -> dict[str, Any]:
        """To be kept as `_fitted_with`: `set_params` after `fit` speaks of the next fit."""
        return {name: getattr(self, name) for name in names}

    def _forget(self, *names: str) -> None:
        """Drop attributes of an earlier fit."""
        for name in names:
            vars(self).pop(name, None)
