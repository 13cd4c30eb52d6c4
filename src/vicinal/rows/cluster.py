"""Rows of a Dask array that stay on the workers: checked there, and never here as a whole."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from vicinal.neighborhood.arrays import Array, is_chunked
from vicinal.neighborhood.cluster.presence import (
    asking_workers,
    check_cluster,
    has_cluster,
    is_worker,
)
from vicinal.neighborhood.cluster.rows import spread, tasks_on
from vicinal.neighborhood.cluster.running import ClusterError, Parcel, Tasks
from vicinal.neighborhood.cluster.sharing import said_of_blocks
from vicinal.neighborhood.devices import data_on
from vicinal.rows.blocks import not_finite
from vicinal.rows.chunked import DaskRows
from vicinal.rows.source import RowSource

__all__ = [
    "check_engine",
    "computing_there",
    "ends_of",
    "labeled_there",
    "of_another_shape",
    "rows_there",
    "some_there",
    "spread_source",
    "stays_there",
]

# Engines that leave rows where they are; any other one was asked for by name, and gets them here.
_ENGINES = ("auto", "dask")


def check_engine(model: Any) -> None:
    """Refuse a cluster that is asked for and not there, before any work."""
    if _engine_of(model) == "dask" and not is_worker():
        check_cluster()


def stays_there(model: Any, method: str, source: RowSource) -> bool:
    """Whether a model learns from rows where they are, on the workers of a cluster."""
    return _comes_from_there(model, source) and method in _learns_where_rows_are(model)


@contextmanager
def computing_there(model: Any, source: RowSource | None) -> Iterator[None]:
    """Let workers compute where they are asked by name, or rows came from them."""
    comes_from_there = _comes_from_there(model, source)
    with ExitStack() as around:
        if comes_from_there or _engine_of(model) == "dask":
            around.enter_context(asking_workers())
        if comes_from_there:
            around.enter_context(data_on("dask"))
        yield


def _comes_from_there(model: Any, source: RowSource | None) -> bool:
    """Whether rows come from a cluster, and nobody asks for an engine of this machine."""
    is_there = isinstance(source, DaskRows) and has_cluster() and not is_worker()
    return is_there and _engine_of(model) in _ENGINES


def _engine_of(model: Any) -> str:
    """What a model was told to compute with; some have nothing to choose."""
    return str(getattr(model, "engine", "auto"))


def _learns_where_rows_are(model: Any) -> tuple[str, ...]:
    """Methods of a model that need all rows on no machine; others get them here."""
    return getattr(model, "_learns_where_rows_are", ())


def spread_source(source: Any) -> Any:
    """The rows in blocks of ours, which the workers hold; all of them read, and numbers."""
    start = 0
    try:
        X = spread(source.array.astype(source.dtype))
        checks = tasks_on("checking", X)
        for i, size in enumerate(X.chunks[0]):
            shape = (size, X.shape[1])
            checks.add(_what_is_wrong, (X.name, i, 0), source.name, start, Parcel(shape=shape))
            start += size
        found = checks.computed()
    except (MemoryError, ClusterError):
        raise
    except Exception as error:
        if isinstance(error, IndexError | ValueError):  # as of chunks that do not fit together
            _check_shapes(source)
        told = f"{source.name} cannot be read by a worker: {type(error).__name__}: {error}"
        raise OSError(told) from error
    wrong = [told for told in found if told is not None]
    if wrong:
        raise ValueError(wrong[0])
    return X


def _what_is_wrong(block: NDArray, name: str, start: int, believed: Parcel) -> str | None:
    """What to say of a block that is not as it should be; a string, lest it seem unreadable."""
    told = of_another_shape(block.shape, believed.shape, name, start)
    return told or not_finite(name, None, block, start)


def of_another_shape(
    shape: tuple[int, ...], believed: tuple[int, ...], name: str, start: int
) -> str | None:
    """What to say of rows from `start` on that Dask is mistaken about."""
    if shape == believed:
        return None
    return (
        f"rows {start} to {start + believed[0] - 1} of {name} came in the shape {shape}, not "
        f"{believed}: chunks must be as large as dask believes. Call {name}.compute_chunk_sizes() "
        "first."
    )


def _check_shapes(source: Any) -> None:
    """Name the chunk, as the user has it, that is the reason why rows cannot be put together."""
    array = source.array
    tasks = Tasks("asking", [array])
    for place in np.ndindex(array.numblocks):
        tasks.add(np.shape, (array.name, *place))
    starts = np.repeat(np.cumsum([0, *array.chunks[0][:-1]]), array.numblocks[1])
    known = zip(tasks.computed(), product(*array.chunks), starts.tolist(), strict=True)
    for shape, believed, start in known:
        told = of_another_shape(shape, believed, source.name, start)
        if told is not None:
            raise ValueError(told)


def labeled_there(
    model: Any, X: Any, y: Any, at_least: int, reset: bool = True
) -> tuple[Any, NDArray]:
    """Rows and labels that belong to each other; see `rows_there`."""
    targets = column_or_1d(y, warn=True)
    check_consistent_length(X, targets)
    return rows_there(model, X, at_least, reset), targets


def rows_there(model: Any, X: Any, at_least: int, reset: bool = True) -> Any:
    """Rows on the workers, as many as are needed; the number of columns is noted, or compared."""
    for what, number, least in (("sample", len(X), at_least), ("feature", X.shape[1], 1)):
        if number < least:  # in the words of scikit-learn, as of an array in memory
            raise ValueError(
                f"Found array with {number} {what}(s) (shape={tuple(X.shape)}) while a minimum of "
                f"{least} is required by {type(model).__name__}."
            )
    if reset:
        vars(model).pop("feature_names_in_", None)
        model.n_features_in_ = X.shape[1]
    elif X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(model).__name__} is expecting "
            f"{model.n_features_in_} features as input."
        )
    return X


def ends_of(X: Array) -> NDArray:
    """Least and largest value of each column, shape (2, n_columns)."""
    if not is_chunked(X):
        return _ends(X)
    return _ends(np.concatenate(said_of_blocks(_ends, X)))


def _ends(rows: NDArray) -> NDArray:
    return np.stack([rows.min(axis=0), rows.max(axis=0)])


def some_there(X: Any, positions: NDArray) -> Any:
    """Some rows where they are, in blocks of ours."""
    return spread(X[positions]) if is_chunked(X) else X[positions]
