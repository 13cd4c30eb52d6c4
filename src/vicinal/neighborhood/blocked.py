"""Engine for any dimension: matrix products over tiles, one elementwise sweep between them."""

import threading
from collections.abc import Callable, Iterator
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
from vicinal.neighborhood.tiled import (
    ColumnFolder,
    RowFolder,
    TiledEngine,
    numbered,
    one_by_one,
)

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
            self.times_in_python = 2  # for every rectangle, not once for a tile
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
        if self._is_compiled_throughout(arranged):
            return _rows_at_once(self._sweeps, arranged, law)
        return one_by_one(self._row_steps(arranged, law))

    def _column_folder(
        self, arranged: Arrangement, law: Law, log_slopes: NDArray, coefficients: NDArray
    ) -> ColumnFolder:
        if self._is_compiled_throughout(arranged):
            return _columns_at_once(self._sweeps, arranged, law, log_slopes, coefficients)
        return one_by_one(self._column_steps(arranged, law, log_slopes, coefficients))

    def _is_compiled_throughout(self, arranged: Arrangement) -> bool:
        return self.compiled and not _needs_differences(arranged)

    def _row_steps(self, arranged: Arrangement, law: Law) -> Callable[[Rectangle, RowSums], None]:
        """What folds one rectangle, in steps that Python makes."""
        keys, sweep = arranged.keys.points, self._sweeps.weigh_rows
        distances = _distances(arranged.queries, arranged.keys, arranged)
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

        return fold_piece

    def _column_steps(
        self, arranged: Arrangement, law: Law, log_slopes: NDArray, coefficients: NDArray
    ) -> Callable[[Rectangle, ColumnSums], None]:
        """What folds one rectangle, in steps that Python makes."""
        queries, sweep = arranged.queries.points, self._sweeps.weigh_columns
        distances = _distances(arranged.keys, arranged.queries, arranged)
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

        return fold_piece


def _rows_at_once(kernels: ModuleType, arranged: Arrangement, law: Law) -> RowFolder:
    """What folds a tile in one compiled call, products included."""
    left, right = arranged.queries.factors[0], arranged.keys.factors[1]
    room, numbers = _Room(left.dtype), law.numbers(arranged.n_near)

    def fold(out: slice, pieces: Iterator[Rectangle], sums: RowSums) -> None:
        positions = numbered(pieces)
        kernels.rows_of_pieces(
            numbers,
            positions,
            out.start,
            left,
            right,
            arranged.keys.points,
            arranged.key_weights,
            arranged.own,
            room.memory(_most_pairs(positions)),
            sums.peak,
            sums.mass,
            sums.slope,
            sums.moment,
        )

    return fold


def _columns_at_once(
    kernels: ModuleType,
    arranged: Arrangement,
    law: Law,
    log_slopes: NDArray,
    coefficients: NDArray,
) -> ColumnFolder:
    """What folds a tile in one compiled call, products included."""
    left, right = arranged.keys.factors[0], arranged.queries.factors[1]
    room, numbers = _Room(left.dtype), law.numbers(arranged.n_near)

    def fold(out: slice, pieces: Iterator[Rectangle], sums: ColumnSums) -> None:
        positions = numbered(pieces)
        kernels.columns_of_pieces(
            numbers,
            positions,
            out.start,
            left,
            right,
            arranged.queries.points,
            arranged.key_weights,
            log_slopes,
            coefficients,
            arranged.owner,
            room.memory(_most_pairs(positions)),
            sums.total,
            sums.moment,
        )

    return fold


def _most_pairs(positions: NDArray) -> int:
    """Of the largest of numbered pieces."""
    _, start, stop, begin, end = positions.T
    return int(np.max((stop - start) * (end - begin), initial=0))


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

    def memory(self, size: int) -> NDArray:
        """Uninitialized numbers, as many or more, valid until the next call."""
        flat: NDArray | None = getattr(self._local, "flat", None)
        if flat is None or flat.size < size:
            flat = self._local.flat = np.empty(size, self._dtype)
        return flat

    def tile(self, out: slice, into: slice) -> NDArray:
        """An uninitialized array of shape (outputs, inputs), valid until the next call."""
        shape = out.stop - out.start, into.stop - into.start
        size = shape[0] * shape[1]
        return self.memory(size)[:size].reshape(shape)


def _product_error(dtype: DTypeLike, reach: float) -> float:
    """What |q|² + |k|² - 2 q·k may err by, for norms up to `reach`."""
    return 4.0 * reach**2 * float(np.finfo(dtype).eps)


def _needs_differences(arranged: Arrangement) -> bool:
    """Whether products would lose the distances."""
    dtype = arranged.key_weights.dtype
    return dtype == np.float64 and _product_error(dtype, arranged.reach) > _DOUBLE_ERROR


def _distances(
    outputs: Side, inputs: Side, arranged: Arrangement
) -> Callable[[slice, slice, _Room], NDArray]:
    """Function that fills a tile with the squared distances of outputs to inputs."""
    if _needs_differences(arranged):
        near = slice(arranged.n_near)

        def by_differences(out: slice, into: slice, room: _Room) -> NDArray:
            tile = room.tile(out, into)
            ends = outputs.points[out, near], inputs.points[into, near]
            return cdist(*ends, "sqeuclidean", out=tile)

        return by_differences
    left, right = outputs.factors[0], inputs.factors[1]

    def by_products(out: slice, into: slice, room: _Room) -> NDArray:
        return np.matmul(left[out], right[into].T, out=room.tile(out, into))

    return by_products
