"""Words for what is odd about the rows of a fit, and what was done about it."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting.loop import warn_user
from vicinal.inputs.checks import column_name
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.columns import Columns

__all__ = ["NO_NARROWER", "constant_columns", "warn_of_oddities"]

# Columns that are named before the others are counted.
_MOST_NAMED = 3

# What is done where a likelihood has no bound.
NO_NARROWER = "kernels are no narrower than 0.01 standard deviations of each column"


def warn_of_oddities(settings: object, distinct: WeightedPoints, columns: Columns) -> None:
    """Say what a likelihood without any penalty could not take, and what it was given instead.

    Parameters
    ----------
    settings : object
        The estimator, which knows the names of columns.
    distinct : WeightedPoints
        Rows to learn from, every one once.
    columns : Columns
    """
    remarks = list(_remarks(settings, distinct, columns))
    if remarks:
        warn_user(f"LocalComponents with regularization='auto': {'; '.join(remarks)}.", UserWarning)


def _remarks(settings: object, distinct: WeightedPoints, columns: Columns) -> Iterator[str]:
    n = len(distinct)
    if n < 3:
        rows = "one different row is" if n == 1 else f"{n} different rows are"
        yield f"{rows} too few to hold any back, and kernels are as wide as the columns"
    elif distinct.counts.min() > 1:
        yield "every row of X occurs more than once, and is left out with all of its copies"
    if columns.is_constant.any():
        yield constant_columns(settings, columns.is_constant)
    if columns.is_discrete.any() and n > 2:
        names = _named(settings, columns.is_discrete)
        yield f"every value repeats in {names} of X: kernels are as wide there as rounding"
    if n > 2 and columns.are_degenerate:
        why = columns.why_unbounded or "columns of X are linearly dependent"
        yield f"{why}: {NO_NARROWER}"


def constant_columns(settings: object, which: NDArray) -> str:
    """What is done about columns that have one value only."""
    names = _named(settings, which)
    return f"constant {names} of X: kernels have a standard deviation of 0.1 there"


def _named(settings: object, which: NDArray) -> str:
    """The first few columns by name, and how many more there are."""
    positions = np.flatnonzero(which)
    words = ", ".join(column_name(settings, position) for position in positions[:_MOST_NAMED])
    more = len(positions) - _MOST_NAMED
    return f"{words} and {more} more" if more > 0 else words
