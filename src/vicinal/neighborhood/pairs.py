"""Who looks at whom: a set of queries, a set of keys, and what each pair is allowed to see."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from vicinal.neighborhood.arrays import Array, is_numpy, on_host, positions

__all__ = ["DIFFERENT", "SAME", "Pairs"]

# The parts of a row: keys of another class, keys of the query's own class.
# Without labels there is one part, number 0, holding every key.
DIFFERENT, SAME = 0, 1

_ARRAYS = ("queries", "keys", "query_labels", "key_labels", "key_log_weights", "own")


@dataclass(frozen=True)
class Pairs:
    """All pairs of a query and a key, in arrays of one library on one device.

    Parameters
    ----------
    queries : array of shape (n, d)
        The projected points z_i that look.
    keys : array of shape (m, d)
        The projected points z_j that are looked at.
    query_labels, key_labels : array of int, shape (n,) and (m,), optional
        Classes. With labels each row has two parts: keys of another class and
        keys of the query's own.
    key_log_weights : array of shape (m,), optional
        Logarithm of the weight of each key; 0 where absent.
    own : array of int, shape (n,), optional
        The position of each query among the keys, -1 where it is not one of
        them. That pair is left out, and only that one: a different key at
        distance zero counts.
    n_near : int, optional
        How many of the coordinates, the first ones, distances are made of. The
        others are carried along: they enter the moments only. None: all.
    """

    queries: Array
    keys: Array
    query_labels: Array | None = None
    key_labels: Array | None = None
    key_log_weights: Array | None = None
    own: Array | None = None
    n_near: int | None = None

    # Whether they were made as `among`: who is whose own key need not be looked at.
    is_one_set = False

    def __post_init__(self) -> None:
        if self.queries.ndim != 2 or self.keys.ndim != 2:
            raise ValueError("queries and keys must be two-dimensional.")
        if self.queries.shape[1] != self.keys.shape[1]:
            raise ValueError(
                f"queries have {self.queries.shape[1]} coordinates and keys "
                f"{self.keys.shape[1]}: project both with the same map."
            )
        if (self.query_labels is None) != (self.key_labels is None):
            raise ValueError("give labels for queries and keys, or for neither.")
        self._check_length("query_labels", self.query_labels, len(self.queries))
        self._check_length("key_labels", self.key_labels, len(self.keys))
        self._check_length("key_log_weights", self.key_log_weights, len(self.keys))
        self._check_length("own", self.own, len(self.queries))
        self._check_own()
        self._check_near()

    @staticmethod
    def _check_length(name: str, values: Array | None, expected: int) -> None:
        if values is not None and values.shape != (expected,):
            raise ValueError(f"{name} has shape {values.shape}, expected ({expected},).")

    def _check_own(self) -> None:
        # Of tensors it would mean to wait for the device, only to look.
        if self.own is None or len(self.own) == 0 or not is_numpy(self.own):
            return
        if self.own.min() < -1 or self.own.max() >= len(self.keys):
            raise ValueError(f"own must lie between -1 and {len(self.keys) - 1}.")
        if np.bincount(self.own[self.own >= 0], minlength=1).max() > 1:
            raise ValueError("own names a key twice: two queries cannot be the same key.")

    def _check_near(self) -> None:
        d = self.queries.shape[1]
        if self.n_near is not None and not 1 <= self.n_near <= d:
            raise ValueError(f"n_near={self.n_near} must lie between 1 and {d}.")

    @classmethod
    def among(
        cls,
        points: Array,
        labels: Array | None = None,
        key_log_weights: Array | None = None,
        n_near: int | None = None,
    ) -> "Pairs":
        """Every point against every other one: leave-one-out over a single set."""
        pairs = cls(points, points, labels, labels, key_log_weights, n_near=n_near)
        object.__setattr__(pairs, "own", positions(points))  # nothing in it needs to be checked
        object.__setattr__(pairs, "is_one_set", True)
        return pairs

    @cached_property
    def on_host(self) -> "Pairs":
        """These pairs in NumPy's arrays, views of tensors that are in the host's memory.

        Kept: engines know pairs that come back by their being the same.
        """
        arrays = {name: value for name, value in vars(self).items() if name in _ARRAYS}
        # One view of an array that stands in two places: engines ask whether both are the same.
        views = {id(array): on_host(array) for array in arrays.values() if array is not None}
        found: dict[str, Any] = {name: views.get(id(array)) for name, array in arrays.items()}
        return replace(self, **found)

    @property
    def n_parts(self) -> int:
        """1 without labels, 2 (different, same) with them."""
        return 1 if self.query_labels is None else 2

    @property
    def near(self) -> slice:
        """The coordinates distances are made of."""
        return slice(self.n_near or self.queries.shape[1])

    @property
    def shape(self) -> tuple[int, int, int]:
        """Number of queries, of keys, of dimensions."""
        return len(self.queries), len(self.keys), self.queries.shape[1]
