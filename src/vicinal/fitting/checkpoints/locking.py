"""One fit at a time for every checkpoint: two would overwrite what the other has found.

The lock is the system's, on a file beside the checkpoint, and is gone with the process that has it,
however that ends. The file itself says who that is, for the message to others; one that a killed
process has left is taken over.
"""

import errno
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vicinal.fitting.remarks import warn_user

__all__ = ["LOCK", "locked"]

# What is added to the name of a checkpoint while a fit uses it.
LOCK = ".lock"

# How a lock begins, which tells it from files of others (poetry.lock).
_BEGINNING = b"process "

# Where a disk, or the server that it belongs to, knows no locks, or is full.
_NO_LOCKS = (
    errno.EDQUOT,
    errno.EINVAL,
    errno.ENOLCK,
    errno.ENOSPC,
    errno.ENOSYS,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep others from using the checkpoint at `path` meanwhile.

    Raises
    ------
    BlockingIOError
        Where another fit uses it: of another process, or of another thread.

    Warns
    -----
    UserWarning
        Where the disk knows no locks, or has no room.
    """
    beside = Path(f"{path}{LOCK}")
    try:
        file = _taken(path, beside)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        told = f"the checkpoint '{path}' cannot be locked ({error}): see that no other fit uses it."
        warn_user(told, UserWarning)
        yield
        return
    try:
        with suppress(OSError):  # a full disk: others are not told whose it is
            os.ftruncate(file, 0)
            os.lseek(file, 0, os.SEEK_SET)
            os.write(file, _BEGINNING + f"{os.getpid()} on {socket.gethostname()}".encode())
        yield
    finally:
        _released(file, beside)


def _taken(path: Path, beside: Path) -> int:
    """An open file that nobody else has locked, and that is still there."""
    while True:
        file = os.open(beside, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        try:
            _lock(file)
            if _is_at(beside, file):
                _check_ours(path, beside, file)
                return file
        except BlockingIOError:
            user = os.read(file, 200).decode(errors="replace") or "another process"
            os.close(file)
            raise BlockingIOError(
                f"checkpoint='{path}' is in use by another fit ({user}): wait for its end, or name "
                "another file."
            ) from None
        except OSError:
            os.close(file)
            raise
        os.close(file)  # whoever had it has removed it since it was opened


def _check_ours(path: Path, beside: Path, file: int) -> None:
    """Refuse a file of somebody else, which would be removed as the lock of a killed process."""
    content = os.read(file, len(_BEGINNING)).strip(b"\0")  # zeros: of a machine that has crashed
    if not _BEGINNING.startswith(content):
        raise FileExistsError(
            f"checkpoint='{path}' needs '{beside}' for itself, and that is a file of something "
            "else: name another checkpoint."
        )


def _is_at(beside: Path, file: int) -> bool:
    try:
        return os.path.samestat(os.fstat(file), beside.stat())
    except FileNotFoundError:
        return False


def _released(file: int, beside: Path) -> None:
    """Removed before it is unlocked: whoever opens the name from now on makes another file."""
    if sys.platform == "win32":  # where no open file can be removed
        os.close(file)
        with suppress(OSError):
            beside.unlink()
        return
    try:
        beside.unlink(missing_ok=True)
    finally:
        _unlock(file)
        os.close(file)


if sys.platform == "win32":
    import msvcrt

    # A byte that is never written: what is locked others cannot read.
    _FAR = 1 << 30

    def _lock(file: int) -> None:
        os.lseek(file, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError(str(error)) from error
        finally:
            os.lseek(file, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(file: int) -> None:
        """Also where a fork of this process has the file open, too."""
        fcntl.flock(file, fcntl.LOCK_UN)
