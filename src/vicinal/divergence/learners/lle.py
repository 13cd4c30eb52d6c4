"""Locally linear embedding on a graph of divergences.

Weights come from divergences, or from the coordinates of the points.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, identity

from vicinal.divergence.graph import with_lengths
from vicinal.divergence.learners.learner import Embedded, Graph, Learner, Settings
from vicinal.divergence.learners.spectral import smallest_eigenpairs
from vicinal.divergence.space import Space
from vicinal.fitting.checkpoints import remembered

__all__ = ["LLE"]

# Added to the diagonal of a Gram matrix, relative to its trace, as in scikit-learn.
_RIDGE = 1e-3

# Traces below this are those of twins.
_NOTHING = 1e-300

# Numbers of differences held at a time.
_BLOCK_NUMBERS = 8_000_000


def _embed(
    space: Space, graph: csr_matrix, settings: Settings, rng: np.random.Generator
) -> Embedded:
    kind = settings.lle_weights
    others = _without_first(graph)
    weights = remembered(lambda: _weights(space, kind, space.points, others).data)
    rebuilding = with_lengths(others, weights)
    coordinates, error = embedded_by(rebuilding, settings.n_components, rng)
    return Embedded(coordinates, kind, reconstruction_error=error)


def _extend(space: Space, graph: csr_matrix, points: NDArray, embedded: Embedded) -> NDArray:
    """Put new points where the weights of their neighbors rebuild them."""
    return _weights(space, embedded.map, points, graph) @ embedded.coordinates.astype(np.float64)


def _without_first(graph: csr_matrix) -> csr_matrix:
    """The graph without each point itself, the first of its row."""
    kept = np.ones(graph.nnz, dtype=bool)
    kept[graph.indptr[:-1]] = False
    starts = graph.indptr - np.arange(len(graph.indptr))
    return csr_matrix((graph.data[kept], graph.indices[kept], starts), shape=graph.shape)


def _weights(space: Space, kind: str, points: NDArray, graph: csr_matrix) -> csr_matrix:
    """Weights that rebuild every point from the neighbors in its row, rows of sum 1."""
    counts, weights = np.diff(graph.indptr), np.empty(graph.nnz)
    for count in np.unique(counts[counts > 0]):  # points that join components have more neighbors
        rows = np.flatnonzero(counts == count)
        edges = graph.indptr[rows, None] + np.arange(count)
        near, divergences = graph.indices[edges], graph.data[edges]
        weights[edges] = weights_of(_gram(space, kind, points[rows], near, divergences))
    return with_lengths(graph, weights)


def _gram(
    space: Space, weights: str, points: NDArray, near: NDArray, divergences: NDArray
) -> NDArray:
    """Gram matrices of neighbors around their points."""
    if weights == "coordinates":
        return gram_of_coordinates(space.points, points, near)
    return gram_of_distances(space.squares(divergences), space.squares(space.among(near)))


def gram_of_distances(to_center: NDArray, between: NDArray) -> NDArray:
    """½ (d²_ij + d²_ik - d²_jk), shape (n, k, k), without its negative eigenvalues.

    `to_center` has the squared distances d²_ij, shape (n, k), `between` those of neighbors, d²_jk,
    shape (n, k, k). Distances that obey no triangle inequality have no Gram matrix: the nearest
    one is taken.
    """
    gram = 0.5 * (to_center[:, :, None] + to_center[:, None] - between)
    values, vectors = np.linalg.eigh(gram)
    return (vectors * np.maximum(values, 0.0)[:, None]) @ np.swapaxes(vectors, 1, 2)


def gram_of_coordinates(X: NDArray, queries: NDArray, neighbors: NDArray) -> NDArray:
    """(x_j - x_i) · (x_k - x_i) for neighbors j, k of i, shape (n, k, k)."""
    n, k = neighbors.shape
    gram, step = np.empty((n, k, k)), max(1, _BLOCK_NUMBERS // (k * X.shape[1]))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        differences = X[neighbors[rows]].astype(np.float64) - queries[rows, None]
        gram[rows] = differences @ np.swapaxes(differences, 1, 2)
    return gram


def weights_of(gram: NDArray) -> NDArray:
    """Weights of sum 1 that rebuild each point from its neighbors best, shape (n, k)."""
    traces = np.einsum("nkk->n", gram)
    gram = gram / np.where(traces > _NOTHING, traces, 1.0)[:, None, None]
    every = np.arange(gram.shape[1])
    gram[:, every, every] += _RIDGE
    weights = np.linalg.solve(gram, np.ones((*gram.shape[:2], 1)))[:, :, 0]
    return weights / weights.sum(axis=1, keepdims=True)


def embedded_by(
    weights: csr_matrix, n_components: int, rng: np.random.Generator
) -> tuple[NDArray, float]:
    """Coordinates, shape (n, n_components), that these weights rebuild best, and what they miss."""
    residual = identity(weights.shape[0], format="csr") - weights
    matrix = (residual.T @ residual).tocsc()
    values, vectors = smallest_eigenpairs(matrix, n_components + 1, rng)
    return vectors[:, 1:], float(np.maximum(values[1:], 0.0).sum())


LLE = Learner("lle", _embed, _extend, graph=Graph.JOINED, seconds_a_point=1e-3)
