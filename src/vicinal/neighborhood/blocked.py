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
from vicinal.neighborhood.arrange import Arrangement, Rectangle, Side
from vicinal.neighborhood.laws import Law
from vicinal.neighborhood.shared_numbers import LawNumbers
from vicinal.neighborhood.sums import ColumnSums, RowSums
from vicinal.neighborhood.sweeps import LawIn
from vicinal.neighborhood.threads import one_library_thread
from vicinal.neighborhood.tiled import ColumnFolder, RowFolder, TiledEngine, one_by_one

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
    largest_tile = 512
    most_at_once = 262_144  # distances, which stay in the second cache
    times_in_python = 2

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
        distances = _distances(arranged.queries, arranged.keys, arranged.reach)
        room, law_in = _Room(keys.dtype), self._law_in(law, arranged.n_near)

        def fold_piece(piece: Rectangle, sums: RowSums) -> None:
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

        return one_by_one(fold_piece)

    def _column_folder(
        self, arranged: Arrangement, law: Law, log_slopes: NDArray, coefficients: NDArray
    ) -> ColumnFolder:
        queries, sweep = arranged.queries.points, self._sweeps.weigh_columns
        distances = _distances(arranged.keys, arranged.queries, arranged.reach)
        room, law_in = _Room(queries.dtype), self._law_in(law, arranged.n_near)

        def fold_piece(piece: Rectangle, sums: ColumnSums) -> None:
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

        return one_by_one(fold_piece)


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
    outputs: Side, inputs: Side, reach: float
) -> Callable[[slice, slice, _Room], NDArray]:
    """Function that fills a tile with the squared distances of outputs to inputs."""
    dtype, near = outputs.points.dtype, slice(outputs.n_near)
    if dtype == np.float64 and _product_error(dtype, reach) > _DOUBLE_ERROR:

        def by_differences(out: slice, into: slice, room: _Room) -> NDArray:
            tile = room.tile(out, into)
            ends = outputs.points[out, near], inputs.points[into, near]
            return cdist(*ends, "sqeuclidean", out=tile)

        return by_differences
    left, right = outputs.factors[0], inputs.factors[1]

    def by_products(out: slice, into: slice, room: _Room) -> NDArray:
        return np.matmul(left[out], right[into].T, out=room.tile(out, into))

    return by_products
