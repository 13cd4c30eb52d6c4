"""The density as a function, for experiments and checks."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from vicinal.inputs.checks import check_choice, check_weights
from vicinal.inputs.points import WeightedPoints
from vicinal.inputs.tensors import answers_in_kind
from vicinal.inputs.units import check_reach
from vicinal.local_components.equations import log_density as equation
from vicinal.local_components.given import given_shape
from vicinal.neighborhood import GAUSSIAN_MIXTURES, Workload, choose_engine, law_named
from vicinal.neighborhood.threads import on_own_threads

__all__ = ["log_density"]


@answers_in_kind
@on_own_threads
def log_density(
    Q: ArrayLike,
    X: ArrayLike,
    *,
    covariance: Any,
    kernel: str = "gaussian",
    degrees_of_freedom: float = 3.0,
    weights: ArrayLike | None = None,
    engine: str = "auto",
    tolerance: float = 0.0,
    precision: str = "auto",
) -> NDArray:
    """Log-density of a Parzen (kernel) density estimate with a given covariance.

    Parameters
    ----------
    Q : array-like of shape (n, d)
        Points to evaluate.
    X : array-like of shape (m, d)
        Centers of the kernels.
    covariance : float, array-like of shape (d,) or (d, d)
        Covariance of the kernels: one variance for all features, one per feature, or the whole
        matrix. For Student kernels, the scale matrix; their covariance is ν / (ν - 2) times that,
        for ν above 2.
    kernel : {"gaussian", "student"}, default="gaussian"
        "gaussian", or "student" for heavy tails.
    degrees_of_freedom : float, default=3.0
        Degrees of freedom ν of ``kernel="student"``.
    weights : array-like of shape (m,), optional
        Weights of the kernels: weight k counts as k copies. None: all 1.
    engine : {"auto", "blocked", "fused", "tree", "adaptive", "cuda"}, default="auto"
        How the sums over pairs are computed, as in `vicinal.LocalComponents`.
    tolerance : float, default=0.0
        Relative error that "tree" may make in the density; the larger, the faster. 0: rounding
        error only.
    precision : {"auto", "float64", "float32", "tf32"}, default="auto"
        Precision of the sums over pairs with ``engine="cuda"``. "auto": single precision for NumPy
        arrays; for tensors, their own. "tf32": faster, with products of 11 bits. All other engines
        compute in double precision, whatever the precision of X, and raise an error for any other;
        with ``engine="auto"``, asking for another precision selects the GPU.

    Returns
    -------
    ndarray of shape (n,)
        Log-densities.

    Notes
    -----
    Equation by equation: ``docs/equations/local-components.md``.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.local_components import log_density
    >>> log_density([[0.0]], [[0.0], [1.0]], covariance=1.0).round(4)
    array([-1.138])
    """
    centers = check_array(X, dtype=np.float64, input_name="X")
    queries = check_array(Q, dtype=np.float64, input_name="Q")
    check_reach(centers)
    check_reach(queries, name="Q")
    d = centers.shape[1]
    if queries.shape[1] != d:
        raise ValueError(f"Q has {queries.shape[1]} features, but X has {d}.")
    law = law_named(
        check_choice("kernel", kernel, GAUSSIAN_MIXTURES), degrees_of_freedom=degrees_of_freedom
    )
    shape = given_shape(covariance, d, law)
    counts = check_weights(weights, centers)
    if counts is not None:
        centers, counts = centers[counts > 0], counts[counts > 0]
    mean = centers.mean(axis=0)
    work = Workload(len(queries), len(centers), d, law=law)
    chosen, _ = choose_engine(engine, work, tolerance=tolerance, precision=precision)
    return equation(shape, chosen, queries - mean, WeightedPoints(centers - mean, counts))
