"""Engine for compact support: range search, and only the pairs of boxes within reach."""

from vicinal.neighborhood.laws import COMPACT, Law
from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.tree import Planted, TreeEngine

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

    def _plant(self, pairs: Pairs, law: Law) -> Planted:
        if law is not COMPACT:
            raise ValueError(
                'engine="radius" looks for neighbors within the support of the kernel, and the '
                f'{law.name} one has none: use engine="tree", or kernel="compact" where there is '
                "one."
            )
        return super()._plant(pairs, law)
