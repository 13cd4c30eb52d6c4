"""Results beside the columns of the table that they are about."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vicinal.cli.tables.columns import Columns, resolve
from vicinal.cli.tables.rows import Rows
from vicinal.cli.tables.table import Table, some_columns
from vicinal.cli.tables.writing import Destination

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["Beside", "components_frame"]


class Beside:
    """Columns to be passed on: those asked for, and the target where there is one.

    What was text stays text, 007 as 007, in files of text. In others it becomes
    numbers where these are written the same, and where the model takes it for such.

    Parameters
    ----------
    table : Table
        With all columns; its rows are not looked at.
    columns : Columns
        Of the model.
    keep : sequence of str, default=()
        As typed.
    keep_all : bool, default=False
    """

    def __init__(
        self, table: Table, columns: Columns, keep: Sequence[str] = (), keep_all: bool = False
    ) -> None:
        self.target = columns.target_in(table)
        self._numbers = {*columns.names_in(table)} - {*columns.categories}
        self.names = table.frame.columns if keep_all else resolve(table, keep, "--keep")
        if self.target is not None and self.target not in self.names:
            self.names.append(self.target)

    def write(
        self,
        destination: Destination,
        table: Table,
        rows: Rows,
        results: "pl.DataFrame",
        is_matrix: bool = True,
    ) -> None:
        """Write those of some rows of a table, with the results to their right."""
        whole = self.joined(table, rows.places, results, destination.kind.is_text)
        destination.write(whole, target=self.target, is_matrix=is_matrix)

    def joined(
        self, table: Table, places: "NDArray", results: "pl.DataFrame", to_text: bool
    ) -> "pl.DataFrame":
        """Those of the rows at some places of a table, or of a part of it, and the results."""
        import polars as pl

        for name in results.columns:
            if name in self.names:
                raise ValueError(
                    f"column {name!r} of the table cannot be passed on: a result has that name"
                )
        return pl.DataFrame([*self._passed_on(table, places, to_text), *results])

    def _passed_on(self, table: Table, places: "NDArray", to_text: bool) -> "pl.DataFrame":
        if not self.names:
            return some_columns(table.frame, [])
        frame = table.as_written(self.names)[places]
        if to_text or table.cells is None:
            return frame
        values = table.frame[places]
        return frame.with_columns(
            [
                values[name]
                if name in self._numbers or _is_unchanged(table, frame[name], values[name])
                else frame[name]
                for name in self.names
            ]
        )


def _is_unchanged(table: Table, written: "pl.Series", values: "pl.Series") -> bool:
    """Whether values would be written as they were."""
    import polars as pl

    if table.unchanged is not None:
        return values.name in table.unchanged
    same: bool = values.cast(pl.String).eq_missing(written).all()
    return same


def components_frame(coordinates: "NDArray") -> "pl.DataFrame":
    """A table with columns component1, component2, ..."""
    import numpy as np
    import polars as pl

    array = np.asarray(coordinates)
    names = [f"component{i + 1}" for i in range(array.shape[1])]
    return pl.DataFrame({name: array[:, i] for i, name in enumerate(names)})
