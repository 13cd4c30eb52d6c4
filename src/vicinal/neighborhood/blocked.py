"""Engine for any dimension: matrix products over tiles, one elementwise sweep between them."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.spatial.distance import cdist

from vicinal.neighborhood.abilities import Abilities
from vicinal.neighborhood.arrange import Arrangement, Rectangle
from vicinal.neighborhood.laws import Law
from vicinal.neighborhood.shared_numbers import LawNumbers
from vicinal.neighborhood.sums import ColumnSums, RowSums
from vicinal.neighborhood.sweeps import LawIn
from vicinal.neighborhood.threads import one_library_thread
from vicinal.neighborhood.tiled import ColumnFolder, RowFolder, TiledEngine

__all__ = ["BlockedEngine"]

# Where float32 products would err by more than this in an exponent, float64 takes over...
_SINGLE_ERROR = 1e-3
# ... and where float64 products would, differences of coordinates do.
_DOUBLE_ERROR = 1e-6


class BlockedEngine(TiledEngine):
    """Squared distances as |q|² + |k|² - 2 q·k by BLAS.

    Exact to rounding of that sum: an error of a few ulp of the largest squared
    norm, after centering, in each squared distance. Where that would be too
    much, distances come from differences of coordinates, slower but right.

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
    default_into_tile = 512

    def __init__(
        self,
        n_jobs: int | None = None,
        *,
        tile: int | None = None,
        into_tile: int | None = None,
        compiled: bool = True,
    ) -> None:
        super().__init__(n_jobs, tile=tile, into_tile=into_tile)
        self.compiled = compiled
        if not compiled:
            self.can = Abilities(takes=lambda law: True)
        self._sweeps = _load_sweeps(compiled)

    def _working_dtype(self, dtype: DTypeLike, reach: float) -> DTypeLike:
        return dtype if _product_error(dtype, reach) < _SINGLE_ERROR else np.float64

    def _limits(self) -> AbstractContextManager[Any]:
        return one_library_thread()

    def _law_in(self, law: Law, d: int) -> LawNumbers | LawIn:
        """The law in d dimensions, as the sweeps of this engine take it."""
        return law.numbers(d) if self.compiled else (law, d)

    def _row_folder(self, arranged: Arrangement, law: Law) -> RowFolder:
        keys, sweep = arranged.keys.points, self._sweeps.weigh_rows
        distances = _distances(arranged.queries.points, keys, arranged)
        room, law_in = _Room(keys.dtype), self._law_in(law, arranged.n_near)

        def fold(piece: Rectangle, sums: RowSums) -> None:
            p, out, into = piece.part, piece.out, piece.into
            factor = np.empty(out.stop - out.start)
            s = distances(out, into, room)
            sweep(
                law_in,
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
                sums.moment[p] += s @ keys[into]

        return fold

    def _column_folder(
        self, arranged: Arrangement, law: Law, log_slopes: NDArray, coefficients: NDArray
    ) -> ColumnFolder:
        queries, sweep = arranged.queries.points, self._sweeps.weigh_columns
        distances = _distances(arranged.keys.points, queries, arranged)
        room, law_in = _Room(queries.dtype), self._law_in(law, arranged.n_near)

        def fold(piece: Rectangle, sums: ColumnSums) -> None:
            p, out, into = piece.part, piece.out, piece.into
            s = distances(out, into, room)
            sweep(
                law_in,
                s,
                arranged.key_weights[out],
                log_slopes[p, into],
                coefficients[p, into],
                arranged.owner[out] - into.start,
                sums.total,
            )
            if sums.moment.shape[-1]:
                sums.moment[:] += s @ queries[into]

        return fold


def _load_sweeps(compiled: bool) -> ModuleType:
    """Module with weigh_rows and weigh_columns on a tile of distances."""
    if compiled:
        from vicinal.neighborhood.kernels import products

        return products
    from vicinal.neighborhood import sweeps

    return sweeps


class _Room:
    """Memory for a tile of distances, one per thread: fresh pages cost as much as the sweep."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._dtype = dtype
        self._local = threading.local()

    def tile(self, out: slice, into: slice) -> NDArray:
        """An uninitialized array of shape (outputs, inputs), valid until the next call."""
        shape = out.stop - out.start, into.stop - into.start
        size = shape[0] * shape[1]
        flat = getattr(self._local, "flat", None)
        if flat is None or flat.size < size:
            flat = self._local.flat = np.empty(size, self._dtype)
        return flat[:size].reshape(shape)


def _product_error(dtype: DTypeLike, reach: float) -> float:
    """What |q|² + |k|² - 2 q·k may err by, for norms up to `reach`."""
    return 4.0 * reach**2 * float(np.finfo(dtype).eps)


def _distances(
    outputs: NDArray, inputs: NDArray, arranged: Arrangement
) -> Callable[[slice, slice, _Room], NDArray]:
    """Function that fills a tile with the squared distances of outputs to inputs."""
    outputs, inputs = outputs[:, : arranged.n_near], inputs[:, : arranged.n_near]
    error = _product_error(outputs.dtype, arranged.reach)
    if outputs.dtype == np.float64 and error > _DOUBLE_ERROR:

        def by_differences(out: slice, into: slice, room: _Room) -> NDArray:
            tile = room.tile(out, into)
            return cdist(outputs[out], inputs[into], "sqeuclidean", out=tile)

        return by_differences

    ones_out, ones_in = np.ones((len(outputs), 1)), np.ones((len(inputs), 1))
    left = np.hstack([-2.0 * outputs, _norms(outputs), ones_out]).astype(outputs.dtype)
    right = np.hstack([inputs, ones_in, _norms(inputs)]).astype(inputs.dtype)

    def by_products(out: slice, into: slice, room: _Room) -> NDArray:
        return np.matmul(left[out], right[into].T, out=room.tile(out, into))

    return by_products


def _norms(points: NDArray) -> NDArray:
    return np.einsum("nd,nd->n", points, points)[:, None]
