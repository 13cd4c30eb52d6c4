"""A bounded sample of a stream."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Reservoir"]


class Reservoir:
    """A uniform sample of at most `size` of all rows seen (Vitter 1985, algorithm R).

    Attributes
    ----------
    n_seen : int
    kept : tuple of ndarray
        Arrays of equal length, one row of each per point kept; empty at first.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.n_seen = 0
        self.kept: tuple[NDArray, ...] = ()

    def add(self, new: tuple[NDArray, ...], rng: np.random.Generator) -> None:
        """Take in new rows; each of all seen so far stays with the same probability."""
        old = self.kept or tuple(array[:0] for array in new)
        n_new = len(new[0])
        room = min(self.size - len(old[0]), n_new)
        late = np.arange(room, n_new)
        slots = rng.integers(0, self.n_seen + late + 1)
        lucky = slots < self.size
        # Where two rows draw the same slot the later one stays, as one by one.
        slots, last = np.unique(slots[lucky][::-1], return_index=True)
        winners = late[lucky][::-1][last]
        self.kept = tuple(
            np.concatenate([before, more[:room]]) for before, more in zip(old, new, strict=True)
        )
        for array, more in zip(self.kept, new, strict=True):
            array[slots] = more[winners]
        self.n_seen += n_new
