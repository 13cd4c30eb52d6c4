"""Tensors in, tensors out: what methods of estimators do with arrays that are not NumPy's.

As for scikit-learn's own estimators, somebody has to say that arrays are to be taken as they are,
``sklearn.set_config(array_api_dispatch=True)``, and all that a method returns is of the library
and on the device of `X`. What is learned is kept in NumPy's arrays: a model can be saved, and used
where there is no device.
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

import numpy as np
from sklearn import get_config

from vicinal.neighborhood.arrays import (
    Array,
    device_of,
    dtype_of,
    namespace,
    on_host,
    placed_like,
)
from vicinal.neighborhood.devices import data_on

__all__ = ["answers_in_kind", "as_numpy", "computes_in_place", "float_dtypes"]

Function = TypeVar("Function", bound=Callable[..., Any])

# Whose kind answers have, where they are given; where neither is, that of what comes first.
_POINTS = ("Q", "X")

# Kinds of values that all libraries have; there are no tensors of text.
_NUMBERS = "biuf"


def answers_in_kind(method: Function) -> Function:
    """A method or a function that answers tensors with tensors where scikit-learn is told to.

    It sees arrays of the host, and the engines it chooses know where the data are: preparations are
    made on the host, and what a fit looks at many times is sent to the device once.
    """
    return _adapted(method, as_numpy)


def computes_in_place(method: Function) -> Function:
    """A method that answers in kind, and takes points on a device as they are.

    Points in the memory of the host it sees as NumPy's arrays, all the same.
    """
    return _adapted(method, lambda value: value if _is_on_device(value) else as_numpy(value))


def float_dtypes(X: Any) -> tuple[Any, Any]:
    """Precisions that points may have, as their library knows them, the usual one first."""
    xp = namespace(X) if _is_on_device(X) else np
    return xp.float64, xp.float32


def _adapted(method: Function, convert: Callable[[Any], Any]) -> Function:
    names = list(signature(method).parameters)
    order = [*_POINTS, *(name for name in names if name != "self")]

    @wraps(method)
    def converts(*args: Any, **kwargs: Any) -> Any:
        if not get_config()["array_api_dispatch"]:
            return method(*args, **kwargs)
        known = {**dict(zip(names, args, strict=False)), **kwargs}
        given = next((known[name] for name in order if known.get(name) is not None), None)
        args = tuple(map(convert, args))
        kwargs = {name: convert(value) for name, value in kwargs.items()}
        if not _is_tensor(given):
            return method(*args, **kwargs)
        with data_on(device_of(given), _precision_of(given)):
            return _like(given, method(*args, **kwargs))

    return converts  # type: ignore[return-value]


def _precision_of(tensor: Array) -> str | None:
    """What its owner chose; None of numbers that nothing is computed in, as of positions."""
    name = dtype_of(tensor)
    return name if name in ("float64", "float32") else None


def _is_on_device(value: Any) -> bool:
    """Whether it is a tensor whose values the host cannot read."""
    return _is_tensor(value) and device_of(value) != "cpu"


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "__dlpack_device__") and not isinstance(value, np.ndarray | np.generic)


def as_numpy(value: Any) -> Any:
    """A tensor as an array of the host; anything else as it is."""
    return on_host(value) if _is_tensor(value) else value


def _like(given: Array, found: Any) -> Any:
    """Arrays of numbers as tensors where the given one is; anything else as it is."""
    if isinstance(found, tuple):
        return tuple(_like(given, part) for part in found)
    if isinstance(found, np.ndarray) and found.dtype.kind in _NUMBERS:
        return placed_like(found, given)
    return found
