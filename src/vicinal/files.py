"""Files that are either whole or as they were before."""

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["BEFORE", "PART", "check_target", "next_generation", "whole_file"]

# What is added to the name of a file with generations: the one before, and one not yet whole.
BEFORE, PART = ".before", ".part"

# A system that cannot sync, or a folder that may be written to but not read: what was written is
# there all the same, only a crash of the whole machine could still undo it.
_CANNOT_SYNC = (errno.EACCES, errno.EBADF, errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)


def check_target(path: str | os.PathLike[str], what: str = "the result") -> None:
    """Raise an OSError where nothing could be written at `path`.

    Meant to be called before the work whose result is to be written.

    Parameters
    ----------
    path : path-like
    what : str, default="the result"
        What is to be written, for the message.
    """
    path = Path(path)
    folder = Path(os.path.realpath(path) if path.is_symlink() else path).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"the folder '{folder}' does not exist: create it first")
    if _existing(path, what) is not None and not os.access(path, os.W_OK):
        raise PermissionError(f"the file '{path}' is not writable: name another one for {what}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"the folder '{folder}' is not writable: choose another one")


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A stream to write to; `path` then holds all of it, or what it held before.

    What is written goes to a hidden file beside `path` first, which then takes
    its place. Nothing is left of it after an error or an interrupt.

    Parameters
    ----------
    path : path-like
        Through a link, the file that it names.

    Yields
    ------
    binary stream
        To be left open.

    Notes
    -----
    Any number of threads and processes may write the same file: one of them wins.
    When the context ends, all of it is on the disk, where the system can tell.

    A file that was there keeps its mode and, where that is permitted, its owner and
    group. One that has other names, too (hard links), keeps them all: it is
    overwritten, once all of its new content is in the hidden file. This one case is
    not atomic: whoever reads meanwhile, or after a crash in between, may find some of
    each; the hidden file stays then, and has all of the new content.

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
    target = Path(os.path.realpath(path))
    before = _existing(target)
    has_other_names = before is not None and before.st_nlink > 1
    # A name of its own for every writer, which nobody can foresee, however long the target's is.
    draft = target.with_name(f".vicinal-{secrets.token_hex(8)}.tmp")
    stream = _created(draft, 0o666 if before is None else 0o600)
    try:
        with stream:
            yield stream
            stream.flush()
            if before is not None and not has_other_names:
                _take_after(stream.fileno(), before)
            _sync(stream.fileno())
        if not has_other_names:
            draft.replace(target)
    except BaseException:  # Ctrl-C too should leave nothing behind
        draft.unlink(missing_ok=True)
        raise
    if has_other_names:
        _overwrite(target, draft)
    _sync_folder(target.parent)


def next_generation(path: str | os.PathLike[str], parts: Iterable[bytes]) -> None:
    """Write a file anew, and keep what it held beside it.

    Whoever is killed at any moment leaves, whole, this generation and the one before, or these
    two and one more; for a moment between two renames the latest is the one with `PART` to its
    name, and only then is there none at `path`. The next writing leaves none of it behind.

    Parameters
    ----------
    path : path-like
    parts : iterable of bytes
        Of the content.

    Notes
    -----
    One process at a time may write the same file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from vicinal.files import next_generation
    >>> with TemporaryDirectory() as folder:
    ...     for text in (b"first", b"second", b"third"):
    ...         next_generation(Path(folder, "text"), [text])
    ...     {file.name: file.read_text() for file in sorted(Path(folder).iterdir())}
    {'text': 'third', 'text.before': 'second'}
    """
    target = Path(os.path.realpath(path))
    before = _existing(target)
    draft = Path(f"{target}{PART}")

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)

    # Over a draft that was left: were it deleted first, for a moment there might be no latest one.
    with open(draft, "wb", opener=opener) as stream:
        stream.writelines(parts)
        stream.flush()
        if before is not None:
            _take_after(stream.fileno(), before)
        _sync(stream.fileno())
    if before is not None:
        target.replace(f"{target}{BEFORE}")
    draft.replace(target)
    _sync_folder(target.parent)


def _existing(path: Path, what: str = "the result") -> os.stat_result | None:
    """What is known of a file that is there already."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    # Replacing a device or a pipe by a file would do harm (root and /dev/null).
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"'{path}' is not a regular file: name a file to write {what} to")
    return found


def _created(draft: Path, mode: int) -> BinaryIO:
    """A new file, never one that is there, be it a link; less of the mode by the umask."""

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0), mode)

    return open(draft, "xb", opener=opener)


def _take_after(file: int, before: os.stat_result) -> None:
    """Give a file the owner, the group and the mode of another one."""
    if not hasattr(os, "fchown"):
        return  # Windows: who may do what is inherited from the folder
    # Only root may give files away, and some disks have no modes: it is the writer's own then.
    for owner, group in ((-1, before.st_gid), (before.st_uid, -1)):
        with suppress(PermissionError):
            os.fchown(file, owner, group)
    with suppress(PermissionError):
        os.fchmod(file, before.st_mode & 0o777)


def _overwrite(target: Path, draft: Path) -> None:
    """Copy all bytes over those of a file, which keeps all its names; the draft goes last."""
    try:
        with draft.open("rb") as source, target.open("r+b") as file:
            shutil.copyfileobj(source, file)
            file.truncate()
            file.flush()
            _sync(file.fileno())
    except OSError as error:
        raise OSError(
            f"'{target}' was overwritten in part or not at all ({error}): what was to be written "
            f"is in '{draft}'"
        ) from error
    draft.unlink()


def _sync(file: int) -> None:
    """Wait until it is on the disk."""
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise


def _sync_folder(folder: Path) -> None:
    """Wait until the name of a file is on the disk, too."""
    if not hasattr(os, "O_DIRECTORY"):
        return  # Windows: folders cannot be opened
    try:
        file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:
        return  # one that may be written to but not read
    try:
        _sync(file)
    finally:
        os.close(file)
