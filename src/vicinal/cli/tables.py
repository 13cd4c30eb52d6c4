"""Tables from files and standard input: CSV, TSV, Parquet, Arrow, .npy and .npz."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vicinal.cli.kinds import Kind
from vicinal.cli.sources import Source
from vicinal.cli.streams import errors_of_libraries_hidden
from vicinal.cli.wording import some

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["Table", "read_table", "some_columns", "unnamed_columns"]


@dataclass(frozen=True)
class Table:
    """Rows and columns, and what messages need to know about them.

    Attributes
    ----------
    frame : polars.DataFrame
    name : str
        Of the file, for messages.
    is_named : bool
        Whether the columns have names of their own; those of a matrix have not.
    target : str or None
        The column that is known to hold classes: y of an .npz file.
    line_of : callable or None
        From the position of a row to its line; None where there are no lines.
    cells : callable or None
        From names of columns to a table of them as text, cell by cell as the file has
        it. None: the file holds values, those of `frame`.
    """

    frame: "pl.DataFrame"
    name: str
    is_named: bool = True
    target: str | None = None
    line_of: Callable[[int], int] | None = None
    cells: "Callable[[Sequence[str]], pl.DataFrame] | None" = None

    def as_written(self, names: Sequence[str]) -> "pl.DataFrame":
        """Columns as they stand in the file: what is written 007 or 1e2 is no number there."""
        return some_columns(self.frame, names) if self.cells is None else self.cells(names)

    def words(self, name: str) -> "pl.Series":
        """A column as written, without blanks around the words; null where `frame` has a gap."""
        column = self.as_written([name])[name]
        if self.cells is None:
            return column
        words = column.str.strip_chars()
        return words.set(self.frame[name].is_null() | (words == ""), None)

    def where(self, row: int) -> str:
        """The row at a position, as people count in the file."""
        if self.line_of is None:
            return f"row {row + 1}"
        return f"data row {row + 1} (line {self.line_of(row)})"


def read_table(path: Path, kind: Kind | None = None, *, header: bool | None = None) -> Table:
    """Read a table.

    Parameters
    ----------
    path : Path
        "-": standard input.
    kind : Kind, optional
        None: by the first bytes, else by the name.
    header : bool, optional
        Whether the first line of a text holds names. None: yes, unless it looks
        like data, which is an error.

    Returns
    -------
    Table
        With at least one row and one column.
    """
    _require_polars()
    source = Source.at(path)
    kind = source.kind(kind)
    if header is not None and not kind.is_text:
        raise ValueError(f"--header and --no-header are for text: {source.name} is {kind.value}")
    table = _READERS[kind](source, kind, header)
    if table.frame.height == 0:
        raise ValueError(f"{source.name} has names of columns, but no rows")
    if table.frame.width == 0:
        raise ValueError(f"{source.name} has no columns")
    return table


def some_columns(frame: "pl.DataFrame", names: Sequence[str]) -> "pl.DataFrame":
    """Columns by their names; to polars' own select, "*" and "^.*$" are patterns."""
    import polars as pl

    return pl.DataFrame([frame[name] for name in names])


def unnamed_columns(n: int) -> list[str]:
    """Names for the columns of a matrix."""
    return [f"x{i + 1}" for i in range(n)]


def _require_polars() -> None:
    try:
        import polars  # noqa: F401
    except ImportError as error:
        raise ImportError("reading tables needs polars: pip install 'vicinal[cli]'") from error


def _text(source: Source, kind: Kind, header: bool | None) -> Table:
    from vicinal.cli.text import read_text

    return read_text(source, kind, header)


def _parquet(source: Source, kind: Kind, header: bool | None) -> Table:
    import polars as pl

    frame = _read(lambda: pl.read_parquet(source.stream), source, "Parquet")
    return Table(_named(frame, source.name), source.name)


def _arrow(source: Source, kind: Kind, header: bool | None) -> Table:
    import polars as pl

    is_file = source.beginning.startswith(b"ARROW1")
    read: Any = pl.read_ipc if is_file else pl.read_ipc_stream
    frame = _read(lambda: read(source.stream), source, "Arrow")
    return Table(_named(frame, source.name), source.name)


def _named(frame: "pl.DataFrame", name: str) -> "pl.DataFrame":
    """With names for all columns, as text has them: what has none is called by its place."""
    if "" not in frame.columns:
        return frame
    names = [column or f"column{i + 1}" for i, column in enumerate(frame.columns)]
    if len({*names}) < len(names):
        raise ValueError(f"{name} has a column without a name: give it one")
    frame.columns = names
    return frame


def _npy(source: Source, kind: Kind, header: bool | None) -> Table:
    array = _read(lambda: _loaded(source), source, "NumPy")
    return Table(_frame(array, source.name), source.name, is_named=False)


def _npz(source: Source, kind: Kind, header: bool | None) -> Table:
    arrays = _read(lambda: _unpacked(source), source, "NumPy")
    if "X" not in arrays:
        raise ValueError(f"{source.name} has no array 'X', but {some(arrays) or 'none at all'}")
    frame = _frame(arrays["X"], f"X of {source.name}")
    if "y" not in arrays:
        return Table(frame, source.name, is_named=False)
    y = arrays["y"]
    if y.shape != (frame.height,):
        raise ValueError(
            f"{source.name}: y has shape {y.shape}, but X has {frame.height} rows: there must be "
            "one entry of y for each"
        )
    frame = frame.with_columns(_series("y", y, f"y of {source.name}"))
    return Table(frame, source.name, is_named=False, target="y")


_READERS: dict[Kind, Callable[[Source, Kind, bool | None], Table]] = {
    Kind.csv: _text,
    Kind.tsv: _text,
    Kind.parquet: _parquet,
    Kind.arrow: _arrow,
    Kind.npy: _npy,
    Kind.npz: _npz,
}


def _read(reader: Callable[[], Any], source: Source, kind: str) -> Any:
    import polars as pl

    # A damaged file can make a reader fail in any way, polars by a panic that is no Exception.
    panic: type[BaseException] = pl.exceptions.PanicException
    try:
        with errors_of_libraries_hidden():
            return reader()
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{source.name} cannot be read as {kind}: {reason}") from error
    except panic as error:
        raise ValueError(f"{source.name} cannot be read as {kind}: it is damaged") from error


def _loaded(source: Source) -> "NDArray":
    import numpy as np

    with source.open() as stream:
        array: NDArray = np.load(stream, allow_pickle=False)  # what is pickled could run code
        return array


def _unpacked(source: Source) -> "dict[str, NDArray]":
    import numpy as np

    with source.open() as stream, np.load(stream, allow_pickle=False) as archive:
        if not all(name.endswith(".npy") for name in archive.zip.namelist()):
            raise ValueError("it is a zip archive of something else; save a sheet as CSV")
        return dict(archive)


def _frame(array: "NDArray", name: str) -> "pl.DataFrame":
    """A matrix as a table with names x1, x2, ..."""
    import polars as pl

    if array.ndim not in (1, 2):
        raise ValueError(f"{name} has shape {array.shape}: a table has rows and columns")
    columns = array[None] if array.ndim == 1 else array.T
    names = unnamed_columns(len(columns))
    return pl.DataFrame([_series(*named, name) for named in zip(names, columns, strict=True)])


def _series(column: str, values: "NDArray", name: str) -> "pl.Series":
    import polars as pl

    if values.dtype.kind not in "biufU":
        raise ValueError(f"{name} is an array of {values.dtype}: it must hold numbers")
    if values.dtype.kind == "U":
        return pl.Series(column, values.tolist(), dtype=pl.String)
    return pl.Series(column, values.astype(_plain(values.dtype)))


def _plain(dtype: "np.dtype") -> "np.dtype":
    """The nearest type that a table can hold."""
    import numpy as np

    if dtype.kind == "f":
        return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    return dtype.newbyteorder("=")
