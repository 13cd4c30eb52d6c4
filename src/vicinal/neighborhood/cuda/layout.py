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

__all__ = ["Layout", "Side", "lay_out", "on_device", "padded"]

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
    order : Tensor of shape (n,)
        Position of each in the caller's array.
    labels : Tensor of shape (n,) or None
        Sorted.
    """

    high: Tensor
    low: Tensor
    near_high: Tensor
    near_low: Tensor
    points: Tensor
    squares: Tensor
    order: Tensor
    labels: Tensor | None

    def __len__(self) -> int:
        return len(self.order)

    def unsort(self, values: Tensor, axis: int) -> Tensor:
        """Values in the order of the caller's array."""
        return values if self.labels is None else values.index_select(axis, self.place)

    @cached_property
    def place(self) -> Tensor:
        """Position here of each point of the caller's array, shape (n,)."""
        place = torch.empty_like(self.order)
        place[self.order] = torch.arange(len(self.order), device=place.device)
        return place

    def runs_in(self, other: "Side") -> Tensor:
        """First and last + 1 among the other side of every point's class, (2, n_padded)."""
        if self.labels is None or other.labels is None:
            runs = torch.zeros((2, len(self.squares)), dtype=torch.int32, device=self.order.device)
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
) -> tuple[_Scaling, bool]:
    """All that depends on what the host is told."""
    *largest, is_diagonal = seen
    return _Scaling.of(largest, steepness, dtype, fast), bool(is_diagonal)


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
    """Sort, center, scale and halve."""
    one_set = pairs.queries is pairs.keys and pairs.query_labels is pairs.key_labels
    near, n_dims = pairs.near.stop, pairs.shape[2]
    keys, key_order, key_labels = _sorted(pairs.keys, pairs.key_labels, device)
    center = _center(keys)
    keys = (keys - center) * law.scale
    queries, query_order, query_labels = keys, key_order, key_labels
    if not one_set:
        queries, query_order, query_labels = _sorted(pairs.queries, pairs.query_labels, device)
        queries = (queries - center) * law.scale
    own = None if pairs.own is None else on_device(pairs.own, device)
    seen = _seen([keys] if one_set else [queries, keys], near, own)
    scaling, is_diagonal = told(
        seen, lambda found: _decided(found, law.steepness(near), dtype, fast)
    )
    column_scale = _column_scale(scaling, near, n_dims, device)
    key_side = query_side = _side(keys, key_order, key_labels, scaling, column_scale, near)
    if not one_set:
        query_side = _side(queries, query_order, query_labels, scaling, column_scale, near)
    weights, weight_peak = _key_weights(pairs, law, key_side, scaling.dtype)
    own, owner, own_kind = _own_positions(own, query_side, key_side, one_set and is_diagonal)
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


def padded(values: Tensor, size: int) -> Tensor:
    """With zeros behind the last axis, up to this size."""
    return torch.nn.functional.pad(values, (0, size - values.shape[-1]))


def on_device(array: object, device: torch.device) -> Tensor:
    """A tensor of it on the device; what is there already is not copied."""
    if isinstance(array, np.ndarray) and not (array.flags.writeable and array.flags.c_contiguous):
        array = array.copy(order="C")  # torch takes no strides below 0, and warns of read-only ones
    return torch.as_tensor(array, device=device)


def _sorted(
    points: object, labels: object | None, device: torch.device
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Points by class, in double precision until they are centered, where they were, and labels."""
    tensor = on_device(points, device).double()
    if labels is None:
        return tensor, torch.arange(len(tensor), device=device), None
    sorted_labels, order = torch.sort(on_device(labels, device), stable=True)
    return tensor.index_select(0, order), order, sorted_labels


def _center(keys: Tensor) -> Tensor:
    """Coordinatewise median of a regular sample: where most points are, outliers or not."""
    if not len(keys):
        return torch.zeros(keys.shape[1], dtype=keys.dtype, device=keys.device)
    return keys[:: max(1, len(keys) // _CENTER_SAMPLE)].median(dim=0).values


def _seen(sides: list[Tensor], near: int, own: Tensor | None) -> Tensor:
    """What the host is told: the largest coordinates, norm, and whether all are their own keys.

    The largest coordinate of distances, the largest one carried along, the largest squared norm;
    whether every query's own key is at its own position. NaN where there is one.
    """
    found = [torch.zeros(3, dtype=torch.float64, device=sides[0].device)]
    for points in (each for each in sides if len(each)):
        size = points.abs()
        carried = size[:, near:].amax() if size.shape[1] > near else found[0][0]
        squares = size[:, :near].square().sum(dim=1).amax()
        found.append(torch.stack([size[:, :near].amax(), carried, squares]))
    is_diagonal = found[0][:1]
    if own is not None:
        is_diagonal = (own == torch.arange(len(own), device=own.device)).all()[None].double()
    return torch.cat([torch.stack(found).amax(dim=0), is_diagonal])


def _column_scale(scaling: _Scaling, near: int, n_dims: int, device: torch.device) -> Tensor:
    """What coordinates are multiplied by, beside the law's scale."""
    scale = torch.ones(n_dims, dtype=torch.float64, device=device)
    if scaling.dtype == torch.float32:
        scale[:near], scale[near:] = scaling.near, scaling.carried
    return scale


def _side(
    points: Tensor,
    order: Tensor,
    labels: Tensor | None,
    scaling: _Scaling,
    column_scale: Tensor,
    near: int,
) -> Side:
    n, d = points.shape
    n_padded, width = n + PADDING, max(16, 1 << (d - 1).bit_length())
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
    return Side(high, low, near_high, near_low, coordinates, squares, order, labels)


def _key_weights(pairs: Pairs, law: Law, keys: Side, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    n_padded, device = len(keys.squares), keys.order.device
    if pairs.key_log_weights is None:
        start = 1.0 if law.has_support else 0.0
        weights = torch.full((n_padded,), start, dtype=dtype, device=device)
        return weights, torch.zeros((), dtype=torch.float64, device=device)
    log_weights = on_device(pairs.key_log_weights, device).double().index_select(0, keys.order)
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
    device, sizes = keys.order.device, (len(queries.squares), len(keys.squares))
    if is_diagonal:
        own = torch.arange(sizes[0], dtype=torch.int32, device=device)
        return own, own, OWN_DIAGONAL
    own, owner = (torch.full((size,), -1, dtype=torch.int32, device=device) for size in sizes)
    if theirs is None:
        return own, owner, OWN_NOWHERE
    # One more place for those without a key, -1: nothing depends on how many there are.
    position = torch.cat([keys.place, keys.place.new_full((1,), -1)])
    own[: len(queries)] = position[theirs.long().index_select(0, queries.order)].int()
    places = torch.where(own[: len(queries)] >= 0, own[: len(queries)].long(), sizes[1] - 1)
    owner[places] = torch.arange(len(queries), dtype=torch.int32, device=device)
    owner[len(keys) :] = -1
    return own, owner, OWN_ANYWHERE
