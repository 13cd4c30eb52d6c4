"""Engine for compact support: range search, and only the pairs of boxes within reach."""

from numpy.typing import NDArray

from vicinal.neighborhood.laws import COMPACT, Law
from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.sums import ColumnSums, RowSums
from vicinal.neighborhood.tree import TreeEngine

__all__ = ["RadiusEngine"]


class RadiusEngine(TreeEngine):
    """Exact sums over the neighbors within the support of the kernel.

    The walk of `TreeEngine`, where a node is either within reach of a box of outputs or not.

    Parameters
    ----------
    n_jobs : int, optional
        Number of threads. None: every core. The result does not depend on it.
    leaf : int, default=16
        Largest number of points of a leaf.
    """

    name = "radius"

    def __init__(self, n_jobs: int | None = None, leaf: int = 16) -> None:
        super().__init__(0.0, n_jobs, leaf)

    def rows(self, pairs: Pairs, law: Law, *, moments: bool = True) -> RowSums:
        """Sums over the keys, for every query; without `moments` their width is 0."""
        _check_support(law)
        return super().rows(pairs, law, moments=moments)

    def columns(
        self,
        pairs: Pairs,
        law: Law,
        log_slope: NDArray,
        coefficients: NDArray,
        *,
        moments: bool = True,
    ) -> ColumnSums:
        """Sums over the queries of C_ij, for every key (see `engine.Engine`)."""
        _check_support(law)
        return super().columns(pairs, law, log_slope, coefficients, moments=moments)


def _check_support(law: Law) -> None:
    if law is not COMPACT:
        raise ValueError(
            f'engine="radius" looks for neighbors within the support of the kernel, and the '
            f'{law.name} one has none: use engine="tree", or kernel="compact" where there is one.'
        )
