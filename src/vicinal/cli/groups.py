"""Options that go together: each group is one parameter of a command, and does what they ask for.

Commands take them by keyword, in the order of their help.
"""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from vicinal.cli import options
from vicinal.cli.running import running
from vicinal.cli.tables.beside import Beside
from vicinal.cli.tables.columns import Columns, Selection
from vicinal.cli.tables.reading import read_table
from vicinal.cli.tables.rows import Rows, prepare
from vicinal.cli.tables.table import Table
from vicinal.cli.tables.writing import Destination
from vicinal.interrupts import Interrupts

__all__ = ["Choosing", "Keeping", "Matching", "Reading", "Speaking", "Writing"]


class Reading(NamedTuple):
    """How a table is read."""

    kind: options.Format = None
    header: options.Header = None

    def table(self, path: Path) -> Table:
        """The table at a path."""
        return read_table(path, self.kind, header=self.header)


class Choosing(NamedTuple):
    """Which columns are learned from."""

    columns: options.Columns = None
    drop: options.Drop = None
    one_hot: options.OneHot = None

    @property
    def selection(self) -> Selection:
        """What was asked for, as typed."""
        return Selection(self.columns or (), self.drop or (), self.one_hot or ())


class Matching(NamedTuple):
    """What becomes of rows that a model cannot take as they are."""

    drop_missing: options.DropMissing = False
    ignore_unknown: options.IgnoreUnknown = False

    def rows(self, table: Table, columns: Columns, *, with_target: bool = False) -> Rows:
        """Rows of a table for a model that knows these columns."""
        return prepare(
            table,
            columns,
            with_target=with_target,
            drop_missing=self.drop_missing,
            ignore_unknown=self.ignore_unknown,
        )


class Keeping(NamedTuple):
    """Which columns are passed on beside results."""

    keep: options.Keep = None
    keep_all: options.KeepAll = False

    def beside(self, table: Table, columns: Columns) -> Beside:
        """What to write results beside."""
        return Beside(table, columns, self.keep or (), self.keep_all)


class Writing(NamedTuple):
    """How a table is written."""

    to: options.To = None
    defuse: options.Defuse = False

    def destination(self, output: Path | None, *read: Path) -> Destination:
        """Where the table goes, checked before the work: not to a file that is read."""
        return Destination.of(output, self.to, *read, defuse=self.defuse)


class Speaking(NamedTuple):
    """How much is said on standard error."""

    quiet: options.Quiet = False
    debug: options.Debug = False

    def running(self) -> AbstractContextManager[Interrupts]:
        """The context that a command works in."""
        return running(self.debug, self.quiet)
