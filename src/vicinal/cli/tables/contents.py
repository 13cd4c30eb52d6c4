"""What single columns of a table hold."""

from typing import TYPE_CHECKING

from vicinal.cli.tables.table import Table

if TYPE_CHECKING:
    import polars as pl

__all__ = ["category_labels", "is_identifier", "is_number", "is_text", "kind_of", "stray_word"]


def is_number(column: "pl.Series") -> bool:
    """Whether the entries are numbers, or true and false."""
    import polars as pl

    return column.dtype.is_numeric() or column.dtype == pl.Boolean


def is_text(column: "pl.Series") -> bool:
    """Whether the entries are words."""
    import polars as pl

    return column.dtype in (pl.String, pl.Categorical, pl.Enum)


def kind_of(column: "pl.Series") -> str:
    """What a column without numbers holds."""
    import polars as pl

    if is_text(column):
        return "text"
    if column.dtype.is_temporal():
        return "a date or time"
    if column.dtype == pl.Null:
        return "empty"
    return f"of type {column.dtype}"


def category_labels(table: Table, name: str) -> "pl.Series":
    """The entries as words; whole numbers look the same whatever their type."""
    import polars as pl

    column = table.words(name)
    if column.dtype.is_float() and (column.drop_nulls() % 1 == 0).all():
        whole = column.cast(pl.Int64, strict=False)
        column = whole if whole.null_count() == column.null_count() else column
    words = column.cast(pl.String)
    return words.set(words == "", None)


def is_identifier(labels: "pl.Series", n_rows: int) -> bool:
    """Whether there are too many different words to be categories of so many rows."""
    return labels.n_unique() > max(20, n_rows // 2)


def stray_word(table: Table, column: "pl.Series") -> str:
    """The first word in a column that is mostly numbers, or what else is odd about it."""
    import polars as pl

    if column.dtype != pl.String or column.is_empty():
        return ""
    numbers = column.cast(pl.Float64, strict=False)
    known, read = column.drop_nulls().len(), numbers.drop_nulls().len()
    if known == 0:
        return ", and empty"
    if read == known:
        return ", though it reads like numbers"
    if read * 2 < known:
        return ""
    row = (column.is_not_null() & numbers.is_null()).arg_true()[0]
    return f" because of {column[row]!r} in {table.where(row)}"
