"""Where a fit begins: a map of full rank, of a size at which the likelihood is not flat."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from vicinal.coincidence.equations import CoincidenceData, LatentMap
from vicinal.inputs.checks import check_choice
from vicinal.inputs.starts import given_map
from vicinal.neighborhood import gram, times

__all__ = ["latent_start"]

STARTS = ("auto", "pca", "identity", "random")

# σ² of a start, and the mean squared distance of coincident pairs under it.
_SIGMA2, _NEAR = 0.1, 1.0


def latent_start(
    init: Any,
    data: CoincidenceData,
    n_components: int,
    rng: np.random.Generator,
    basis: NDArray | None = None,
) -> LatentMap:
    """From a name, a map, or a map and σ²; with a `basis`, maps given are of the columns still."""
    if isinstance(init, tuple):
        return _given(init, data, n_components, basis)
    if not isinstance(init, str):
        W = _inward(init, data, n_components, basis)
        return LatentMap(W, _SIGMA2, np.ones(data.n_anchors))
    check_choice("init", init, STARTS)
    W = _directions(init, data, n_components, rng)
    squared = data.pairs.squared_distances(times(data.X, W.T))
    near = float(squared[data.coincide].mean()) or float(squared.mean()) or 1.0
    return LatentMap(W * np.sqrt(_NEAR / near), _SIGMA2, np.ones(data.n_anchors))


def _directions(
    init: str, data: CoincidenceData, n_components: int, rng: np.random.Generator
) -> NDArray:
    D = data.X.shape[1]
    if init == "random":
        return rng.standard_normal((n_components, D))
    if init == "identity" or (init == "auto" and n_components == D):
        return np.eye(n_components, D)
    covariance = gram(data.X, data.X)
    return eigh(covariance, subset_by_index=[D - n_components, D - 1])[1].T[::-1]


def _inward(init: Any, data: CoincidenceData, n_components: int, basis: NDArray | None) -> NDArray:
    if basis is None:
        return given_map(init, n_components, data.X.shape[1])
    return given_map(init, n_components, basis.shape[1]) @ basis.T


def _given(
    init: tuple[Any, ...], data: CoincidenceData, n_components: int, basis: NDArray | None
) -> LatentMap:
    if len(init) != 2:
        raise ValueError(f"init={init!r} must be a map, or a map and σ².")
    W, sigma2 = _inward(init[0], data, n_components, basis), float(init[1])
    if not 0 < sigma2 < np.inf:
        raise ValueError(f"σ² in init is {sigma2!r}, but must be positive and finite.")
    return LatentMap(W, sigma2, np.ones(data.n_anchors))
