"""Tables to files and standard output."""

import gzip
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from vicinal.cli.kinds import Kind, kind_of_name, known_suffixes
from vicinal.cli.running import remark
from vicinal.cli.sources import STANDARD
from vicinal.files import check_target, whole_file

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["Destination"]


@dataclass(frozen=True)
class Destination:
    """Where a table goes, and as what.

    Attributes
    ----------
    path : Path
        STANDARD: standard output.
    kind : Kind
    """

    path: Path
    kind: Kind

    @classmethod
    def of(cls, path: Path | None, asked: Kind | None) -> "Destination":
        """Checked before the work whose result is to be written.

        Parameters
        ----------
        path : Path or None
            None or "-": standard output.
        asked : Kind or None
            None: as the name tells, CSV on standard output.
        """
        if path is None or path == STANDARD:
            kind = asked or Kind.csv
            if not kind.is_text and sys.stdout.isatty():
                raise ValueError(
                    f"{kind.value} is nothing for a terminal: name a file with -o, or use a pipe"
                )
            return cls(STANDARD, kind)
        check_target(path, "the table")
        found = asked or kind_of_name(path)
        if found is None:
            raise ValueError(
                f"'{path}' has no suffix of a table: use {known_suffixes()}, or say by --to what "
                "to write"
            )
        return cls(path, found)

    def write(
        self, frame: "pl.DataFrame", *, target: str | None = None, is_matrix: bool = True
    ) -> None:
        """Write a table.

        Parameters
        ----------
        frame : polars.DataFrame
        target : str, optional
            The column of classes, which .npz files call y and .npy files do without.
        is_matrix : bool, default=True
            Whether NumPy's files hold a matrix where there is one other column, too.
        """
        stream = io.BytesIO()
        if self.kind in (Kind.npy, Kind.npz):
            _write_arrays(self.kind, _arrays(frame, target, is_matrix), stream)
        else:
            _WRITERS[self.kind](frame, stream)
        if self.path == STANDARD:
            sys.stdout.buffer.write(stream.getbuffer())
            sys.stdout.buffer.flush()
            return
        content: bytes | memoryview = stream.getbuffer()
        if self.path.suffix.lower() == ".gz":
            content = gzip.compress(content, mtime=0)  # the same table makes the same file
        with whole_file(self.path) as file:
            file.write(content)


_WRITERS: dict[Kind, Callable[["pl.DataFrame", BinaryIO], None]] = {
    Kind.csv: lambda frame, stream: frame.write_csv(stream),
    Kind.tsv: lambda frame, stream: frame.write_csv(stream, separator="\t"),
    Kind.parquet: lambda frame, stream: frame.write_parquet(stream),
    Kind.arrow: lambda frame, stream: frame.write_ipc(stream),
}


def _arrays(frame: "pl.DataFrame", target: str | None, is_matrix: bool) -> "dict[str, NDArray]":
    if target is None or frame.width == 1:
        return {"X": _array(frame, is_matrix)}
    y = _array(frame.select(target), False)
    return {"X": _array(frame.drop(target), is_matrix), "y": y}


def _write_arrays(kind: Kind, arrays: "dict[str, NDArray]", stream: BinaryIO) -> None:
    import numpy as np

    if kind is Kind.npz:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
        return
    if "y" in arrays:
        remark("the classes are left out: .npy holds one array, .npz has room for them as y")
    np.save(stream, arrays["X"], allow_pickle=False)


def _array(frame: "pl.DataFrame", is_matrix: bool) -> "NDArray":
    """Numbers, or one column of words."""
    import polars as pl

    words = [
        column.name
        for column in frame
        if not (column.dtype.is_numeric() or column.dtype == pl.Boolean)
    ]
    if words and frame.width > 1:
        raise ValueError(
            f"NumPy's files hold numbers, and {words[0]!r} is text: write .csv, .parquet or .arrow"
        )
    array = frame.to_numpy().astype(str) if words else frame.to_numpy()
    return array if is_matrix or frame.width > 1 else array[:, 0]
