"""Tables from files and standard input: CSV, TSV, Parquet, Arrow, .npy and .npz."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vicinal.cli.tables.arrays import read_npy, read_npz
from vicinal.cli.tables.kinds import Kind
from vicinal.cli.tables.sources import Source
from vicinal.cli.tables.table import Table
from vicinal.cli.tables.text import read_text

if TYPE_CHECKING:
    import polars as pl

__all__ = ["read_table"]


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
    table = read_text(source, kind, header) if kind.is_text else _READERS[kind](source)
    if table.frame.height == 0:
        raise ValueError(f"{source.name} has names of columns, but no rows")
    if table.frame.width == 0:
        raise ValueError(f"{source.name} has no columns")
    return table


def _require_polars() -> None:
    try:
        import polars  # noqa: F401
    except ImportError as error:
        raise ImportError("reading tables needs polars: pip install 'vicinal[cli]'") from error


def _parquet(source: Source) -> Table:
    import polars as pl

    frame = source.read_by(lambda: pl.read_parquet(source.stream), "Parquet")
    return Table(_named(frame, source.name), source.name)


def _arrow(source: Source) -> Table:
    import polars as pl

    is_file = source.beginning.startswith(b"ARROW1")
    read: Any = pl.read_ipc if is_file else pl.read_ipc_stream
    frame = source.read_by(lambda: read(source.stream), "Arrow")
    return Table(_named(frame, source.name), source.name)


def _named(frame: "pl.DataFrame", name: str) -> "pl.DataFrame":
    """The table with a name for every column: one that has none is called by its place."""
    if "" not in frame.columns:
        return frame
    names = [column or f"column{i + 1}" for i, column in enumerate(frame.columns)]
    if len({*names}) < len(names):
        raise ValueError(f"{name} has a column without a name: give it one")
    frame.columns = names
    return frame


_READERS: dict[Kind, Callable[[Source], Table]] = {
    Kind.parquet: _parquet,
    Kind.arrow: _arrow,
    Kind.npy: read_npy,
    Kind.npz: read_npz,
}
