"""Isomap on a given graph: classical scaling of the lengths of its shortest paths."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import shortest_path

from vicinal.divergence.mds import ScalingMap, classical_scaling

__all__ = ["PathMap", "isomap"]


@dataclass(frozen=True)
class PathMap:
    """Coordinates, and what new points need.

    Attributes
    ----------
    scaling : ScalingMap
    lengths : ndarray of shape (n, n)
        Of the shortest paths.
    """

    scaling: ScalingMap
    lengths: NDArray

    def extended(self, graph: csr_matrix) -> NDArray:
        """Coordinates of points with these distances from their nearest training points."""
        lengths = np.empty(graph.shape)
        for row in range(graph.shape[0]):
            edges = slice(graph.indptr[row], graph.indptr[row + 1])
            through = graph.data[edges, None] + self.lengths[graph.indices[edges]]
            lengths[row] = through.min(axis=0)
        return self.scaling.extended(np.square(lengths))


def isomap(graph: csr_matrix, n_components: int, rng: np.random.Generator) -> PathMap:
    """Coordinates whose distances are nearest to those along the graph."""
    lengths = shortest_path(graph, method="D", directed=False)
    return PathMap(classical_scaling(np.square(lengths), n_components, rng), lengths)
