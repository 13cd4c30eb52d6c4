"""The file of a checkpoint: whole, with a checksum, and the one before beside it.

    vicinal checkpoint 1        what it is, and the number of its format
    sha256 in hexadecimal       of the line above and of all that follows
    ...                         the bytes of a value (`packing.py`)

The new file is written beside the present one and takes its place when it is all on the disk; the
present one becomes the one before (`vicinal.files.next_generation`).
"""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vicinal.files import BEFORE, PART, next_generation
from vicinal.fitting.checkpoints.packing import DamagedError, pack, unpack
from vicinal.fitting.remarks import warn_user

__all__ = ["FORMAT", "NotACheckpointError", "as_path", "load", "read", "store"]

# To be raised by one where what is written changes its meaning.
FORMAT = 1

_NAME = b"vicinal checkpoint "
_LENGTH = 2 * hashlib.sha256().digest_size + 1  # of the second line


class NotACheckpointError(ValueError):
    """A file that nobody wrote as a checkpoint, and that should not be lost."""


def store(path: Path, content: Any) -> None:
    """Make the content the present generation."""
    first, parts = _NAME + f"{FORMAT}\n".encode(), pack(content)
    next_generation(path, [first, _checksum([first, *parts]), *parts])


def read(path: Path) -> Any:
    """The content of a file, else a DamagedError, or a ValueError where it is of another kind."""
    data = path.read_bytes()
    first, _, rest = data.partition(b"\n")
    if not (data.startswith(_NAME) or _NAME.startswith(data)):
        raise NotACheckpointError(
            f"checkpoint='{path}' is a file that is no checkpoint: name another one, or delete it."
        )
    checksum, body = rest[:_LENGTH], memoryview(rest)[_LENGTH:]
    if checksum != _checksum([first + b"\n", body]):
        raise DamagedError("its checksum is wrong")
    number = first.removeprefix(_NAME)
    if number != f"{FORMAT}".encode():
        raise ValueError(
            f"checkpoint='{path}' has format {number.decode()}, and this version of vicinal reads "
            f"{FORMAT} only: use the version that wrote it, or delete it or name another file to "
            "begin anew."
        )
    return unpack(body)


def load(path: Path) -> Any | None:
    """The content of the latest generation that is as it was written; None where there is none.

    Raises
    ------
    ValueError
        Where files are there of which none is a checkpoint, or one of another format.

    Warns
    -----
    UserWarning
        Where the latest one is damaged.
    """
    before = Path(f"{path}{BEFORE}")
    # Only for a moment there is no present one: then the next one is all there (`files.py`). A
    # user who deletes it wants to begin anew, whatever lies beside it.
    latest = path if path.exists() else Path(f"{path}{PART}")
    if not latest.exists():
        return None
    foreign, damaged = None, []
    for candidate in (latest, before):
        try:
            content = read(candidate)
        except FileNotFoundError:
            continue
        except NotACheckpointError as error:
            foreign = foreign or error
        except DamagedError as error:
            damaged.append(f"'{candidate}' ({error})")
        else:
            if candidate is before:
                _warn(latest, damaged, "the fit goes on from the one before it")
                before.replace(path)  # or the next writing would put the damaged one in its place
            return content
    if foreign is not None:
        raise foreign
    _warn(latest, damaged, "none before it is left, and the fit begins anew")
    return None


def _warn(latest: Path, damaged: Sequence[str], what_is_done: str) -> None:
    which = ", ".join(damaged) or f"'{latest}' (its first line is wrong)"
    warn_user(f"the checkpoint is damaged: {which}; {what_is_done}.", UserWarning)


def _checksum(parts: Sequence[bytes | memoryview]) -> bytes:
    """The second line."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return f"{found.hexdigest()}\n".encode()


def as_path(value: Any) -> Path:
    """The file that a user names, through a link the one it names; else a TypeError."""
    if not isinstance(value, str | os.PathLike):
        raise TypeError(f"checkpoint={value!r} must be the path of a file, or None.")
    return Path(os.path.realpath(value))
