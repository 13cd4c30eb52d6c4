"""Isomap on a given graph: classical scaling of the lengths of its shortest paths."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import shortest_path

from vicinal.divergence.limits import check_room
from vicinal.divergence.mds import ScalingMap, classical_scaling

__all__ = ["PathMap", "isomap"]


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
        """Of the shortest paths, shape (n, n)."""
        return path_lengths(self.graph)

    def __getstate__(self) -> dict[str, Any]:
        """Without the lengths, n × n numbers that the graph has, too."""
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


def isomap(graph: csr_matrix, n_components: int, rng: np.random.Generator) -> PathMap:
    """Coordinates whose distances are nearest to those along the graph."""
    lengths = path_lengths(graph)
    found = PathMap(classical_scaling(np.square(lengths), n_components, rng), graph)
    vars(found)["lengths"] = lengths  # known already
    return found


def path_lengths(graph: csr_matrix) -> NDArray:
    """Lengths of the shortest paths between all points, either way."""
    return shortest_path(graph, method="D", directed=False)
