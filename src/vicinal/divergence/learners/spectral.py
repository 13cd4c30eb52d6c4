"""Eigenvectors that embeddings are made of: few of a large sparse matrix, signs fixed."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csc_matrix, csr_matrix, diags, issparse
from scipy.sparse.linalg import ArpackError, eigsh, lobpcg
from sklearn.exceptions import ConvergenceWarning

from vicinal.fitting.checkpoints import remembered

__all__ = ["FACTORED_UP_TO", "largest_eigenpairs", "smallest_eigenpairs"]

# Up to so many rows a dense solver is faster than an iterative one is sure.
_DENSE_UP_TO = 1000

# Up to so many it is what is left where an iteration fails: half a minute at most.
_DENSE_AT_LAST = 4000

# Up to so many rows factors of a sparse matrix have room, however well points hang together.
FACTORED_UP_TO = 10_000

# Shift below a smallest eigenvalue of zero, relative to the diagonal: the matrix stays invertible.
_SHIFT = 1e-9

# Vectors that an iteration without factors holds: with more, near eigenvalues are told apart.
_LEAST_VECTORS = 40

# Steps of the last resort.
_LAST_STEPS = 200


def largest_eigenpairs(
    matrix: NDArray | csr_matrix, k: int, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """Values, largest first, and vectors as columns, of a symmetric matrix."""
    n = matrix.shape[0]
    options = {"which": "LA", "ncv": min(n, max(2 * k + 1, _LEAST_VECTORS))}
    values, vectors = _eigenpairs(matrix, (n - k, n - 1), rng, **options)
    order = np.argsort(values)[::-1]
    return values[order], _signed(vectors[:, order])


def smallest_eigenpairs(
    matrix: NDArray | csc_matrix, k: int, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """Values, smallest first, and vectors as columns, of a positive semi-definite matrix.

    Its factors are those of a matrix shifted a little below 0, where it has its inverse.
    """
    shift = -_SHIFT * float(matrix.diagonal().mean())
    values, vectors = _eigenpairs(matrix, (0, k - 1), rng, sigma=shift, which="LM")
    order = np.argsort(values)
    return values[order], _signed(vectors[:, order])


def _eigenpairs(
    matrix: Any, which_ones: tuple[int, int], rng: np.random.Generator, **options: Any
) -> tuple[NDArray, NDArray]:
    """Eigenpairs of these positions, smallest first; by iteration with `options` for many rows."""
    n, k = matrix.shape[0], which_ones[1] - which_ones[0] + 1
    if n <= _DENSE_UP_TO or k >= n - 1:
        return eigh(_dense(matrix), subset_by_index=which_ones)
    if matrix.max() == matrix.min() == 0:  # an iteration from nothing leads nowhere
        return np.zeros(k), np.eye(n, k)
    try:
        return remembered(lambda: eigsh(matrix, k, v0=rng.uniform(-1, 1, n), **options))
    except (ArpackError, RuntimeError):  # eigenvalues too near each other, or no factors
        if n <= _DENSE_AT_LAST:  # a dense solver sees no difference
            return eigh(_dense(matrix), subset_by_index=which_ones)
        return _nearly(matrix, k, rng, largest=which_ones[0] > 0)


def _nearly(
    matrix: Any, k: int, rng: np.random.Generator, *, largest: bool
) -> tuple[NDArray, NDArray]:
    """What many steps of LOBPCG come to, with a warning that says how far it is from the end."""
    n = matrix.shape[0]
    diagonal = np.abs(matrix.diagonal())
    scale = diags(1.0 / np.where(diagonal > 0, diagonal, 1.0))

    def iterated() -> tuple[NDArray, NDArray]:
        start = np.linalg.qr(rng.uniform(-1, 1, (n, k)))[0]
        with warnings.catch_warnings():  # its own, which do not name what to do
            warnings.simplefilter("ignore")
            return lobpcg(matrix, start, M=scale, largest=largest, maxiter=_LAST_STEPS)

    values, vectors = remembered(iterated)
    left = float(np.linalg.norm(matrix @ vectors - vectors * values, axis=0).max())
    warnings.warn(
        f"eigenvectors of {n} points stopped before convergence, with residuals up to {left:.1e}: "
        "the graph nearly falls apart. Raise n_graph_neighbors or gamma, or use "
        'disconnected="separate".',
        ConvergenceWarning,
        stacklevel=2,
    )
    return values, vectors


def _dense(matrix: Any) -> NDArray:
    return matrix.toarray() if issparse(matrix) else matrix


def _signed(vectors: NDArray) -> NDArray:
    """Columns of such signs that the largest entry of each, by size, is positive."""
    largest = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[largest, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0, 1.0, signs)
