"""Points with their Gaussians, and all that can be asked about divergences between them."""

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from vicinal.divergence.comparison import Comparison
from vicinal.divergence.gaussians import LocalGaussians
from vicinal.divergence.graph import (
    among_neighbors,
    connected,
    graph_between,
    graph_of,
    rooted,
    without_last,
)
from vicinal.divergence.limits import check_room
from vicinal.divergence.local import LocalModel
from vicinal.divergence.made import Gaussians
from vicinal.inputs.units import check_reach
from vicinal.neighborhood.cluster.presence import asking_workers

__all__ = ["DivergenceSpace", "Divergences", "Space", "check_all_pairs", "without_shapes"]

# Of all pairs, or those that are edges of a graph of nearest neighbors.
Divergences: TypeAlias = NDArray | csr_matrix


class Space(Protocol):
    """What learners ask: `DivergenceSpace` answers, and `GivenSpace` for precomputed distances."""

    @property
    def points(self) -> NDArray:
        """The training points, shape (n, d); without features where there are distances only."""

    def divergences(self, among: NDArray | None = None) -> Divergences:
        """Divergences of the points from each other; in a graph, those in the rows of `among`."""

    def divergences_of(self, points: NDArray) -> Divergences:
        """Divergences of new points from the points of the space."""

    def neighbors_of(self, points: NDArray) -> Divergences:
        """The same, without the last of each row of a graph."""

    def among(self, near: NDArray) -> NDArray:
        """Divergences of all pairs of each row's neighbors, shape (n, k, k)."""

    def joined(self, graph: csr_matrix) -> csr_matrix:
        """The graph, and the shortest edge between every two of its components."""

    def part(self, rows: NDArray) -> "Space":
        """The space of some of the points."""

    def distances(self, divergences: Divergences) -> Divergences:
        """What takes the place of distances."""

    def squares(self, divergences: NDArray) -> NDArray:
        """What takes the place of squared distances."""


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
            among = self._candidates(None, self.n_graph_neighbors, self.n_candidates)
        return graph_of(self.comparison, self.gaussians, self.n_graph_neighbors, among)

    def divergences_of(self, points: NDArray) -> Divergences:
        """Divergences of new points from the points of the space.

        In a graph a row has the k + 1 nearest, as many as those of the space have with themselves.
        """
        check_reach(points)
        if self.n_graph_neighbors is None:
            check_all_pairs(len(points), len(self.points))
        asks = self.comparison.engine == "dask"
        with asking_workers() if asks else nullcontext():
            return self._divergences_of(points)

    def _divergences_of(self, points: NDArray) -> Divergences:
        k, c = self.n_graph_neighbors, self.n_candidates
        if self.comparison.divergence.shapes:
            new = self.local.around(self.points, points, sparse=c is not None)
        else:
            new = without_shapes(points)
        if k is None:
            return self.comparison.matrix(new, self.gaussians)
        among = self._candidates(points, k + 1, None if c is None else c + 1)
        return graph_between(self.comparison, new, self.gaussians, k + 1, among)

    def neighbors_of(self, points: NDArray) -> Divergences:
        """Divergences of new points; in a graph those of the k nearest."""
        found = self.divergences_of(points)
        return found if self.n_graph_neighbors is None else without_last(found)

    def among(self, near: NDArray) -> NDArray:
        """Divergences of all pairs of each row's neighbors, shape (n, k, k)."""
        return among_neighbors(self.comparison, self.gaussians, near)

    def joined(self, graph: csr_matrix) -> csr_matrix:
        """The graph, and the shortest edge between every two of its components."""
        return connected(graph, self.comparison, self.gaussians)

    def part(self, rows: NDArray) -> "DivergenceSpace":
        """The space of some of the points, with the Gaussians that they have in the whole."""
        return replace(self, points=self.points[rows], gaussians=self.gaussians.part(rows))

    def distances(self, divergences: Divergences) -> Divergences:
        """What takes the place of distances: roots of what is like a squared one."""
        return rooted(divergences) if self.comparison.divergence.squared else divergences

    def squares(self, divergences: NDArray) -> NDArray:
        """What takes the place of squared distances."""
        return divergences if self.comparison.divergence.squared else np.square(divergences)

    def _candidates(self, queries: NDArray | None, k: int, c: int | None) -> NDArray | None:
        """Euclidean neighbors to choose from; None: all points."""
        if c is None and not self.comparison.divergence.shapes:
            c = k  # the nearest by Euclid are what is looked for
        return None if c is None else self.local.candidates(self.points, queries, c)


def without_shapes(points: NDArray) -> LocalGaussians:
    """Points as balls of variance 1, for comparisons that do not look at shapes."""
    n, d = points.shape
    ones = np.ones(n)
    vectors = np.broadcast_to(np.eye(1, d), (n, 1, d))
    return LocalGaussians(points.astype(np.float64), vectors, ones[:, None], ones)


def check_all_pairs(n_queries: int, n_samples: int) -> None:
    """Refuse an array of all divergences that has no room."""
    check_room(
        "a dense array of all divergences",
        (n_queries, n_samples),
        "set n_graph_neighbors, for a sparse graph of the nearest, or transform fewer rows",
    )
