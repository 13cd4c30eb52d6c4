"""Compiled kernels in files: a cache that is never the reason for an error or a wrong number.

numba's own cache raises an error where no folder is writable, where a file is damaged and where a
disk is full; it takes a kernel for fresh whose callees have changed, and lets two processes that
compile at once write under each other's names (docs/decisions/0014). Here every kernel and every
signature has a file of its own, named after all that it was made of, and sealed. What cannot be
read is compiled; what cannot be written is compiled again by the next process, and said once.
"""

import hashlib
import inspect
import os
import pickle
import sys
from contextlib import suppress
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numba
from numba.core import serialize
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult

from vicinal.compiling import say_once
from vicinal.files import whole_file

__all__ = ["KernelCache"]

# All that holds kernels, or settles how they are compiled: one change makes all of them anew.
_SOURCES = (
    "compiling",
    "neighborhood/kernels",
    "divergence/kernels.py",
    "divergence/eigenvalue_kernels.py",
    "divergence/shared_numbers.py",
)

# Installations that share a folder have one each in it.
_INSTALLATION = f"vicinal-{hashlib.sha256(str(files('vicinal')).encode()).hexdigest()[:16]}"

config: Any = numba.config  # its attributes are made at run time
_SEAL_BYTES = hashlib.sha256().digest_size


class KernelCache(NullCache):
    """What one kernel was compiled to, for all signatures; takes the place of numba's own cache.

    Parameters
    ----------
    function : function
    """

    def __init__(self, function: Any) -> None:
        self._file = inspect.getfile(function)
        self._family = f"{function.__module__}.{function.__qualname__}-"
        self._stamp = source_stamp()  # now: a process that outlives an upgrade has the old kernels

    @property
    def cache_path(self) -> str:
        """Where a compiled kernel is put first."""
        return str(self._folders()[0])

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What the kernel was compiled to for a signature; None: compile it."""
        target_context.refresh()
        try:
            return self._load(sig, target_context)
        except Exception as error:  # there is none that unpickling could not raise
            say_once(
                "damaged",
                "A compiled kernel cannot be read and is compiled again "
                f"({type(error).__name__}: {error}).",
            )
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what the kernel was compiled to, in the first folder that takes it."""
        try:
            self._save(sig, data)
        except Exception as error:  # the kernel is there: nothing that happens here may undo that
            say_once(
                "not kept",
                f"Compiled kernels cannot be kept ({type(error).__name__}: {error}): every process "
                "compiles those it needs anew, in 1 to 20 seconds. Set NUMBA_CACHE_DIR to a folder "
                "that you can write to, and nobody whom you do not trust.",
            )

    def _load(self, sig: Any, target_context: Any) -> Any:
        name, damage = self._name(sig, target_context.codegen()), None
        for folder in self._folders():
            try:
                return CompileResult._rebuild(target_context, *_opened(folder / name))
            except OSError:  # not there, or not for us
                continue
            except Exception as error:  # the next folder may have a whole one
                damage = error
        if damage is not None:
            raise damage
        return None

    def _save(self, sig: Any, data: Any) -> None:
        if data.library.has_dynamic_globals:
            raise ValueError(f"{self._family[:-1]} refers to the memory of this process")
        name, folders = self._name(sig, data.codegen), self._folders()
        sealed = _sealed(name, data._reduce())
        for folder in folders:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                with whole_file(folder / name) as stream:
                    stream.write(sealed)
            except OSError:
                if folder == folders[-1]:
                    raise
            else:
                return self._drop_old(folder)

    def _folders(self) -> list[Path]:
        """The user's word, as for numba; or beside the source, and then in the home."""
        if config.CACHE_DIR:
            return [Path(config.CACHE_DIR, _INSTALLATION)]
        beside = Path(self._file).parent / "__pycache__"
        # Path.home() would be an error for a user without one.
        base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        return [beside, Path(base, _INSTALLATION)] if os.path.isabs(base) else [beside]

    def _name(self, sig: Any, codegen: Any) -> str:
        """File for a signature, on this machine, with this compiler and these sources."""
        fields = [getattr(each, "fields", None) for each in sig]  # a named tuple's, by position
        maker = numba.__version__, sys.implementation.cache_tag, codegen.magic_tuple()
        key = hashlib.sha256(repr((sig, fields, maker)).encode()).hexdigest()
        return f"{self._family}{self._stamp}-{key[:32]}.nbc"

    def _drop_old(self, folder: Path) -> None:
        """Remove what older sources of the kernel were compiled to."""
        for file in folder.glob(f"{self._family}*"):
            if not file.name.startswith(self._family + self._stamp):
                with suppress(OSError):  # another process was faster
                    file.unlink()


def _sealed(name: str, payload: Any) -> bytes:
    content = serialize.dumps(payload)
    return _seal(name, content) + content


def _opened(path: Path) -> Any:
    """What was sealed under that name, if it is whole."""
    sealed = path.read_bytes()
    seal, content = sealed[:_SEAL_BYTES], sealed[_SEAL_BYTES:]
    if seal != _seal(path.name, content):
        raise ValueError(f"'{path}' is damaged: its checksum is wrong")
    return pickle.loads(content)


def _seal(name: str, content: bytes) -> bytes:
    return hashlib.sha256(name.encode() + content).digest()


@cache
def source_stamp() -> str:
    """What all sources of kernels hash to.

    numba compares a kernel with its own file only, not with those of the kernels it calls.
    """
    found = hashlib.sha256()
    for place in _SOURCES:
        for source in _python_files(files("vicinal").joinpath(place)):
            found.update(hashlib.sha256(source.read_bytes()).digest())
    return found.hexdigest()[:16]


def _python_files(place: Traversable) -> list[Traversable]:
    if place.is_file():
        return [place]
    sources = [each for each in place.iterdir() if each.name.endswith(".py")]
    if not sources:
        raise FileNotFoundError(f"there are no sources in '{place}' to compare them with")
    return sorted(sources, key=lambda source: source.name)
