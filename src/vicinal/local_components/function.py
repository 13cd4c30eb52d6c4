"""The density as a function, for experiments and checks."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from vicinal.inputs.checks import check_weights
from vicinal.local_components.equations import Points, Shape
from vicinal.local_components.equations import log_density as equation
from vicinal.neighborhood import Workload, choose_engine

__all__ = ["log_density"]


def log_density(
    Q: ArrayLike,
    X: ArrayLike,
    *,
    covariance: Any,
    weights: ArrayLike | None = None,
    engine: str = "auto",
    tolerance: float = 0.0,
) -> NDArray:
    """Logarithm of a Parzen density with Gaussian kernels.

    Parameters
    ----------
    Q : array-like of shape (n, d)
        Where to evaluate it.
    X : array-like of shape (m, d)
        Centers of the kernels.
    covariance : float, array-like of shape (d,) or (d, d)
        Of the kernels: one variance, one per feature, or all of it.
    weights : array-like of shape (m,), optional
        Of the kernels; weight k counts as k copies.
    engine : {"auto", "blocked", "fused", "tree", "adaptive"}, default="auto"
        How the sums over pairs are computed.
    tolerance : float, default=0.0
        Relative error that "tree" may make in the density; 0: no more than
        rounding. The larger, the faster.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.local_components import log_density
    >>> log_density([[0.0]], [[0.0], [1.0]], covariance=1.0).round(4)
    array([-1.138])
    """
    centers = check_array(X, dtype=np.float64, input_name="X")
    queries = check_array(Q, dtype=np.float64, input_name="Q")
    d = centers.shape[1]
    if queries.shape[1] != d:
        raise ValueError(f"Q has {queries.shape[1]} features, but X has {d}.")
    matrix = _covariance_matrix(covariance, d)
    counts = check_weights(weights, centers)
    if counts is not None:
        centers, counts = centers[counts > 0], counts[counts > 0]
    mean = centers.mean(axis=0)
    work = Workload(len(queries), len(centers), d)
    chosen, _ = choose_engine(engine, work, tolerance=tolerance)
    shape = Shape.of(matrix)
    return equation(shape, chosen, queries - mean, Points(centers - mean, counts))


def _covariance_matrix(covariance: Any, d: int) -> NDArray:
    array = np.asarray(covariance, dtype=np.float64)
    if array.ndim < 2 and array.shape in ((), (d,)):
        array = np.diag(np.broadcast_to(array, d))
    if array.shape != (d, d):
        raise ValueError(
            f"covariance has shape {np.shape(covariance)}, expected a number, ({d},) or ({d}, {d})."
        )
    symmetric = np.allclose(array, array.T)
    if not symmetric or not np.isfinite(array).all() or np.linalg.eigvalsh(array)[0] <= 0:
        raise ValueError(f"covariance={covariance!r} must be symmetric and positive definite.")
    return array
