"""Classes: what labels in a table stand for."""

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from vicinal.cli.tables.table import Table
from vicinal.cli.wording import some

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

__all__ = ["classes_of", "look_alikes", "meanings", "recognized"]

_TRUTH = {"true": True, "false": False}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)


def classes_of(table: Table, target: str, rows: "pl.Series") -> "NDArray":
    """A column as classes: whole numbers, words, or true and false.

    Those of a text are words, 007 and 7 being two of them, unless all are written
    just as whole numbers, or as true and false, would be written again.

    Parameters
    ----------
    table : Table
    target : str
        Name of the column.
    rows : polars.Series of bool
        Those to take; they have no gaps.

    Returns
    -------
    ndarray
        Of int, str or bool.
    """
    what = f"the target {target!r} of {table.name}"
    column = table.frame[target].filter(rows)
    _refuse_fractions(column, what)
    if table.cells is not None:
        return _array(_unless_changed(table.words(target).filter(rows)), what)
    return _array(_whole_numbers(column, what), what)


def _refuse_fractions(column: "pl.Series", what: str) -> None:
    if not column.dtype.is_float():
        return
    fractions = column.filter(column % 1 != 0).unique(maintain_order=True).to_list()
    if fractions:
        raise ValueError(
            f"{what} has numbers with fractions ({some(fractions, 3)}): vicinal learns from "
            "classes; put the values into bins first, or choose another column"
        )


def _unless_changed(words: "pl.Series") -> "pl.Series":
    """Words as whole numbers or truth values, where these would be written the same."""
    import polars as pl

    numbers = words.cast(pl.Int64, strict=False)
    if numbers.cast(pl.String).eq_missing(words).all():
        return numbers
    return words == "true" if words.is_in([*_TRUTH]).all() else words


def _whole_numbers(column: "pl.Series", what: str) -> "pl.Series":
    """Numbers without fractions as integers."""
    import polars as pl

    if not column.dtype.is_float():
        return column
    whole = column.cast(pl.Int64, strict=False)
    if whole.null_count():
        raise ValueError(
            f"{what} has {column.filter(whole.is_null())[0]!r}, too large for the number of a "
            "class: write classes as words or smaller numbers, or choose another column"
        )
    return whole


def _array(column: "pl.Series", what: str) -> "NDArray":
    import polars as pl

    if column.dtype in (pl.String, pl.Categorical, pl.Enum):
        words = column.cast(pl.String)
        if words.str.ends_with("\0").any():
            raise ValueError(f"{what} has words that end in a null character: NumPy drops it")
        return words.to_numpy().astype(str)
    if column.dtype.is_integer():
        numbers = column.cast(pl.Int64, strict=False)
        words = column.cast(pl.String)  # where some are beyond NumPy's integers
        return words.to_numpy().astype(str) if numbers.null_count() else numbers.to_numpy()
    if column.dtype == pl.Boolean:
        return column.to_numpy()
    raise ValueError(f"{what} is {column.dtype}: classes are words, whole numbers or true/false")


def recognized(labels: "NDArray", classes: "NDArray") -> "NDArray":
    """The classes of a model that labels stand for; unknown ones stay what they are.

    A label is the class that is written the same. Failing that, where one of both is
    a number and the other text, it is the class of the same value (007 is 7, true is
    1); where both are text, 1.0 and 1 are the same, as programs write whole numbers
    beside gaps, but 007 and 7 are not.

    Parameters
    ----------
    labels : ndarray
        As `classes_of` gives them.
    classes : ndarray
        Those the model knows.

    Returns
    -------
    ndarray
        Of the type of `classes`, where they do not leave it; else of objects.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.cli.tables.labels import recognized
    >>> recognized(np.array(["1", "2.0", "002"]), np.array([1, 2]))
    array([1, 2, 2])
    >>> recognized(np.array([1, 2]), np.array(["1", "2", "x"]))
    array(['1', '2'], dtype='<U1')
    """
    import numpy as np

    meant = meanings(np.unique(labels).tolist(), classes.tolist())
    found = [meant[label] for label in labels.tolist()]
    is_mixed = len({isinstance(label, str) for label in found}) > 1
    return np.array(found, dtype=object if is_mixed else None)


def meanings(labels: Iterable[Any], classes: Iterable[Any]) -> dict[Any, Any]:
    """From labels to the classes they stand for, or to themselves; see `recognized`."""
    known = {one: one for one in classes}
    readings = _as_text if all(isinstance(one, str) for one in known) else _as_values
    return {
        label: next((known[one] for one in readings(label) if one in known), label)
        for label in labels
    }


def _as_text(label: Any) -> Iterator[str]:
    """Ways to write a label."""
    yield str(label)
    if not isinstance(label, str):
        yield str(label).lower()  # true and false, as tables have them
    elif re.fullmatch(r"-?\d+\.0+", label):
        yield label.partition(".")[0]
    elif re.fullmatch(r"-?\d+", label):
        yield f"{label}.0"


def _as_values(label: Any) -> Iterator[Any]:
    """Values that a label can stand for."""
    yield label
    if isinstance(label, str):
        value = _number(label)
        yield from [] if value is None else [value]
        yield from [_TRUTH[label.lower()]] if label.lower() in _TRUTH else []


def _number(word: str) -> Decimal | None:
    return Decimal(word) if _NUMBER.fullmatch(word) else None


def look_alikes(classes: Iterable[Any]) -> list[str]:
    """Two words that read as the same number, or none.

    Examples
    --------
    >>> from vicinal.cli.tables.labels import look_alikes
    >>> look_alikes(["007", "7", "8"]), look_alikes(["7", "x"])
    (['007', '7'], [])
    """
    seen: dict[Decimal, str] = {}
    for word in classes:
        value = _number(word) if isinstance(word, str) else None
        if value is None:
            continue
        if value in seen:
            return [seen[value], word]
        seen[value] = word
    return []
