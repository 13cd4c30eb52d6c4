"""Locally linear embedding on a graph of divergences.

Weights come from divergences, or from the coordinates of the points.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, identity

from vicinal.divergence.learners.learner import Embedded, Graph, Learner, Settings
from vicinal.divergence.learners.spectral import smallest_eigenpairs
from vicinal.divergence.space import DivergenceSpace

__all__ = ["LLE"]

# Added to the diagonal of a Gram matrix, relative to its trace, as in scikit-learn.
_RIDGE = 1e-3

# Traces below this are those of twins.
_NOTHING = 1e-300

# Numbers of differences held at a time.
_BLOCK_NUMBERS = 8_000_000


def _embed(
    space: DivergenceSpace, graph: csr_matrix, settings: Settings, rng: np.random.Generator
) -> Embedded:
    near, divergences = (part[:, 1:] for part in _rows(graph))  # each point itself is the first
    gram = _gram(space, settings.lle_weights, space.points, near, divergences)
    coordinates = embedded_by(near, weights_of(gram), settings.n_components, rng)
    return Embedded(coordinates, settings.lle_weights)


def _extend(
    space: DivergenceSpace, graph: csr_matrix, points: NDArray, embedded: Embedded
) -> NDArray:
    """Put new points where the weights of their neighbors rebuild them."""
    near, divergences = _rows(graph)
    weights = weights_of(_gram(space, embedded.map, points, near, divergences))
    return np.einsum("nk,nkc->nc", weights, embedded.coordinates[near])


def _rows(graph: csr_matrix) -> tuple[NDArray, NDArray]:
    """Positions and divergences of every point's neighbors, shape (n, k), as many for each."""
    n = graph.shape[0]
    return graph.indices.reshape(n, -1), graph.data.reshape(n, -1)


def _gram(
    space: DivergenceSpace, weights: str, points: NDArray, near: NDArray, divergences: NDArray
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
    neighbors: NDArray, weights: NDArray, n_components: int, rng: np.random.Generator
) -> NDArray:
    """Coordinates that these weights rebuild best, shape (n, n_components)."""
    n, k = neighbors.shape
    starts = np.arange(0, n * k + 1, k)
    W = csr_matrix((weights.ravel(), neighbors.ravel(), starts), shape=(n, n))
    residual = identity(n, format="csr") - W
    _, vectors = smallest_eigenpairs((residual.T @ residual).tocsc(), n_components + 1, rng)
    return vectors[:, 1:]


LLE = Learner("lle", _embed, _extend, graph=Graph.WHOLE, seconds_a_point=1e-3)
