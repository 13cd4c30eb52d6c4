"""What the two passes add up, and how partial sums merge.

For query i and part p of its keys (see `pairs`), with u_j the key weights,

    mass   = Σ_j u_j k(s_ij)           slope = Σ_j u_j (-k'(s_ij))
    moment = Σ_j u_j (-k'(s_ij)) z_j

each divided by exp(peak), peak being the largest exponent met so far, so that
nothing underflows however far the nearest key is. Partial sums over disjoint
key sets merge exactly, in any order: a monoid with `RowSums.empty` as neutral
element. Each part keeps a peak of its own: the probability of a class whose
nearest member is far away keeps its logarithm.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ColumnSums", "RowSums", "Rows", "log_shares"]


def log_shares(log_mass: NDArray, axis: int) -> NDArray:
    """Logarithm of the share of each mass in their sum; -inf where there is nothing at all.

    Less the largest first: beside masses of exp(-1e20) the logarithm of a sum forgets how many
    there were, and shares would not sum to one.
    """
    peak = log_mass.max(axis=axis, keepdims=True)
    apart = log_mass - np.where(np.isneginf(peak), 0.0, peak)
    total = np.exp(apart).sum(axis=axis, keepdims=True)
    return apart - np.log(np.where(total > 0, total, 1.0))


@dataclass(frozen=True)
class Rows:
    """Finished row sums of n queries over p parts of their keys.

    Attributes
    ----------
    log_mass : ndarray of shape (p, n)
        log Σ_j u_j k(s_ij); -inf where no key is near enough to count.
    log_slope : ndarray of shape (p, n)
        log Σ_j u_j (-k'(s_ij)).
    centroid : ndarray of shape (p, n, d)
        Mean of the keys, weighted by u_j (-k'(s_ij)); 0 where there are none.
    """

    log_mass: NDArray
    log_slope: NDArray
    centroid: NDArray

    @property
    def log_total(self) -> NDArray:
        """Log mass over all keys, shape (n,)."""
        return np.logaddexp.reduce(self.log_mass, axis=0)


@dataclass
class RowSums:
    """Accumulator of the rows pass: ``empty``, ``merge``, ``finish``.

    Attributes
    ----------
    peak, mass, slope : ndarray of float64, shape (p, n)
    moment : ndarray of float64, shape (p, n, d), or (p, n, 0) where not wanted
    """

    peak: NDArray
    mass: NDArray
    slope: NDArray
    moment: NDArray

    @classmethod
    def empty(cls, n_parts: int, n: int, width: int) -> "RowSums":
        """Sums over no key at all: the neutral element of `merge`."""
        shape = (n_parts, n)
        return cls(
            np.full(shape, -np.inf), np.zeros(shape), np.zeros(shape), np.zeros((*shape, width))
        )

    def merge(self, other: "RowSums") -> "RowSums":
        """Sums over both key sets, which must be disjoint."""
        peak = np.maximum(self.peak, other.peak)
        mine, theirs = _rescale(self.peak, peak), _rescale(other.peak, peak)
        return RowSums(
            peak,
            mine * self.mass + theirs * other.mass,
            mine * self.slope + theirs * other.slope,
            mine[..., None] * self.moment + theirs[..., None] * other.moment,
        )

    def finish(self) -> Rows:
        """Logarithms and centroids."""
        with np.errstate(divide="ignore"):
            log_mass = self.peak + np.log(self.mass)
            log_slope = self.peak + np.log(self.slope)
        slope = np.where(self.slope > 0, self.slope, 1.0)
        return Rows(log_mass, log_slope, self.moment / slope[..., None])

    def rows(self, where: slice | NDArray) -> "RowSums":
        """Sums of some of the queries."""
        return RowSums(*(array[:, where] for array in self._arrays()))

    def put(self, where: slice, part: "RowSums") -> None:
        """Write the sums of some of the queries."""
        for array, values in zip(self._arrays(), part._arrays(), strict=True):
            array[:, where] = values

    def _arrays(self) -> tuple[NDArray, NDArray, NDArray, NDArray]:
        return self.peak, self.mass, self.slope, self.moment


def _rescale(old_peak: NDArray, new_peak: NDArray) -> NDArray:
    """exp(old - new), and 0 where the old sum is empty."""
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(old_peak), 0.0, np.exp(old_peak - new_peak))


@dataclass
class ColumnSums:
    """Accumulator of the columns pass over m keys.

    Attributes
    ----------
    total : ndarray of float64, shape (m,)
        c_j = Σ_i C_ij.
    moment : ndarray of float64, shape (m, d), or (m, 0) where not wanted
        (CᵀZ)_j = Σ_i C_ij z_i.
    """

    total: NDArray
    moment: NDArray

    @classmethod
    def empty(cls, m: int, width: int) -> "ColumnSums":
        """Sums over no query at all: the neutral element of `merge`."""
        return cls(np.zeros(m), np.zeros((m, width)))

    def merge(self, other: "ColumnSums") -> "ColumnSums":
        """Sums over both query sets, which must be disjoint."""
        return ColumnSums(self.total + other.total, self.moment + other.moment)

    def put(self, where: slice, part: "ColumnSums") -> None:
        """Write the sums of some of the keys."""
        self.total[where] = part.total
        self.moment[where] = part.moment

    def rows(self, where: slice | NDArray) -> "ColumnSums":
        """Sums of some of the keys."""
        return ColumnSums(self.total[where], self.moment[where])
