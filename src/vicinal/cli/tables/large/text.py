"""Tables in text that are read in parts, their columns taken for what they are in all rows."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from vicinal.cli.running import remark
from vicinal.cli.tables.large.table import LargeTable
from vicinal.cli.tables.table import Table, some_columns
from vicinal.cli.tables.text import as_numbers, checked_names, has_names, separator_of

if TYPE_CHECKING:
    import polars as pl

    from vicinal.rows.text import Text

__all__ = ["LargeText"]

Opener = Callable[[], AbstractContextManager[BinaryIO]]

# From cells to values, and which cells are gaps; a cell that is neither is not of that kind.
_Reading = Callable[["pl.Series"], "tuple[pl.Series, pl.Series]"]


class LargeText(LargeTable):
    """A text; it is read once to learn how many rows there are, and what its columns hold.

    Parameters
    ----------
    opened : callable
        Opens it, each time anew.
    name : str
        For messages.
    separator : str, optional
        None: the one that is most frequent in the first line.
    header : bool, optional
        Whether the first line holds names. None: yes, unless it looks like data.
    """

    def __init__(
        self,
        opened: Opener,
        name: str,
        separator: str | None = None,
        header: bool | None = None,
    ) -> None:
        import polars as pl

        text, first = _opened(opened, name, separator, header)
        survey = _Survey.of(text)
        self._text, self._survey = text, survey
        names = list(text.names or ())
        if first == "" and survey.counts_rows and len(names) > 1:
            remark(f"the first column of {name} has no name and counts rows: left out")
            del names[0]
        empty = self._values(pl.DataFrame(schema=dict.fromkeys(names, pl.String)))
        super().__init__(name, empty, survey.n_rows)

    def _frames(self, names: Sequence[str]) -> "Iterator[pl.DataFrame]":
        return _cells(self._text, names)

    def _table(self, frame: "pl.DataFrame") -> Table:
        return replace(
            super()._table(self._values(frame)),
            cells=lambda some: some_columns(frame, some),
            unchanged=self._survey.unchanged,
        )

    def _values(self, cells: "pl.DataFrame") -> "pl.DataFrame":
        """What the cells stand for."""
        import polars as pl

        kinds = self._survey.kinds
        return pl.DataFrame([_READINGS[kinds[column.name]](column)[0] for column in cells])


def _opened(
    opened: Opener, name: str, separator: str | None, header: bool | None
) -> "tuple[Text, str]":
    """The text with the names of its columns, and how its first column is called there."""
    from vicinal.rows.text import Text

    with (
        _as_utf8(name),
        opened() as stream,
        io.TextIOWrapper(stream, "utf-8-sig", newline="") as lines,
    ):
        n_empty, first = next(
            ((i, line) for i, line in enumerate(lines) if line.strip("\r\n")), (0, "")
        )
        separator = separator or separator_of(first)
        records = csv.reader(chain([first], lines), delimiter=separator)
        written = [cell.strip() for cell in next(records, [])]
        n_lines = n_empty + records.line_num
    if not written:
        raise ValueError(f"{name} is empty: a table has a line of names and rows")
    has_header = has_names(name, written, header)
    called = checked_names(name, written, has_header)
    return Text(opened, name, separator, tuple(called), n_lines * has_header), written[0]


@contextmanager
def _as_utf8(name: str) -> Iterator[None]:
    """Let an error name the file: what is decoded with the first line may be far behind it."""
    try:
        yield
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise ValueError(f"{name} is not in UTF-8 (byte {byte:#04x}): save it in UTF-8") from error


def _cells(text: "Text", names: Sequence[str]) -> "Iterator[pl.DataFrame]":
    """Columns as they are written, null where nothing is."""
    import polars as pl
    import pyarrow as pa

    for batch in text.batches(dict.fromkeys(names, pa.string())):
        cells = pl.DataFrame(pl.from_arrow(batch))
        yield pl.DataFrame([column.set(column == "", None) for column in cells])


class _Survey(NamedTuple):
    """What was found out about all rows of a text.

    Attributes
    ----------
    n_rows : int
    kinds : dict of str to str
        From columns to the first of `_READINGS` that can read them.
    unchanged : frozenset of str
        Columns whose values would be written as they are.
    counts_rows : bool
        Whether the first column has the numbers of the rows, from 0 or 1.
    """

    n_rows: int
    kinds: dict[str, str]
    unchanged: frozenset[str]
    counts_rows: bool

    @classmethod
    def of(cls, text: "Text") -> "_Survey":
        """Read all of it once."""
        names = list(text.names or ())
        found = {name: _Column() for name in names}
        n_rows, counting = 0, {0, 1}
        for cells in _cells(text, names):
            for column in cells:
                found[column.name].look_at(column)
            counting = {start for start in counting if _counts(cells[:, 0], n_rows + start)}
            n_rows += cells.height
        kinds = {name: column.kind for name, column in found.items()}
        same = frozenset(name for name, column in found.items() if column.is_unchanged)
        return cls(n_rows, kinds, same, bool(counting))


class _Column:
    """What a column of text may hold, as far as it was looked at."""

    def __init__(self) -> None:
        self._unchanged = dict.fromkeys(_READINGS, True)
        self._is_empty = True

    def look_at(self, cells: "pl.Series") -> None:
        """Drop what some more cells are not."""
        import polars as pl

        for kind in [*self._unchanged]:
            values, gaps = _READINGS[kind](cells)
            if (values.is_null() != gaps).any():
                del self._unchanged[kind]
            else:
                self._unchanged[kind] &= values.cast(pl.String).eq_missing(cells).all()
        _, gaps = _READINGS[_NUMBER](cells)
        self._is_empty &= gaps.all()

    @property
    def kind(self) -> str:
        """Words where nothing tells what it is."""
        return [*_READINGS][-1] if self._is_empty else next(iter(self._unchanged))

    @property
    def is_unchanged(self) -> bool:
        """Whether its values, as that kind, would be written as they are."""
        return self._unchanged[self.kind]


# As polars takes them in a text that is read as a whole.
_TRUTH = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


def _truth(cells: "pl.Series") -> "tuple[pl.Series, pl.Series]":
    import polars as pl

    return cells.replace_strict(_TRUTH, default=None, return_dtype=pl.Boolean), cells.is_null()


def _whole(cells: "pl.Series") -> "tuple[pl.Series, pl.Series]":
    import polars as pl

    return cells.cast(pl.Int64, strict=False), cells.is_null()


def _numbers(cells: "pl.Series") -> "tuple[pl.Series, pl.Series]":
    return as_numbers(cells.str.strip_chars())


def _words(cells: "pl.Series") -> "tuple[pl.Series, pl.Series]":
    words = cells.str.strip_chars()
    words = words.set(words == "", None)
    return words, words.is_null()


_NUMBER = "numbers"

# The narrowest first; words can be anything.
_READINGS: dict[str, _Reading] = {
    "truth": _truth,
    "whole numbers": _whole,
    _NUMBER: _numbers,
    "words": _words,
}


def _counts(cells: "pl.Series", start: int) -> bool:
    """Whether they are the whole numbers from one on."""
    import polars as pl

    numbers = pl.Series(range(start, start + len(cells)), dtype=pl.Int64)
    return bool(cells.eq_missing(numbers.cast(pl.String)).all())
