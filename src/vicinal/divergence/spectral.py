"""Eigenvectors that embeddings are made of: few of a large sparse matrix, signs fixed."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import eigsh

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
    if n <= _DENSE_UP_TO or k >= n - 1:
        values, vectors = eigh(_dense(matrix), subset_by_index=[n - k, n - 1])
    else:
        values, vectors = eigsh(matrix, k, which="LA", v0=rng.uniform(-1, 1, n))
    order = np.argsort(values)[::-1]
    return values[order], _signed(vectors[:, order])


def smallest_eigenpairs(
    matrix: csr_matrix, k: int, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """Values, smallest first, and vectors as columns, of a positive semi-definite matrix."""
    n = matrix.shape[0]
    if n <= _DENSE_UP_TO or k >= n - 1:
        values, vectors = eigh(_dense(matrix), subset_by_index=[0, k - 1])
    else:
        shift = -_SHIFT * float(matrix.diagonal().mean())
        start = rng.uniform(-1, 1, n)
        values, vectors = eigsh(matrix.tocsc(), k, sigma=shift, which="LM", v0=start)
    order = np.argsort(values)
    return values[order], _signed(vectors[:, order])


def _dense(matrix: NDArray | csr_matrix) -> NDArray:
    return matrix if isinstance(matrix, np.ndarray) else matrix.toarray()


def _signed(vectors: NDArray) -> NDArray:
    """The entry of largest size is positive in every column."""
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)
