"""What the two passes add up, and how partial sums merge.

For query i and part p of its keys (see `pairs`), with u_j the key weights,

    mass   = Σ_j u_j k(s_ij)           slope = Σ_j u_j (-k'(s_ij))
    moment = Σ_j u_j (-k'(s_ij)) z_j

each divided by exp(peak), peak being the largest exponent met so far, so that
nothing underflows however far the nearest key is. Partial sums over disjoint
key sets merge exactly, in any order: a monoid with `RowSums.empty` as neutral
element. Each part keeps a peak of its own: the probability of a class whose
nearest member is far away keeps its logarithm.

Arrays are NumPy's, in float64, or tensors, in the precision that an engine on their device chose.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from vicinal.neighborhood.arrays import Array, is_numpy, namespace, placed_like

__all__ = ["ColumnSums", "RowSums", "Rows", "log_shares", "log_sum"]


def log_shares(log_mass: Array, axis: int) -> Array:
    """Logarithm of the share of each mass in their sum; -inf where there is nothing at all.

    Less the largest first: beside masses of exp(-1e20) the logarithm of a sum forgets how many
    there were, and shares would not sum to one.
    """
    xp = namespace(log_mass)
    peak = xp.max(log_mass, axis=axis, keepdims=True)
    apart = log_mass - xp.where(peak == -np.inf, 0.0, peak)
    total = xp.exp(apart).sum(axis=axis, keepdims=True)
    return apart - xp.log(xp.where(total > 0, total, 1.0))


def log_sum(log_mass: Array, axis: int) -> Array:
    """Logarithm of the sum of masses along an axis; -inf where there is nothing at all."""
    if is_numpy(log_mass):
        return np.logaddexp.reduce(log_mass, axis=axis)
    xp = namespace(log_mass)
    peak = xp.max(log_mass, axis=axis, keepdims=True)
    base = xp.where(peak == -np.inf, 0.0, peak)
    return xp.log(xp.exp(log_mass - base).sum(axis=axis)) + xp.squeeze(base, axis=axis)


@dataclass(frozen=True)
class Rows:
    """Finished row sums of n queries over p parts of their keys.

    Attributes
    ----------
    log_mass : array of shape (p, n)
        log Σ_j u_j k(s_ij); -inf where no key is near enough to count.
    log_slope : array of shape (p, n)
        log Σ_j u_j (-k'(s_ij)).
    centroid : array of shape (p, n, d)
        Mean of the keys, weighted by u_j (-k'(s_ij)); 0 where there are none.
    """

    log_mass: Array
    log_slope: Array
    centroid: Array

    @property
    def log_total(self) -> Array:
        """Log mass over all keys, shape (n,)."""
        return log_sum(self.log_mass, axis=0)


@dataclass
class RowSums:
    """Accumulator of the rows pass: ``empty``, ``merge``, ``finish``.

    Attributes
    ----------
    peak, mass, slope : array of shape (p, n)
    moment : array of shape (p, n, d), or (p, n, 0) where not wanted
    """

    peak: Array
    mass: Array
    slope: Array
    moment: Array

    @classmethod
    def empty(cls, n_parts: int, n: int, width: int, like: Array | None = None) -> "RowSums":
        """Sums over no key at all: the neutral element of `merge`.

        In NumPy's float64, or in the precision of a tensor that they are to be `like`.
        """
        zeros, shape = _zeros(like), (n_parts, n)
        return cls(zeros(shape) - np.inf, zeros(shape), zeros(shape), zeros((*shape, width)))

    def merge(self, other: "RowSums") -> "RowSums":
        """Sums over both key sets, which must be disjoint."""
        peak = namespace(self.peak).maximum(self.peak, other.peak)
        mine, theirs = _rescale(self.peak, peak), _rescale(other.peak, peak)
        return RowSums(
            peak,
            mine * self.mass + theirs * other.mass,
            mine * self.slope + theirs * other.slope,
            mine[..., None] * self.moment + theirs[..., None] * other.moment,
        )

    def finish(self) -> Rows:
        """Logarithms and centroids."""
        xp = namespace(self.peak)
        with np.errstate(divide="ignore"):
            log_mass = self.peak + xp.log(self.mass)
            log_slope = self.peak + xp.log(self.slope)
        slope = xp.where(self.slope > 0, self.slope, 1.0)
        return Rows(log_mass, log_slope, self.moment / slope[..., None])

    def rows(self, where: slice | Array) -> "RowSums":
        """Sums of some of the queries."""
        return RowSums(*(array[:, where] for array in self._arrays()))

    def put(self, where: slice | Array, part: "RowSums") -> None:
        """Write the sums of some of the queries."""
        for array, values in zip(self._arrays(), part._arrays(), strict=True):
            array[:, where] = values

    def at(self, places: Array) -> "RowSums":
        """These sums in another order: the place of each there."""
        there = RowSums(*(namespace(array).empty_like(array) for array in self._arrays()))
        there.put(places, self)
        return there

    def placed_like(self, reference: Array) -> "RowSums":
        """These sums in arrays of the library and on the device of another one."""
        return RowSums(*(placed_like(array, reference) for array in self._arrays()))

    def __sizeof__(self) -> int:  # a cluster asks, before it sends sums somewhere
        return sum(array.nbytes for array in self._arrays())

    def _arrays(self) -> tuple[Array, Array, Array, Array]:
        return self.peak, self.mass, self.slope, self.moment


def _rescale(old_peak: Array, new_peak: Array) -> Array:
    """exp(old - new), and 0 where the old sum is empty."""
    xp = namespace(old_peak)
    with np.errstate(invalid="ignore"):
        return xp.where(old_peak == -np.inf, 0.0, xp.exp(old_peak - new_peak))


def _zeros(like: Array) -> Callable[[tuple[int, ...]], Array]:
    """What makes arrays of zeros: NumPy's, or those of a tensor's library on its device."""
    if is_numpy(like):
        return np.zeros
    return partial(namespace(like).zeros, dtype=like.dtype, device=like.device)


@dataclass
class ColumnSums:
    """Accumulator of the columns pass over m keys.

    Attributes
    ----------
    total : array of shape (m,)
        c_j = Σ_i C_ij.
    moment : array of shape (m, d), or (m, 0) where not wanted
        (CᵀZ)_j = Σ_i C_ij z_i.
    """

    total: Array
    moment: Array

    @classmethod
    def empty(cls, m: int, width: int, like: Array | None = None) -> "ColumnSums":
        """Sums over no query at all: the neutral element of `merge`.

        In NumPy's float64, or in the precision of a tensor that they are to be `like`.
        """
        zeros = _zeros(like)
        return cls(zeros((m,)), zeros((m, width)))

    def merge(self, other: "ColumnSums") -> "ColumnSums":
        """Sums over both query sets, which must be disjoint."""
        return ColumnSums(self.total + other.total, self.moment + other.moment)

    def put(self, where: slice | Array, part: "ColumnSums") -> None:
        """Write the sums of some of the keys."""
        self.total[where] = part.total
        self.moment[where] = part.moment

    def at(self, places: Array) -> "ColumnSums":
        """These sums in another order: the place of each there."""
        empty_like = namespace(self.total).empty_like
        there = ColumnSums(empty_like(self.total), empty_like(self.moment))
        there.put(places, self)
        return there

    def rows(self, where: slice | Array) -> "ColumnSums":
        """Sums of some of the keys."""
        return ColumnSums(self.total[where], self.moment[where])

    def placed_like(self, reference: Array) -> "ColumnSums":
        """These sums in arrays of the library and on the device of another one."""
        return ColumnSums(placed_like(self.total, reference), placed_like(self.moment, reference))

    def __sizeof__(self) -> int:  # a cluster asks, before it sends sums somewhere
        return int(self.total.nbytes + self.moment.nbytes)
