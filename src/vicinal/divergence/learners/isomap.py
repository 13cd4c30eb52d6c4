"""Isomap on a graph of divergences: classical scaling of the lengths of its shortest paths."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import shortest_path

from vicinal.divergence.learners.learner import Embedded, Graph, Learner, Settings
from vicinal.divergence.learners.mds import ScalingMap, classical_scaling
from vicinal.divergence.limits import check_room
from vicinal.divergence.space import Space

__all__ = ["ISOMAP", "PathMap"]


@dataclass(frozen=True)
class PathMap:
    """Coordinates, and what new points need.

    Attributes
    ----------
    scaling : ScalingMap
    graph : sparse matrix of shape (n, n)
    """

    scaling: ScalingMap
    graph: csr_matrix

    @cached_property
    def lengths(self) -> NDArray:
        """Lengths of the shortest paths, shape (n, n)."""
        return path_lengths(self.graph)

    def __getstate__(self) -> dict[str, Any]:
        """The state without the lengths, n × n numbers that follow from the graph."""
        parts = (self.graph.data, self.graph.indices, self.graph.indptr)
        return {"scaling": self.scaling, "parts": parts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        n = len(state["scaling"].coordinates)
        graph = csr_matrix(state["parts"], shape=(n, n))
        graph.check_format(full_check=True)  # compiled code trusts its indices
        vars(self).update(scaling=state["scaling"], graph=graph)

    def extended(self, graph: csr_matrix) -> NDArray:
        """Coordinates of points with these distances from their nearest training points."""
        check_room("distances along the graph", graph.shape, "transform fewer rows at a time")
        lengths = np.empty(graph.shape)
        for row in range(graph.shape[0]):
            edges = slice(graph.indptr[row], graph.indptr[row + 1])
            through = graph.data[edges, None] + self.lengths[graph.indices[edges]]
            lengths[row] = through.min(axis=0)
        return self.scaling.extended(np.square(lengths))


def _embed(
    space: Space, graph: csr_matrix, settings: Settings, rng: np.random.Generator
) -> Embedded:
    """Coordinates whose distances are nearest to those along the graph."""
    distances = space.distances(graph)
    lengths = path_lengths(distances)
    scaling = classical_scaling(np.square(lengths), settings.n_components, rng)
    found = PathMap(scaling, distances)
    vars(found)["lengths"] = lengths  # known already
    error = scaling.error
    return Embedded(scaling.coordinates, found, scaling.eigenvalues, reconstruction_error=error)


def _extend(space: Space, graph: csr_matrix, points: NDArray, embedded: Embedded) -> NDArray:
    return embedded.map.extended(space.distances(graph))


def path_lengths(graph: csr_matrix) -> NDArray:
    """Lengths of the shortest paths between all points, either way."""
    return shortest_path(graph, method="D", directed=False)


ISOMAP = Learner("isomap", _embed, _extend, graph=Graph.JOINED, all_pairs=True)
