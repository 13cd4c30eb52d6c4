"""From a table to the numbers and classes that a model is given."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vicinal.cli.running import remark
from vicinal.cli.tables.columns import Columns
from vicinal.cli.tables.contents import category_labels, is_number, kind_of, stray_word
from vicinal.cli.tables.labels import classes_of, meanings
from vicinal.cli.tables.table import Table, some_columns
from vicinal.cli.wording import plural, some

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl
    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

__all__ = ["Rows", "check_some_left", "numbers_of", "prepare", "whole_rows"]

_MOST_GAPS = 3
_LARGEST = 1e150


@dataclass(frozen=True)
class Rows:
    """What a model is given, and the rows of the table it comes from.

    Attributes
    ----------
    X : polars.DataFrame, ndarray or RowSource
        Numbers; a matrix where the columns have no names, a source where they are read in parts.
    y : ndarray or None
        Classes.
    places : ndarray
        Positions of these rows in the table.
    columns : Columns
    """

    X: Any
    y: "NDArray | None"
    places: "NDArray"
    columns: Columns

    def __len__(self) -> int:
        return len(self.places)

    def take(self, positions: "NDArray") -> "Rows":
        """Rows at some positions among these."""
        y = None if self.y is None else self.y[positions]
        return replace(self, X=self.X[positions], y=y, places=self.places[positions])

    def asked(self, method: "Callable[[Any], Any]") -> "NDArray":
        """What a method of a model says about every row."""
        import numpy as np

        return np.asarray(method(self.X))

    def fit(self, model: "BaseEstimator") -> "BaseEstimator":
        """Fit a model to them."""
        return model.fit(self.X) if self.y is None else model.fit(self.X, self.y)


def prepare(
    table: Table,
    columns: Columns,
    *,
    with_target: bool = False,
    drop_missing: bool = False,
    ignore_unknown: bool = False,
    can_choose: bool = False,
) -> Rows:
    """Numbers and classes of a table.

    Parameters
    ----------
    table : Table
    columns : Columns
    with_target : bool, default=False
        Whether classes are needed, too.
    drop_missing : bool, default=False
        Leave out rows where something is missing, instead of an error.
    ignore_unknown : bool, default=False
        Categories that `columns` does not know are none of them, instead of an error.
    can_choose : bool, default=False
        Whether other columns could be chosen, for advice.

    Returns
    -------
    Rows
    """
    names = columns.names_in(table)
    target = columns.target_in(table) if with_target else None
    X, whole = numbers_of(
        table,
        columns,
        names,
        target,
        drop_missing=drop_missing,
        ignore_unknown=ignore_unknown,
        can_choose=can_choose,
    )
    needed = [*names, *([] if target is None else [target])]
    check_some_left(table.name, whole, [n for n in needed if _gaps(table.frame[n]).any()])
    y = None if target is None else classes_of(table, target, whole)
    return Rows(X, y, whole.arg_true().to_numpy(), columns)


def numbers_of(
    table: Table,
    columns: Columns,
    names: Sequence[str],
    target: str | None = None,
    *,
    drop_missing: bool = False,
    ignore_unknown: bool = False,
    can_choose: bool = False,
) -> "tuple[pl.DataFrame | NDArray, pl.Series]":
    """Numbers of a table, or of a part of one, and which rows have all that is needed.

    Parameters
    ----------
    table : Table
    columns : Columns
    names : sequence of str
        What the table calls them.
    target : str or None
        A column that is needed, too.
    drop_missing, ignore_unknown, can_choose : bool, default=False
        See `prepare`.

    Returns
    -------
    X : polars.DataFrame or ndarray
        Of the rows that have all.
    whole : polars.Series of bool
        For every row of the table.
    """
    chosen = some_columns(table.frame, names)
    chosen.columns = list(columns.sources)
    _refuse_words(table, chosen, columns)
    needed = chosen if target is None else chosen.with_columns(table.frame[target].alias(target))
    whole = whole_rows(table, needed, drop_missing, chosen.columns if can_choose else ())
    _refuse_huge(table, chosen, whole)
    labels = {
        source: _as_known(category_labels(table, name), columns.categories[source])
        for source, name in zip(columns.sources, names, strict=True)
        if source in columns.categories
    }
    if not ignore_unknown:
        _refuse_unknown(table, labels, columns, whole)
    X = _numbers(chosen, labels, columns).filter(whole)
    return X if columns.is_named else X.to_numpy(), whole


def _refuse_words(table: Table, chosen: "pl.DataFrame", columns: Columns) -> None:
    for column in chosen:
        if not is_number(column) and column.name not in columns.categories:
            raise ValueError(
                f"column {column.name!r} of {table.name} is {kind_of(column)}"
                f"{stray_word(table, column)}, but the model needs numbers there"
            )


def _refuse_huge(table: Table, chosen: "pl.DataFrame", whole: "pl.Series") -> None:
    """Raise an error where squares would overflow, in the words of the table."""
    for column in chosen:
        if not column.dtype.is_float():
            continue
        huge = whole & (column.abs() > _LARGEST).fill_null(value=False)
        if huge.any():
            row = huge.arg_true()[0]
            raise ValueError(
                f"column {column.name!r} of {table.name} has {column[row]:g} in "
                f"{table.where(row)}: squares of numbers beyond {_LARGEST:g} overflow; correct "
                "it, or scale the column down"
            )


def _as_known(labels: "pl.Series", values: list[str]) -> "pl.Series":
    """Categories in the words that the model knows them by."""
    meant = meanings(labels.drop_nulls().unique().to_list(), values)
    return labels.replace(meant) if meant else labels


def _numbers(
    chosen: "pl.DataFrame", labels: "dict[str, pl.Series]", columns: Columns
) -> "pl.DataFrame":
    """All features as numbers of one type: double precision, unless everything is single."""
    import polars as pl

    single = all(dtype == pl.Float32 for dtype in chosen.dtypes)
    dtype = pl.Float32 if single else pl.Float64
    series: list[pl.Series] = []
    for name in columns.sources:
        column = chosen[name]
        if name in columns.categories:
            series += [
                (labels[name] == value).cast(dtype).alias(f"{name}={value}")
                for value in columns.categories[name]
            ]
        else:
            series.append(column.cast(dtype))
    return pl.DataFrame(series)


def whole_rows(
    table: Table, needed: "pl.DataFrame", drop_missing: bool, optional: Sequence[str] = ()
) -> "pl.Series":
    """Which rows have all that is needed; an error where some have not and may not be dropped."""
    import polars as pl

    gaps = {column.name: _gaps(column) for column in needed}
    gappy = {name: found for name, found in gaps.items() if found.any()}
    if gappy and not drop_missing:
        raise ValueError(_told(table, gappy) + _advice([n for n in gappy if n in optional]))
    return ~pl.DataFrame([*gaps.values()]).max_horizontal()


def check_some_left(name: str, whole: "pl.Series", gappy: Iterable[str]) -> None:
    """Tell how many rows of a table were left out; an error where none remains."""
    n_left = int(whole.sum())
    if n_left == 0:
        raise ValueError(f"every row of {name} lacks something ({some(gappy)})")
    if n_left < len(whole):
        left_out = plural(len(whole) - n_left, "row")
        remark(f"{left_out} with missing values left out, {n_left} remain")


def _gaps(column: "pl.Series") -> "pl.Series":
    """Where an entry is missing, not a number, infinite or an empty word."""
    import polars as pl

    gaps = column.is_null()
    if column.dtype.is_float():
        return gaps | ~column.is_finite().fill_null(value=True)
    if column.dtype == pl.String:
        return gaps | (column == "").fill_null(value=True)
    return gaps


def _told(table: Table, gappy: "dict[str, pl.Series]") -> str:
    """Where the first gaps are, how many there are and what to do."""
    total = sum(int(found.sum()) for found in gappy.values())
    first = [
        (row, name)
        for name, found in gappy.items()
        for row in found.arg_true().head(_MOST_GAPS).to_list()
    ]
    places = [
        f"{name!r} in {table.where(row)}{_infinite(table, name, row)}"
        for row, name in sorted(first)[:_MOST_GAPS]
    ]
    more = ", ..." if total > len(places) else ""
    return (
        f"{table.name} has {plural(total, 'missing value')}: {', '.join(places)}{more}. Fill "
        f"{'it' if total == 1 else 'them'}, or leave out the rows (--drop-missing)"
    )


def _advice(names: list[str]) -> str:
    """Advice to do without some columns, if they are few."""
    if not 0 < len(names) <= _MOST_GAPS:
        return ""
    return f", or the {'column' if len(names) == 1 else 'columns'} (--drop {','.join(names)})"


def _infinite(table: Table, name: str, row: int) -> str:
    value = table.frame[name][row] if name in table.frame.columns else None
    return f" (it is {value})" if isinstance(value, float) and value == value else ""


def _refuse_unknown(
    table: Table, labels: "dict[str, pl.Series]", columns: Columns, whole: "pl.Series"
) -> None:
    for name, values in columns.categories.items():
        unknown = whole & ~labels[name].is_in(values).fill_null(value=True)
        if unknown.any():
            row = unknown.arg_true()[0]
            raise ValueError(
                f"column {name!r} of {table.name} has {labels[name][row]!r} in "
                f"{table.where(row)}, a category that the model has not seen (it knows "
                f"{some(values)}): correct it, or let it count as none of them (--ignore-unknown)"
            )
