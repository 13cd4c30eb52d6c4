"""Batches of one epoch after the other, and the chance they come from, as a state to be kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DrawState", "Draws", "split"]


@dataclass(frozen=True)
class DrawState:
    """Where draws stand.

    Attributes
    ----------
    epoch : tuple of ndarray
        Positions of the points of every batch of the present epoch, the first batch first.
    position : int
        Batches of it that were drawn.
    generator : dict
        State of the random generator.
    """

    epoch: tuple[NDArray, ...]
    position: int
    generator: dict[str, Any]


class Draws:
    """Batches of one epoch after the other.

    Parameters
    ----------
    rng : numpy.random.Generator
        All chance comes from it, so that what else is drawn for an update is part of the state.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self._epoch: tuple[NDArray, ...] = ()
        self._position = 0

    def next_of(self, new_epoch: Callable[[], Sequence[NDArray]]) -> NDArray:
        """Positions of the points of the next batch, the first of a new epoch if one is over."""
        if self._position == len(self._epoch):
            self._epoch, self._position = tuple(reversed(new_epoch())), 0
        self._position += 1
        return self._epoch[self._position - 1]

    @property
    def epoch(self) -> tuple[NDArray, ...]:
        """All batches of the present epoch, the first one first: another object in every epoch."""
        return self._epoch

    @property
    def position(self) -> int:
        """Batches of the epoch that were drawn."""
        return self._position

    def peek(self) -> NDArray | None:
        """The batch after this one, where it belongs to the same epoch."""
        return self._epoch[self._position] if self._position < len(self._epoch) else None

    @property
    def state(self) -> DrawState:
        """All that the next draws depend on."""
        return DrawState(self._epoch, self._position, dict(self.rng.bit_generator.state))

    def restore(self, state: DrawState) -> None:
        """Draw from here on as they did who had this state."""
        self._epoch, self._position = state.epoch, state.position
        self.rng.bit_generator.state = state.generator


def split(order: NDArray, size: int) -> list[NDArray]:
    """Consecutive parts of at most `size`, whose sizes differ by one at most."""
    return np.array_split(order, -(-len(order) // size))
