"""Points with their Gaussians, and all that can be asked about divergences between them."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from vicinal.divergence.comparison import Comparison
from vicinal.divergence.graph import among_neighbors, connected, graph_between, graph_of, rooted
from vicinal.divergence.limits import check_room
from vicinal.divergence.local import LocalModel
from vicinal.divergence.made import Gaussians
from vicinal.inputs.units import check_reach

__all__ = ["DivergenceSpace", "Divergences", "check_all_pairs"]

# Of all pairs, or those that are edges of a graph of nearest neighbors.
Divergences: TypeAlias = NDArray | csr_matrix


@dataclass(frozen=True)
class DivergenceSpace:
    """Training points, and how they and new ones are compared. All in double precision.

    Attributes
    ----------
    points : ndarray of shape (n, d)
    gaussians : Gaussians
        Those of the points.
    local : LocalModel
        Gives new points their Gaussians.
    comparison : Comparison
    n_graph_neighbors : int or None
        Neighbors of every point in the graph; None: there is no graph, but all pairs.
    n_candidates : int or None
        Look for these among so many Euclidean neighbors only.
    """

    points: NDArray
    gaussians: Gaussians
    local: LocalModel
    comparison: Comparison
    n_graph_neighbors: int | None = None
    n_candidates: int | None = None

    def divergences(self, among: NDArray | None = None) -> Divergences:
        """Divergences of the points from each other.

        In a graph each point itself, at 0, is the first of its row, the nearest ones follow; they
        are looked for in the rows of `among`, where Euclidean neighbors are known already.
        """
        if self.n_graph_neighbors is None:
            return self.comparison.matrix(self.gaussians)
        if among is None:
            among = self._candidates(None, self.n_candidates)
        return graph_of(self.comparison, self.gaussians, self.n_graph_neighbors, among)

    def divergences_of(self, points: NDArray) -> Divergences:
        """Divergences of new points from the points of the space.

        In a graph a row has the k + 1 nearest, as many as those of the space have with themselves.
        """
        check_reach(points)
        k, c = self.n_graph_neighbors, self.n_candidates
        if k is None:
            check_all_pairs(len(points), len(self.points))
        new = self.local.around(self.points, points, sparse=c is not None)
        if k is None:
            return self.comparison.matrix(new, self.gaussians)
        among = self._candidates(points, None if c is None else c + 1)
        return graph_between(self.comparison, new, self.gaussians, k + 1, among)

    def among(self, near: NDArray) -> NDArray:
        """Divergences of all pairs of each row's neighbors, shape (n, k, k)."""
        return among_neighbors(self.comparison, self.gaussians, near)

    def joined(self, graph: csr_matrix) -> csr_matrix:
        """The graph, and the shortest edge between every two of its components."""
        return connected(graph, self.comparison, self.gaussians)

    def distances(self, divergences: Divergences) -> Divergences:
        """What takes the place of distances: roots of what is like a squared one."""
        return rooted(divergences) if self.comparison.divergence.squared else divergences

    def squares(self, divergences: NDArray) -> NDArray:
        """What takes the place of squared distances."""
        return divergences if self.comparison.divergence.squared else np.square(divergences)

    def _candidates(self, queries: NDArray | None, k: int | None) -> NDArray | None:
        return None if k is None else self.local.candidates(self.points, queries, k)


def check_all_pairs(n_queries: int, n_samples: int) -> None:
    """Refuse an array of all divergences that has no room."""
    check_room(
        "a dense array of all divergences",
        (n_queries, n_samples),
        "set n_graph_neighbors, for a sparse graph of the nearest, or transform fewer rows",
    )
