"""Rows of arrays in chunks: of zarr, and of dask."""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.rows.arrays import check_matrix, places_of, taken
from vicinal.rows.blocks import block_rows
from vicinal.rows.source import RowSource, naming_rows, precision_of

__all__ = ["DaskRows", "ZarrRows", "check_can_compute"]


class ZarrRows(RowSource):
    """Rows of a zarr array, read some megabytes at a time, but at least one chunk.

    Parameters
    ----------
    array : zarr.Array of shape (n, n_columns)
    name : str, optional
        None: the path of the store.
    columns : sequence of int, optional
        Positions of the columns. None: all but the target.
    target : int or zarr.Array, optional
        Position of a column, or a separate array.
    """

    def __init__(
        self, array: Any, name: str | None = None, columns: Any = None, target: Any = None
    ) -> None:
        self.name = name or str(getattr(array, "store_path", "X"))
        n, n_columns = check_matrix(self.name, array.shape, np.dtype(array.dtype))
        self._array, self._own_target = array, None
        if hasattr(target, "shape"):
            check_length(self.name, n, target)
            self._own_target, target = target, None
        self._places, self._target = places_of(self.name, n_columns, columns, target)
        self.shape, self.dtype = (n, len(self._places)), precision_of([array.dtype])

    def chunks(self) -> Iterator[NDArray]:
        """Rows of whole chunks."""
        for part in self._parts(slice(None)):
            yield taken(part, self._places)

    @property
    def target(self) -> NDArray | None:
        """The column or the array that was named."""
        if self._own_target is not None:
            return np.asarray(self._own_target[:])
        if self._target is None:
            return None
        return np.concatenate(list(self._parts(self._target)))

    def _parts(self, columns: Any) -> Iterator[NDArray]:
        high = int(self._array.chunks[0])
        step = max(1, block_rows(self._array.shape[1]) // high) * high
        for start in range(0, len(self), step):
            stop = min(start + step, len(self))
            with naming_rows(f"rows {start} to {stop - 1} of {self.name}"):
                part = np.asarray(self._array[start:stop, columns])
            yield part


class DaskRows(RowSource):
    """Rows of a Dask array, computed one row of chunks at a time.

    Parameters
    ----------
    array : dask.array.Array of shape (n, n_columns)
    name : str, default="X"
    """

    def __init__(self, array: Any, name: str = "X") -> None:
        check_can_compute(array, name)
        if isinstance(array._meta, np.ma.MaskedArray):
            raise TypeError(
                f"{name} is a masked array, and what is masked would count like all else: give it "
                f"values by dask.array.ma.filled({name}, value), or drop these rows, first."
            )
        self.name = name
        self.shape = check_matrix(name, array.shape, np.dtype(array.dtype))
        self.array, self.dtype = array, precision_of([array.dtype])

    def chunks(self) -> Iterator[NDArray]:
        """As dask has them, the columns of a row together."""
        whole = self.array.rechunk({1: -1})
        start = 0
        for number, size in enumerate(whole.chunks[0]):
            rows = f"rows {start} to {start + size - 1} of {self.name}, chunk {number} of dask,"
            with naming_rows(rows):
                chunk = np.asarray(whole.blocks[number].compute())
            if len(chunk) != size:
                raise ValueError(
                    f"{rows} came as {len(chunk)} rows: chunks must be as large as dask believes."
                )
            yield chunk
            start += size


def check_can_compute(array: Any, name: str) -> None:
    """Refuse an array of dask that does not know how many rows it has, or cannot be had any more.

    Neither is computed: what the workers of a cluster have held is gone with the client.
    """
    if not hasattr(array, "chunks"):
        raise TypeError(
            f"{name} is a {type(array).__module__}.{type(array).__name__}, and an array of dask is "
            "expected: make one with .to_dask_array(lengths=True)."
        )
    if any(np.isnan(size) for sizes in array.chunks for size in sizes):
        raise ValueError(
            f"{name} has chunks of unknown sizes: call {name}.compute_chunk_sizes() first."
        )
    distributed = sys.modules.get("distributed")
    held = [] if distributed is None else distributed.futures_of(array)
    if any(future.status == "cancelled" for future in held):
        raise ValueError(
            f"{name} was held by the workers of a cluster, and its client is closed: make {name} "
            "anew, with a client that stays open."
        )


def check_length(name: str, n: int, labels: Any) -> None:
    """Refuse labels that do not belong to the rows one by one."""
    if tuple(labels.shape) != (n,):
        raise ValueError(
            f"the target of {name} has shape {tuple(labels.shape)}, but there are {n} rows: there "
            "must be one label for each."
        )
