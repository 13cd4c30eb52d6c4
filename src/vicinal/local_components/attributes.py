"""What an estimator tells of its density, which may have several parts."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.local_components.density import Density
from vicinal.local_components.mixture.density import MixtureDensity
from vicinal.metric import LinearMapMixin
from vicinal.neighborhood import Engine
from vicinal.neighborhood.arrays import Array, in_dtype_of, is_numpy

__all__ = ["MATRICES", "DensityMapMixin", "attributes_of", "part_probabilities"]


def _components(density: Density) -> NDArray:
    return density.shape.round_map.astype(density.points.X.dtype)


def _part_covariances(density: Density) -> NDArray:
    return np.stack([part.shape.covariance for part in _parts(density)[0]])


# Matrices of a density, which some shapes do without, by the names that users know.
MATRICES: dict[str, Callable[[Density], NDArray]] = {
    "covariance_": lambda density: density.shape.covariance,
    "components_": _components,
    "mixture_covariances_": _part_covariances,
}


class _Made:
    """An attribute of a fitted model that is made when it is asked for, unless the fit set it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            return self
        if "_density" not in vars(model):
            raise AttributeError(f"{owner.__name__} has {self.name} once it is fitted.")
        return MATRICES[self.name](model._density)


class DensityMapMixin(LinearMapMixin):
    """The map to coordinates in which kernels are round, without its matrix where none is needed.

    A fit sets the attributes of a shape that is a matrix. Those of other shapes are made whenever
    they are asked for.
    """

    _density: Density
    covariance_ = _Made()
    components_ = _Made()
    mixture_covariances_ = _Made()

    def __sklearn_is_fitted__(self) -> bool:
        return "_density" in vars(self)

    @property
    def _is_compact(self) -> bool:
        return self._density.shape.is_compact

    @property
    def _n_columns(self) -> int:
        return self._density.shape.n_features

    @property
    def _n_features_out(self) -> int:
        return self._density.shape.n_local

    @property
    def _stretches(self) -> NDArray:
        return self._density.shape.stretches if self._is_compact else self.components_

    def _mapped(self, X: Array) -> Array:
        if not self._is_compact:
            return super()._mapped(X)
        Z = self._density.shape.coordinates(X)
        if not is_numpy(X):
            return in_dtype_of(X, Z)
        return Z.astype(np.result_type(X, self._density.points.X), copy=False)


def attributes_of(density: Density) -> dict[str, Any]:
    """All that transform and the density need, by the names that users know."""
    shape, dtype = density.shape, density.points.X.dtype
    is_matrix = not shape.is_compact
    return {
        "gaussian_components_": shape.gaussian_map.astype(dtype),
        "n_gaussian_": shape.n_features - shape.n_local,
        "mean_": density.mean,
        "n_features_in_": shape.n_features,
        "_density": density,
        **_of_parts(*_parts(density)),
        **{name: matrix(density) for name, matrix in MATRICES.items() if is_matrix},
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
        "mixture_n_gaussian_": np.array([one.n_features - one.n_local for one in shapes]),
    }
