"""Products of many rows, in tiles on threads: the same bits at any number of threads.

Of tensors their own library makes them, on their device; of rows on a cluster its workers.
"""

import numpy as np

from vicinal.neighborhood.arrays import Array, in_dtype_of, is_chunked, is_numpy, namespace
from vicinal.neighborhood.threads import run_in_order, threads_worth

__all__ = ["combined", "few_times", "gram", "times", "weighted_products"]

# Multiplications in a tile that are worth a thread; to read a number takes as long as some of them.
_TILE_WORK, _READING = 4_000_000, 16
_TILES_OF_A_THREAD = 2

# The most tiles of a sum, and the fewest rows of one: a part of it is written and read again.
_MOST_TILES, _FEWEST_ROWS = 64, 128


# Columns of a sum from which on it is cut along them, and how many there are in a part.
_WIDE, _SLAB = 256, 64


def times(X: Array, M: Array) -> Array:
    """X M for X of shape (n, k) with many rows, shape (n, m).

    For tensors X in their precision, M coming from anywhere.
    """
    if is_chunked(X):
        from vicinal.neighborhood.cluster.rows import times_of

        return times_of(X, M)
    if not is_numpy(X):
        return X @ in_dtype_of(X, M)
    tiles = _tiles(len(X), _work(X.shape[1], M.shape[1]))
    if len(tiles) <= 1:
        return X @ M
    out = np.empty((len(X), M.shape[1]), dtype=np.result_type(X, M))

    def multiply(rows: slice) -> None:
        np.matmul(X[rows], M, out=out[rows])

    for _ in run_in_order(multiply, tiles, threads_worth(len(tiles), _TILES_OF_A_THREAD)):
        pass
    return out


def few_times(M: Array, X: Array) -> Array:
    """M X for M of shape (m, k) with few rows and X of shape (k, n) with many columns."""
    return times(X.T, M.T).T if is_numpy(X) else M @ X


def gram(X: Array, Y: Array) -> Array:
    """Xᵀ Y for X of shape (n, k) and Y of shape (n, m) with many rows, shape (k, m)."""
    if is_chunked(X) or is_chunked(Y):
        from vicinal.neighborhood.cluster.rows import gram_of

        return gram_of(X, Y)
    if not is_numpy(X):
        xp = namespace(X, Y)
        dtype = xp.result_type(X, Y)
        return xp.astype(X, dtype, copy=False).T @ xp.astype(Y, dtype, copy=False)
    if X.shape[1] >= _WIDE:
        return _wide_gram(X, Y)
    least = max(_FEWEST_ROWS, -(-len(X) // _MOST_TILES))
    tiles = _tiles(len(X), _work(X.shape[1], Y.shape[1]), least)
    if len(tiles) <= 1:
        return X.T @ Y

    def multiply(rows: slice) -> Array:
        return X[rows].T @ Y[rows]

    parts = run_in_order(multiply, tiles, threads_worth(len(tiles), _TILES_OF_A_THREAD))
    total = next(parts)
    for part in parts:
        total += part
    return total


def _wide_gram(X: Array, Y: Array) -> Array:
    """`gram` by some columns of Y at a time: parts of large sums would have to be added up."""
    is_symmetric = X is Y
    out = np.empty((X.shape[1], Y.shape[1]), dtype=np.result_type(X, Y))
    slabs = [slice(start, min(start + _SLAB, len(out.T))) for start in range(0, len(out.T), _SLAB)]

    def multiply(slab: slice) -> None:
        below = slice(slab.start if is_symmetric else 0, None)
        np.matmul(X[:, below].T, Y[:, slab], out=out[below, slab])

    n_worth = len(slabs) * len(X) * X.shape[1] * _SLAB // _TILE_WORK
    for _ in run_in_order(multiply, slabs, threads_worth(n_worth, _TILES_OF_A_THREAD)):
        pass
    return np.tril(out) + np.tril(out, -1).T if is_symmetric else out


def combined(coefficients: Array, points: Array) -> Array:
    """Σ_p c_pi z_pi for c of shape (p, n) and z of shape (p, n, d), shape (n, d)."""
    if is_numpy(points):
        return np.einsum("pn,pnd->nd", coefficients, points)
    return (coefficients[:, :, None] * points).sum(axis=0)


def weighted_products(weights: Array | None, X: Array, Y: Array) -> Array:
    """Σ_i w_i x_i ∘ y_i for w of shape (n,), or all 1, and X and Y of shape (n, d), shape (d,)."""
    if not is_numpy(X):
        return (X * Y if weights is None else weights[:, None] * X * Y).sum(axis=0)
    if weights is None:
        return np.einsum("nd,nd->d", X, Y)
    return np.einsum("n,nd,nd->d", weights, X, Y)


def _work(k: int, m: int) -> int:
    """What a row of a product costs that has k · m multiplications."""
    return k * m + _READING * (k + m)


def _tiles(n: int, work_per_row: int, least: int = 1) -> list[slice]:
    """Rows in parts that depend on the shape of the product alone."""
    step = max(least, -(-_TILE_WORK // max(1, work_per_row)))
    return [slice(start, min(start + step, n)) for start in range(0, n, step)]
