"""Laplacian eigenmaps of a graph of divergences, with Nyström's extension to new points."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags, identity
from scipy.sparse.csgraph import connected_components

from vicinal.divergence.graph import symmetric, with_lengths
from vicinal.divergence.learners.learner import Embedded, Graph, Learner, Settings
from vicinal.divergence.learners.spectral import (
    FACTORED_UP_TO,
    largest_eigenpairs,
    smallest_eigenpairs,
)
from vicinal.divergence.space import Space

__all__ = ["LAPLACIAN", "LaplacianMap", "laplacian_eigenmaps", "leading_eigenvalues"]

# Points with less than this share of all affinities have no digits of an eigenvector.
_FAINT = 1e-24

# Eigenvalues below this are none: nothing can be divided by them.
_NO_EIGENVALUE = 1e-10

# Affinities below this hold nothing together, in double precision. Edges between parts that only
# such hold together count as this much: otherwise any mixture of the parts were an eigenvector.
_NOTHING, _BRIDGE = 1e-9, 1e-3


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
    graph : sparse matrix of shape (n, n)
        The divergences, without loops.
    """

    coordinates: NDArray
    eigenvalues: NDArray
    scale: float
    graph: csr_matrix

    @property
    def affinities(self) -> csr_matrix:
        """W, shape (n, n)."""
        return _affinities(self.graph, self.scale)

    def __getstate__(self) -> dict[str, Any]:
        """The state with the graph in its parts: files hold arrays."""
        parts = [getattr(self.graph, name) for name in ("data", "indices", "indptr")]
        return {**vars(self), "graph": parts}

    def __setstate__(self, state: dict[str, Any]) -> None:
        n = len(state["graph"][2]) - 1
        graph = csr_matrix(tuple(state["graph"]), shape=(n, n))
        graph.check_format(full_check=True)  # compiled code trusts its indices
        vars(self).update({**state, "graph": graph})

    def extended(self, graph: csr_matrix) -> NDArray:
        """Coordinates of points with these divergences from training points (Nyström)."""
        values = self.eigenvalues[1:]
        if (np.abs(values) < _NO_EIGENVALUE).any():
            raise ValueError(
                f"n_components={len(values)} takes in an eigenvector of eigenvalue 0, which says "
                "nothing about new points: fit fewer components."
            )
        return _transitions(graph, self.scale) @ self.coordinates / values


def _embed(
    space: Space, graph: csr_matrix, settings: Settings, rng: np.random.Generator
) -> Embedded:
    graph = _without_loops(symmetric(graph))
    scale = scale_of(graph, settings.scale, settings.scale_quantile)
    found = laplacian_eigenmaps(graph, settings.n_components, scale, rng)
    return Embedded(found.coordinates, found, found.eigenvalues)


def _extend(space: Space, graph: csr_matrix, points: NDArray, embedded: Embedded) -> NDArray:
    return embedded.map.extended(graph)


def laplacian_eigenmaps(
    graph: csr_matrix, n_components: int, scale: float | None, rng: np.random.Generator
) -> LaplacianMap:
    """Eigenvectors of D⁻¹ W, the trivial one left out, for a symmetric graph of divergences.

    `scale` None: the median of the graph's divergences that are not 0.
    """
    graph = _without_loops(graph)
    scale = scale_of(graph, scale)
    W = _affinities(graph, scale)
    faint = _faint(W, graph, scale)
    W = _held_together(W, faint)
    S, inverse_root = _normalized(W, faint)
    values, vectors = _leading(S, n_components + 1, rng)
    found = LaplacianMap(inverse_root[:, None] * vectors[:, 1:], values, scale, graph)
    _place(found, graph, faint)
    return found


def leading_eigenvalues(
    graph: csr_matrix, k: int, scale: float | None, rng: np.random.Generator
) -> NDArray:
    """The k largest eigenvalues of D⁻¹ W, for a symmetric graph of any number of components.

    Each component has its own, the first of them 1 (footnote 8).
    """
    graph = _without_loops(graph)
    W = _affinities(graph, scale_of(graph, scale))
    n, labels = connected_components(W, directed=False)
    every = []
    for piece in range(n):
        rows = np.flatnonzero(labels == piece)
        part = W[rows][:, rows]
        total = np.asarray(part.sum(axis=1)).ravel()
        S, _ = _normalized(part, total <= _FAINT * total.sum())
        every.append(_leading(S, min(k, len(rows)), rng)[0])
    return np.sort(np.concatenate(every))[::-1][:k]


def scale_of(graph: csr_matrix, scale: float | None, quantile: float = 0.5) -> float:
    """σ: as given, or this quantile of the graph's divergences that are not 0."""
    if scale is not None:
        return scale
    some = graph.data[graph.data > 0]
    return float(np.quantile(some, quantile)) if len(some) else 1.0


def _faint(W: csr_matrix, graph: csr_matrix, scale: float) -> NDArray:
    """Points whose affinities all vanish, True; there must be others."""
    degrees = np.asarray(W.sum(axis=1)).ravel()
    faint = degrees <= _FAINT * degrees.sum()
    if faint.all():
        raise ValueError(
            f"scale={scale:g} makes all affinities 0: the least divergence of neighbors is "
            f"{graph.data.min():.2g}. Raise it, or leave it to scale=None."
        )
    return faint


def _held_together(W: csr_matrix, faint: NDArray) -> csr_matrix:
    """The affinities, and more of them between parts that would fall apart by rounding."""
    edges = W.tocoo()
    seen = (edges.data > _NOTHING) & ~faint[edges.row] & ~faint[edges.col]
    strong = csr_matrix((edges.data[seen], (edges.row[seen], edges.col[seen])), shape=W.shape)
    _, labels = connected_components(strong, directed=False)
    between = (labels[edges.row] != labels[edges.col]) & ~faint[edges.row] & ~faint[edges.col]
    if not between.any():
        return W
    return with_lengths(W, np.where(between, np.maximum(W.data, _BRIDGE), W.data))


def _normalized(W: csr_matrix, faint: NDArray) -> tuple[csr_matrix, NDArray]:
    """D^(-1/2) W D^(-1/2), and the diagonal of D^(-1/2), 0 for faint points."""
    degrees = np.asarray(W.sum(axis=1)).ravel()
    inverse_root = np.where(faint, 0.0, 1.0 / np.sqrt(np.where(faint, 1.0, degrees)))
    D = diags(inverse_root)
    return (D @ W @ D).tocsr(), inverse_root


def _leading(S: csr_matrix, k: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """The largest eigenvalues, 1 at most, and vectors: by factors of I - S where these have room.

    Where a graph nearly falls apart many eigenvalues are nearly 1, and without factors an iteration
    cannot tell them apart.
    """
    n = S.shape[0]
    if n > FACTORED_UP_TO:
        return largest_eigenpairs(S, k, rng)
    values, vectors = smallest_eigenpairs((identity(n) - S).tocsc(), k, rng)
    return 1.0 - values, vectors


def _place(found: LaplacianMap, graph: csr_matrix, faint: NDArray) -> None:
    """Give points that hardly hang together with any the coordinates that their neighbors tell.

    That is the equation D⁻¹ W φ = μ φ itself: of an eigenvector of D^(-1/2) W D^(-1/2) their
    entries are rounding errors. First those with neighbors in place, then neighbors of these.
    """
    values, edges, faint = found.eigenvalues[1:], graph.tocoo(), faint.copy()
    seen = np.abs(values) > _NO_EIGENVALUE
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=seen)
    while faint.any():
        told = faint[edges.row] & ~faint[edges.col]
        rows, where = np.unique(edges.row[told], return_inverse=True)
        if not len(rows):  # of another component
            return
        ends = where, edges.col[told]
        known = csr_matrix((edges.data[told], ends), shape=(len(rows), graph.shape[0]))
        found.coordinates[rows] = _transitions(known, found.scale) @ found.coordinates * inverse
        faint[rows] = False


def _without_loops(graph: csr_matrix) -> csr_matrix:
    """The graph without edges from a point to itself; twins, at divergence 0, keep theirs."""
    edges = graph.tocoo()
    others = edges.row != edges.col
    where = edges.row[others], edges.col[others]
    return csr_matrix((edges.data[others], where), shape=graph.shape)


def _affinities(graph: csr_matrix, scale: float) -> csr_matrix:
    """The graph with affinities exp(-d / σ) on its edges (section 4.1)."""
    with np.errstate(over="ignore"):  # farther than any number: no affinity
        return with_lengths(graph, np.exp(-graph.data / scale))


def _transitions(graph: csr_matrix, scale: float) -> csr_matrix:
    """D⁻¹ W, rows of sum 1, for a graph without empty rows; also where all of a row is far away."""
    counts = np.diff(graph.indptr)
    nearest = np.minimum.reduceat(graph.data, graph.indptr[:-1])
    W = _affinities(with_lengths(graph, graph.data - np.repeat(nearest, counts)), scale)
    return with_lengths(W, W.data / np.repeat(np.add.reduceat(W.data, W.indptr[:-1]), counts))


LAPLACIAN = Learner("laplacian", _embed, _extend, graph=Graph.JOINED)
