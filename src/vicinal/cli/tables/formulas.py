"""Cells that a spreadsheet would run as formulas."""

import re
from typing import TYPE_CHECKING

from vicinal.cli.tables.contents import is_text

if TYPE_CHECKING:
    import polars as pl

__all__ = ["defused"]

_FORMULA = r"^[=+\-@\t\r\n]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def defused(frame: "pl.DataFrame") -> "pl.DataFrame":
    """A table whose words and names are text to spreadsheets: a quote stands before formulas.

    Numbers stay numbers, negative ones too, also where they are text.

    Examples
    --------
    >>> import polars as pl
    >>> from vicinal.cli.tables.formulas import defused
    >>> defused(pl.DataFrame({"=a": ["=1+1", "-1.5", "b"]})).to_dict(as_series=False)
    {"'=a": ["'=1+1", '-1.5', 'b']}
    """
    import polars as pl

    columns = [_defused(column) if is_text(column) else column for column in frame]
    names = [f"'{name}" if re.match(_FORMULA, name) else name for name in frame.columns]
    return pl.DataFrame([column.alias(n) for column, n in zip(columns, names, strict=True)])


def _defused(column: "pl.Series") -> "pl.Series":
    import polars as pl

    words = column.cast(pl.String)
    is_formula = words.str.contains(_FORMULA) & ~words.str.contains(_NUMBER)
    return words.zip_with(~is_formula.fill_null(value=False), "'" + words)
