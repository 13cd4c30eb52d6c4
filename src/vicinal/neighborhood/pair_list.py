"""Sums over an explicit list of pairs: the same scatter, without neighbors to look for."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from vicinal.neighborhood.products import gram
from vicinal.neighborhood.threads import current_n_threads, run_in_order

__all__ = ["PairList"]

# Coordinates of differences held at a time.
_BLOCK_NUMBERS = 4_000_000

# Coordinates of differences up to which NumPy is as fast as a compiled loop.
_FEW_NUMBERS = 1_000_000

# Sums over parts of the pairs that are made at a time, how many numbers they may have in all, and
# after how many pairs Ctrl-C is heard.
_MOST_PARTS, _PARTS_NUMBERS, _STEP = 8, 16_000_000, 500_000


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
        if self._are_few(Z):
            difference = Z[self.first] - Z[self.second]
            return np.einsum("pd,pd->p", difference, difference)
        from vicinal.neighborhood.kernels.pair_lists import squares

        Z, out = np.ascontiguousarray(Z, dtype=np.float64), np.empty(len(self))

        def fill(part: slice) -> None:
            squares(Z, self.first, self.second, part.start, part.stop, out)

        for _ in run_in_order(fill, list(self.blocks(Z.shape[1])), current_n_threads()):
            pass
        return out

    def scatter(self, coefficients: NDArray, Z: NDArray, X: NDArray) -> NDArray:
        """Σ_p c_p (z_i - z_j)(x_i - x_j)ᵀ, shape (d, D), for Z of shape (n, d) and X of (n, D)."""
        if self._are_few(Z):
            apart = coefficients[:, None] * (Z[self.first] - Z[self.second])
            return gram(self._incidence_transposed @ apart, X)
        return gram(self._pull(coefficients, Z), X)

    def _pull(self, coefficients: NDArray, Z: NDArray) -> NDArray:
        """Eᵀ diag(c) E Z, shape (n, d): each part of the pairs adds up on its own."""
        from vicinal.neighborhood.kernels.pair_lists import pulls

        Z = np.ascontiguousarray(Z, dtype=np.float64)
        n_parts = max(1, min(_MOST_PARTS, _PARTS_NUMBERS // max(1, Z.size)))
        bounds = np.linspace(0, len(self), n_parts + 1).astype(int)

        def add(part: int) -> NDArray:
            out = np.zeros(Z.shape)
            for start in range(bounds[part], bounds[part + 1], _STEP):
                stop = min(start + _STEP, bounds[part + 1])
                pulls(Z, self.first, self.second, coefficients, start, stop, out)
            return out

        parts = run_in_order(add, range(n_parts), current_n_threads())
        total = next(parts)
        for part in parts:
            total += part
        return total

    def _are_few(self, Z: NDArray) -> bool:
        """Whether differences fit in memory, and are too few for a compiler."""
        return len(self) * Z.shape[1] <= _FEW_NUMBERS

    @cached_property
    def _incidence_transposed(self) -> csr_array:
        return self._incidence.T.tocsr()

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
