"""Tables to files and standard output."""

import gzip
import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from vicinal.cli.overwriting import refuse_overwriting
from vicinal.cli.running import WrongUsage, remark, say_held_back
from vicinal.cli.streams import writing_results
from vicinal.cli.tables.contents import is_number, kind_of
from vicinal.cli.tables.formulas import defused
from vicinal.cli.tables.kinds import Kind, kind_of_name, known_suffixes
from vicinal.cli.tables.locations import Url, whole_output
from vicinal.cli.tables.sources import STANDARD
from vicinal.cli.tables.table import some_columns
from vicinal.cli.wording import printable
from vicinal.files import check_target

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["WITHOUT_CLASSES", "Destination", "arrays_of", "write_text"]

WITHOUT_CLASSES = "the classes are left out: .npy holds one array, .npz has room for them as y"


@dataclass(frozen=True)
class Destination:
    """Where a table goes, and as what.

    Attributes
    ----------
    path : Path
        STANDARD: standard output.
    kind : Kind
    defuse : bool
        Whether formulas among words are to be text to spreadsheets.
    """

    path: Path
    kind: Kind
    defuse: bool = False

    @classmethod
    def of(
        cls, path: Path | None, asked: Kind | None, *read: Path, defuse: bool = False
    ) -> "Destination":
        """Checked before the work whose result is to be written.

        Parameters
        ----------
        path : Path or None
            None or "-": standard output.
        asked : Kind or None
            None: as the name tells, CSV on standard output.
        *read : Path
            Files that must stay as they are.
        defuse : bool, default=False
            See the attribute.
        """
        found = cls(*_checked(path, asked), defuse)
        refuse_overwriting({"--output": found.path}, *read)
        if defuse and not found.kind.is_text:
            raise WrongUsage(
                f"--defuse-formulas is for text: {found.kind.value} tells words from formulas"
            )
        return found

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
        frame = defused(frame) if self.defuse else frame
        if self.kind in (Kind.npy, Kind.npz):
            _write_arrays(self.kind, arrays_of(frame, target, is_matrix), stream)
        else:
            _WRITERS[self.kind](frame, stream)
        with stream.getbuffer() as content:  # given back, or Python complains where writing fails
            self._send(content)

    def _send(self, content: memoryview) -> None:
        if self.path == STANDARD:
            say_held_back()
            with writing_results():
                sys.stdout.buffer.write(_shown(content) if _is_terminal() else content)
            return
        is_zipped = self.path.suffix.lower() == ".gz"  # the same table makes the same file
        with whole_output(self.path) as file:
            file.write(gzip.compress(content, mtime=0) if is_zipped else content)


def _checked(path: Path | None, asked: Kind | None) -> tuple[Path, Kind]:
    if path is None or path == STANDARD:
        kind = asked or Kind.csv
        if not kind.is_text and _is_terminal():
            raise ValueError(
                f"{kind.value} is nothing for a terminal: name a file with -o, or use a pipe"
            )
        return STANDARD, kind
    if not isinstance(path, Url):
        check_target(path, "the table")
    found = asked or kind_of_name(path)
    if found is None:
        raise ValueError(
            f"'{path}' has no suffix of a table: use {known_suffixes()}, or say by --to what "
            "to write"
        )
    return path, found


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _shown(content: memoryview) -> bytes:
    """Text as a terminal may have it; a pipe or a file gets it as it is."""
    return printable(str(content, "utf-8"), keep="\t\n").encode(errors="backslashreplace")


_WRITERS: dict[Kind, Callable[["pl.DataFrame", BinaryIO], None]] = {
    Kind.csv: lambda frame, stream: write_text(frame, stream, ","),
    Kind.tsv: lambda frame, stream: write_text(frame, stream, "\t"),
    Kind.parquet: lambda frame, stream: frame.write_parquet(stream),
    Kind.arrow: lambda frame, stream: frame.write_ipc(stream),
}


def write_text(
    frame: "pl.DataFrame", stream: BinaryIO, separator: str, include_header: bool = True
) -> None:
    """A table in lines; an error where a column is none of words, numbers or times."""
    import polars as pl

    for column in frame:
        if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
            raise ValueError(
                f"column {column.name!r} is of type {column.dtype}, which no text can hold: write "
                ".parquet or .arrow"
            )
    frame.write_csv(stream, separator=separator, include_header=include_header)


def arrays_of(frame: "pl.DataFrame", target: str | None, is_matrix: bool) -> "dict[str, NDArray]":
    """A table as NumPy's files have it: X and, where there are classes, y."""
    if target is None or frame.width == 1:
        return {"X": _array(frame, is_matrix)}
    y = _array(some_columns(frame, [target]), False)
    others = [name for name in frame.columns if name != target]
    return {"X": _array(some_columns(frame, others), is_matrix), "y": y}


def _write_arrays(kind: Kind, arrays: "dict[str, NDArray]", stream: BinaryIO) -> None:
    import numpy as np

    if kind is Kind.npz:
        np.savez_compressed(stream, **arrays)  # type: ignore[arg-type]
        return
    if "y" in arrays:
        remark(WITHOUT_CLASSES)
    np.save(stream, arrays["X"], allow_pickle=False)


def _array(frame: "pl.DataFrame", is_matrix: bool) -> "NDArray":
    """Numbers, or one column of words."""
    words = [column.name for column in frame if not is_number(column)]
    if words and frame.width > 1:
        raise _not_for_numpy(f"{words[0]!r} is {kind_of(frame[words[0]])}")
    for column in frame:
        if column.null_count():
            raise _not_for_numpy(f"{column.name!r} has gaps")
        if column.dtype.is_integer() and _loses_digits(column, frame):
            raise _not_for_numpy(f"{column.name!r} has more digits than floating point keeps")
    array = frame.to_numpy().astype(str) if words else frame.to_numpy()
    return array if is_matrix or frame.width > 1 else array[:, 0]


def _not_for_numpy(reason: str) -> ValueError:
    return ValueError(f"NumPy's files hold numbers, and {reason}: write .csv, .parquet or .arrow")


def _loses_digits(column: "pl.Series", frame: "pl.DataFrame") -> bool:
    """Whether the common type of the columns, float64, would change whole numbers."""
    import polars as pl

    if all(dtype == column.dtype for dtype in frame.dtypes):
        return False
    return bool((column.cast(pl.Float64).cast(column.dtype, strict=False) != column).any())
