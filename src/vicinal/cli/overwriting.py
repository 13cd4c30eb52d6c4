"""Files to be written: none that is read, none twice."""

import io
import os
import sys
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path

from vicinal.cli.running import WrongUsage
from vicinal.cli.tables.sources import STANDARD
from vicinal.files import check_target

__all__ = ["check_file", "refuse_overwriting", "refuse_reading_twice"]


def check_file(path: Path, what: str, option: str = "--output") -> None:
    """Raise an error where something that is no table cannot be written."""
    if path == STANDARD:
        raise WrongUsage(f"{option} -: a {what} goes to a file")
    check_target(path, f"the {what}")


def refuse_overwriting(written: Mapping[str, Path | None], *read: Path | None) -> None:
    """Raise an error where a command would replace what it reads, or its own result.

    Parameters
    ----------
    written : mapping of str to Path or None
        From options to files.
    *read : Path or None
    """
    sources = {_identity(path): path for path in read if path is not None}
    seen: dict[Hashable, str] = {}
    for option, path in written.items():
        if path is None or path == STANDARD:
            continue
        identity = _identity(path)
        if identity in sources:
            raise WrongUsage(
                f"{option} '{path}' would replace {_named(sources[identity])}, which is read: "
                "name another file"
            )
        if identity in seen:
            raise WrongUsage(f"{seen[identity]} and {option} name the same file, '{path}'")
        seen[identity] = option


def refuse_reading_twice(paths: Iterable[Path | None]) -> None:
    """Raise an error where standard input would be read more than once."""
    if sum(path == STANDARD for path in paths) > 1:
        raise WrongUsage("-: standard input can be read once, not for two tables")


def _named(path: Path) -> str:
    return "standard input" if path == STANDARD else f"'{path}'"


def _identity(path: Path) -> Hashable:
    """What tells a file from others: equal for all of its names, links included."""
    try:
        status = os.fstat(sys.stdin.fileno()) if path == STANDARD else path.stat()
    except (OSError, ValueError, AttributeError, io.UnsupportedOperation):
        return os.path.realpath(path)  # not there yet
    return status.st_dev, status.st_ino
