"""Results beside the columns of the table that they are about."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vicinal.cli.tables.columns import resolve
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
    rows : Rows
        Those of the table that were used.
    keep : sequence of str
        As typed.
    keep_all : bool
    """

    def __init__(
        self, table: Table, rows: Rows, keep: Sequence[str] = (), keep_all: bool = False
    ) -> None:
        self._table, self._rows = table, rows
        self.target = rows.columns.target_in(table)
        self.names = table.frame.columns if keep_all else resolve(table, keep, "--keep")
        if self.target is not None and self.target not in self.names:
            self.names.append(self.target)

    def write(
        self, destination: Destination, results: "pl.DataFrame", is_matrix: bool = True
    ) -> None:
        """Write them, with the results to their right."""
        import polars as pl

        for name in results.columns:
            if name in self.names:
                raise ValueError(
                    f"column {name!r} of the table cannot be passed on: a result has that name"
                )
        whole = pl.DataFrame([*self._passed_on(destination.kind.is_text), *results])
        destination.write(whole, target=self.target, is_matrix=is_matrix)

    def _passed_on(self, to_text: bool) -> "pl.DataFrame":
        table, rows = self._table, self._rows
        if not self.names:
            return some_columns(table.frame, [])
        frame = table.as_written(self.names)[rows.places]
        if to_text or table.cells is None:
            return frame
        numbers = {*rows.columns.names_in(table)} - {*rows.columns.categories}
        values = table.frame[rows.places]
        return frame.with_columns(
            [
                values[name] if name in numbers else _unless_changed(frame[name], values[name])
                for name in self.names
            ]
        )


def _unless_changed(written: "pl.Series", values: "pl.Series") -> "pl.Series":
    """The values, where they would be written as they were."""
    import polars as pl

    same: bool = values.cast(pl.String).eq_missing(written).all()
    return values if same else written


def components_frame(coordinates: "NDArray") -> "pl.DataFrame":
    """A table with columns component1, component2, ..."""
    import numpy as np
    import polars as pl

    array = np.asarray(coordinates)
    names = [f"component{i + 1}" for i in range(array.shape[1])]
    return pl.DataFrame({name: array[:, i] for i, name in enumerate(names)})
