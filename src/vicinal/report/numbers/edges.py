"""Graphs of neighbors: those that fitted models make, and their edges."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array, issparse
from sklearn.base import BaseEstimator

from vicinal.inputs.checks import check_count
from vicinal.report.numbers.fitted import entering, fitted_model, projected, without_names
from vicinal.report.numbers.plane import MAX_POINTS, sample
from vicinal.voting import nearest_others

__all__ = ["edges_of", "model_graph", "some_edges"]

N_NEIGHBORS = 5
MAX_EDGES = 20_000  # more of them are a blot
_MOST_SEARCHED = 2_000  # points whose neighbors are looked for among very many


def edges_of(graph: Any, n: int) -> NDArray:
    """Pairs of different points joined by a graph, each once, shape (m, 2).

    Stored entries count whatever they are: the distance of twins is 0.

    Examples
    --------
    >>> from vicinal.report.numbers.edges import edges_of
    >>> edges_of([[0, 1, 0], [1, 0, 0], [0, 2, 5]], 3).tolist()
    [[0, 1], [1, 2]]
    """
    stored = coo_array(graph if issparse(graph) else np.asarray(graph))
    if stored.shape != (n, n):
        raise ValueError(
            f"graph has shape {stored.shape}, expected ({n}, {n}): a row and a column for each "
            "point of embedding."
        )
    first, second = np.minimum(stored.row, stored.col), np.maximum(stored.row, stored.col)
    different = first != second
    codes = np.unique(first[different].astype(np.int64) * n + second[different])
    return np.column_stack([codes // n, codes % n])


def some_edges(edges: NDArray, codes: NDArray) -> tuple[NDArray, str]:
    """Edges to draw: all, or those of a sample of points; and what to say about it."""
    if len(edges) <= MAX_EDGES:
        return edges, ""
    with_edges = np.unique(edges)
    most = max(1, len(with_edges) * MAX_EDGES // (2 * len(edges)))
    chosen = np.zeros(len(codes), dtype=bool)
    chosen[with_edges[sample(codes[with_edges], most)]] = True
    kept = edges[chosen[edges].any(axis=1)]
    return kept, f"drawn: the {len(kept):,} edges of {int(chosen.sum()):,} points"


def model_graph(
    estimator: BaseEstimator, X: ArrayLike, n_neighbors: int | None
) -> tuple[csr_array, NDArray, str]:
    """Graph of the rows of X under a model, where they are, and what to say about it."""
    model = fitted_model(estimator)
    if n_neighbors is not None:
        check_count("n_neighbors", n_neighbors, 1)
    if hasattr(model, "gaussians_") or hasattr(model, "neighbors_"):
        rows = entering(estimator, X)
        places = getattr(model, "embedding_", rows)
        return _divergence_graph(model, rows, n_neighbors), places, ""
    Z = projected(estimator, X)
    graph, note = _nearest_graph(Z, n_neighbors or N_NEIGHBORS)
    return graph, Z, note


def _divergence_graph(model: BaseEstimator, rows: NDArray, k: int | None) -> csr_array:
    neighbors = getattr(model, "neighbors_", model)
    if len(rows) != neighbors.n_samples_fit_:
        raise ValueError(
            f"X has {len(rows)} rows, but estimator was fitted to {neighbors.n_samples_fit_}: its "
            "graph is that of the rows it was fitted to."
        )
    with without_names():
        found = neighbors.transform(rows)
    if issparse(found):
        return csr_array(found) if k is None else _nearest_stored(csr_array(found), k)
    # A dense array: the point itself may come anywhere among its twins.
    np.fill_diagonal(found, np.inf)
    k = check_count("n_neighbors", k or N_NEIGHBORS, 1, len(rows) - 1, " (number of other points)")
    near = np.argpartition(found, k - 1, axis=1)[:, :k]
    return _graph_of(np.arange(len(rows)), near, len(rows))


def _nearest_stored(graph: csr_array, k: int) -> csr_array:
    """The k entries of least value in each row, the diagonal aside."""
    entries = graph.tocoo()
    others = entries.row != entries.col
    row, column, values = entries.row[others], entries.col[others], entries.data[others]
    order = np.lexsort((values, row))
    row, column = row[order], column[order]
    counts = np.bincount(row, minlength=graph.shape[0])
    rank = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    near = rank < k
    ones = np.ones(int(near.sum()))
    return csr_array((ones, (row[near], column[near])), shape=graph.shape)


def _nearest_graph(Z: NDArray, k: int) -> tuple[csr_array, str]:
    """The k nearest of every point; of a sample of them, where there are very many."""
    if len(Z) < 2:
        raise ValueError("X has 1 row: a graph of neighbors needs at least two.")
    check_count("n_neighbors", k, 1, len(Z) - 1, " (number of other points)")
    rows, note = np.arange(len(Z)), ""
    if len(Z) > MAX_POINTS:
        rows = np.sort(sample(np.zeros(len(Z), dtype=np.intp), _MOST_SEARCHED))
        note = f"neighbors of a sample of {len(rows):,} points, among all"
    return _graph_of(rows, nearest_others(Z, rows, k)[1], len(Z)), note


def _graph_of(rows: NDArray, near: NDArray, n: int) -> csr_array:
    starts = np.repeat(rows, near.shape[1])
    return csr_array((np.ones(near.size), (starts, near.ravel())), shape=(n, n))
