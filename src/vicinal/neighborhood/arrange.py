"""Points laid out for tiles: sorted by class, centered, scaled, with weights in the law's form.

Sorting by class is what keeps labels out of the kernels: any tile of queries
and keys falls into a few rectangles that are wholly "same class" or wholly
"different class".
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from vicinal.neighborhood.laws import LOG2E, Law
from vicinal.neighborhood.pairs import DIFFERENT, SAME, Pairs
from vicinal.neighborhood.threads import run_in_order

__all__ = [
    "Arrangement",
    "Rectangle",
    "Side",
    "arrange",
    "check_reach",
    "rectangles",
    "safe_dtype",
]

# Enough rows for a median that is robust to a few far points; more would only cost time.
_CENTER_SAMPLE = 1000

# Numbers of a part of the points that stays in cache while it is laid out.
_LAID_AT_ONCE = 32_768

# Coordinates whose squared distances still fit in float64 in any realistic dimension.
_FARTHEST = 1e152


@dataclass(frozen=True)
class Side:
    """The queries or the keys, sorted by class.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        Sorted, centered and scaled.
    order : ndarray of shape (n,)
        Position of each of them in the caller's array.
    bounds : ndarray of shape (n_classes + 1,) or None
        Class c occupies positions bounds[c] to bounds[c + 1]; None without labels.
    n_near : int
        The number of coordinates that distances are made of, the first ones.
    """

    points: NDArray
    order: NDArray
    bounds: NDArray | None
    n_near: int

    @cached_property
    def transposed(self) -> NDArray:
        """The points by coordinate, shape (d, n), as compiled loops want them."""
        return np.ascontiguousarray(self.points.T)

    @cached_property
    def factors(self) -> tuple[NDArray, NDArray]:
        """L and R, shape (n, n_near + 2) each: L_i · R_j is the squared distance of i and j."""
        z = self.points[:, : self.n_near]
        left, right = (np.ones((len(z), self.n_near + 2), z.dtype) for _ in range(2))
        np.multiply(z, -2.0, out=left[:, :-2])
        right[:, :-2] = z
        left[:, -2] = right[:, -1] = np.einsum("nd,nd->n", z, z)
        return left, right


@dataclass(frozen=True)
class Rectangle:
    """A block of pairs, all of them in one part."""

    out: slice
    into: slice
    part: int


@dataclass(frozen=True)
class Arrangement:
    """A `Pairs` made ready for an engine that works in tiles.

    Attributes
    ----------
    queries, keys : Side
    key_weights : ndarray of shape (m,)
        In key order: log2 u_j, or u_j / exp(weight_peak) for a law with support.
    weight_peak : float
        Logarithm taken out of the weights for a law with support.
    own : ndarray of shape (n,)
        For each sorted query its own sorted key, or -1.
    owner : ndarray of shape (m,)
        For each sorted key the sorted query it is, or -1.
    center : ndarray of shape (d,)
    scale : float
        Points here are scale · (z - center).
    reach : float
        Largest norm of all of them, in the coordinates distances are made of: an error of so
        many ulp of its square is one of an exponent (`Law.steepness`).
    n_near : int
        The number of these coordinates, the first ones.
    """

    queries: Side
    keys: Side
    key_weights: NDArray
    weight_peak: float
    own: NDArray
    owner: NDArray
    center: NDArray
    scale: float
    reach: float
    n_near: int


def arrange(
    pairs: Pairs,
    law: Law,
    working_dtype: Callable[[DTypeLike, float], DTypeLike],
    n_threads: int = 1,
) -> Arrangement:
    """Sort, center and scale, by what makes squared distances those of the law's own units.

    `working_dtype` picks the precision from that of the input and the largest
    distance from the center.
    """
    center = _center(pairs.keys)
    frame = _Frame(center, law.scale, pairs.near, n_threads)
    query_order, key_order, query_bounds, key_bounds = _by_class(pairs)
    queries, reach = frame.lay_out(pairs.queries, query_order)
    keys, one_set = queries, _is_one_set(pairs)
    if not one_set:
        keys, key_reach = frame.lay_out(pairs.keys, key_order)
        reach = max(reach, key_reach)
    n_near = pairs.near.stop
    reach *= float(np.sqrt(law.steepness(n_near)))
    dtype = working_dtype(np.result_type(pairs.queries, pairs.keys), reach)
    weights, weight_peak = _key_weights(pairs, law, key_order)
    own, owner = _own_positions(pairs, query_order, key_order)
    query_side = Side(queries.astype(dtype, copy=False), query_order, query_bounds, n_near)
    key_side = query_side  # what is made of it is made once
    if not one_set:
        key_side = Side(keys.astype(dtype, copy=False), key_order, key_bounds, n_near)
    return Arrangement(
        query_side,
        key_side,
        weights.astype(dtype),
        weight_peak,
        own,
        owner,
        center,
        law.scale,
        reach,
        n_near,
    )


def safe_dtype(dtype: DTypeLike, reach: float) -> DTypeLike:
    """Precision in which nothing overflows, given the largest norm after centering."""
    # A float32 square overflows beyond 1e19: use float64 long before.
    return dtype if reach < 1e15 else np.float64


def _is_one_set(pairs: Pairs) -> bool:
    return pairs.queries is pairs.keys and pairs.query_labels is pairs.key_labels


class _Frame(NamedTuple):
    """Where points are laid out: scale · (z - center), distances made of those `near`."""

    center: NDArray
    scale: float
    near: slice
    n_threads: int

    def lay_out(self, points: NDArray, order: NDArray) -> tuple[NDArray, float]:
        """Points in that order, in double precision, and their largest distance from the center.

        Some rows at a time, which stay in cache. Refuses what would overflow when squared.
        """
        laid = np.empty(points.shape)
        step = max(1, _LAID_AT_ONCE // max(1, points.shape[1]))

        def lay(start: int) -> tuple[float, float]:
            part = laid[start : start + step]
            np.subtract(points[order[start : start + step]], self.center, out=part)
            part *= self.scale
            near = part[:, self.near]
            with np.errstate(over="ignore"):
                return np.abs(part).max(initial=0.0), np.einsum("nd,nd->n", near, near).max()

        tasks = range(0, len(points), step)
        found = list(run_in_order(lay, tasks, self.n_threads)) or [(0.0, 0.0)]
        largest, square = np.max(found, axis=0)
        check_reach(float(largest))
        return laid, float(np.sqrt(square))


def _center(keys: NDArray) -> NDArray:
    """Coordinatewise median of a regular sample: where most points are, outliers or not."""
    step = max(1, len(keys) // _CENTER_SAMPLE)
    sample = keys[::step].astype(np.float64)
    return np.median(sample, axis=0) if len(sample) else np.zeros(keys.shape[1])


def check_reach(largest: float) -> None:
    """Refuse coordinates, from the center, whose squares would overflow."""
    if not largest < _FARTHEST:
        raise ValueError(
            f"The projected points reach {largest:.3g} from their center (NaN or beyond "
            f"{_FARTHEST:g}): squared distances overflow. Scale the data or the map down."
        )


def _by_class(pairs: Pairs) -> tuple[NDArray, NDArray, NDArray | None, NDArray | None]:
    """Sorting orders of queries and keys and the bounds of each class in them."""
    n, m, _ = pairs.shape
    if pairs.query_labels is None or pairs.key_labels is None:
        return np.arange(n), np.arange(m), None, None
    if pairs.query_labels is pairs.key_labels:
        order, bounds = _sort(pairs.key_labels, np.unique(pairs.key_labels))
        return order, order, bounds, bounds
    classes = np.union1d(pairs.query_labels, pairs.key_labels)
    query_order, query_bounds = _sort(pairs.query_labels, classes)
    key_order, key_bounds = _sort(pairs.key_labels, classes)
    return query_order, key_order, query_bounds, key_bounds


def _sort(labels: NDArray, classes: NDArray) -> tuple[NDArray, NDArray]:
    order = np.argsort(labels, kind="stable")
    return order, np.append(np.searchsorted(labels[order], classes), len(labels))


def _key_weights(pairs: Pairs, law: Law, key_order: NDArray) -> tuple[NDArray, float]:
    if pairs.key_log_weights is None:
        return np.full(len(key_order), 1.0 if law.has_support else 0.0), 0.0
    log_weights = pairs.key_log_weights[key_order].astype(np.float64)
    if not law.has_support:
        return LOG2E * log_weights, 0.0
    weight_peak = float(log_weights.max(initial=-np.inf))
    weight_peak = weight_peak if np.isfinite(weight_peak) else 0.0
    return np.exp(log_weights - weight_peak), weight_peak


def _own_positions(
    pairs: Pairs, query_order: NDArray, key_order: NDArray
) -> tuple[NDArray, NDArray]:
    """Self-pairs in sorted positions, from both sides."""
    own = np.full(len(query_order), -1)
    owner = np.full(len(key_order), -1)
    if pairs.own is None:
        return own, owner
    position = np.empty(len(key_order), dtype=np.intp)
    position[key_order] = np.arange(len(key_order))
    sorted_own = pairs.own[query_order]
    has_own = np.flatnonzero(sorted_own >= 0)
    own[has_own] = position[sorted_own[has_own]]
    owner[own[has_own]] = has_own
    return own, owner


def rectangles(outputs: Side, inputs: Side, out: slice, into: slice) -> Iterator[Rectangle]:
    """Cut the block out × into so that each piece lies in one part.

    Outputs whose class lies outside the block's inputs stay together in one piece.
    """
    if outputs.bounds is None or inputs.bounds is None:
        yield Rectangle(out, into, DIFFERENT)
        return
    first, last = _classes_in(inputs.bounds, into)
    below = slice(out.start, _clip(outputs.bounds[first], out))
    above = slice(_clip(outputs.bounds[last + 1], out), out.stop)
    yield from _nonempty(Rectangle(below, into, DIFFERENT), Rectangle(above, into, DIFFERENT))
    first_out, last_out = _classes_in(outputs.bounds, out)
    for c in range(max(first, first_out), min(last, last_out) + 1):
        rows = slice(_clip(outputs.bounds[c], out), _clip(outputs.bounds[c + 1], out))
        same = slice(_clip(inputs.bounds[c], into), _clip(inputs.bounds[c + 1], into))
        yield from _nonempty(
            Rectangle(rows, slice(into.start, same.start), DIFFERENT),
            Rectangle(rows, same, SAME),
            Rectangle(rows, slice(same.stop, into.stop), DIFFERENT),
        )


def _classes_in(bounds: NDArray, within: slice) -> tuple[int, int]:
    """First and last class with a point at these positions."""
    first = np.searchsorted(bounds, within.start, side="right") - 1
    last = np.searchsorted(bounds, within.stop, side="left") - 1
    return int(first), int(last)


def _clip(position: int, within: slice) -> int:
    return int(min(max(position, within.start), within.stop))


def _nonempty(*pieces: Rectangle) -> Iterator[Rectangle]:
    for piece in pieces:
        if piece.out.start < piece.out.stop and piece.into.start < piece.into.stop:
            yield piece
