"""From a table to the numbers and classes that a model is given."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vicinal.cli.columns import Columns
from vicinal.cli.contents import category_labels, is_number, kind_of, stray_word
from vicinal.cli.running import remark
from vicinal.cli.tables import Table
from vicinal.cli.wording import plural, some

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["Rows", "classes_of", "prepare"]

_MOST_GAPS = 3


@dataclass(frozen=True)
class Rows:
    """What a model is given, and the rows of the table it comes from.

    Attributes
    ----------
    X : polars.DataFrame or ndarray
        Numbers; a matrix where the columns have no names.
    y : ndarray or None
        Classes.
    frame : polars.DataFrame
        The same rows of the whole table.
    columns : Columns
    """

    X: "pl.DataFrame | NDArray"
    y: "NDArray | None"
    frame: "pl.DataFrame"
    columns: Columns

    def take(self, positions: "NDArray") -> "Rows":
        """Some of them."""
        y = None if self.y is None else self.y[positions]
        return Rows(self.X[positions], y, self.frame[positions], self.columns)


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
    chosen = columns.select(table)
    _refuse_words(table, chosen, columns)
    target = columns.target_in(table) if with_target else None
    needed = chosen if target is None else chosen.with_columns(table.frame[target].alias(target))
    whole = _whole_rows(table, needed, drop_missing, chosen.columns if can_choose else ())
    if not ignore_unknown:
        _refuse_unknown(table, chosen, columns, whole)
    chosen, frame = chosen.filter(whole), table.frame.filter(whole)
    X = _numbers(chosen, columns)
    y = None if target is None else classes_of(frame[target], table.name)
    return Rows(X if columns.is_named else X.to_numpy(), y, frame, columns)


def _refuse_words(table: Table, chosen: "pl.DataFrame", columns: Columns) -> None:
    for column in chosen:
        if not is_number(column) and column.name not in columns.categories:
            raise ValueError(
                f"column {column.name!r} of {table.name} is {kind_of(column)}"
                f"{stray_word(table, column)}, but the model needs numbers there"
            )


def _numbers(chosen: "pl.DataFrame", columns: Columns) -> "pl.DataFrame":
    """All of one type: double precision, unless everything is single."""
    import polars as pl

    single = all(dtype == pl.Float32 for dtype in chosen.dtypes)
    dtype = pl.Float32 if single else pl.Float64
    series: list[pl.Series] = []
    for name in columns.sources:
        column = chosen[name]
        if name in columns.categories:
            labels = category_labels(column)
            series += [
                (labels == value).cast(dtype).alias(f"{name}={value}")
                for value in columns.categories[name]
            ]
        else:
            series.append(column.cast(dtype))
    return pl.DataFrame(series)


def _whole_rows(
    table: Table, needed: "pl.DataFrame", drop_missing: bool, optional: Sequence[str]
) -> "pl.Series":
    """Which rows have all that is needed; an error where some have not and may not be dropped."""
    import polars as pl

    gaps = {column.name: _gaps(column) for column in needed}
    gappy = {name: found for name, found in gaps.items() if found.any()}
    if gappy and not drop_missing:
        raise ValueError(_told(table, gappy) + _advice([n for n in gappy if n in optional]))
    whole = ~pl.DataFrame([*gaps.values()]).max_horizontal()
    n_left = int(whole.sum())
    if n_left == 0:
        raise ValueError(f"every row of {table.name} lacks something ({some(gappy)})")
    if n_left < len(whole):
        remark(
            f"{plural(len(whole) - n_left, 'row')} with missing values left out, {n_left} remain"
        )
    return whole


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
    """To do without columns, if they are few."""
    if not 0 < len(names) <= _MOST_GAPS:
        return ""
    return f", or the {'column' if len(names) == 1 else 'columns'} (--drop {','.join(names)})"


def _infinite(table: Table, name: str, row: int) -> str:
    value = table.frame[name][row] if name in table.frame.columns else None
    return f" (it is {value})" if isinstance(value, float) and value == value else ""


def _refuse_unknown(
    table: Table, chosen: "pl.DataFrame", columns: Columns, whole: "pl.Series"
) -> None:
    for name, values in columns.categories.items():
        labels = category_labels(chosen[name])
        unknown = whole & ~labels.is_in(values).fill_null(value=True)
        if unknown.any():
            row = unknown.arg_true()[0]
            raise ValueError(
                f"column {name!r} of {table.name} has {labels[row]!r} in {table.where(row)}, a "
                f"category that the model has not seen (it knows {some(values)}): correct it, or "
                "let it count as none of them (--ignore-unknown)"
            )


def classes_of(column: "pl.Series", table: str) -> "NDArray":
    """A column as classes: whole numbers, words, or true and false.

    Parameters
    ----------
    column : polars.Series
        Without gaps.
    table : str
        Name of the table, for messages.

    Returns
    -------
    ndarray
        Of int, str or bool.
    """
    import polars as pl

    what = f"the target {column.name!r} of {table}"
    if column.dtype.is_float():
        if not (column % 1 == 0).all():
            raise ValueError(
                f"{what} has numbers with fractions ({some(_fractions(column), 3)}): vicinal "
                "learns from classes; put the values into bins first, or choose another column"
            )
        column = column.cast(pl.Int64)
    if column.dtype.is_integer() or column.dtype == pl.Boolean:
        return column.to_numpy()
    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        return column.cast(pl.String).to_numpy().astype(str)
    raise ValueError(f"{what} is {column.dtype}: classes are words, whole numbers or true/false")


def _fractions(column: "pl.Series") -> Iterable[float]:
    return column.filter(column % 1 != 0).unique(maintain_order=True).to_list()
