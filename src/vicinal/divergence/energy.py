"""Choosing the size of the neighborhoods by the energy of the Laplacian (section 4.2)."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from vicinal.divergence.learners.laplacian import laplacian_eigenmaps

__all__ = ["SIZES", "best_size", "laplacian_energy"]

# Sizes of neighborhoods tried.
SIZES = (5, 7, 10, 14, 20, 28, 40)


def laplacian_energy(
    graph: csr_matrix, n_leading: int, scale: float | None, rng: np.random.Generator
) -> float:
    """Sum of the first eigenvalues of the normalized affinities; NaN for a disconnected graph.

    As many components as eigenvalues that count make all of these 1, whatever the graph: energies
    of connected graphs only say anything.
    """
    if connected_components(graph, directed=False)[0] > 1:
        return float("nan")
    return float(laplacian_eigenmaps(graph, n_leading - 1, scale, rng).eigenvalues.sum())


def best_size(energy: Callable[[int], float], n_samples: int) -> tuple[int, dict[int, float]]:
    """The size of largest energy, and the energies of all sizes tried."""
    if n_samples <= SIZES[0]:
        raise ValueError(
            f'n_neighbors="energy" tries neighborhoods of {SIZES[0]} points and more, and X has '
            f"{n_samples} rows: choose n_neighbors yourself."
        )
    energies = {size: energy(size) for size in SIZES if size < n_samples}
    known = {size: value for size, value in energies.items() if not np.isnan(value)}
    if not known:
        raise ValueError(
            'n_neighbors="energy" needs a connected graph, and none of those tried is, with '
            f"neighborhoods of {', '.join(map(str, energies))} points: raise "
            "n_graph_neighbors, or choose n_neighbors yourself."
        )
    return max(known, key=known.__getitem__), energies
