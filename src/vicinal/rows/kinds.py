"""What can be passed as X beside arrays in memory: one value per kind."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.rows.arrays import ArrayRows
from vicinal.rows.arrow import DatasetRows, TableRows
from vicinal.rows.chunked import DaskRows, ZarrRows, check_can_compute
from vicinal.rows.source import RowSource

__all__ = ["KINDS", "Kind", "is_lazy", "labels_of", "n_labels", "source_of"]


@dataclass(frozen=True)
class Kind:
    """A kind of X.

    Attributes
    ----------
    name : str
    is_one : callable
        Whether a value is of this kind; it loads no library to find out.
    rows : callable
        From a value to where its rows come from.
    """

    name: str
    is_one: Callable[[Any], bool]
    rows: Callable[[Any], RowSource]


def _of(library: str, *names: str) -> Callable[[Any], bool]:
    """Whether a value, or what it is derived from, is of one of these types of a library."""

    def is_one(value: Any) -> bool:
        types = type(value).__mro__
        return any(t.__module__.partition(".")[0] == library and t.__name__ in names for t in types)

    return is_one


KINDS = (
    Kind("source", lambda value: isinstance(value, RowSource), lambda value: value),
    Kind("memory map", lambda value: isinstance(value, np.memmap), ArrayRows),
    Kind("table of Arrow", _of("pyarrow", "Table"), TableRows),
    Kind("data set of Arrow", _of("pyarrow", "Dataset"), DatasetRows),
    Kind("array of zarr", _of("zarr", "Array"), ZarrRows),
    Kind("array of dask", _of("dask", "Array", "DataFrame"), DaskRows),
)

_is_column = _of("pyarrow", "ChunkedArray", "Array")
_is_zarr = _of("zarr", "Array")
_is_dask = _of("dask", "Array", "Series")


def source_of(X: Any) -> RowSource | None:
    """Where the rows of X come from; None for arrays in memory. Paths are refused."""
    if isinstance(X, str | os.PathLike):
        raise TypeError(f"X is a path, {os.fspath(X)!r}: open it by vicinal.open_rows.")
    for kind in KINDS:
        if kind.is_one(X):
            return kind.rows(X)
    return None


def is_lazy(X: Any) -> bool:
    """Whether X is an array of dask, whose answers are computed when somebody asks for them."""
    return _of("dask", "Array")(X)


def n_labels(value: Any, name: str) -> int | None:
    """Number of labels or weights, none of which is computed; None: there is no saying.

    Parameters
    ----------
    value : object
    name : str
        Of the argument.
    """
    if _is_dask(value):
        check_can_compute(value, name)
    shape = getattr(value, "shape", None)
    if shape is None:
        return len(value) if hasattr(value, "__len__") else None
    return int(shape[0]) if shape else None


def labels_of(value: Any, name: str) -> Any:
    """Labels or weights in memory, from arrays in chunks; anything else as it is.

    Parameters
    ----------
    value : object
    name : str
        Of the argument.
    """
    if _is_dask(value):
        check_can_compute(value, name)
        return _vector(np.asarray(value.compute()), name)
    if _is_zarr(value):
        return _vector(np.asarray(value[:]), name)
    if _is_column(value):
        return _vector(value.to_numpy(**_copying(value)), name)
    return value


def _copying(column: Any) -> dict[str, bool]:
    return {} if hasattr(column, "num_chunks") else {"zero_copy_only": False}


def _vector(values: NDArray, name: str) -> NDArray:
    if values.ndim != 1:
        raise ValueError(f"{name} has shape {values.shape}: one value for every row is expected.")
    return values.astype(str) if _is_words(values) else values


def _is_words(values: NDArray) -> bool:
    return values.dtype == object and all(isinstance(value, str) for value in values)
