"""Commands on tables larger than memory: these are read in parts, never as a whole."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vicinal.cli import options
from vicinal.cli.groups import Keeping, Matching, Reading
from vicinal.cli.model_files import SavedModel
from vicinal.cli.running import WrongUsage
from vicinal.cli.tables.columns import Columns, Selection
from vicinal.cli.tables.locations import Url
from vicinal.cli.tables.parts import write_parts
from vicinal.cli.tables.sources import STANDARD
from vicinal.cli.tables.writing import Destination

if TYPE_CHECKING:
    import polars as pl

    from vicinal.cli.tables.beside import Beside
    from vicinal.cli.tables.large.rows import LargeRows, Sweep
    from vicinal.cli.tables.large.table import LargeTable

__all__ = ["Sparing", "rows_to_learn_from", "sweep_for", "write_answers"]

# What a command takes for parts of a table, as a multiple of the size of a block of rows: some
# 350 MB were measured for text of 12 columns (docs/decisions/0026).
_BLOCKS = 24

# From the numbers of some rows, and their places among all that are whole, to results.
Answer = Callable[[Any, slice], "pl.DataFrame"]


class Sparing(NamedTuple):
    """Whether a table is read in parts, and what may be held of it."""

    memory_limit: options.MemoryLimit = None

    def is_for(self, data: Path) -> bool:
        """Whether a table is to be read in parts: as was asked for, or as a folder or a URL is."""
        return self.memory_limit is not None or data.is_dir() or isinstance(data, Url)

    def table(self, data: Path, reading: Reading) -> "LargeTable":
        """The table, its columns looked at."""
        from vicinal.cli.tables.large.kinds import large_table
        from vicinal.rows.blocks import BLOCK_BYTES
        from vicinal.rows.memory import Need, check_memory

        if data == STANDARD:
            raise WrongUsage("--memory-limit: standard input cannot be read twice; name a file")
        needed = Need("parts of the table", _BLOCKS * BLOCK_BYTES, "")
        check_memory("reading in parts", self.memory_limit, [needed])
        return large_table(data, reading.kind, reading.header)


def rows_to_learn_from(
    table: "LargeTable",
    selection: Selection,
    target: str | None,
    with_target: bool,
    drop_missing: bool,
) -> "LargeRows":
    """What a model is fitted to."""
    from vicinal.cli.tables.large.rows import Sweep

    columns = Columns.chosen(table.known, selection, target)
    labels = columns.target if with_target else None
    return Sweep(table, columns, labels, drop_missing, can_choose=True).rows()


def sweep_for(
    saved: SavedModel,
    table: "LargeTable",
    matching: Matching,
    target: str | None = None,
    with_target: bool = False,
) -> "Sweep":
    """What a fitted model is asked about."""
    from vicinal.cli.tables.large.rows import Sweep

    columns = saved.columns(target)
    labels = columns.target_in(table.known) if with_target else None
    return Sweep(table, columns, labels, *matching)


def write_answers(
    destination: Destination,
    sweep: "Sweep",
    keeping: Keeping,
    answer: Answer,
    is_matrix: bool = True,
) -> None:
    """Write what is said about rows beside their columns, part by part."""
    beside = keeping.beside(sweep.table.known, sweep.columns)
    frames = _results(sweep, beside, answer, destination.kind.is_text)
    write_parts(destination, frames, sweep.n_whole, beside.target, is_matrix)


def _results(
    sweep: "Sweep", beside: "Beside", answer: Answer, to_text: bool
) -> "Iterator[pl.DataFrame]":
    from vicinal.cli.tables.large.table import part_rows
    from vicinal.fitting.progress import stage
    from vicinal.rows.blocks import read_ahead

    n_parts = -(-sweep.table.n_rows // part_rows(len({*sweep.names, *beside.names})))
    n_before = 0
    with stage("Reading", n_parts, 0) as tell:
        for part, X, whole in read_ahead(sweep.parts(*beside.names)):
            if len(X):
                found = answer(X, slice(n_before, n_before + len(X)))
                yield beside.joined(part, whole.arg_true().to_numpy(), found, to_text)
            n_before += len(X)
            tell(1)
