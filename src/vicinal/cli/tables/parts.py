"""Results to files and standard output, part by part."""

import gzip
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from vicinal.cli.running import say_held_back
from vicinal.cli.streams import writing_results
from vicinal.cli.tables.formulas import defused
from vicinal.cli.tables.kinds import Kind
from vicinal.cli.tables.sources import STANDARD
from vicinal.cli.tables.writing import Destination
from vicinal.files import whole_file

if TYPE_CHECKING:
    import polars as pl

__all__ = ["write_parts"]

Frames = Iterator["pl.DataFrame"]


def write_parts(destination: Destination, frames: Frames, n_rows: int) -> None:
    """Write a table, one part after the other; a file is then whole, or as it was before.

    Parameters
    ----------
    destination : Destination
    frames : iterator of polars.DataFrame
        With the same columns.
    n_rows : int
        In all of them, one at least.
    """
    if destination.kind not in _WRITERS:
        raise ValueError(
            f"{destination.kind.value} cannot be written in parts: name a .csv, .tsv, .parquet, "
            ".arrow or .npy file"
        )
    if destination.defuse:
        frames = (defused(frame) for frame in frames)
    with _opened(destination) as stream:
        _WRITERS[destination.kind](frames, stream, n_rows)


@contextmanager
def _opened(destination: Destination) -> Iterator[BinaryIO]:
    if destination.path == STANDARD:
        say_held_back()
        with writing_results():
            yield sys.stdout.buffer
        return
    with whole_file(destination.path) as file:
        if destination.path.suffix.lower() != ".gz":
            yield file
            return
        with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as zipped:
            yield zipped  # type: ignore[misc]


def _text(separator: str) -> Callable[[Frames, BinaryIO, int], None]:
    def write(frames: Frames, stream: BinaryIO, n_rows: int) -> None:
        for number, frame in enumerate(frames):
            frame.write_csv(stream, separator=separator, include_header=number == 0)

    return write


def _parquet(frames: Frames, stream: BinaryIO, n_rows: int) -> None:
    import pyarrow.parquet as pq

    first = next(frames).to_arrow()
    with pq.ParquetWriter(stream, first.schema) as writer:
        writer.write_table(first)
        for frame in frames:
            writer.write_table(frame.to_arrow())


def _arrow(frames: Frames, stream: BinaryIO, n_rows: int) -> None:
    import pyarrow as pa

    first = next(frames).to_arrow()
    with pa.ipc.new_file(stream, first.schema) as writer:
        writer.write_table(first)
        for frame in frames:
            writer.write_table(frame.to_arrow())


def _npy(frames: Frames, stream: BinaryIO, n_rows: int) -> None:
    import numpy as np

    first = next(frames).to_numpy()
    if first.dtype.kind not in "biuf":
        raise ValueError("NumPy's files hold numbers: write .csv, .parquet or .arrow")
    header = {"descr": first.dtype.str, "fortran_order": False, "shape": (n_rows, first.shape[1])}
    np.lib.format.write_array_header_1_0(stream, header)
    stream.write(np.ascontiguousarray(first).tobytes())
    for frame in frames:
        stream.write(np.ascontiguousarray(frame.to_numpy(), dtype=first.dtype).tobytes())


_WRITERS: dict[Kind, Callable[[Frames, BinaryIO, int], None]] = {
    Kind.csv: _text(","),
    Kind.tsv: _text("\t"),
    Kind.parquet: _parquet,
    Kind.arrow: _arrow,
    Kind.npy: _npy,
}
