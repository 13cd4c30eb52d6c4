"""Decorators of kernels: what all of them are compiled with, and what some are."""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba import njit

from vicinal.compiling import say_once

__all__ = ["IN_ORDER", "REDUCTION", "kernel", "or_in_python"]

config: Any = numba.config  # its attributes are made at run time
Function = TypeVar("Function", bound=Callable[..., Any])

# What a reduction needs to be vectorized. Infinities and NaN keep their meaning.
REDUCTION = frozenset({"reassoc", "contract", "nsz", "arcp"})

# For what re-association would undo.
IN_ORDER = frozenset({"contract"})


def kernel(
    *, inlined: bool = False, fastmath: frozenset[str] = REDUCTION, error_model: str = "python"
) -> Callable[[Function], Function]:
    """Compile a function when it is first called, without the GIL, and keep it on disk.

    Parameters
    ----------
    inlined : bool, default=False
        Helpers must vanish into their callers: left as calls, a fresh compilation runs the
        helper's own copy and a cached kernel the one inside it, optimized differently, and the
        last bits differ.
    fastmath : frozenset of str
        What LLVM may do to sums and products.
    error_model : {"python", "numpy"}, default="python"
        Whether a division by zero is an error, or infinite.
    """

    def compiled(function: Function) -> Function:
        if config.DISABLE_JIT:
            say_once(
                "disabled",
                "NUMBA_DISABLE_JIT is set: compiled kernels run as plain Python, some hundred "
                'times slower. Unset it, or use engine="blocked" where there is one.',
            )
            return function
        options: dict[str, Any] = {"fastmath": set(fastmath), "error_model": error_model}
        dispatcher: Any = njit(nogil=True, forceinline=inlined, **options)(function)
        _keep_compiled(dispatcher)
        return dispatcher

    return compiled


def or_in_python(stand_in: Callable[..., Any]) -> Callable[[Any], Any]:
    """Take `stand_in` for what has no meaning in Python, where nothing is compiled."""
    return lambda compiled: stand_in if config.DISABLE_JIT else compiled


def _keep_compiled(dispatcher: Any) -> None:
    """Give a kernel its cache; without one every process compiles it anew."""
    try:
        # Parts of numba that it does not promise to keep, and our sources, which may not be there.
        from vicinal.compiling.cache import KernelCache

        dispatcher._cache = KernelCache(dispatcher.py_func)
    except (ImportError, OSError) as error:
        say_once("not kept", f"Compiled kernels are not kept: {error}.")
