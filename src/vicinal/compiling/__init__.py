"""Compiling kernels, and keeping what was compiled: the one place that knows numba's settings.

Nothing here loads numba; `compiling.decorators`, which kernels import, does.
"""

import os
import warnings

__all__ = ["CompilingWarning", "is_disabled", "say_once"]


class CompilingWarning(UserWarning):
    """Kernels are correct, but start or run more slowly than they could.

    Examples
    --------
    >>> import warnings
    >>> from vicinal.compiling import CompilingWarning
    >>> warnings.simplefilter("ignore", CompilingWarning)  # in a container, where it is known
    """


_said: set[str] = set()


def say_once(what: str, message: str) -> None:
    """Warn of it, but not again in this process.

    Parameters
    ----------
    what : str
        What is never said twice, whatever the details.
    message : str
    """
    if what not in _said:
        _said.add(what)
        warnings.warn(message, CompilingWarning, stacklevel=3)


def is_disabled() -> bool:
    """Whether the user forbids to compile (NUMBA_DISABLE_JIT), asked without loading numba."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
