"""Rows that a fit can take from in any order: an array in memory, or in a scratch file."""

import os
import shutil
import tempfile

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting.progress import stage
from vicinal.rows.blocks import blocks, n_blocks
from vicinal.rows.memory import in_words
from vicinal.rows.source import RowSource

__all__ = ["HELD_BYTES", "HELD_SHARE", "SCRATCH", "held_bytes", "settled"]

# Rows of so many bytes are held in memory; of a limit that was set, this share at most.
HELD_BYTES, HELD_SHARE = 256_000_000, 0.25

# Names the folder for scratch files; by default that of the system.
SCRATCH = "VICINAL_SCRATCH"


def held_bytes(source: RowSource, limit: float | None) -> float:
    """What of the rows will be held in memory."""
    most = HELD_BYTES if limit is None else min(HELD_BYTES, HELD_SHARE * limit)
    return source.n_bytes if source.at_hand is None and source.n_bytes <= most else 0.0


def settled(source: RowSource, limit: float | None, who: str, verbose: int = 0) -> NDArray:
    """All rows as an array, read once: batches draw rows at random, which chunks make dear.

    Many rows go to a scratch file, which has no name and is gone when nobody uses the array any
    longer, whatever happens to the process.

    Parameters
    ----------
    source : RowSource
    limit : float or None
        Bytes of memory.
    who : str
        For the line of progress.
    verbose : int, default=0

    Returns
    -------
    ndarray of shape (n, n_columns)
        Read-only where it is a file.
    """
    if source.at_hand is not None:
        return source.at_hand
    if not source.n_bytes or held_bytes(source, limit):
        X = np.empty(source.shape, source.dtype)
        with stage(f"{who}, reading", n_blocks(source), verbose) as tell:
            for rows, block in blocks(source):
                X[rows] = block
                tell(1)
        return X
    return _in_scratch_file(source, who, verbose)


def _in_scratch_file(source: RowSource, who: str, verbose: int) -> NDArray:
    folder = os.environ.get(SCRATCH) or tempfile.gettempdir()
    _check_room(source, folder)
    with tempfile.TemporaryFile(dir=folder, prefix="vicinal-") as file:
        with stage(f"{who}, reading", n_blocks(source), verbose) as tell:
            for _, block in blocks(source):
                # Written, not mapped: a disk that is full is then an error instead of a signal.
                file.write(np.ascontiguousarray(block).data)
                tell(1)
        file.flush()
        return np.memmap(file, source.dtype, "r", shape=source.shape)


def _check_room(source: RowSource, folder: str) -> None:
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise OSError(f"{SCRATCH}={folder!r} is no folder for scratch files: {error}") from error
    if free < source.n_bytes:
        raise OSError(
            f"{source.name} needs {in_words(source.n_bytes)} in a scratch file, and the disk of "
            f"{folder!r} has {in_words(free)} left: set the environment variable {SCRATCH} to a "
            "folder on a larger disk, or pass a memory map of a .npy file, which needs none."
        )
