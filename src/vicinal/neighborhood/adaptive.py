"""Engine that asks a few boxes of queries whether trees pay, and else sweeps over all pairs.

While a map is learned neighborhoods shrink: early on all pairs matter, in the end few do.
"""

from numpy.typing import NDArray

from vicinal.neighborhood.abilities import NO_KERNELS, Abilities, is_compiled, work_of
from vicinal.neighborhood.fused import FusedEngine
from vicinal.neighborhood.hosted import takes_tensors
from vicinal.neighborhood.laws import Law
from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.sums import ColumnSums, RowSums
from vicinal.neighborhood.tree import TreeEngine

__all__ = ["AdaptiveEngine"]

# Share of the pairs at which a tree is about as fast as a sweep: it falls with the dimension, since
# the way to a pair costs more, the more coordinates a box has (benchmarks/results/engines.md).
_AT_ZERO, _PER_DIMENSION = 0.75, 0.05

# Boxes of queries to ask: one for this many queries, up to so many. They are 1 to 2 % of the work.
_QUERIES_PER_BOX = 4096
_MOST_BOXES = 32


class AdaptiveEngine:
    """`tree` where it looks at few pairs, `fused` elsewhere; asked anew in every rows pass.

    Parameters
    ----------
    n_jobs : int, optional
        Number of threads. None: every core. The result does not depend on it.
    tolerance : float, default=0.0
        Largest relative error that `tree` may make (see `TreeEngine`).
    """

    name = "adaptive"
    can = Abilities(is_compiled, NO_KERNELS)

    def __init__(self, n_jobs: int | None = None, *, tolerance: float = 0.0) -> None:
        self._tree = TreeEngine(n_jobs, tolerance=tolerance)
        self._fused = FusedEngine(n_jobs)
        self._found: tuple[Pairs, Law, TreeEngine | FusedEngine] | None = None

    def choice(self, pairs: Pairs, law: Law) -> TreeEngine | FusedEngine:
        """The engine for these pairs."""
        if self._found is None or self._found[0] is not pairs or self._found[1] != law:
            self.can.check(self.name, work_of(pairs, law))
            n_boxes = min(max(len(pairs.queries) // _QUERIES_PER_BOX, 4), _MOST_BOXES)
            worth = _AT_ZERO - _PER_DIMENSION * pairs.near.stop
            few = self._tree.share_visited(pairs, law, n_boxes) < worth
            self._found = pairs, law, self._tree if few else self._fused
        return self._found[2]

    @takes_tensors
    def rows(self, pairs: Pairs, law: Law, *, moments: bool = True) -> RowSums:
        """Sums over the keys, for every query; without `moments` their width is 0."""
        return self.choice(pairs, law).rows(pairs, law, moments=moments)

    @takes_tensors
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
        engine = self.choice(pairs, law)
        return engine.columns(pairs, law, log_slope, coefficients, moments=moments)
