"""Rows of NumPy's arrays: memory maps, and .npy files that are read from their beginning on."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from vicinal.inputs.mapped import soon
from vicinal.rows.blocks import block_rows
from vicinal.rows.source import RowSource, naming_rows, precision_of

__all__ = ["ArrayRows", "NpyRows", "check_matrix", "places_of", "taken"]

_NUMBERS = "biuf"


def check_matrix(name: str, shape: Sequence[int], dtype: np.dtype) -> tuple[int, int]:
    """Rows and columns of an array of numbers."""
    if len(shape) != 2:
        raise ValueError(f"{name} has shape {tuple(shape)}: rows and columns are expected.")
    if dtype.kind not in _NUMBERS:
        raise ValueError(f"{name} is an array of {dtype}: numbers are expected.")
    return int(shape[0]), int(shape[1])


def places_of(name: str, n_columns: int, columns: Any, target: Any) -> tuple[NDArray, int | None]:
    """Positions of the columns of an array that were chosen, and of its target."""
    chosen = [*range(n_columns)] if columns is None else list(columns)
    for place in [*chosen, *([] if target is None else [target])]:
        is_whole = isinstance(place, int | np.integer) and not isinstance(place, bool)
        if not is_whole or not 0 <= place < n_columns:
            raise ValueError(
                f"{name} has no names, and no column {place!r}: choose columns and target by their "
                f"positions, from 0 to {n_columns - 1}."
            )
    left = [place for place in chosen if place != target]
    if not left:
        raise ValueError(f"{name} has no columns left to learn from.")
    return np.array(left, dtype=int), target


def taken(chunk: NDArray, places: NDArray) -> NDArray:
    """Some columns of a chunk; the chunk itself where these are all."""
    everything = len(places) == chunk.shape[1] and (np.diff(places) == 1).all()
    return chunk if everything else chunk[:, places]


class ArrayRows(RowSource):
    """Rows of a NumPy array, usually a memory map.

    Parameters
    ----------
    array : ndarray of shape (n, n_columns)
    name : str, default="X"
    columns : sequence of int, optional
        Positions of the columns. None: all but the target.
    target : int, optional
        Position of the target.
    """

    def __init__(
        self, array: NDArray, name: str = "X", columns: Any = None, target: Any = None
    ) -> None:
        n, n_columns = check_matrix(name, array.shape, array.dtype)
        self.name, self._array = name, array
        self._places, self._target = places_of(name, n_columns, columns, target)
        self.shape, self.dtype = (n, len(self._places)), precision_of([array.dtype])

    def chunks(self) -> Iterator[NDArray]:
        """Some megabytes at a time."""
        size = block_rows(self._array.shape[1])
        for start in range(0, len(self), size):
            soon(self._array, slice(start + size, start + 2 * size))
            yield taken(self._array[start : start + size], self._places)

    @property
    def at_hand(self) -> NDArray | None:
        """The array itself, unless columns are left out or are no floating-point numbers."""
        if self.shape[1] < self._array.shape[1] or self._array.dtype != self.dtype:
            return None
        return self._array if (np.diff(self._places) == 1).all() else None

    @property
    def target(self) -> NDArray | None:
        """The column that was named."""
        return None if self._target is None else np.array(self._array[:, self._target])


class NpyRows(RowSource):
    """Rows of a .npy file that can only be read from its beginning, as in object storage.

    Parameters
    ----------
    opened : callable
        Opens the file, each time anew.
    name : str
    columns : sequence of int, optional
        Positions of the columns. None: all but the target.
    target : int, optional
        Position of the target.
    """

    def __init__(
        self,
        opened: Callable[[], BinaryIO],
        name: str,
        columns: Any = None,
        target: Any = None,
    ) -> None:
        self._open, self.name = opened, name
        with naming_rows(name), opened() as stream:
            shape, by_columns, self._stored = _header(stream)
        n, self._width = check_matrix(name, shape, self._stored)
        if by_columns and min(shape) > 1:
            raise ValueError(
                f"{name} lies column by column, which cannot be read row by row: save it with "
                "np.save(path, np.ascontiguousarray(X))."
            )
        self._places, self._target = places_of(name, self._width, columns, target)
        self.shape, self.dtype = (n, len(self._places)), precision_of([self._stored])

    def chunks(self) -> Iterator[NDArray]:
        """Some megabytes at a time."""
        for chunk in self._whole_chunks():
            yield taken(chunk, self._places)

    @property
    def target(self) -> NDArray | None:
        """The column that was named; all of the file is read for it."""
        if self._target is None:
            return None
        return np.concatenate([chunk[:, self._target] for chunk in self._whole_chunks()])

    def _whole_chunks(self) -> Iterator[NDArray]:
        size, n = block_rows(self._width), len(self)
        with self._open() as stream:
            _header(stream)
            for start in range(0, n, size):
                rows = min(size, n - start)
                with naming_rows(f"rows {start} to {start + rows - 1} of {self.name}"):
                    yield _next_rows(stream, rows, self._width, self._stored)


def _header(stream: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype]:
    """Shape, whether it lies column by column, and type; never an object, which could run code."""
    version = np.lib.format.read_magic(stream)
    read = {(1, 0): np.lib.format.read_array_header_1_0}.get(
        version, np.lib.format.read_array_header_2_0
    )
    return read(stream)


def _next_rows(stream: BinaryIO, n: int, n_columns: int, dtype: np.dtype) -> NDArray:
    wanted = n * n_columns * dtype.itemsize
    content = stream.read(wanted)
    if len(content) < wanted:
        raise EOFError(f"{wanted} bytes were expected there, and {len(content)} found")
    return np.frombuffer(content, dtype).reshape(n, n_columns)
