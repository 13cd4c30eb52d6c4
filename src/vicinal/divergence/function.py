"""The family as functions: local Gaussians, and divergences of all pairs or of given ones."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import _num_samples

from vicinal.divergence.comparison import Comparison
from vicinal.divergence.divergences import divergence_named
from vicinal.divergence.engines import check_engine
from vicinal.divergence.limits import check_room, in_precision
from vicinal.divergence.local import LocalModel
from vicinal.divergence.neighbors import DivergenceNeighbors
from vicinal.divergence.space import check_all_pairs, without_shapes
from vicinal.inputs.pairs import check_positions
from vicinal.inputs.tensors import answers_in_kind
from vicinal.inputs.units import check_units
from vicinal.neighborhood.threads import on_own_threads

__all__ = ["local_gaussians", "paired", "pairwise"]


@answers_in_kind
@on_own_threads
def local_gaussians(
    X: ArrayLike, n_neighbors: int = 10, gamma: float | str = "auto", covariance: str = "ridge"
) -> tuple[NDArray, NDArray]:
    """Gaussian around each point: the point as mean, the covariance of its neighborhood.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    n_neighbors : int, default=10
        Size of the neighborhoods.
    gamma : "auto" or float, default="auto"
        Regularization of `covariance`.
    covariance : str, default="ridge"
        Covariance estimator. All parameters are as in `DivergenceNeighbors`.

    Returns
    -------
    means : ndarray of shape (n_samples, n_features)
        The points themselves.
    covariances : ndarray of shape (n_samples, n_features, n_features)
        Covariance matrices. `DivergenceNeighbors` stores them in less memory, as `gaussians_`.

    Notes
    -----
    Equation by equation: ``docs/equations/divergence.md``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.divergence import local_gaussians
    >>> means, covariances = local_gaussians(load_iris().data)
    >>> covariances.shape
    (150, 4, 4)
    """
    points = check_array(X, dtype=(np.float64, np.float32), ensure_min_samples=2)
    check_units(points)
    model = LocalModel(n_neighbors, covariance=covariance, gamma=gamma)
    model.check(len(points))
    n, d = points.shape
    check_room("covariances", (n, d, d), "see DivergenceNeighbors, which holds them in less room")
    gaussians = model.fit(points)
    return gaussians.means, gaussians.covariances()


@on_own_threads
def pairwise(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    n_neighbors: int = 10,
    gamma: float | str = "auto",
    divergence: str = "jeffreys",
    covariance: str = "ridge",
    engine: str = "auto",
    n_jobs: int | None = None,
) -> NDArray:
    """Divergences of all pairs of points: between the Gaussians around them.

    Parameters
    ----------
    X : array-like of shape (n_samples_X, n_features)
        Points.
    Y : array-like of shape (n_samples_Y, n_features), optional
        Points to compare with. None: X. With Y, the Gaussians of X use the points of Y around them,
        as in `DivergenceNeighbors.transform`.
    n_neighbors : int, default=10
        Size of the neighborhoods.
    gamma : "auto" or float, default="auto"
        Regularization of `covariance`.
    divergence : str, default="jeffreys"
        Name of the divergence.
    covariance : str, default="ridge"
        Covariance estimator.
    engine : {"auto", "dense", "low-rank", "cuda", "dask"}, default="auto"
        Where to compute. All of these are as in `DivergenceNeighbors`.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    ndarray of shape (n_samples_X, n_samples_Y)
        Divergences.

    Notes
    -----
    Equation by equation: ``docs/equations/divergence.md``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.divergence import pairwise
    >>> D = pairwise(load_iris().data, gamma=1e-4)  # the paper's
    >>> round(float(D[0, 1]), 4)
    24.1572
    """
    model = DivergenceNeighbors(
        n_neighbors,
        gamma=gamma,
        divergence=divergence,
        covariance=covariance,
        n_graph_neighbors=None,
        engine=engine,
        n_jobs=n_jobs,
    )
    if Y is None:
        return model.fit_transform(X)
    check_all_pairs(_num_samples(X), _num_samples(Y))  # before any work
    return model.fit(Y).transform(X)


@answers_in_kind
@on_own_threads
def paired(
    X: ArrayLike,
    pairs: Any,
    *,
    n_neighbors: int = 10,
    gamma: float | str = "auto",
    divergence: str = "jeffreys",
    covariance: str = "ridge",
    engine: str = "auto",
    n_jobs: int | None = None,
) -> NDArray:
    """Divergences of given pairs of points: between the Gaussians around them.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    pairs : array-like of int, shape (n_pairs, 2)
        Row numbers of two points per pair.
    n_neighbors : int, default=10
        Size of the neighborhoods.
    gamma : "auto" or float, default="auto"
        Regularization of `covariance`.
    divergence : str, default="jeffreys"
        Name of the divergence.
    covariance : str, default="ridge"
        Covariance estimator.
    engine : {"auto", "dense", "low-rank", "cuda", "dask"}, default="auto"
        Where to compute. All of these are as in `DivergenceNeighbors`.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    ndarray of shape (n_pairs,)
        Divergences.

    Notes
    -----
    Equation by equation: ``docs/equations/divergence.md``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vicinal.divergence import paired
    >>> paired(load_iris().data, [[0, 1], [0, 50]], gamma=1e-4).round(4)
    array([  24.1572, 1342.7202])
    """
    points = check_array(X, dtype=(np.float64, np.float32), ensure_min_samples=2)
    check_units(points)
    first, second = check_positions(pairs, len(points)).T
    check_engine(engine)
    comparison = Comparison(divergence_named(divergence), engine, n_jobs)
    model = LocalModel(n_neighbors, covariance=covariance, gamma=gamma, n_jobs=n_jobs)
    model.check(len(points))
    shaped = comparison.divergence.shapes
    gaussians = model.fit(points) if shaped else without_shapes(points)
    values = comparison.pairs(gaussians, None, first, second)
    return in_precision(values, points.dtype, "divergences")
