"""What an estimator tells of its density, which may have several parts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.local_components.density import Density
from vicinal.local_components.mixture.density import MixtureDensity
from vicinal.neighborhood import Engine

__all__ = ["attributes_of", "part_probabilities"]


def attributes_of(density: Density) -> dict[str, Any]:
    """All that transform and the density need, by the names that users know."""
    shape, dtype = density.shape, density.points.X.dtype
    n_local = shape.n_local
    return {
        "covariance_": shape.covariance,
        "components_": shape.round_map.astype(dtype),
        "gaussian_components_": shape.inverse[n_local:].astype(dtype),
        "n_gaussian_": len(shape.factor) - n_local,
        "mean_": density.mean,
        "n_features_in_": len(shape.factor),
        "_density": density,
        **_of_parts(*_parts(density)),
    }


def part_probabilities(density: Density, X: NDArray, engine: Engine) -> NDArray:
    """How likely points come from each part, shape (n, K)."""
    if isinstance(density, MixtureDensity):
        return density.part_probabilities(X, engine)
    return np.ones((len(X), 1))


def _parts(density: Density) -> tuple[Sequence[Density], NDArray]:
    if isinstance(density, MixtureDensity):
        return density.parts, density.weights
    return [density], np.ones(1)


def _of_parts(parts: Sequence[Density], weights: NDArray) -> dict[str, Any]:
    shapes = [part.shape for part in parts]
    return {
        "n_mixture_": len(parts),
        "mixture_weights_": weights,
        "mixture_means_": np.stack([part.mean for part in parts]),
        "mixture_covariances_": np.stack([shape.covariance for shape in shapes]),
        "mixture_n_gaussian_": np.array([len(one.factor) - one.n_local for one in shapes]),
    }
