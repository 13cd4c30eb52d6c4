"""Laplacian eigenmaps of a graph of divergences, with Nyström's extension to new points."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

from vicinal.divergence.spectral import largest_eigenpairs

__all__ = ["LaplacianMap", "affinities", "laplacian_eigenmaps"]


@dataclass(frozen=True)
class LaplacianMap:
    """Coordinates, and what new points need.

    Attributes
    ----------
    coordinates : ndarray of shape (n, n_components)
    eigenvalues : ndarray of shape (n_components + 1,)
        Of D⁻¹ W; the first is 1.
    scale : float
        σ of the affinities exp(-d / σ).
    """

    coordinates: NDArray
    eigenvalues: NDArray
    scale: float

    def extended(self, graph: csr_matrix) -> NDArray:
        """Coordinates of points with these divergences from training points (Nyström)."""
        W = affinities(graph, self.scale)
        degrees = np.maximum(np.asarray(W.sum(axis=1)), np.finfo(float).tiny)
        return (W @ self.coordinates) / degrees.reshape(-1, 1) / self.eigenvalues[1:]


def laplacian_eigenmaps(
    graph: csr_matrix, n_components: int, scale: float | None, rng: np.random.Generator
) -> LaplacianMap:
    """Eigenvectors of D⁻¹ W, the trivial one left out, for a symmetric graph of divergences.

    `scale` None: the median of the graph's divergences.
    """
    graph = _without_loops(graph)
    if scale is None:
        scale = float(np.median(graph.data)) or 1.0
    W = affinities(graph, scale)
    inverse_root = 1.0 / np.sqrt(np.asarray(W.sum(axis=1)).ravel())
    D = diags(inverse_root)
    values, vectors = largest_eigenpairs((D @ W @ D).tocsr(), n_components + 1, rng)
    return LaplacianMap(inverse_root[:, None] * vectors[:, 1:], values, scale)


def _without_loops(graph: csr_matrix) -> csr_matrix:
    """The graph without edges from a point to itself; twins, at divergence 0, keep theirs."""
    edges = graph.tocoo()
    others = edges.row != edges.col
    where = edges.row[others], edges.col[others]
    return csr_matrix((edges.data[others], where), shape=graph.shape)


def affinities(graph: csr_matrix, scale: float) -> csr_matrix:
    """exp(-d / σ) on the edges of a graph (section 4.1)."""
    W = graph.astype(np.float64)
    W.data = np.exp(-W.data / scale)
    return W
