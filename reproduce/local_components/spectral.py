"""Spectral clustering (Ng, Jordan, Weiss) over a sparse, self-tuned graph (Chen et al. 2011).

Affinities of t nearest neighbors, exp(-s_ij² / 2 m_i m_j) with m_i the mean distance of i to its
neighbors: there is no bandwidth to choose, for any metric.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans
from sklearn.neighbors import kneighbors_graph


def spectral_clusters(Z: NDArray, n_clusters: int, n_neighbors: int, seed: int) -> NDArray:
    """Labels of rows."""
    directions = leading_directions(affinities(Z, n_neighbors), n_clusters, seed)
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    rows = directions / np.maximum(lengths, np.finfo(float).tiny)
    return KMeans(n_clusters, n_init=10, random_state=seed).fit_predict(rows)


def affinities(Z: NDArray, n_neighbors: int) -> csr_array:
    """Between neighbors, if one is so to the other."""
    graph = csr_array(kneighbors_graph(Z, n_neighbors, mode="distance"))
    graph = graph.maximum(graph.T).tocoo()
    i, j = graph.coords
    scale = np.bincount(i, graph.data, len(Z)) / np.bincount(i, minlength=len(Z))
    values = np.exp(-(graph.data**2) / (2 * scale[i] * scale[j]))
    return csr_array((values, (i, j)), shape=graph.shape)


def leading_directions(S: csr_array, n: int, seed: int) -> NDArray:
    """Eigenvectors of D^(-1/2) S D^(-1/2) for its largest eigenvalues."""
    root = diags_array(1 / np.sqrt(S.sum(axis=1)))
    start = np.random.default_rng(seed).normal(size=S.shape[0])
    return eigsh(root @ S @ root, n, which="LA", v0=start, ncv=max(20, 4 * n))[1]
