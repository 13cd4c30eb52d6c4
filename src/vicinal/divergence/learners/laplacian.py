"""Laplacian eigenmaps of a graph of divergences, with Nyström's extension to new points."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

from vicinal.divergence.graph import symmetric, with_lengths
from vicinal.divergence.learners.learner import Embedded, Graph, Learner, Settings
from vicinal.divergence.learners.spectral import largest_eigenpairs
from vicinal.divergence.space import DivergenceSpace

__all__ = ["LAPLACIAN", "LaplacianMap", "laplacian_eigenmaps"]

# Points with less than this share of all affinities have no digits of an eigenvector.
_FAINT = 1e-24

# Eigenvalues below this are none: nothing can be divided by them.
_NO_EIGENVALUE = 1e-10


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
        values = self.eigenvalues[1:]
        if (np.abs(values) < _NO_EIGENVALUE).any():
            raise ValueError(
                f"n_components={len(values)} takes in an eigenvector of eigenvalue 0, which says "
                "nothing about new points: fit fewer components."
            )
        return _transitions(graph, self.scale) @ self.coordinates / values


def _embed(
    space: DivergenceSpace, graph: csr_matrix, settings: Settings, rng: np.random.Generator
) -> Embedded:
    found = laplacian_eigenmaps(symmetric(graph), settings.n_components, settings.scale, rng)
    return Embedded(found.coordinates, found, found.eigenvalues)


def _extend(
    space: DivergenceSpace, graph: csr_matrix, points: NDArray, embedded: Embedded
) -> NDArray:
    return embedded.map.extended(graph)


def laplacian_eigenmaps(
    graph: csr_matrix, n_components: int, scale: float | None, rng: np.random.Generator
) -> LaplacianMap:
    """Eigenvectors of D⁻¹ W, the trivial one left out, for a symmetric graph of divergences.

    `scale` None: the median of the graph's divergences that are not 0.
    """
    graph = _without_loops(graph)
    if scale is None:
        scale = float(np.median(graph.data[graph.data > 0])) if graph.data.any() else 1.0
    W = _affinities(graph, scale)
    degrees = np.asarray(W.sum(axis=1)).ravel()
    faint = degrees <= _FAINT * degrees.sum()
    if faint.all():
        raise ValueError(
            f"scale={scale:g} makes all affinities 0: the least divergence of neighbors is "
            f"{graph.data.min():.2g}. Raise it, or leave it to scale=None."
        )
    inverse_root = np.where(faint, 0.0, 1.0 / np.sqrt(np.where(faint, 1.0, degrees)))
    D = diags(inverse_root)
    values, vectors = largest_eigenpairs((D @ W @ D).tocsr(), n_components + 1, rng)
    found = LaplacianMap(inverse_root[:, None] * vectors[:, 1:], values, scale)
    _place(found, graph, faint)
    return found


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
