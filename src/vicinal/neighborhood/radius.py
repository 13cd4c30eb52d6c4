"""Engine for laws with support: range search, and only the pairs of boxes within reach."""

from vicinal.neighborhood.abilities import Abilities, is_compiled
from vicinal.neighborhood.tree import TreeEngine

__all__ = ["RadiusEngine"]

_NO_SUPPORT = (
    "looks for neighbors within the support of the kernel, and the {law} one has none: use "
    'engine="tree", or kernel="compact" where there is one'
)


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
    can = Abilities(lambda law: is_compiled(law) and law.has_support, _NO_SUPPORT)

    def __init__(self, n_jobs: int | None = None, *, leaf: int = 16) -> None:
        super().__init__(n_jobs, leaf=leaf)
