"""Rows of a Dask array that stay on the workers: checked there, and never here as a whole."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d

from vicinal.fitting.loop import warn_user
from vicinal.neighborhood.arrays import is_chunked
from vicinal.neighborhood.cluster.presence import (
    asking_workers,
    check_cluster,
    has_cluster,
    is_worker,
)
from vicinal.neighborhood.cluster.rows import spread
from vicinal.neighborhood.cluster.running import ClusterError, Tasks
from vicinal.neighborhood.devices import data_on
from vicinal.rows.blocks import not_finite
from vicinal.rows.chunked import DaskRows
from vicinal.rows.source import RowSource

__all__ = [
    "check_engine",
    "checked_there",
    "computing_there",
    "ends_there",
    "some_there",
    "spread_source",
    "stays_there",
]

# Engines that leave rows where they are; any other one was asked for by name, and gets them here.
_ENGINES = ("auto", "dask")


def check_engine(model: Any) -> None:
    """Refuse a cluster that is asked for and not there, before any work."""
    if getattr(model, "engine", None) == "dask" and not is_worker():
        check_cluster()


def stays_there(model: Any, method: str, source: RowSource) -> bool:
    """Whether a model learns from rows where they are, on the workers of a cluster."""
    knows_how = getattr(model, "_learns_on_clusters", False) and method == "fit"
    asked = knows_how and getattr(model, "engine", "auto") in _ENGINES
    return asked and isinstance(source, DaskRows) and has_cluster() and not is_worker()


@contextmanager
def computing_there(model: Any, method: str, source: RowSource | None) -> Iterator[None]:
    """Let workers compute where they are asked, or rows came from them.

    Where a model does not know how, it is told.
    """
    comes_from_there = isinstance(source, DaskRows) and has_cluster() and not is_worker()
    engine = getattr(model, "engine", "auto")
    if comes_from_there and not _knows_how(model, method):
        warn_user(
            f"{type(model).__name__}.{method} cannot compute on a cluster: all rows of X are "
            "brought to this machine, which computes alone.",
            UserWarning,
        )
        comes_from_there = False
    with ExitStack() as around:
        if engine == "dask" or (comes_from_there and engine in _ENGINES):
            around.enter_context(asking_workers())
        if comes_from_there and engine in _ENGINES:
            around.enter_context(data_on("dask"))
        yield


def _knows_how(model: Any, method: str) -> bool:
    return method.startswith("fit") and getattr(model, "_computes_on_clusters", False)


def spread_source(source: Any) -> Any:
    """The rows in blocks of ours, which the workers hold; all of them read, and numbers."""
    start = 0
    try:
        X = spread(source.array.astype(source.dtype))
        checks = Tasks("checking", [X])
        for i, size in enumerate(X.chunks[0]):
            checks.add(_what_is_wrong, (X.name, i, 0), source.name, start, size)
            start += size
        found = checks.computed()
    except (MemoryError, ClusterError):
        raise
    except Exception as error:
        told = f"{source.name} cannot be read by a worker: {type(error).__name__}: {error}"
        raise OSError(told) from error
    wrong = [told for told in found if told is not None]
    if wrong:
        raise ValueError(wrong[0])
    return X


def _what_is_wrong(block: NDArray, name: str, start: int, size: int) -> str | None:
    """What to say of a block that is not as it should be; a string, lest it seem unreadable."""
    if len(block) != size:
        return (
            f"rows {start} to {start + size - 1} of {name} came as {len(block)} rows: chunks must "
            f"be as large as dask believes. Call {name}.compute_chunk_sizes() first."
        )
    return not_finite(name, None, block, start)


def checked_there(model: Any, X: Any, y: Any, at_least: int) -> tuple[Any, NDArray]:
    """Rows and labels that belong to each other; the number of columns is noted."""
    targets = column_or_1d(y, warn=True)
    check_consistent_length(X, targets)
    if len(X) < at_least:
        raise ValueError(f"X has {len(X)} rows: at least {at_least} are needed.")
    vars(model).pop("feature_names_in_", None)
    model.n_features_in_ = X.shape[1]
    return X, targets


def ends_there(X: Any) -> NDArray:
    """Least and largest value of each column, shape (2, n_columns)."""
    tasks = Tasks("ends", [X])
    for i in range(len(X.chunks[0])):
        tasks.add(_ends, (X.name, i, 0))
    return np.asarray(tasks.merged(_ends_of_both))


def _ends(block: NDArray) -> NDArray:
    return np.stack([block.min(axis=0), block.max(axis=0)])


def _ends_of_both(*ends: NDArray) -> NDArray:
    return _ends(np.concatenate(ends))


def some_there(X: Any, positions: NDArray) -> Any:
    """Some rows where they are, in blocks of ours."""
    return spread(X[positions]) if is_chunked(X) else X[positions]
