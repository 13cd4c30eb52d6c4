"""Sums over an explicit list of pairs: the same scatter, without neighbors to look for."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from vicinal.neighborhood.products import gram

__all__ = ["PairList"]

# Coordinates of differences held at a time.
_BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True)
class PairList:
    """Pairs of points by their positions; the points themselves are never copied per pair.

    With E the matrix that has a row e_i - e_j for every pair, differences are E Z, and

        Σ_p c_p (z_i - z_j)(x_i - x_j)ᵀ = (Eᵀ diag(c) E Z)ᵀ X,

    the identity of `scatter` for coefficients that are zero but for these pairs.

    Attributes
    ----------
    first, second : ndarray of int, shape (n_pairs,)
    n_points : int
    """

    first: NDArray
    second: NDArray
    n_points: int

    def __len__(self) -> int:
        return len(self.first)

    def squared_distances(self, Z: NDArray) -> NDArray:
        """|z_i - z_j|² for every pair, shape (n_pairs,)."""
        out = np.empty(len(self))
        for rows in self.blocks(Z.shape[1]):
            difference = self._incidence[rows] @ Z
            out[rows] = np.einsum("pd,pd->p", difference, difference)
        return out

    def scatter(self, coefficients: NDArray, Z: NDArray, X: NDArray) -> NDArray:
        """Σ_p c_p (z_i - z_j)(x_i - x_j)ᵀ, shape (d, D), for Z of shape (n, d) and X of (n, D)."""
        pull = np.zeros(Z.shape)
        for rows in self.blocks(Z.shape[1]):
            incidence = self._incidence[rows]
            pull += incidence.T @ (coefficients[rows, None] * (incidence @ Z))
        return gram(pull, X)

    @cached_property
    def _incidence(self) -> csr_array:
        n = len(self)
        columns = np.column_stack([self.first, self.second]).ravel()
        signs = np.tile([1.0, -1.0], n)
        return csr_array((signs, columns, np.arange(0, 2 * n + 1, 2)), shape=(n, self.n_points))

    def blocks(self, width: int) -> Iterator[slice]:
        """Pairs, so many at a time that differences of that width fit in memory."""
        step = max(1, _BLOCK_NUMBERS // max(1, width))
        return (slice(a, min(a + step, len(self))) for a in range(0, len(self), step))
