"""Results beside the columns of the table that they are about."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vicinal.cli.columns import resolve
from vicinal.cli.output import Destination
from vicinal.cli.rows import Rows
from vicinal.cli.tables import Table

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["Beside", "components_frame"]


class Beside:
    """Columns to be passed on: those asked for, and the target where there is one.

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
        names = rows.frame.columns
        self.target = rows.columns.target_in(table)
        if not keep_all:
            names = resolve(table, keep, "--keep")
            if self.target is not None and self.target not in names:
                names.append(self.target)
        self.frame = rows.frame.select(names)

    def write(
        self, destination: Destination, results: "pl.DataFrame", is_matrix: bool = True
    ) -> None:
        """Write them, with the results to their right."""
        import polars as pl

        for name in results.columns:
            if name in self.frame.columns:
                raise ValueError(
                    f"column {name!r} of the table cannot be passed on: a result has that name"
                )
        whole = pl.DataFrame([*self.frame, *results])
        destination.write(whole, target=self.target, is_matrix=is_matrix)


def components_frame(coordinates: "NDArray") -> "pl.DataFrame":
    """A table with columns component1, component2, ..."""
    import numpy as np
    import polars as pl

    array = np.asarray(coordinates)
    names = [f"component{i + 1}" for i in range(array.shape[1])]
    return pl.DataFrame({name: array[:, i] for i, name in enumerate(names)})
