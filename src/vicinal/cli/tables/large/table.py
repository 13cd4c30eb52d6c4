"""A table that is read in parts."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vicinal.cli.tables.table import Table

if TYPE_CHECKING:
    import polars as pl

    from vicinal.rows import RowSource

__all__ = ["LargeTable", "part_rows"]

# Rows of a part, which may have long words; and categories of a column that can be meant.
_MOST_ROWS, _MOST_CATEGORIES = 50_000, 10_000


def part_rows(n_columns: int) -> int:
    """Rows of a part, the same for every kind of table: results must not depend on it."""
    from vicinal.rows.blocks import block_rows

    return min(_MOST_ROWS, block_rows(n_columns))


class LargeTable(ABC):
    """Rows of a file, or of several, that come in parts.

    To add a kind, subclass it and add a value to `vicinal.cli.tables.large.kinds`.

    Parameters
    ----------
    name : str
        For messages.
    frame : polars.DataFrame
        Its columns, without rows.
    n_rows : int
    is_named : bool, default=True
        Whether columns have names of their own.
    """

    def __init__(
        self, name: str, frame: "pl.DataFrame", n_rows: int, is_named: bool = True
    ) -> None:
        if n_rows == 0:
            raise ValueError(f"{name} has no rows")
        self.name, self.n_rows = name, n_rows
        self.known = Table(
            frame, name, is_named=is_named, n_in_file=n_rows, distinct=self._distinct
        )

    @abstractmethod
    def _frames(self, names: Sequence[str]) -> "Iterator[pl.DataFrame]":
        """Some columns of all rows, in order, as they come."""

    def check(self, names: Sequence[str]) -> None:  # noqa: B027  (most kinds need not)
        """Refuse what is known to be wrong with some columns before any row is read."""

    def numbers(self, names: Sequence[str]) -> "RowSource | None":
        """Rows of columns of numbers, where the library reads them itself without a detour."""
        return None

    def parts(self, names: Sequence[str]) -> Iterator[Table]:
        """Some columns of all rows, in order."""
        size, n_before = part_rows(len(names)), 0
        for frame in _cut(self._frames(names), size):
            n_after = n_before + frame.height
            is_whole = frame.height == self.n_rows
            where = "" if is_whole else f" (rows {n_before + 1} to {n_after})"
            yield replace(self._table(frame), name=f"{self.name}{where}", n_before=n_before)
            n_before = n_after
        if n_before != self.n_rows:
            raise ValueError(
                f"{self.name} had {self.n_rows} rows, and has {n_before} now: was it written to "
                "meanwhile?"
            )

    def column(self, name: str) -> Table:
        """All rows of one column, in memory."""
        import polars as pl

        return self._table(pl.concat(self._frames([name])))

    def _table(self, frame: "pl.DataFrame") -> Table:
        """A table of some entries, as they came."""
        return Table(frame, self.name, is_named=self.known.is_named, n_in_file=self.n_rows)

    def _distinct(self, name: str) -> Table:
        import polars as pl

        found: pl.DataFrame | None = None
        for frame in self._frames([name]):
            found = (frame if found is None else pl.concat([found, frame])).unique()
            if found.height > _MOST_CATEGORIES:
                raise ValueError(
                    f"--one-hot {name}: more than {_MOST_CATEGORIES} different values are too many "
                    f"categories for a table that is read in parts; --drop {name}"
                )
        assert found is not None  # there are rows
        return self._table(found)


def _cut(frames: "Iterable[pl.DataFrame]", size: int) -> "Iterator[pl.DataFrame]":
    """Parts of one size, whatever that of the frames."""
    import polars as pl

    waiting: list[pl.DataFrame] = []
    n_waiting = 0
    for frame in frames:
        waiting.append(frame)
        n_waiting += frame.height
        if n_waiting < size:
            continue
        whole = pl.concat(waiting)
        n_cut = n_waiting - n_waiting % size
        yield from (whole[start : start + size] for start in range(0, n_cut, size))
        waiting, n_waiting = [whole[n_cut:]], n_waiting - n_cut
    if n_waiting:
        yield pl.concat(waiting)
