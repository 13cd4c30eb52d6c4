"""Rows that come from other rows, when they are read."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from vicinal.rows.source import RowSource

__all__ = ["MappedRows", "SomeRows"]


class SomeRows(RowSource):
    """Some rows of a source.

    Parameters
    ----------
    source : RowSource
    positions : ndarray of int
        Of these rows, in ascending order.
    """

    def __init__(self, source: RowSource, positions: NDArray) -> None:
        self._source, self._positions = source, positions
        self.name, self.dtype, self.columns = source.name, source.dtype, source.columns
        self.shape = (len(positions), source.shape[1])

    def chunks(self) -> Iterator[NDArray]:
        """What is left of the chunks of the source."""
        before = 0
        for chunk in self._source.chunks():
            after = before + len(chunk)
            first, last = np.searchsorted(self._positions, [before, after])
            if first < last:
                yield chunk[self._positions[first:last] - before]
            before = after


class MappedRows(RowSource):
    """Rows of a source, each by itself made into others of as many columns.

    Parameters
    ----------
    source : RowSource
    function : callable
        From some rows to as many others.
    how : str
        What it does to them, for messages.
    """

    def __init__(self, source: RowSource, function: Callable[[NDArray], NDArray], how: str) -> None:
        self._source, self._function = source, function
        self.name, self.shape, self.dtype = f"{source.name}, {how},", source.shape, source.dtype

    def chunks(self) -> Iterator[NDArray]:
        """The chunks of the source, made into others."""
        for chunk in self._source.chunks():
            yield self._function(chunk)
