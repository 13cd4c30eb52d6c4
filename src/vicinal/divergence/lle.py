"""Locally linear embedding on a given graph, with weights from distances or from coordinates."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, identity

from vicinal.divergence.spectral import smallest_eigenpairs

__all__ = ["embedded", "gram_of_coordinates", "gram_of_distances", "weights_of"]

# Added to the diagonal of a Gram matrix, relative to its trace, as in scikit-learn.
_RIDGE = 1e-3

# Traces below this are those of twins.
_NOTHING = 1e-300

# Numbers of differences held at a time.
_BLOCK_NUMBERS = 8_000_000


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


def embedded(
    neighbors: NDArray, weights: NDArray, n_components: int, rng: np.random.Generator
) -> NDArray:
    """Coordinates that the same weights rebuild best, shape (n, n_components)."""
    n, k = neighbors.shape
    starts = np.arange(0, n * k + 1, k)
    W = csr_matrix((weights.ravel(), neighbors.ravel(), starts), shape=(n, n))
    residual = identity(n, format="csr") - W
    _, vectors = smallest_eigenpairs((residual.T @ residual).tocsc(), n_components + 1, rng)
    return vectors[:, 1:]
