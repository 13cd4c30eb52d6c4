"""Standard streams that may be closed, full, or unable to show a character."""

import io
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

__all__ = [
    "abandon",
    "errors_of_libraries_hidden",
    "prepare_streams",
    "writing_results",
]


def prepare_streams() -> None:
    """Let every stream be there, and show every character somehow.

    In the place of a closed one, a file that is opened later would be taken for it.
    What is written to a closed standard output must fail, what is said on a closed
    standard error is lost.
    """
    for number, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        _fill(number, mode)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _fill(number: int, mode: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        opened = os.open(os.devnull, mode)
        if opened != number:
            os.dup2(opened, number)
            os.close(opened)


@contextmanager
def errors_of_libraries_hidden() -> Iterator[None]:
    """Keep what compiled code writes to standard error, a panic of polars, off it.

    It is passed on where the block succeeds, and what was wrong was not so wrong.
    """
    with tempfile.TemporaryFile() as kept:
        usual = os.dup(2)
        os.dup2(kept.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(usual, 2)
            os.close(usual)
        kept.seek(0)
        os.write(2, kept.read())


@contextmanager
def writing_results() -> Iterator[None]:
    """The context of what writes to standard output, and to nothing else.

    It is sent at once, so that what goes wrong is told here and not at exit.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has left, which is no error
        abandon(sys.stdout)
        raise
    except OSError as error:
        abandon(sys.stdout)
        reason = error.strerror or str(error)
        raise OSError(f"standard output cannot be written: {reason}") from error


def abandon(stream: TextIO) -> None:
    """Let what is still to be written vanish, instead of failing again at exit."""
    try:
        number = stream.fileno()
    except (OSError, ValueError):  # no file of the system: nothing is written at exit
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
