"""Rows in blocks of one size, whatever the chunks they come in, each read while one is used."""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from vicinal.rows.source import RowSource

__all__ = ["BLOCK_BYTES", "block_rows", "blocks", "n_blocks", "not_finite", "read_ahead"]

Item = TypeVar("Item")

# Of a block in double precision. It depends on nothing else: neither the kind of a source nor its
# chunks nor a limit of memory may change what is computed.
BLOCK_BYTES = 16_000_000


def block_rows(n_columns: int) -> int:
    """Rows of a block."""
    return max(1, BLOCK_BYTES // (8 * max(1, n_columns)))


def n_blocks(source: RowSource) -> int:
    """Number of blocks."""
    return -(-source.shape[0] // block_rows(source.shape[1]))


def blocks(source: RowSource) -> Generator[tuple[slice, NDArray], None, None]:
    """All rows in blocks: their places, and their values, which are finite.

    Raises where chunks are not as the source has said, or hold no numbers.
    """
    n_seen = 0
    with closing(read_ahead(_cut(source))) as cut:
        for block in cut:
            rows = slice(n_seen, n_seen + len(block))
            _check_finite(source, block, n_seen)
            n_seen = rows.stop
            yield rows, block
    if n_seen != len(source):
        raise ValueError(
            f"{source.name} has {n_seen} rows in its chunks, but says that it has {len(source)}: "
            "was it written to meanwhile?"
        )


def read_ahead(items: Iterator[Item]) -> Generator[Item, None, None]:
    """Items in order, the next one being made in a thread while one is used."""
    end = object()
    with ThreadPoolExecutor(1, thread_name_prefix="vicinal-reading") as reader:
        waiting = reader.submit(next, items, end)
        while (item := waiting.result()) is not end:
            waiting = reader.submit(next, items, end)
            yield item  # type: ignore[misc]


def _cut(source: RowSource) -> Iterator[NDArray]:
    """Chunks, cut and put together."""
    size, block, n_filled = block_rows(source.shape[1]), None, 0
    for chunk in source.chunks():
        _check_width(source, chunk)
        while len(chunk):
            if block is None:
                block, n_filled = np.empty((size, source.shape[1]), source.dtype), 0
            part = chunk[: size - n_filled]
            block[n_filled : n_filled + len(part)] = part
            chunk, n_filled = chunk[len(part) :], n_filled + len(part)
            if n_filled == size:
                yield block
                block = None
    if block is not None:
        yield block[:n_filled]


def _check_width(source: RowSource, chunk: NDArray) -> None:
    if chunk.ndim != 2 or chunk.shape[1] != source.shape[1]:
        raise ValueError(
            f"{source.name} has a chunk of shape {chunk.shape} among chunks of {source.shape[1]} "
            "columns: all rows must have the same columns."
        )


def _check_finite(source: RowSource, block: NDArray, before: int) -> None:
    found = not_finite(source.name, source.columns, block, before)
    if found is not None:
        raise ValueError(found)


def not_finite(
    name: str, columns: tuple[str, ...] | None, block: NDArray, before: int
) -> str | None:
    """What to say of a block that holds something else than numbers, `before` rows into it all."""
    # A sum is a number only where all are, or where it overflows.
    with np.errstate(all="ignore"):
        if np.isfinite(block.sum()):
            return None
    wrong = np.argwhere(~np.isfinite(block))
    if not len(wrong):
        return None
    row, column = (int(place) for place in wrong[0])
    called = column if columns is None else repr(columns[column])
    return (
        f"{name} contains {block[row, column]} (or a gap) in row {before + row}, column {called}: "
        "fill in such values, or drop these rows, first."
    )
