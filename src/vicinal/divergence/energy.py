"""Choosing the size of the neighborhoods by the energy of the Laplacian (section 4.2)."""

import warnings
from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_matrix

from vicinal.divergence.growth import SIZES
from vicinal.divergence.learners.laplacian import leading_eigenvalues

__all__ = ["SIZES", "best_size", "laplacian_energy"]

# Energies that differ by less are the same.
_ROUNDING = 1e-9


def laplacian_energy(
    graph: csr_matrix, n_leading: int, scale: float | None, rng: np.random.Generator
) -> float:
    """Sum of the first eigenvalues of the normalized affinities; every component has a 1."""
    return float(leading_eigenvalues(graph, n_leading, scale, rng).sum())


def best_size(
    energy: Callable[[int], float], n_samples: int, n_leading: int
) -> tuple[int, dict[int, float]]:
    """The size of largest energy, the smallest of equals, and the energies of all sizes tried.

    Warns
    -----
    UserWarning
        If several have all there can be: graphs of as many components as eigenvalues that count,
        which the paper calls perfect (footnote 8), do not differ in energy.
    """
    sizes = [size for size in SIZES if size < n_samples] or [n_samples - 1]
    energies = {size: energy(size) for size in sizes}
    largest = max(energies.values())
    equal = [size for size, value in energies.items() if value >= largest - _ROUNDING]
    if len(equal) > 1 and largest >= n_leading - _ROUNDING:
        warnings.warn(
            f'n_neighbors="energy": the graphs of neighborhoods of {", ".join(map(str, equal))} '
            f"points have {n_leading} components or more, and all the energy there can be; the "
            "smallest was taken.",
            stacklevel=2,
        )
    return equal[0], energies
