"""A table: rows, columns, and what messages need to know about them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Table", "some_columns", "unnamed_columns"]


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
    n_before : int
        Rows of the file before these, which are a part of it then.
    n_in_file : int or None
        Rows of the file, where `frame` has others.
    distinct : callable or None
        From the name of a column to a table of its different entries, where `frame` has no rows.
    unchanged : frozenset of str or None
        Columns of a text whose values would be written as they stand there, in all of the file
        that these rows are a part of. None: these are all rows.
    """

    frame: "pl.DataFrame"
    name: str
    is_named: bool = True
    target: str | None = None
    line_of: Callable[[int], int] | None = None
    cells: "Callable[[Sequence[str]], pl.DataFrame] | None" = None
    n_before: int = 0
    n_in_file: int | None = None
    distinct: "Callable[[str], Table] | None" = None
    unchanged: frozenset[str] | None = None

    @property
    def n_rows(self) -> int:
        """Rows of the file."""
        return self.frame.height if self.n_in_file is None else self.n_in_file

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
            return f"row {self.n_before + row + 1}"
        return f"data row {row + 1} (line {self.line_of(row)})"


def some_columns(frame: "pl.DataFrame", names: Sequence[str]) -> "pl.DataFrame":
    """Columns by their names; to polars' own select, "*" and "^.*$" are patterns."""
    import polars as pl

    return pl.DataFrame([frame[name] for name in names])


def unnamed_columns(n: int) -> list[str]:
    """Names for the columns of a matrix."""
    return [f"x{i + 1}" for i in range(n)]
