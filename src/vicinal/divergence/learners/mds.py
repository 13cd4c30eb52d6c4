"""Classical multidimensional scaling, for distances that need not be Euclidean."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vicinal.divergence.learners.learner import Embedded, Learner, Settings
from vicinal.divergence.learners.spectral import largest_eigenpairs
from vicinal.divergence.space import Space

__all__ = ["MDS", "ScalingMap", "classical_scaling"]

# Eigenvalues below this are none, and not even their inverse is a number.
_NOTHING = 1e-300


@dataclass(frozen=True)
class ScalingMap:
    """Coordinates, and what new points need.

    Attributes
    ----------
    coordinates : ndarray of shape (n, n_components)
    eigenvalues : ndarray of shape (n_components,)
        Of the doubly centered matrix; negative ones, and what is below rounding, are
        set to 0, and their coordinates, too.
    row_means : ndarray of shape (n,)
        Of squared distances.
    error : float
        Distance of the coordinates' inner products from the matrix, by its entries' number:
        scikit-learn's reconstruction error of Isomap.
    """

    coordinates: NDArray
    eigenvalues: NDArray
    row_means: NDArray
    error: float = 0.0

    def extended(self, squared: NDArray) -> NDArray:
        """Coordinates of points with these squared distances from training points (Gower 1968)."""
        gram = -0.5 * (squared - self.row_means)
        gram -= gram.mean(axis=1, keepdims=True)
        inverse = np.divide(
            1.0, self.eigenvalues, out=np.zeros_like(self.eigenvalues), where=self.eigenvalues > 0
        )
        return gram @ (self.coordinates * inverse)


def _embed(
    space: Space, divergences: NDArray, settings: Settings, rng: np.random.Generator
) -> Embedded:
    found = classical_scaling(space.squares(divergences), settings.n_components, rng)
    error = found.error
    return Embedded(found.coordinates, found, found.eigenvalues, reconstruction_error=error)


def _extend(space: Space, divergences: NDArray, points: NDArray, embedded: Embedded) -> NDArray:
    return embedded.map.extended(space.squares(divergences))


def classical_scaling(squared: NDArray, n_components: int, rng: np.random.Generator) -> ScalingMap:
    """Coordinates whose inner products are nearest to -½ J d² J, J = I - 1/n."""
    row_means = squared.mean(axis=1)
    gram = -0.5 * (squared - row_means[:, None] - row_means + row_means.mean())
    values, vectors = largest_eigenpairs(gram, n_components, rng)
    rounding = np.finfo(float).eps * len(gram) * values[0]
    values = np.where(values > max(rounding, _NOTHING), values, 0.0)
    left = max(float(np.square(gram).sum() - np.square(values).sum()), 0.0)
    return ScalingMap(vectors * np.sqrt(values), values, row_means, np.sqrt(left) / len(gram))


MDS = Learner("mds", _embed, _extend, graph=None, all_pairs=True)
