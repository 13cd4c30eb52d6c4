"""Pairs in two halves, for a device without room for all of them: the larger side is cut.

Sums over halves of the keys merge, those of halves of the queries stand one behind the other; in
columns it is the other way round.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from vicinal.neighborhood.arrays import Array, is_numpy, namespace
from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.sums import ColumnSums, RowSums

__all__ = ["SMALLEST_HALF", "columns_by_halves", "rows_by_halves"]

# What no device is without room for.
SMALLEST_HALF = 1024


def rows_by_halves(pairs: Pairs, of: Callable[[Pairs], RowSums]) -> RowSums:
    """Row sums from those of two halves."""
    n, m, _ = pairs.shape
    if n >= m:
        one, other = (of(_some_queries(pairs, half)) for half in _halves(n))
        return RowSums(*(_joined(*parts, 1) for parts in zip(_of(one), _of(other), strict=True)))
    one, other = (of(_some_keys(pairs, half)) for half in _halves(m))
    return one.merge(other)


def columns_by_halves(pairs: Pairs, of: Callable[[Pairs, slice], ColumnSums]) -> ColumnSums:
    """Column sums from those of two halves; `of` is told which queries are in a half."""
    n, m, _ = pairs.shape
    if n > m:
        one, other = (of(_some_queries(pairs, half), half) for half in _halves(n))
        return one.merge(other)
    one, other = (of(_some_keys(pairs, half), slice(0, n)) for half in _halves(m))
    return ColumnSums(_joined(one.total, other.total, 0), _joined(one.moment, other.moment, 0))


def _halves(n: int) -> tuple[slice, slice]:
    return slice(0, n // 2), slice(n // 2, n)


def _of(sums: RowSums) -> tuple[Array, ...]:
    return sums.peak, sums.mass, sums.slope, sums.moment


def _joined(one: Array, other: Array, axis: int) -> Array:
    xp = namespace(one)
    join = xp.concatenate if is_numpy(one) else xp.concat
    return join([one, other], axis=axis)


def _part(values: Array | None, half: slice) -> Any:
    return None if values is None else values[half]


def _some_queries(pairs: Pairs, half: slice) -> Pairs:
    labels, own = _part(pairs.query_labels, half), _part(pairs.own, half)
    return replace(pairs, queries=pairs.queries[half], query_labels=labels, own=own)


def _some_keys(pairs: Pairs, half: slice) -> Pairs:
    own = pairs.own
    if own is not None:
        is_here = (own >= half.start) & (own < half.stop)
        own = namespace(own).where(is_here, own - half.start, -1)
    return replace(
        pairs,
        keys=pairs.keys[half],
        key_labels=_part(pairs.key_labels, half),
        key_log_weights=_part(pairs.key_log_weights, half),
        own=own,
    )
