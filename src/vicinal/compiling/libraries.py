"""Optional libraries, some of which numba compiles: what to say where one cannot be imported."""

from collections.abc import Iterator
from contextlib import contextmanager

from vicinal.compiling import is_disabled

__all__ = ["importing"]

# Some of their functions have no meaning in Python.
_COMPILED_ONLY = ("pynndescent",)


@contextmanager
def importing(library: str, extra: str, who: str, otherwise: str = "") -> Iterator[None]:
    """Around the import of an optional library: say what to do where that fails.

    Parameters
    ----------
    library : str
        Name of the library.
    extra : str
        Which of our extras installs it.
    who : str
        What the user asked for that needs it.
    otherwise : str, default=""
        What to ask for instead.
    """
    if library in _COMPILED_ONLY and is_disabled():
        raise ImportError(
            f"{who} needs {library}, which cannot run uncompiled: unset NUMBA_DISABLE_JIT"
            f"{otherwise}."
        )
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"{who} needs {library}: pip install 'vicinal[{extra}]'{otherwise}."
        ) from error
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        raise ImportError(
            f"{who} needs {library}, which cannot be imported where nothing can be written "
            f"({error}): set NUMBA_CACHE_DIR to a folder that you can write to{otherwise}."
        ) from error
