"""Eigenvectors that embeddings are made of: few of a large sparse matrix, signs fixed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csc_matrix, csr_matrix
from scipy.sparse.linalg import ArpackError, eigsh

from vicinal.divergence.limits import check_room

__all__ = ["largest_eigenpairs", "smallest_eigenpairs"]

# Up to so many rows a dense solver is faster than an iterative one is sure.
_DENSE_UP_TO = 1000

# Shift below a smallest eigenvalue of zero, relative to the diagonal: the matrix stays invertible.
_SHIFT = 1e-9


def largest_eigenpairs(
    matrix: NDArray | csr_matrix, k: int, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """Values, largest first, and vectors as columns, of a symmetric matrix."""
    n = matrix.shape[0]
    values, vectors = _eigenpairs(matrix, (n - k, n - 1), rng, which="LA")
    order = np.argsort(values)[::-1]
    return values[order], _signed(vectors[:, order])


def smallest_eigenpairs(
    matrix: NDArray | csc_matrix, k: int, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """Values, smallest first, and vectors as columns, of a positive semi-definite matrix."""
    shift = -_SHIFT * float(matrix.diagonal().mean())
    values, vectors = _eigenpairs(matrix, (0, k - 1), rng, sigma=shift, which="LM")
    order = np.argsort(values)
    return values[order], _signed(vectors[:, order])


def _eigenpairs(
    matrix: Any, which_ones: tuple[int, int], rng: np.random.Generator, **options: Any
) -> tuple[NDArray, NDArray]:
    """Eigenpairs of these positions, smallest first; by iteration with `options` for many rows."""
    n, k = matrix.shape[0], which_ones[1] - which_ones[0] + 1
    if n > _DENSE_UP_TO and k < n - 1:
        if matrix.max() == matrix.min() == 0:  # an iteration from nothing leads nowhere
            return np.zeros(k), np.eye(n, k)
        try:
            return eigsh(matrix, k, v0=rng.uniform(-1, 1, n), **options)
        except ArpackError:  # eigenvalues too near each other: a dense solver sees no difference
            remedy = "raise n_graph_neighbors or gamma, so that points hang together better"
            check_room("eigenvectors, which did not converge, by a dense solver", (n, n), remedy)
    return eigh(_dense(matrix), subset_by_index=which_ones)


def _dense(matrix: Any) -> NDArray:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def _signed(vectors: NDArray) -> NDArray:
    """Columns of such signs that the largest entry of each, by size, is positive."""
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)
