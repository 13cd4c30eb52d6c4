"""Points laid out for the kernels: sorted by class, centered, in units of the law, as halves.

What `arrange` does for tiles of CPUs, done on the device. One small transfer tells the host how
far points reach, which settles how they are compared; nothing else waits for the device.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from vicinal.neighborhood.arrange import check_reach
from vicinal.neighborhood.cuda.kernels import (
    DIRECT,
    HALVES,
    ONE_HALF,
    OWN_ANYWHERE,
    OWN_DIAGONAL,
    OWN_NOWHERE,
    PLAIN,
)
from vicinal.neighborhood.cuda.replay import told
from vicinal.neighborhood.laws import LOG2E, Law
from vicinal.neighborhood.pairs import Pairs

__all__ = ["Layout", "Side", "lay_out", "numbers_of_side", "on_device", "padded"]

# Rows beyond the last that a kernel may read: its largest block.
PADDING = 256

# Enough rows for a center that a few far points do not move.
_CENTER_SAMPLE = 1000

# The largest coordinate as a half: 2^10, far from its end at 2^16, and the second half of numbers
# 2^-10 as large still in its normal range.
_LARGEST_HALF = 10

# Where products would err by more than this in an exponent, doubles take over, and differences.
_SINGLE_ERROR, _DOUBLE_ERROR = 1e-3, 1e-6
_EPS = {dtype: torch.finfo(dtype).eps for dtype in (torch.float32, torch.float64)}

# Squared distances from the center up to which "tf32" errs by less than 1 in an exponent.
_FAST_REACH = 512.0


@dataclass(frozen=True)
class Side:
    """The queries or the keys, sorted by class, with `PADDING` rows of zeros behind them.

    Attributes
    ----------
    high, low : Tensor of shape (n_padded, DP)
        Both halves of scaled coordinates; in double precision `high` is all of them.
    near_high, near_low : Tensor of shape (n_padded, DP)
        The same with zeros for coordinates that are no part of distances but carried along: with
        these on one side, products are of the others alone.
    points : Tensor of shape (d_near, n_padded)
        Coordinates of distances, transposed, for differences; empty for products.
    squares : Tensor of shape (n_padded,)
        Squared norms in the coordinates of distances; 0 for differences, which need none.
    n : int
    order : Tensor of shape (n,) or None
        Position of each in the caller's array; None where they are sorted there already.
    labels : Tensor of shape (n,) or None
        Sorted.
    """

    high: Tensor
    low: Tensor
    near_high: Tensor
    near_low: Tensor
    points: Tensor
    squares: Tensor
    n: int
    order: Tensor | None
    labels: Tensor | None

    def __len__(self) -> int:
        return self.n

    def sort(self, values: Tensor, axis: int) -> Tensor:
        """The caller's values in the order of the points here."""
        return values if self.order is None else values.index_select(axis, self.order)

    def unsort(self, values: Tensor, axis: int) -> Tensor:
        """Values in the order of the caller's array."""
        return values if self.order is None else values.index_select(axis, self.place)

    @cached_property
    def place(self) -> Tensor:
        """Position here of each point of the caller's array, shape (n,)."""
        here = torch.arange(self.n, device=self.squares.device)
        if self.order is None:
            return here
        place = torch.empty_like(self.order)
        place[self.order] = here
        return place

    def runs_in(self, other: "Side") -> Tensor:
        """First and last + 1 among the other side of every point's class, (2, n_padded)."""
        if self.labels is None or other.labels is None:
            size = (2, len(self.squares))
            runs = torch.zeros(size, dtype=torch.int32, device=self.squares.device)
            runs[1] = len(other)
            return runs
        first = torch.searchsorted(other.labels, self.labels, out_int32=True)
        last = torch.searchsorted(other.labels, self.labels, right=True, out_int32=True)
        return padded(torch.stack([first, last]), len(self.squares))


@dataclass(frozen=True)
class Layout:
    """A `Pairs` made ready for the kernels.

    Attributes
    ----------
    queries, keys : Side
    key_weights : Tensor of shape (m_padded,)
        log2 u_j, or u_j / exp(weight_peak) for a law with support.
    weight_peak : Tensor
        Logarithm taken out of the weights for a law with support, a number.
    own, owner : Tensor of int32, shape (n_padded,) and (m_padded,)
        Each query's own key, each key's query, or -1.
    kind, own_kind : int
        How coordinates are compared, and where own keys are (`kernels`).
    center : Tensor of shape (d,)
    column_scale : Tensor of shape (DP,)
        Coordinates are column_scale · (z - center).
    unit : float
        What a product of scaled coordinates is to be multiplied by for 2 q·k in units of the law.
    n_near, n_dims : int
        Coordinates of distances, and all.
    """

    queries: Side
    keys: Side
    key_weights: Tensor
    weight_peak: Tensor
    own: Tensor
    owner: Tensor
    kind: int
    own_kind: int
    center: Tensor
    column_scale: Tensor
    unit: float
    n_near: int
    n_dims: int

    @cached_property
    def key_runs(self) -> Tensor:
        """First and last + 1 among the keys of every query's class, (2, n_padded)."""
        return self.queries.runs_in(self.keys)

    @cached_property
    def query_runs(self) -> Tensor:
        """First and last + 1 among the queries of every key's class, (2, m_padded)."""
        return self.key_runs if self.queries is self.keys else self.keys.runs_in(self.queries)

    @property
    def dtype(self) -> torch.dtype:
        """Of all sums."""
        return self.key_weights.dtype

    @property
    def n_parts(self) -> int:
        """1 without labels, 2 (different, same) with them."""
        return 1 if self.queries.labels is None else 2


@dataclass(frozen=True)
class _Scaling:
    """How far points reach, and what that means for comparing them."""

    kind: int
    dtype: torch.dtype
    near: float  # what coordinates of distances are multiplied by for halves
    carried: float

    @classmethod
    def of(
        cls, largest: list[float], steepness: float, dtype: torch.dtype, fast: bool
    ) -> "_Scaling":
        """From the largest coordinates, of distances and carried along, and the largest norm."""
        near, carried, squared_reach = largest
        check_reach(math.nan if math.isnan(near) else max(near, carried))
        kind, dtype = _comparison(squared_reach * steepness, dtype, fast)
        return cls(kind, dtype, _half_scale(near), _half_scale(carried))


def _decided(
    seen: list[float], steepness: float, dtype: torch.dtype, fast: bool
) -> tuple[_Scaling, tuple[bool, ...]]:
    """All that depends on what the host is told: the scaling, and what is true."""
    return _Scaling.of(seen[:3], steepness, dtype, fast), tuple(bool(each) for each in seen[3:])


def _comparison(squared_reach: float, dtype: torch.dtype, fast: bool) -> tuple[int, torch.dtype]:
    """How coordinates are compared, and in which precision."""
    if fast and squared_reach < _FAST_REACH:
        return ONE_HALF, torch.float32
    if dtype == torch.float32 and 4.0 * squared_reach * _EPS[dtype] < _SINGLE_ERROR:
        return HALVES, torch.float32
    is_exact = 4.0 * squared_reach * _EPS[torch.float64] < _DOUBLE_ERROR
    return (PLAIN if is_exact else DIRECT), torch.float64


def _half_scale(largest: float) -> float:
    """A power of two that brings the largest coordinate just below 2^10."""
    return 2.0 ** (_LARGEST_HALF - math.frexp(largest)[1]) if largest > 0 else 1.0


def lay_out(pairs: Pairs, law: Law, dtype: torch.dtype, device: torch.device, fast: bool) -> Layout:
    """Center, sort, scale and halve."""
    one_set = pairs.queries is pairs.keys and pairs.query_labels is pairs.key_labels
    near, n_dims = pairs.near.stop, pairs.shape[2]
    keys = on_device(pairs.keys, device).double()
    center = _center(keys)
    points = [(keys - center) * law.scale]
    labels = [_optional(pairs.key_labels, device)]
    if not one_set:
        points.append((on_device(pairs.queries, device).double() - center) * law.scale)
        labels.append(_optional(pairs.query_labels, device))
    own = None if pairs.is_one_set else _optional(pairs.own, device)
    seen = _seen(points, labels, near, own)
    scaling, (is_diagonal, *is_sorted) = told(
        seen, lambda found: _decided(found, law.steepness(near), dtype, fast)
    )
    column_scale = _column_scale(scaling, near, n_dims, device)
    sides = [
        _side(*each, scaling, column_scale, near)
        for each in zip(points, labels, is_sorted, strict=True)
    ]
    key_side, query_side = sides[0], sides[-1]
    weights, weight_peak = _key_weights(pairs, law, key_side, scaling.dtype)
    is_diagonal = pairs.is_one_set or (one_set and is_diagonal)
    own, owner, own_kind = _own_positions(own, query_side, key_side, is_diagonal)
    return Layout(
        query_side,
        key_side,
        weights,
        weight_peak,
        own,
        owner,
        scaling.kind,
        own_kind,
        center,
        column_scale * law.scale,
        2.0 / scaling.near**2 if scaling.kind in (HALVES, ONE_HALF) else 2.0,
        near,
        n_dims,
    )


def numbers_of_side(n: int, d: int) -> int:
    """How many numbers stand one behind the other where n points of d coordinates are laid out."""
    return math.prod(_padded_shape(n, d))


def _padded_shape(n: int, d: int) -> tuple[int, int]:
    return n + PADDING, max(16, 1 << (d - 1).bit_length())


def padded(values: Tensor, size: int) -> Tensor:
    """With zeros behind the last axis, up to this size."""
    return torch.nn.functional.pad(values, (0, size - values.shape[-1]))


def on_device(array: object, device: torch.device) -> Tensor:
    """A tensor of it on the device; what is there already is not copied."""
    if isinstance(array, np.ndarray) and not (array.flags.writeable and array.flags.c_contiguous):
        array = array.copy(order="C")  # torch takes no strides below 0, and warns of read-only ones
    return torch.as_tensor(array, device=device)


def _optional(array: object | None, device: torch.device) -> Tensor | None:
    return None if array is None else on_device(array, device)


def _center(keys: Tensor) -> Tensor:
    """Coordinatewise median of a regular sample: where most points are, outliers or not."""
    if not len(keys):
        return torch.zeros(keys.shape[1], dtype=keys.dtype, device=keys.device)
    return keys[:: max(1, len(keys) // _CENTER_SAMPLE)].median(dim=0).values


def _seen(
    points: list[Tensor], labels: list[Tensor | None], near: int, own: Tensor | None
) -> Tensor:
    """What the host is told: how far points reach, and whether it is as simple as it may be.

    The largest coordinate of distances, the largest one carried along, the largest squared norm,
    NaN where there is one; whether every query's own key is at its own position; whether the
    points of each side are sorted by class.
    """
    nothing = torch.zeros(1, dtype=torch.float64, device=points[0].device)
    reach = [_reach(each, near) for each in points if len(each)] or [nothing.expand(3)]
    is_true = [nothing]
    if own is not None:
        is_true = [(own == torch.arange(len(own), device=own.device)).all()[None]]
    for each in labels:
        is_sorted = nothing + 1.0 if each is None else (each[1:] >= each[:-1]).all()[None]
        is_true.append(is_sorted)
    largest = reach[0] if len(reach) == 1 else torch.stack(reach).amax(dim=0)
    return torch.cat([largest, *(each.double() for each in is_true)])


def _reach(points: Tensor, near: int) -> Tensor:
    """Largest coordinates, of distances and carried along, and largest squared norm."""
    squares = points[:, :near].square()
    largest = [torch.linalg.vector_norm(points[:, :near], torch.inf), squares.sum(dim=1).amax()]
    carried = largest[0]
    if points.shape[1] > near:
        carried = torch.linalg.vector_norm(points[:, near:], torch.inf)
    return torch.stack([largest[0], carried, largest[1]])


def _column_scale(scaling: _Scaling, near: int, n_dims: int, device: torch.device) -> Tensor:
    """What coordinates are multiplied by, beside the law's scale."""
    is_single = scaling.dtype == torch.float32
    factor = scaling.near if is_single else 1.0
    scale = torch.full((n_dims,), factor, dtype=torch.float64, device=device)
    if is_single and near < n_dims:
        scale[near:] = scaling.carried
    return scale


def _side(
    points: Tensor,
    labels: Tensor | None,
    is_sorted: bool,
    scaling: _Scaling,
    column_scale: Tensor,
    near: int,
) -> Side:
    n, d = points.shape
    order = None
    if labels is not None and not is_sorted:
        labels, order = torch.sort(labels, stable=True)
        points = points.index_select(0, order)
    n_padded, width = _padded_shape(n, d)
    scaled = torch.zeros((n_padded, width), dtype=points.dtype, device=points.device)
    torch.mul(points, column_scale, out=scaled[:n, :d])
    high = low = scaled
    if scaling.dtype == torch.float32:
        high = scaled.half()
        low = high if scaling.kind == ONE_HALF else (scaled - high).half()
    near_high, near_low = high, low
    if near < d:
        near_high, near_low = high.clone(), low.clone()
        near_high[:, near:], near_low[:, near:] = 0.0, 0.0
    if scaling.kind == DIRECT:
        coordinates = padded(points[:, :near].T.to(scaling.dtype), n_padded)
        squares = torch.zeros(n_padded, dtype=scaling.dtype, device=points.device)
    else:
        coordinates = points.new_empty(0, dtype=scaling.dtype)
        squares = padded(points[:, :near].square().sum(dim=1), n_padded).to(scaling.dtype)
    return Side(high, low, near_high, near_low, coordinates, squares, n, order, labels)


def _key_weights(pairs: Pairs, law: Law, keys: Side, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    n_padded, device = len(keys.squares), keys.squares.device
    if pairs.key_log_weights is None:
        start = 1.0 if law.has_support else 0.0
        weights = torch.full((n_padded,), start, dtype=dtype, device=device)
        return weights, torch.zeros((), dtype=torch.float64, device=device)
    log_weights = keys.sort(on_device(pairs.key_log_weights, device).double(), 0)
    if not law.has_support:
        zero = torch.zeros((), dtype=torch.float64, device=device)
        return padded(LOG2E * log_weights, n_padded).to(dtype), zero
    peak = log_weights.amax() if len(log_weights) else log_weights.sum()
    peak = torch.where(torch.isfinite(peak), peak, 0.0)
    return padded((log_weights - peak).exp(), n_padded).to(dtype), peak


def _own_positions(
    theirs: Tensor | None, queries: Side, keys: Side, is_diagonal: bool
) -> tuple[Tensor, Tensor, int]:
    """Self-pairs in sorted positions, from both sides, and where they are."""
    device, sizes = keys.squares.device, (len(queries.squares), len(keys.squares))
    if is_diagonal:
        own = torch.arange(sizes[0], dtype=torch.int32, device=device)
        return own, own, OWN_DIAGONAL
    own, owner = (torch.full((size,), -1, dtype=torch.int32, device=device) for size in sizes)
    if theirs is None:
        return own, owner, OWN_NOWHERE
    # One more place for those without a key, -1: nothing depends on how many there are.
    position = torch.cat([keys.place, keys.place.new_full((1,), -1)])
    own[: len(queries)] = position[queries.sort(theirs.long(), 0)].int()
    places = torch.where(own[: len(queries)] >= 0, own[: len(queries)].long(), sizes[1] - 1)
    owner[places] = torch.arange(len(queries), dtype=torch.int32, device=device)
    owner[len(keys) :] = -1
    return own, owner, OWN_ANYWHERE
