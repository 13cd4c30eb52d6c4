"""Cells that a spreadsheet would run as formulas."""

import re
from typing import TYPE_CHECKING

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
    >>> from vicinal.cli.formulas import defused
    >>> defused(pl.DataFrame({"=a": ["=1+1", "-1.5", "b"]})).to_dict(as_series=False)
    {"'=a": ["'=1+1", '-1.5', 'b']}
    """
    import polars as pl

    words = [pl.col(name) for name, dtype in frame.schema.items() if _is_text(dtype)]
    frame = frame.with_columns([_defused(word.cast(pl.String)) for word in words])
    return frame.rename({name: f"'{name}" for name in frame.columns if re.match(_FORMULA, name)})


def _is_text(dtype: "pl.DataType") -> bool:
    import polars as pl

    return dtype in (pl.String, pl.Categorical, pl.Enum)


def _defused(words: "pl.Expr") -> "pl.Expr":
    import polars as pl

    is_formula = words.str.contains(_FORMULA) & ~words.str.contains(_NUMBER)
    return pl.when(is_formula).then(pl.lit("'") + words).otherwise(words)
