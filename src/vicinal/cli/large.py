"""Tables larger than memory: opened and read in parts, never as a whole."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vicinal.cli import options
from vicinal.cli.model_files import SavedModel
from vicinal.cli.running import WrongUsage
from vicinal.cli.tables.columns import Columns, Selection
from vicinal.cli.tables.rows import Rows
from vicinal.cli.tables.sources import STANDARD
from vicinal.cli.tables.table import Table, unnamed_columns

if TYPE_CHECKING:
    import polars as pl

    from vicinal.rows import RowSource

__all__ = ["LargeTable", "Sparing", "parts"]

# Arrays without names of columns.
_ARRAYS = (".npy", ".zarr")

# What a command takes for blocks of rows, as a multiple of their size.
_BLOCKS = 12


class Sparing(NamedTuple):
    """Whether a table is read in parts, and what may be held of it."""

    memory_limit: options.MemoryLimit = None

    def is_for(self, data: Path) -> bool:
        """Whether a table is to be read in parts: as was asked for, or because it is a folder."""
        return self.memory_limit is not None or data.is_dir()

    def table(self, data: Path, **refused: Any) -> "LargeTable":
        """The table, if nothing was asked for that needs all of it."""
        from vicinal.rows.blocks import BLOCK_BYTES
        from vicinal.rows.memory import Need, check_memory

        for name, value in refused.items():
            if value:
                option = f"--{name.replace('_', '-')}"
                raise WrongUsage(f"{option} needs the whole table, which is read in parts here")
        if data == STANDARD:
            raise WrongUsage("--memory-limit: standard input cannot be read twice; name a file")
        needed = Need("blocks of rows", _BLOCKS * BLOCK_BYTES, "")
        check_memory("reading in parts", self.memory_limit, [needed])
        return LargeTable.at(data)


@dataclass(frozen=True)
class LargeTable:
    """A table that is not read yet.

    Attributes
    ----------
    path : Path
    known : Table
        Its columns, without rows.
    """

    path: Path
    known: Table

    @classmethod
    def at(cls, path: Path) -> "LargeTable":
        """Look at the columns of a file or a folder."""
        import polars as pl

        names = _names(path)
        columns = unnamed_columns(_width(path)) if names is None else names
        frame = pl.DataFrame(schema=dict.fromkeys(columns, pl.Float64))
        return cls(path, Table(frame, f"'{path}'", is_named=names is not None))

    def to_learn_from(self, selection: Selection, target: str | None, with_target: bool) -> Rows:
        """What a model is fitted to."""
        if selection.one_hot:
            raise WrongUsage("--one-hot needs the whole table, which is read in parts here")
        columns = Columns.chosen(self.known, selection, target)
        return self._rows(columns, list(columns.sources), columns.target, with_target)

    def for_model(self, saved: SavedModel, target: str | None, with_target: bool) -> Rows:
        """What a fitted model is asked about."""
        columns = saved.columns(target)
        if columns.categories:
            raise ValueError(f"'{saved.path}' has columns of words, which are not read in parts")
        names = columns.names_in(self.known)
        return self._rows(columns, names, columns.target_in(self.known), with_target)

    def _rows(
        self, columns: Columns, names: list[str], target: str | None, with_target: bool
    ) -> Rows:
        from vicinal.rows import open_rows

        wanted = target if with_target else None
        places = {name: place for place, name in enumerate(self.known.frame.columns)}
        if self.known.is_named:
            source = open_rows(self.path, columns=names, target=wanted)
        else:
            at = None if wanted is None else places[wanted]
            source = open_rows(self.path, columns=[places[name] for name in names], target=at)
        return Rows(source, source.target, range(len(source)), columns)  # type: ignore[arg-type]


def parts(rows: Rows, answer: "Callable[[Any], pl.DataFrame]") -> "Iterator[pl.DataFrame]":
    """What is said about rows, a block of them at a time."""
    import polars as pl

    from vicinal.fitting.progress import stage
    from vicinal.rows.blocks import blocks, n_blocks

    source: RowSource = rows.X  # type: ignore[assignment]
    names = rows.columns.features
    with stage("Reading", n_blocks(source), 0) as tell:
        for _, block in blocks(source):
            named = pl.DataFrame(block, schema=names) if rows.columns.is_named else block
            yield answer(named)
            tell(1)


def _names(path: Path) -> list[str] | None:
    """Names of columns; None: it is an array, which has none."""
    from vicinal.rows.opening import SUFFIXES, needed

    suffix = path.suffix.lower()
    if suffix in _ARRAYS:
        return None
    if suffix not in SUFFIXES:
        known = ", ".join(one for one in SUFFIXES if one)
        raise ValueError(f"'{path}' cannot be read in parts: that can be {known}, and folders")
    pads = needed("pyarrow.dataset", f"reading '{path}' in parts")
    kind: Any = {"": "parquet", ".pq": "parquet", ".arrow": "ipc", ".feather": "ipc"}.get(
        suffix, suffix[1:]
    )
    if suffix == ".tsv":
        from pyarrow.csv import ParseOptions

        kind = pads.CsvFileFormat(ParseOptions(delimiter="\t"))
    try:
        return list(pads.dataset(path, format=kind, partitioning="hive").schema.names)
    except (OSError, ValueError) as error:
        raise ValueError(f"'{path}' cannot be read: {error}") from error


def _width(path: Path) -> int:
    from vicinal.rows import open_rows

    return open_rows(path).shape[1]
