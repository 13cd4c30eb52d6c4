"""Distances that users have already, dense or as a sparse graph, in the place of divergences."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from vicinal.divergence.graph import part_of, pieces_of, tell_of_pieces, with_edges
from vicinal.divergence.space import Divergences

__all__ = ["GivenSpace", "check_distances", "check_new_distances"]

# Distances both ways may differ by this share of the largest.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class GivenSpace:
    """Training points of which distances are known only. All in double precision.

    Attributes
    ----------
    given : ndarray or sparse matrix, of shape (n, n)
        Of all pairs, or of neighbors, entries that are not stored being unknown.
    n_graph_neighbors : int or None
        Neighbors of every point in the graph; None: all that are given.
    """

    given: Divergences
    n_graph_neighbors: int | None = None

    @property
    def points(self) -> NDArray:
        """Nothing is known of them: n rows without features."""
        return np.empty((self.given.shape[0], 0))

    def divergences(self, among: NDArray | None = None) -> Divergences:
        """The distances, or the graph of the nearest with each point itself, at 0, as the first."""
        k = self.n_graph_neighbors
        if not issparse(self.given):
            return self.given if k is None else _nearest(self.given, k, own=True)
        return _sorted_rows(self.given, k, own=True)

    def divergences_of(self, points: Divergences) -> Divergences:
        """Distances of new points from the training points; in a graph the k + 1 nearest."""
        k = self.n_graph_neighbors
        return self._new(points, None if k is None else k + 1)

    def neighbors_of(self, points: Divergences) -> Divergences:
        """The same; in a graph the k nearest."""
        return self._new(points, self.n_graph_neighbors)

    def among(self, near: NDArray) -> NDArray:
        """Distances of all pairs of each row's neighbors, shape (n, k, k)."""
        if issparse(self.given):
            raise ValueError(
                'method="lle" needs the distances between the neighbors of a point, which a sparse '
                "graph does not tell: give all distances, dense."
            )
        return self.given[near[:, :, None], near[:, None, :]]

    def joined(self, graph: csr_matrix) -> csr_matrix:
        """The graph, and the shortest edge between every two of its components."""
        n, labels = pieces_of(graph)
        if n == 1:
            return graph
        tell_of_pieces(labels, "the shortest edge between every two of them was added")
        ends = [_shortest(self.given, labels, a, b) for a in range(n) for b in range(a + 1, n)]
        row, column = np.array(ends).T
        return with_edges(graph, row, column, self.given[row, column])

    def part(self, rows: NDArray) -> "GivenSpace":
        """The space of some of the points."""
        if issparse(self.given):
            return replace(self, given=part_of(self.given, rows, rows))
        return replace(self, given=self.given[np.ix_(rows, rows)])

    def distances(self, divergences: Divergences) -> Divergences:
        """The distances as they are."""
        return divergences

    def squares(self, divergences: NDArray) -> NDArray:
        """Squared distances."""
        return np.square(divergences)

    def _new(self, points: Divergences, k: int | None) -> Divergences:
        if issparse(points):
            return _sorted_rows(points, k, own=False)
        return points if k is None else _nearest(points, k, own=False)


def check_distances(X: Divergences) -> Divergences:
    """Distances of training points from each other, all in order."""
    given = _nonnegative(X)
    if given.shape[0] != given.shape[1]:
        raise ValueError(
            f'metric="precomputed" takes distances of points from each other, and X has '
            f"{given.shape[0]} rows and {given.shape[1]} columns."
        )
    if issparse(given):
        return given
    largest = float(given.max(initial=0.0))
    if np.abs(given - given.T).max(initial=0.0) > _ROUNDING * largest:
        raise ValueError("X must be symmetric: some distances differ from those the other way.")
    if np.abs(given.diagonal()).max(initial=0.0) > _ROUNDING * largest:
        raise ValueError("X must have zeros on its diagonal, the distances of points from itself.")
    return given


def check_new_distances(X: Divergences) -> Divergences:
    """Distances of new points from the training points, all in order."""
    return _nonnegative(X).astype(np.float64)


def _nonnegative(X: Divergences) -> Divergences:
    lengths = X if isinstance(X, np.ndarray) else np.asarray(X.data)
    if lengths.min(initial=0.0) < 0:
        raise ValueError('Negative values in data: metric="precomputed" takes distances.')
    return X


def _nearest(distances: NDArray, k: int, *, own: bool) -> csr_matrix:
    """The graph of the k nearest of every row, equally near ones by position."""
    distances, n = distances.copy(), distances.shape[0]
    if own:  # each point itself comes first, before its twins
        np.fill_diagonal(distances, -1.0)
    k += own
    order = np.argsort(distances, axis=1, kind="stable")[:, :k]
    lengths = np.maximum(np.take_along_axis(distances, order, axis=1), 0.0)
    starts = np.arange(0, n * order.shape[1] + 1, order.shape[1])
    return csr_matrix((lengths.ravel(), order.ravel(), starts), shape=distances.shape)


def _sorted_rows(graph: csr_matrix, k: int | None, *, own: bool) -> csr_matrix:
    """Rows by length, each point itself the first of its row, and no more than k others."""
    edges, n = graph.tocoo(), graph.shape[0]
    row, column, lengths = edges.row, edges.col, edges.data
    if own:
        others, every = row != column, np.arange(n)
        row, column = np.append(row[others], every), np.append(column[others], every)
        lengths = np.append(lengths[others], np.full(n, -1.0))
    order = np.lexsort((column, lengths, row))
    counts = np.bincount(row, minlength=n)
    starts = np.append(0, np.cumsum(counts))
    if k is not None:
        _check_enough(counts - own, k)
        order = order[np.arange(len(order)) - starts[row[order]] < k + own]
        starts = np.arange(n + 1) * (k + own)
    parts = (np.maximum(lengths[order], 0.0), column[order], starts)
    return csr_matrix(parts, shape=graph.shape)


def _check_enough(counts: NDArray, k: int) -> None:
    if counts.min() < k:
        raise ValueError(
            f"row {int(counts.argmin())} of the graph has {counts.min()} neighbors, and {k} are "
            "needed: give a graph of more neighbors or all distances, or lower n_graph_neighbors."
        )


def _shortest(distances: NDArray, labels: NDArray, a: int, b: int) -> tuple[int, int]:
    """Ends of the shortest edge between two components."""
    first, second = np.flatnonzero(labels == a), np.flatnonzero(labels == b)
    between = distances[np.ix_(first, second)]
    i, j = np.unravel_index(between.argmin(), between.shape)
    return int(first[i]), int(second[j])
