"""Values as bytes and back, bit for bit: numbers, text, arrays, and classes that are named.

A checkpoint is data. What is read is put together from plain values and from the classes that the
reader names, each a dataclass, a named tuple or an enumeration; nothing of it is ever executed.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.neighborhood.arrays import Array, on_host, placed_like

__all__ = ["DamagedError", "pack", "unpack"]

# Arrays of truth values, numbers and text; never of objects.
_DTYPES = "biufcU"

_PLAIN = (type(None), bool, int, float, str)

_LENGTH_BYTES = 8

# What goes wrong where bytes are not those that `pack` made.
_NONSENSE = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError, AttributeError)


class DamagedError(ValueError):
    """Bytes that are not as they were written."""


def pack(value: Any, kinds: Sequence[type] = ()) -> list[bytes]:
    """Parts that make up the bytes of a value.

    Parameters
    ----------
    value : object
        Plain values, arrays (tensors, too, as they are on the host), tuples, lists and dicts of
        them, and instances of `kinds`.
    kinds : sequence of class, default=()
        Dataclasses, named tuples and enumerations.

    Returns
    -------
    list of bytes
    """
    arrays: list[NDArray] = []
    tree = _Writer(kinds, arrays).tree(value)
    layout = [[array.dtype.str, array.shape, _order(array)] for array in arrays]
    text = json.dumps([layout, tree]).encode()
    return [len(text).to_bytes(_LENGTH_BYTES, "little"), text, *(a.tobytes("A") for a in arrays)]


def unpack(data: Any, kinds: Sequence[type] = (), like: Array = None) -> Any:
    """The value that `pack` made bytes of, else a DamagedError.

    Parameters
    ----------
    data : bytes, or what has them, as an array of uint8
    kinds : sequence of class, default=()
    like : array, optional
        What were tensors are put where this one is.
    """
    try:
        view = memoryview(data).cast("B")
        start = _LENGTH_BYTES + int.from_bytes(view[:_LENGTH_BYTES], "little")
        layout, tree = json.loads(bytes(view[_LENGTH_BYTES:start]))
        arrays = []
        for dtype, shape, order in layout:
            arrays.append(_array(view[start:], np.dtype(dtype), shape, order))
            start += arrays[-1].nbytes
        return _Reader(kinds, arrays, like).value(tree)
    except _NONSENSE as error:
        raise DamagedError(f"not the bytes of a value ({error})") from error


def _order(array: NDArray) -> str:
    """How entries follow each other: products of matrices differ by it in their last bits."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def _array(view: memoryview, dtype: np.dtype, shape: list[int], order: str) -> NDArray:
    if dtype.kind not in _DTYPES:
        raise TypeError(f"arrays of {dtype} are never written")
    found = np.frombuffer(view, dtype, math.prod(shape))
    return found.reshape(shape, order="F" if order == "F" else "C").copy("A")


class _Writer:
    """From values to what JSON can say; arrays are put aside."""

    def __init__(self, kinds: Sequence[type], arrays: list[NDArray]) -> None:
        self._kinds, self._arrays = kinds, arrays

    def tree(self, value: Any) -> Any:
        if type(value) in _PLAIN:
            return value
        if type(value) in self._kinds:
            return {"kind": type(value).__name__, "fields": self._fields(value)}
        if type(value) in (tuple, list):
            return {type(value).__name__: [self.tree(part) for part in value]}
        if type(value) is dict:
            return {"dict": [[self.tree(key), self.tree(part)] for key, part in value.items()]}
        if isinstance(value, np.generic):
            return {"scalar": self._put_aside(np.asarray(value))}
        if isinstance(value, np.ndarray):
            return {"array": self._put_aside(value)}
        if hasattr(value, "detach"):
            return {"tensor": self._put_aside(on_host(value))}
        raise TypeError(f"a {type(value).__name__} cannot be part of a checkpoint")

    def _fields(self, value: Any) -> Any:
        if isinstance(value, Enum):
            return value.name
        names = [field.name for field in fields(value)] if is_dataclass(value) else value._fields
        return [self.tree(getattr(value, name)) for name in names]

    def _put_aside(self, array: NDArray) -> int:
        if array.dtype.kind not in _DTYPES:
            raise TypeError(f"an array of {array.dtype} cannot be part of a checkpoint")
        self._arrays.append(array)
        return len(self._arrays) - 1


class _Reader:
    """From what JSON says to values."""

    def __init__(self, kinds: Sequence[type], arrays: list[NDArray], like: Array) -> None:
        self._kinds = {kind.__name__: kind for kind in kinds}
        self._arrays, self._like = arrays, like
        self._read: dict[str, Callable[[Any], Any]] = {
            "tuple": lambda parts: tuple(map(self.value, parts)),
            "list": lambda parts: list(map(self.value, parts)),
            "dict": lambda pairs: {self.value(key): self.value(part) for key, part in pairs},
            "scalar": lambda place: arrays[place][()],
            "array": lambda place: arrays[place],
            "tensor": lambda place: placed_like(arrays[place], like),
        }

    def value(self, tree: Any) -> Any:
        if not isinstance(tree, dict):
            return tree
        if "kind" in tree:
            return self._made(self._kinds[tree["kind"]], tree["fields"])
        ((name, content),) = tree.items()
        return self._read[name](content)

    def _made(self, kind: Any, content: Any) -> Any:
        return kind[content] if issubclass(kind, Enum) else kind(*map(self.value, content))
