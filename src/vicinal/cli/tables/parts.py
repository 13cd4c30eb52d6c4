"""Results to files and standard output, part by part."""

import gzip
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from vicinal.cli.running import remark, say_held_back
from vicinal.cli.streams import writing_results
from vicinal.cli.tables.formulas import defused
from vicinal.cli.tables.kinds import Kind
from vicinal.cli.tables.locations import whole_output
from vicinal.cli.tables.sources import STANDARD
from vicinal.cli.tables.writing import WITHOUT_CLASSES, Destination, arrays_of, write_text

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["write_parts"]


class _Results(NamedTuple):
    """What is to be written: see `write_parts`."""

    frames: "Iterator[pl.DataFrame]"
    n_rows: int
    target: str | None
    is_matrix: bool


def write_parts(
    destination: Destination,
    frames: "Iterator[pl.DataFrame]",
    n_rows: int,
    target: str | None = None,
    is_matrix: bool = True,
) -> None:
    """Write a table, one part after the other; a file is then whole, or as it was before.

    Parameters
    ----------
    destination : Destination
    frames : iterator of polars.DataFrame
        With the same columns.
    n_rows : int
        In all of them, one at least.
    target : str, optional
        The column of classes, which .npz files call y and .npy files do without.
    is_matrix : bool, default=True
        Whether NumPy's files hold a matrix where there is one other column, too.
    """
    if destination.defuse:
        frames = (defused(frame) for frame in frames)
    with _opened(destination) as stream:
        _WRITERS[destination.kind](_Results(frames, n_rows, target, is_matrix), stream)


@contextmanager
def _opened(destination: Destination) -> Iterator[BinaryIO]:
    if destination.path == STANDARD:
        say_held_back()
        with writing_results():
            yield sys.stdout.buffer
        return
    with whole_output(destination.path) as file:
        if destination.path.suffix.lower() != ".gz":
            yield file
            return
        with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as zipped:
            yield zipped  # type: ignore[misc]


def _text(separator: str) -> Callable[[_Results, BinaryIO], None]:
    def write(results: _Results, stream: BinaryIO) -> None:
        for number, frame in enumerate(results.frames):
            write_text(frame, stream, separator, include_header=number == 0)

    return write


def _parquet(results: _Results, stream: BinaryIO) -> None:
    import pyarrow.parquet as pq

    first = next(results.frames).to_arrow()
    with pq.ParquetWriter(stream, first.schema) as writer:
        writer.write_table(first)
        for frame in results.frames:
            writer.write_table(frame.to_arrow())


def _arrow(results: _Results, stream: BinaryIO) -> None:
    import pyarrow as pa

    first = next(results.frames).to_arrow()
    with pa.ipc.new_file(stream, first.schema) as writer:
        writer.write_table(first)
        for frame in results.frames:
            writer.write_table(frame.to_arrow())


def _npy(results: _Results, stream: BinaryIO) -> None:
    if _write_matrix(results, stream):
        remark(WITHOUT_CLASSES)


def _npz(results: _Results, stream: BinaryIO) -> None:
    import numpy as np

    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open(_member("X"), "w", force_zip64=True) as member:
            classes = _write_matrix(results, member)  # type: ignore[arg-type]
        if classes:
            with archive.open(_member("y"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.concatenate(classes), allow_pickle=False)


def _member(name: str) -> zipfile.ZipInfo:
    """Without a date: the same table makes the same file."""
    found = zipfile.ZipInfo(f"{name}.npy")
    found.compress_type = zipfile.ZIP_DEFLATED
    return found


def _write_matrix(results: _Results, stream: BinaryIO) -> "list[NDArray]":
    """Write all columns but the classes, which are returned."""
    import numpy as np

    classes, dtype = [], None
    for frame in results.frames:
        found = arrays_of(frame, results.target, results.is_matrix)
        X = np.ascontiguousarray(found["X"], dtype)
        if dtype is None:
            dtype = X.dtype
            _write_header(stream, dtype, (results.n_rows, *X.shape[1:]))
        stream.write(X.tobytes())
        classes += [found["y"]] if "y" in found else []
    return classes


def _write_header(stream: BinaryIO, dtype: "np.dtype", shape: tuple[int, ...]) -> None:
    import numpy as np

    if dtype.kind not in "biuf":
        raise ValueError(
            "NumPy's files hold words of one length, which is not known before the last part: "
            "write .csv, .parquet or .arrow"
        )
    header = {"descr": dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)


_WRITERS: dict[Kind, Callable[[_Results, BinaryIO], None]] = {
    Kind.csv: _text(","),
    Kind.tsv: _text("\t"),
    Kind.parquet: _parquet,
    Kind.arrow: _arrow,
    Kind.npy: _npy,
    Kind.npz: _npz,
}
