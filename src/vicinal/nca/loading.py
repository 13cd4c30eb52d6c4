"""Where the points of an update come from: converted on the host, or gathered on a device."""

from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from threading import Thread

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting import Draws
from vicinal.inputs.places import placed_points
from vicinal.inputs.points import LabeledPoints
from vicinal.neighborhood import Engine, namespace, placed
from vicinal.neighborhood.arrays import Array

__all__ = ["Ahead", "Sent", "batch_loader"]

# From positions to points of the rows to learn from.
Load = Callable[[NDArray], LabeledPoints]


class Ahead:
    """Loads the next batch while the present one is worked on, in a thread of its own."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._waiting: tuple[NDArray, Thread, list[LabeledPoints]] | None = None

    def get(self, positions: NDArray, following: NDArray | None) -> LabeledPoints:
        """The batch at these positions; start on the following one."""
        batch = None
        if self._waiting is not None and self._waiting[0] is positions:
            _, thread, loaded = self._waiting
            thread.join()
            batch = loaded.pop() if loaded else None
        if batch is None:
            batch = self._load(positions)
        self._waiting = None if following is None else self._begin(following)
        return batch

    def _begin(self, positions: NDArray) -> tuple[NDArray, Thread, list[LabeledPoints]]:
        loaded: list[LabeledPoints] = []

        def load() -> None:
            with suppress(Exception):  # who asks for the batch loads it again, and hears of it
                loaded.append(self._load(positions))

        # On the threads of whoever computes here.
        thread = Thread(target=copy_context().run, args=(load,), daemon=True)
        thread.start()
        return positions, thread, loaded


class Sent:
    """Positions of batches where an engine computes; those of an epoch are sent at once.

    Parameters
    ----------
    engine : Engine
    draws : Draws
        Which draw them.
    labels : array of int, optional
        Classes of all points, where the engine computes: batches come in their order, which
        spares an engine that sorts by class the trouble.
    """

    def __init__(self, engine: Engine, draws: Draws, labels: Array | None = None) -> None:
        self._engine, self._draws, self._labels = engine, draws, labels
        self._epoch: tuple[NDArray, ...] = ()
        self._parts: list[Array] = []

    def __call__(self) -> Array:
        """Positions of the points of the batch that was drawn last."""
        if self._epoch is not self._draws.epoch:
            self._epoch = self._draws.epoch
            sizes = [len(part) for part in self._epoch]
            whole = placed(self._engine, np.concatenate(self._epoch))
            if self._labels is not None:
                whole = self._by_class(whole, self._labels[whole], sizes)
            ends = np.cumsum(sizes)
            starts = [0, *ends[:-1]]
            self._parts = [whole[start:end] for start, end in zip(starts, ends, strict=True)]
        return self._parts[self._draws.position - 1]

    def _by_class(self, whole: Array, labels: Array, sizes: list[int]) -> Array:
        """Positions of an epoch, in the order of classes within each batch."""
        xp, part = namespace(whole), np.repeat(np.arange(len(sizes)), sizes)
        order = xp.argsort(labels, stable=True)
        return whole[order[xp.argsort(placed(self._engine, part)[order], stable=True)]]


def batch_loader(load: Load, engine: Engine, draws: Draws) -> Callable[[], LabeledPoints]:
    """What returns the points of the batch that was drawn last, where the engine computes.

    Parameters
    ----------
    load : callable
        From positions to points of the host.
    engine : Engine
    draws : Draws
    """
    ahead = Ahead(lambda positions: placed_points(engine, load(positions)))
    return lambda: ahead.get(draws.epoch[draws.position - 1], draws.peek())
