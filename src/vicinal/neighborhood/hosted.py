"""Tensors in engines that compute with NumPy: views of their memory go in, tensors come out."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from vicinal.neighborhood.abilities import work_of
from vicinal.neighborhood.arrays import Array, is_numpy, on_host
from vicinal.neighborhood.laws import Law
from vicinal.neighborhood.pairs import Pairs

__all__ = ["takes_tensors"]

Pass = TypeVar("Pass", bound=Callable[..., Any])


def takes_tensors(method: Pass) -> Pass:
    """A pass of an engine, written for NumPy's arrays, for tensors in the host's memory as well.

    They are not copied; those on another device are refused, as the engine's abilities say.
    """

    @wraps(method)
    def computes(engine: Any, pairs: Pairs, law: Law, *terms: Array, moments: bool = True) -> Any:
        if is_numpy(pairs.queries):
            return method(engine, pairs, law, *terms, moments=moments)
        engine.can.check(engine.name, work_of(pairs, law))
        found = method(engine, pairs.on_host, law, *map(on_host, terms), moments=moments)
        return found.placed_like(pairs.queries)

    return computes  # type: ignore[return-value]
