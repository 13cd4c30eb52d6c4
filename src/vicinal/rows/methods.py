"""Around public methods of estimators: rows that are no array in memory, in and out.

A fit needs rows in any order, again and again: they are settled once (`settling`), unless they
stay on the workers of a cluster (`cluster`). Everything else
looks at each row once, in blocks that are the same for every kind of source. Answers are arrays in
memory; for an array of dask, an array of dask that is computed when somebody asks for it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse, vstack
from sklearn import get_config
from sklearn.utils import get_tags

from vicinal.fitting.progress import stage
from vicinal.neighborhood.arrays import device_of
from vicinal.neighborhood.cluster.tasks import Held, answered, task_holding
from vicinal.rows.blocks import block_rows, blocks, n_blocks
from vicinal.rows.cluster import (
    check_engine,
    computing_there,
    of_another_shape,
    spread_source,
    stays_there,
)
from vicinal.rows.kinds import is_lazy, labels_of, n_labels, source_of
from vicinal.rows.memory import Need, bytes_of, check_memory
from vicinal.rows.settling import held_bytes, settled
from vicinal.rows.source import RowSource, precision_of

__all__ = ["answers_in_blocks", "check_limit", "learns_from_rows", "scores_rows"]

Function = TypeVar("Function", bound=Callable[..., Any])


def learns_from_rows(method: Function) -> Function:
    """A method, as `fit`, that takes rows from anywhere, and labels and weights in chunks, too.

    What can be known to be wrong is told before the rows are read. An estimator with a
    `memory_limit` has a method `_memory_needs(method, shape, dtype)`, which says what it needs.
    """

    @wraps(method)
    def learns(self: Any, *args: Any, **kwargs: Any) -> Any:
        X, others, named = _arguments(args, kwargs)
        source = source_of(X)
        check_engine(self)
        if source is not None:  # before labels in chunks are computed
            _check_labeled(self, others, named)
            _check_aligned(source, others, named)
        others, named = _in_memory(others, named)
        check_limit(self, method.__name__, X if source is None else source)
        if source is None:
            with computing_there(self, None):
                return method(self, X, *others, **named)
        if stays_there(self, method.__name__, source):
            with computing_there(self, source):
                return method(self, spread_source(source), *others, **named)
        limit = bytes_of(getattr(self, "memory_limit", None))
        points = settled(source, limit, type(self).__name__, getattr(self, "verbose", 0))
        goes_on = method.__name__ == "partial_fit"
        with _names_of(self, source, goes_on), computing_there(self, source):
            return method(self, points, *others, **named)

    return learns  # type: ignore[return-value]


def answers_in_blocks(method: Function) -> Function:
    """A method, as `transform`, of rows from anywhere, that says something about every row."""

    @wraps(method)
    def answers(self: Any, *args: Any, **kwargs: Any) -> Any:
        X, others, named = _arguments(args, kwargs)
        source = source_of(X)
        if source is None:
            return method(self, X, *others, **named)
        model = _without_names(self, source)

        def answer(block: NDArray) -> Any:
            found = method(model, block, *others, **named)
            return found if issparse(found) else np.asarray(found)

        if is_lazy(X):
            return _mapped(X, source, answer)
        return _concatenated(self, method.__name__, source, answer)

    return answers  # type: ignore[return-value]


def scores_rows(method: Function) -> Function:
    """A method, as `score`, that takes rows and labels from anywhere, and returns a number."""

    @wraps(method)
    def scores(self: Any, *args: Any, **kwargs: Any) -> Any:
        X, others, named = _arguments(args, kwargs)
        source = source_of(X)
        if source is not None:
            _check_aligned(source, others, named)
        others, named = _in_memory(others, named)
        is_here = source is not None and not is_lazy(X)  # else answers are computed where rows are
        return method(self, source if is_here else X, *others, **named)

    return scores  # type: ignore[return-value]


def _arguments(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """X, and all others, by position and by name."""
    if args:
        return args[0], args[1:], kwargs
    named = dict(kwargs)
    if "X" not in named:
        raise TypeError("X is missing: rows are expected.")
    return named.pop("X"), (), named


def _in_memory(
    others: tuple[Any, ...], named: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Labels and weights as arrays."""
    return (
        tuple(labels_of(value, "y") for value in others),
        {name: labels_of(value, name) for name, value in named.items()},
    )


def _check_labeled(model: Any, others: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Refuse rows without labels where these are needed; scikit-learn would, once all are read."""
    y = others[0] if others else named.get("y")
    if y is None and get_tags(model).target_tags.required:
        raise ValueError(f"{type(model).__name__} requires y to be passed: a label for every row.")


def _check_aligned(source: RowSource, others: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Refuse labels or weights that do not belong to the rows one by one."""
    called = {"y": others[0] if others else None, **named}
    for name in ("y", "sample_weight"):
        n = n_labels(called.get(name), name)
        if n is not None and n != len(source):
            raise ValueError(
                f"{name} has {n} values, but {source.name} has {len(source)} rows: there must be "
                "one for each, in the same order."
            )


def check_limit(model: Any, method: str, X: Any) -> None:
    """Refuse what would take more memory than the user lets the model have."""
    if not hasattr(model, "memory_limit"):
        return
    limit = bytes_of(model.memory_limit)
    if limit is None:
        return
    shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
    if len(shape) != 2 or issparse(X):  # scikit-learn says what is wrong, or these are graphs
        return
    if isinstance(X, RowSource):
        dtype, held = X.dtype, held_bytes(X, limit)
    else:
        dtype, is_as_given = _precision_in_memory(X)
        held = 0.0 if is_as_given else float(np.prod(shape)) * dtype.itemsize
    convert = "pass X as a memory map of float32 or float64, or by vicinal.open_rows"
    needs = [*model._memory_needs(method, shape, dtype), Need("rows as numbers", held, convert)]
    check_memory(f"{type(model).__name__}.{method}", model.memory_limit, needs)


def _precision_in_memory(X: Any) -> tuple[np.dtype, bool]:
    """Precision that rows become arrays of the host in, and whether they are such arrays."""
    given: Any = getattr(X, "dtype", np.dtype(np.float64))
    if isinstance(given, np.dtype):
        dtype = precision_of([given])
        return dtype, isinstance(X, np.ndarray) and X.dtype == dtype
    # Of torch, say; scikit-learn makes doubles of what it is not told to take.
    name = str(given).rpartition(".")[2]
    stays = name == "float32" and get_config()["array_api_dispatch"]
    dtype = np.dtype(np.float32 if stays else np.float64)
    return dtype, device_of(X) == "cpu" and name == dtype.name


@contextmanager
def _names_of(model: Any, source: RowSource, goes_on: bool) -> Iterator[None]:
    """Names of columns, which arrays in memory do not have: checked and kept for scikit-learn."""
    known = vars(model).get("feature_names_in_")
    if goes_on and known is not None and source.columns is not None:
        _check_names(model, source)
        del model.feature_names_in_  # blocks have none to be compared with these
    try:
        yield
    except BaseException:
        if known is not None:
            model.feature_names_in_ = known
        raise
    if source.columns is not None:
        model.feature_names_in_ = np.array(source.columns, dtype=object)


def _without_names(model: Any, source: RowSource) -> Any:
    """The model, once names of columns were checked: blocks have none that it could ask for."""
    if not hasattr(model, "feature_names_in_") or source.columns is None:
        return model
    _check_names(model, source)
    plain = object.__new__(type(model))
    vars(plain).update(vars(model))
    del plain.feature_names_in_
    return plain


def _check_names(model: Any, source: RowSource) -> None:
    known = tuple(str(name) for name in model.feature_names_in_)
    if source.columns != known:
        raise ValueError(
            f"{source.name} has the columns {_some(source.columns)}, but the model was fitted to "
            f"{_some(known)}: choose these, in their order, by columns=model.feature_names_in_ of "
            "vicinal.open_rows."
        )


def _some(names: tuple[str, ...] | None) -> str:
    names = names or ()
    return ", ".join(names[:5]) + (f", ... ({len(names)})" if len(names) > 5 else "")


def _concatenated(
    model: Any, what: str, source: RowSource, answer: Callable[[NDArray], Any]
) -> Any:
    """What is said about all rows."""
    found: NDArray | None = None
    sparse: list[Any] = []
    label = f"{type(model).__name__}, {what}"
    with stage(label, n_blocks(source), getattr(model, "verbose", 0)) as tell:
        for rows, block in blocks(source):
            part = answer(block)
            if issparse(part):
                sparse.append(part)
            else:
                found = _room_for(source, part) if found is None else found
                found[rows] = part
            tell(1)
    if sparse:
        return vstack(sparse, format="csr")
    return answer(np.empty(source.shape, source.dtype)) if found is None else found


def _room_for(source: RowSource, part: NDArray) -> NDArray:
    """An array for what is said about all rows, which is like what is said about some."""
    return np.empty((len(source), *part.shape[1:]), part.dtype)


def _mapped(X: Any, source: RowSource, answer: Callable[[NDArray], Any]) -> Any:
    """What will be said about the rows of an array of dask, one block after the other.

    Where more is said about a row than it has columns, blocks are as large as that has room.
    """
    example = answer(np.zeros((1, source.shape[1]), source.dtype))
    n_rows = block_rows(max(source.shape[1], example.nnz if issparse(example) else example.size))
    rows = X.astype(source.dtype).rechunk({0: n_rows, 1: -1})
    # A task of its own: a model with all its keys goes to a worker once, not with every block.
    held, meta = task_holding(answer), example[:0]
    if example.ndim == 1:
        return rows.map_blocks(_answered, held, dtype=example.dtype, drop_axis=1, meta=meta)
    chunks = (rows.chunks[0], example.shape[1:])
    return rows.map_blocks(_answered, held, dtype=example.dtype, chunks=chunks, meta=meta)


def _answered(block: NDArray, held: Held, block_info: Any = None) -> Any:
    """What is said about a block, unless Dask is mistaken about how many rows it has."""
    (start, stop), (_, n_columns) = block_info[0]["array-location"]
    told = of_another_shape(block.shape, (stop - start, n_columns), "X", start)
    if told is not None:
        raise ValueError(told)
    return answered(block, held)
