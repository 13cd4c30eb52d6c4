"""Graphs of nearest neighbors by divergence, as scikit-learn's transformers make them.

An edge of length 0, between twins, is an edge, and the entries of a row stand in the order of their
lengths. scipy keeps neither where graphs are added or converted to another type: that is done here.
"""

import warnings
from itertools import pairwise as neighboring

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from vicinal.divergence.comparison import Comparison
from vicinal.divergence.made import Gaussians

__all__ = [
    "among_neighbors",
    "check_connected",
    "connected",
    "from_edges",
    "graph_between",
    "graph_of",
    "part_of",
    "parts_of",
    "pieces_of",
    "rooted",
    "symmetric",
    "tell_of_pieces",
    "with_edges",
    "with_lengths",
    "without_last",
]

# Points of a component that are looked at for its shortest edge to another.
_MOST_LOOKED_AT = 2000


def graph_of(
    comparison: Comparison, P: Gaussians, k: int, among: NDArray | None = None
) -> csr_matrix:
    """Each Gaussian itself, divergence 0, and its k nearest others: k + 1 entries in every row.

    They are the nearest of all, or of the positions that `among` has in its row, shape
    (n, n_candidates).
    """
    positions, values = comparison.nearest(P, None, k, among)
    own = np.arange(len(P), dtype=positions.dtype)[:, None]
    positions = np.concatenate([own, positions], axis=1)
    values = np.concatenate([np.zeros(own.shape), values], axis=1)
    return _csr(positions, values, len(P))


def graph_between(
    comparison: Comparison,
    Q: Gaussians,
    P: Gaussians,
    k: int,
    among: NDArray | None = None,
) -> csr_matrix:
    """The k nearest P of every Q, of all or of those in the rows of `among`: (len(Q), len(P))."""
    return _csr(*comparison.nearest(Q, P, k, among), len(P))


def rooted(divergences: NDArray | csr_matrix) -> NDArray | csr_matrix:
    """Square roots, of an array or of a graph's edges, which stay in their order."""
    if isinstance(divergences, np.ndarray):
        return np.sqrt(divergences)
    return with_lengths(divergences, np.sqrt(divergences.data))


def with_lengths(graph: csr_matrix, lengths: NDArray) -> csr_matrix:
    """A graph of these edges, in their order, with other lengths."""
    return csr_matrix((lengths, graph.indices, graph.indptr), shape=graph.shape)


def from_edges(row: NDArray, column: NDArray, lengths: NDArray, n: int) -> csr_matrix:
    """A graph of n points, each edge in both directions; of several edges the longest.

    Twins keep theirs, of length 0.
    """
    row, column = np.append(row, column), np.append(column, row)
    lengths = np.append(lengths, lengths)
    code = row.astype(np.int64) * n + column
    order = np.lexsort((lengths, code))
    last = order[np.append(np.diff(code[order]) > 0, True)] if len(order) else order
    return csr_matrix((lengths[last], (row[last], column[last])), shape=(n, n))


def parts_of(graph: csr_matrix) -> tuple[NDArray, NDArray, NDArray]:
    """What a graph is made of, and made of again: lengths, ends, and starts of rows."""
    return graph.data, graph.indices, graph.indptr


def symmetric(graph: csr_matrix) -> csr_matrix:
    """The graph with every edge in both directions, the longer of two."""
    edges = graph.tocoo()
    return from_edges(edges.row, edges.col, edges.data, graph.shape[0])


def without_last(graph: csr_matrix) -> csr_matrix:
    """The graph without the farthest neighbor of each row, for rows of equal length."""
    positions, values = (part.reshape(graph.shape[0], -1) for part in (graph.indices, graph.data))
    return _csr(positions[:, :-1], values[:, :-1], graph.shape[1])


def among_neighbors(comparison: Comparison, P: Gaussians, near: NDArray) -> NDArray:
    """Divergences of all pairs of each row's neighbors, shape (n, k, k)."""
    n_rows, k = near.shape
    first = np.broadcast_to(near[:, :, None], (n_rows, k, k))
    second = np.broadcast_to(near[:, None, :], (n_rows, k, k))
    return comparison.pairs(P, None, first.ravel(), second.ravel()).reshape(n_rows, k, k)


def connected(graph: csr_matrix, comparison: Comparison, P: Gaussians) -> csr_matrix:
    """The graph, and the shortest edge between every two of its components.

    Warns
    -----
    UserWarning
        If there is more than one.
    """
    n, labels = pieces_of(graph)
    if n == 1:
        return graph
    tell_of_pieces(labels, "the shortest edge between every two of them was added")
    return with_edges(graph, *_shortest_between(comparison, P, labels))


def pieces_of(graph: csr_matrix) -> tuple[int, NDArray]:
    """Number of the graph's components, and the component of every point, by its first one."""
    n, labels = connected_components(graph, directed=False)
    return int(n), labels


def tell_of_pieces(labels: NDArray, what_was_done: str) -> None:
    """Warn that a graph has several components, and say what was done about it."""
    warnings.warn(
        f"the neighborhood graph has {labels.max() + 1} components ({_sizes(labels)} points); "
        f"{what_was_done}. Raise n_graph_neighbors to do without.",
        stacklevel=3,
    )


def with_edges(graph: csr_matrix, row: NDArray, column: NDArray, lengths: NDArray) -> csr_matrix:
    """The graph with further edges, in both directions, at the ends of their rows."""
    edges, n = graph.tocoo(), graph.shape[0]
    rows = np.concatenate([edges.row, row, column])
    order = np.argsort(rows, kind="stable")
    columns = np.concatenate([edges.col, column, row])[order]
    values = np.concatenate([edges.data, lengths, lengths])[order]
    starts = np.append(0, np.cumsum(np.bincount(rows, minlength=n)))
    return csr_matrix((values, columns, starts), shape=graph.shape)


def part_of(graph: csr_matrix, rows: NDArray, columns: NDArray) -> csr_matrix:
    """Some rows of a graph, with the edges to some columns, in their order; columns ascend."""
    places = np.full(graph.shape[1], -1)
    places[columns] = np.arange(len(columns))
    counts = np.diff(graph.indptr)[rows]
    before = np.append(0, np.cumsum(counts))
    taken = np.repeat(graph.indptr[rows] - before[:-1], counts) + np.arange(before[-1])
    ends = places[graph.indices[taken]]
    kept = ends >= 0
    left = np.bincount(np.repeat(np.arange(len(rows)), counts)[kept], minlength=len(rows))
    parts = (graph.data[taken][kept], ends[kept], np.append(0, np.cumsum(left)))
    return csr_matrix(parts, shape=(len(rows), len(columns)))


def _shortest_between(
    comparison: Comparison, P: Gaussians, labels: NDArray
) -> tuple[NDArray, NDArray, NDArray]:
    """Ends and divergences of the shortest edge between every two components.

    Of large components some points are looked at, evenly spread.
    """
    order = _some_of_each(labels)
    starts = np.searchsorted(labels[order], np.arange(labels.max() + 2))
    ends = []
    for begin, end in neighboring(starts[:-1]):
        mine, others = order[begin:end], order[end:]
        groups = starts[np.searchsorted(starts, end) : -1] - end
        i, j = comparison.nearest_of_groups(P.part(mine), P.part(others), groups)
        ends.append((mine[i], others[j]))
    first, second = (np.concatenate(part) for part in zip(*ends, strict=True))
    return first, second, comparison.pairs(P, None, first, second)


def _some_of_each(labels: NDArray) -> NDArray:
    """Positions of points, by component: all of a small one, some of a large one."""
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    rank = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    size = np.repeat(sizes, sizes)
    # The i-th of n is kept where i m / n passes a whole number.
    kept = (rank + 1) * _MOST_LOOKED_AT // size > rank * _MOST_LOOKED_AT // size
    return order[kept | (size <= _MOST_LOOKED_AT)]


def check_connected(graph: csr_matrix, remedy: str) -> None:
    """Refuse a graph of several components; `remedy` says who needs one only, and what to do."""
    n, labels = pieces_of(graph)
    if n > 1:
        sizes = _sizes(labels)
        raise ValueError(
            f"the neighborhood graph has {n} components ({sizes} points), and {remedy}."
        )


def _sizes(labels: NDArray) -> str:
    """Sizes of the largest components, in words."""
    sizes = np.sort(np.bincount(labels))[::-1]
    return ", ".join(str(size) for size in sizes[:5]) + (", ..." if len(sizes) > 5 else "")


def _csr(positions: NDArray, values: NDArray, n: int) -> csr_matrix:
    n_rows, k = positions.shape
    starts = np.arange(0, n_rows * k + 1, k)
    return csr_matrix((values.ravel(), positions.ravel(), starts), shape=(n_rows, n))
