"""Matrix products of many rows, in tiles on threads: the same bits at any number of threads."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vicinal.neighborhood.threads import current_n_threads, run_in_order

__all__ = ["gram", "times"]

# Multiplications in a tile that are worth a thread, and the most tiles of a sum.
_TILE_WORK, _MOST_TILES = 8_000_000, 64


def times(X: NDArray, M: NDArray) -> NDArray:
    """X M for X of shape (n, k) with many rows, shape (n, m)."""
    tiles = list(_tiles(len(X), X.shape[1] * M.shape[1]))
    if len(tiles) <= 1:
        return X @ M
    out = np.empty((len(X), M.shape[1]), dtype=np.result_type(X, M))

    def multiply(rows: slice) -> None:
        np.matmul(X[rows], M, out=out[rows])

    for _ in run_in_order(multiply, tiles, current_n_threads()):
        pass
    return out


def gram(X: NDArray, Y: NDArray) -> NDArray:
    """Xᵀ Y for X of shape (n, k) and Y of shape (n, m) with many rows, shape (k, m)."""
    tiles = list(_tiles(len(X), X.shape[1] * Y.shape[1], _MOST_TILES))
    if len(tiles) <= 1:
        return X.T @ Y

    def multiply(rows: slice) -> NDArray:
        return X[rows].T @ Y[rows]

    parts = run_in_order(multiply, tiles, current_n_threads())
    total = next(parts)
    for part in parts:
        total += part
    return total


def _tiles(n: int, work_per_row: int, most: int | None = None) -> Iterator[slice]:
    """Rows in parts that depend on the shape of the product alone."""
    step = max(1, -(-_TILE_WORK // max(1, work_per_row)))
    if most is not None:
        step = max(step, -(-n // most))
    return (slice(start, min(start + step, n)) for start in range(0, n, step))
