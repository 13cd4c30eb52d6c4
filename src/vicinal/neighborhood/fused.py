"""Engine for low dimension: compiled passes over pairs that keep every tile in cache."""

from collections.abc import Iterator

from numpy.typing import NDArray

from vicinal.neighborhood.arrange import Arrangement, Rectangle
from vicinal.neighborhood.laws import Law
from vicinal.neighborhood.sums import ColumnSums, RowSums
from vicinal.neighborhood.tiled import ColumnFolder, RowFolder, TiledEngine, numbered

__all__ = ["FusedEngine"]


class FusedEngine(TiledEngine):
    """Differences of coordinates, weights and moments in one compiled sweep.

    Exact to rounding: distances come from differences, so neither the scale of
    the data nor its offset costs digits.
    """

    name = "fused"
    largest_tile = 256

    def __init__(
        self,
        n_jobs: int | None = None,
        *,
        tile: int | None = None,
        into_tile: int | None = None,
    ) -> None:
        super().__init__(n_jobs, tile=tile, into_tile=into_tile)
        # Here and not at the top: importing the module must not load numba. Nor later, in the
        # middle of a fit: an interrupt would leave numba half imported.
        from vicinal.neighborhood.kernels import direct

        self._kernels = direct

    def _row_folder(self, arranged: Arrangement, law: Law) -> RowFolder:
        queries, keys = arranged.queries.transposed, arranged.keys.transposed
        numbers = law.numbers(arranged.n_near)

        def fold(out: slice, pieces: Iterator[Rectangle], sums: RowSums) -> None:
            self._kernels.rows_of_pieces(
                numbers,
                arranged.n_near,
                numbered(pieces),
                out.start,
                queries,
                keys,
                arranged.key_weights,
                arranged.own,
                sums.peak,
                sums.mass,
                sums.slope,
                sums.moment,
            )

        return fold

    def _column_folder(
        self, arranged: Arrangement, law: Law, log_slopes: NDArray, coefficients: NDArray
    ) -> ColumnFolder:
        queries, keys = arranged.queries.transposed, arranged.keys.transposed
        numbers = law.numbers(arranged.n_near)

        def fold(out: slice, pieces: Iterator[Rectangle], sums: ColumnSums) -> None:
            self._kernels.columns_of_pieces(
                numbers,
                arranged.n_near,
                numbered(pieces),
                out.start,
                keys,
                queries,
                arranged.key_weights,
                log_slopes,
                coefficients,
                arranged.owner,
                sums.total,
                sums.moment,
            )

        return fold
