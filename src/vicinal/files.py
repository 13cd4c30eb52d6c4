"""Files that are either whole or as they were before."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["check_target", "whole_file"]


def check_target(path: str | os.PathLike[str], what: str = "the result") -> None:
    """Raise an OSError where nothing could be written at `path`.

    Meant to be called before the work whose result is to be written.

    Parameters
    ----------
    path : path-like
    what : str
        What is to be written, for the message.
    """
    path = Path(path)
    # Replacing a device or a pipe by a file would do harm (root and /dev/null).
    if path.exists() and not path.is_file():
        raise OSError(f"'{path}' is not a regular file: name a file to write {what} to")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"the folder '{path.parent}' does not exist: create it first")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"the folder '{path.parent}' is not writable: choose another one")


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A stream to write to; `path` then holds all of it, or what it held before.

    What is written goes to a hidden file beside `path` first, which then takes
    its place. Nothing is left of it after an error or an interrupt.

    Parameters
    ----------
    path : path-like

    Yields
    ------
    binary stream

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from vicinal.files import whole_file
    >>> with TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder, "text")) as stream:
    ...         _ = stream.write(b"all of it")
    ...     [file.name for file in Path(folder).iterdir()]
    ['text']
    """
    target = Path(os.path.realpath(path))  # through a link, to the file it names
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        # Not by tempfile, whose files nobody else may read.
        with draft.open("wb") as stream:
            yield stream
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
