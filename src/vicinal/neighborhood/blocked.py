"""Engine for any dimension: matrix products over tiles, one elementwise sweep between them."""

import itertools
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from vicinal.neighborhood.arrange import Arrangement, Rectangle
from vicinal.neighborhood.laws import Law
from vicinal.neighborhood.sums import ColumnSums, RowSums
from vicinal.neighborhood.threads import one_blas_thread
from vicinal.neighborhood.tiled import ColumnFolder, RowFolder, TiledEngine

__all__ = ["BlockedEngine"]

# Where float32 products would err by more than this in an exponent, float64 takes over.
_EXPONENT_ERROR = 1e-3


class BlockedEngine(TiledEngine):
    """Squared distances as |q|² + |k|² - 2 q·k by BLAS.

    Exact to rounding of that sum: an error of a few ulp of the largest squared
    norm, after centering, in each squared distance.

    Parameters
    ----------
    n_jobs : int, optional
    tile : int, optional
        Number of outputs per task.
    into_tile : int, optional
        Number of inputs per matrix product.
    compiled : bool, default=True
        Whether the elementwise sweep is compiled. NumPy's is slower but
        starts at once.
    """

    name = "blocked"
    default_tile = 512

    def __init__(
        self,
        n_jobs: int | None = None,
        tile: int | None = None,
        into_tile: int = 512,
        compiled: bool = True,
    ) -> None:
        super().__init__(n_jobs, tile)
        self.into_tile = into_tile
        self.compiled = compiled

    def _working_dtype(self, dtype: DTypeLike, reach: float) -> DTypeLike:
        error = 4.0 * reach**2 * float(np.finfo(dtype).eps)
        return dtype if error < _EXPONENT_ERROR else np.float64

    def _limits(self) -> AbstractContextManager[Any]:
        return one_blas_thread()

    def _sweeps(self) -> ModuleType:
        """Functions weigh_rows and weigh_columns on a tile of distances."""
        if self.compiled:
            from vicinal.neighborhood.kernels import products

            return products
        from vicinal.neighborhood import sweeps

        return sweeps

    def _row_folder(self, arranged: Arrangement, law: Law) -> RowFolder:
        sweep = self._sweeps().weigh_rows
        left, right = _augmented_left(arranged.queries.points), _augmented(arranged.keys.points)
        keys = arranged.keys.points

        def fold(piece: Rectangle, sums: RowSums) -> None:
            p, out = piece.part, piece.out
            factor = np.empty(out.stop - out.start)
            buffer = _Buffer(self.into_tile, out, keys)
            for into in self._split(piece.into):
                s = buffer.product(left[out], right[into].T)
                sweep(
                    law.code,
                    s,
                    arranged.key_weights[into],
                    arranged.own[out] - into.start,
                    sums.peak[p],
                    sums.mass[p],
                    sums.slope[p],
                    factor,
                )
                if sums.moment.shape[-1]:
                    sums.moment[p] *= factor[:, None]
                    sums.moment[p] += np.matmul(s, keys[into], out=buffer.moment)

        return fold

    def _column_folder(
        self, arranged: Arrangement, law: Law, log_slopes: NDArray, coefficients: NDArray
    ) -> ColumnFolder:
        sweep = self._sweeps().weigh_columns
        left, right = _augmented_left(arranged.keys.points), _augmented(arranged.queries.points)
        queries = arranged.queries.points

        def fold(piece: Rectangle, sums: ColumnSums) -> None:
            p, out = piece.part, piece.out
            buffer = _Buffer(self.into_tile, out, queries)
            for into in self._split(piece.into):
                s = buffer.product(left[out], right[into].T)
                sweep(
                    law.code,
                    s,
                    arranged.key_weights[out],
                    log_slopes[p, into],
                    coefficients[p, into],
                    arranged.owner[out] - into.start,
                    sums.total,
                )
                sums.moment += np.matmul(s, queries[into], out=buffer.moment)

        return fold

    def _split(self, into: slice) -> list[slice]:
        """Pieces of equal size: a narrow last product would waste what BLAS does best."""
        n = into.stop - into.start
        edges = np.linspace(into.start, into.stop, -(-n // self.into_tile) + 1).astype(int)
        return [slice(*edge) for edge in itertools.pairwise(edges.tolist())]


class _Buffer:
    """Room for the products of one rectangle: fresh pages would cost as much as the sweep."""

    def __init__(self, width: int, out: slice, points: NDArray) -> None:
        self.distances = np.empty((out.stop - out.start) * width, points.dtype)
        self.moment = np.empty((out.stop - out.start, points.shape[1]), points.dtype)

    def product(self, left: NDArray, right: NDArray) -> NDArray:
        shape = left.shape[0], right.shape[1]
        return np.matmul(left, right, out=self.distances[: shape[0] * shape[1]].reshape(shape))


def _augmented(points: NDArray) -> NDArray:
    """[z, 1, |z|²]: with `_augmented_left` one product gives squared distances."""
    norms = np.einsum("nd,nd->n", points, points)[:, None]
    return np.hstack([points, np.ones_like(norms), norms])


def _augmented_left(points: NDArray) -> NDArray:
    """[-2 z, |z|², 1]."""
    norms = np.einsum("nd,nd->n", points, points)[:, None]
    return np.hstack([-2.0 * points, norms, np.ones_like(norms)])
