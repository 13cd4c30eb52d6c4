"""From a table that is read in parts to the numbers and classes that a model is given."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vicinal.cli.tables.columns import Columns
from vicinal.cli.tables.labels import classes_of
from vicinal.cli.tables.large.table import LargeTable
from vicinal.cli.tables.rows import Rows, check_some_left, numbers_of, whole_rows
from vicinal.cli.tables.table import Table
from vicinal.rows.blocks import blocks, n_blocks
from vicinal.rows.derived import MappedRows, SomeRows
from vicinal.rows.source import RowSource, precision_of

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

__all__ = ["LargeRows", "Sweep"]


@dataclass(frozen=True)
class Sweep:
    """What is taken of every part of a table.

    Attributes
    ----------
    table : LargeTable
    columns : Columns
    target : str or None
        A column that is needed, too: rows without it are not whole.
    drop_missing, ignore_unknown, can_choose : bool
        See `prepare`.
    """

    table: LargeTable
    columns: Columns
    target: str | None = None
    drop_missing: bool = False
    ignore_unknown: bool = False
    can_choose: bool = False

    @property
    def names(self) -> list[str]:
        """What the table calls the columns."""
        return self.columns.names_in(self.table.known)

    def parts(self, *beside: str) -> "Iterator[tuple[Table, Any, pl.Series]]":
        """Parts with these columns as well, their numbers, and which of their rows are whole."""
        names = self.names
        targets = [] if self.target is None else [self.target]
        needed = list(dict.fromkeys([*names, *targets, *beside]))
        self.table.check(needed)
        for part in self.table.parts(needed):
            yield (
                part,
                *numbers_of(
                    part,
                    self.columns,
                    names,
                    self.target,
                    drop_missing=self.drop_missing,
                    ignore_unknown=self.ignore_unknown,
                    can_choose=self.can_choose,
                ),
            )

    def rows(self) -> "LargeRows":
        """Rows for a model; with `drop_missing` the table is read once to find the whole ones."""
        import numpy as np

        whole = self.whole
        y = None
        if self.target is not None:
            labels = self.table.column(self.target)
            if whole is None:
                whole_rows(labels, labels.frame, drop_missing=False)
            y = classes_of(labels, self.target, _all(labels) if whole is None else whole)
        n_rows = self.table.n_rows
        places = np.arange(n_rows) if whole is None else whole.arg_true().to_numpy()
        return LargeRows(self._source(len(places)), y, places, self.columns)

    def _source(self, n_rows: int) -> RowSource:
        """The rows themselves: those of the table without a detour, if they are the same numbers.

        Halves are doubles to the library, say, and of single precision in a table.
        """
        prepared = PreparedRows(self, n_rows)
        if self.whole is not None or self.columns.categories:
            return prepared
        plain = self.table.numbers(self.names)
        return prepared if plain is None or plain.dtype != prepared.dtype else plain

    @property
    def n_whole(self) -> int:
        """Number of rows that a model is given."""
        return self.table.n_rows if self.whole is None else int(self.whole.sum())

    @cached_property
    def whole(self) -> "pl.Series | None":
        """Which rows are whole; None: all must be."""
        import polars as pl

        if not self.drop_missing:
            return None
        whole = pl.concat([found for _, _, found in self.parts()])
        check_some_left(self.table.name, whole, self.names)
        return whole


def _all(table: Table) -> "pl.Series":
    import polars as pl

    return pl.repeat(value=True, n=table.frame.height, eager=True)


class PreparedRows(RowSource):
    """Numbers of a table, made part by part as those of one in memory.

    Parameters
    ----------
    sweep : Sweep
    n_rows : int
        That are whole.
    """

    def __init__(self, sweep: Sweep, n_rows: int) -> None:
        import polars as pl

        self._sweep, self.name = sweep, sweep.table.name
        features, frame = sweep.columns.features, sweep.table.known.frame
        self.columns = tuple(features) if sweep.columns.is_named else None
        self.shape = (n_rows, len(features))
        singles = [frame[name].dtype == pl.Float32 for name in sweep.names]
        self.dtype = precision_of(["f4" if single else "f8" for single in singles])

    def chunks(self) -> "Iterator[NDArray]":
        """Parts of the table."""
        import numpy as np

        for _, X, _ in self._sweep.parts():
            if len(X):
                yield np.asarray(X)


@dataclass(frozen=True)
class LargeRows(Rows):
    """Rows that are read in parts: X is a `RowSource`."""

    def take(self, positions: "NDArray") -> "LargeRows":
        """Rows at some positions among these, in ascending order."""
        y = None if self.y is None else self.y[positions]
        some = SomeRows(self.X, positions)
        return replace(self, X=some, y=y, places=self.places[positions])

    def asked(self, method: Callable[[Any], Any]) -> "NDArray":
        """What a method of a model says about every row."""
        import numpy as np

        return np.concatenate([np.asarray(method(block)) for block in self._blocks("Reading")])

    def fit(self, model: "BaseEstimator") -> "BaseEstimator":
        """Fit a model to them, after what stands before it in a pipeline."""
        from vicinal.pipelines import last_step, steps_before
        from vicinal.rows.methods import check_limit

        check_limit(last_step(model), "fit", self.X)
        before, X = steps_before(model), self.X
        if before is not None:
            X = self._scaled_by(before[0])
        last_step(model).fit(*([X] if self.y is None else [X, self.y]))
        return model

    def _scaled_by(self, scaler: "BaseEstimator") -> MappedRows:
        """Fit a scaler, in one sweep; what it makes of the rows is read in others."""
        for block in self._blocks("Standardizing"):
            scaler.partial_fit(block)
        return MappedRows(self.X, lambda X: scaler.transform(self._named(X)), "standardized")

    def _blocks(self, label: str) -> Iterator[Any]:
        from vicinal.fitting.progress import stage

        with stage(label, n_blocks(self.X), 0) as tell:
            for _, block in blocks(self.X):
                yield self._named(block)
                tell(1)

    def _named(self, block: "NDArray") -> Any:
        """With names of columns, where a model was, or will be, told of any."""
        import polars as pl

        is_named = self.columns.is_named
        return pl.DataFrame(block, schema=self.columns.features) if is_named else block
