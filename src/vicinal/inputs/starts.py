"""Starting maps: pca, lda, rca, identity, random, or the user's own (thesis 3.3.2)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, norm
from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array, check_random_state

from vicinal.inputs.checks import check_choice

__all__ = ["STARTS", "reach_neighbors", "solver_coordinates", "standard_units", "starting_map"]

STARTS = ("auto", "rca", "lda", "pca", "identity", "random")

# Added to the within-class covariance, relative to its mean variance. Large enough to order
# directions the classes do not differ in (by variance) and to keep constant columns harmless,
# small enough to leave the whitening of all but the least directions alone.
RIDGE = 1e-8

# Relative ridge of the coordinates solvers work in. Smaller ones converge faster, but let
# directions of little variance, mostly noise, move first: docs/decisions/0003.
_COORDINATE_RIDGE = 10.0

_BLOCK = 1024

# Points whose neighbors are looked at to scale a map for compact support.
_SUPPORT_SAMPLE = 2000

# Smallest and largest values, by bytes per number, whose inverse is a number too.
_UNITS = {8: (1e-300, 1e300), 4: (1e-30, 1e30)}


def starting_map(
    init: Any,
    X: NDArray,
    labels: NDArray,
    n_components: int,
    random_state: int | np.random.RandomState | None = None,
    unit: float = 1.0,
) -> NDArray:
    """Linear map to start from.

    Parameters
    ----------
    init : {"auto", "rca", "lda", "pca", "identity", "random"} or array of shape (d, D)
        "auto" is "rca", which the thesis found best.
    X : ndarray of shape (n, D)
        Centered, in multiples of `unit`.
    labels : ndarray of shape (n,)
        Classes coded 0, 1, ...
    n_components : int
        d.
    random_state : int, RandomState or None
        For "random".
    unit : float, default=1.0
        What X was divided by. The identity and the user's own map speak of the
        original features and are converted.

    Returns
    -------
    ndarray of float64, shape (d, D)
    """
    if not isinstance(init, str):
        return unit * _given(init, n_components, X.shape[1])
    init = check_choice("init", init, STARTS)
    if init == "identity":
        return unit * np.eye(n_components, X.shape[1])
    if init == "random":
        return _random(X, n_components, random_state)
    if init == "pca":
        return _pca(X, n_components)
    if init == "lda":
        return _lda(X, labels, n_components)
    return _rca(X, labels, n_components)


def reach_neighbors(A: NDArray, X: NDArray) -> NDArray:
    """Scale a map for compact support: 95 % of the points have 10 others within distance 1.

    From a larger start most points would have no neighbor at all, and no gradient.
    """
    Z = X @ A.T.astype(X.dtype)
    sample = Z[:: max(1, len(Z) // _SUPPORT_SAMPLE)]
    n_others = min(10, len(Z) - 1)
    neighbors = NearestNeighbors(n_neighbors=n_others + 1).fit(Z)  # the point itself comes first
    farthest = neighbors.kneighbors(sample)[0][:, -1]
    radius = float(np.quantile(farthest, 0.95)) or float(farthest.max()) or 1.0
    return A / (radius * (1.0 + 1e-6))


def standard_units(X: NDArray) -> tuple[NDArray, float]:
    """Centered features divided by a power of two near their largest value, and that power.

    Covariances then neither overflow nor vanish, the solvers' first step has
    the right size whatever the units, and no digit is lost.
    """
    smallest, largest = _UNITS[X.dtype.itemsize]
    if np.abs(X).max() > largest:
        raise ValueError(
            f"X reaches {np.abs(X).max():.3g}, too large for {X.dtype}: scale it below {largest:g}."
        )
    centered = X - X.mean(axis=0, dtype=np.float64).astype(X.dtype)
    spread = float(np.abs(centered).max())
    if 0 < spread < smallest:
        raise ValueError(
            f"X varies by {spread:.3g} at most, too little for {X.dtype}: "
            f"scale it above {smallest:g}."
        )
    unit = 2.0 ** np.floor(np.log2(spread)) if spread else 1.0
    centered /= X.dtype.type(unit)
    return centered, float(unit)


def solver_coordinates(A: NDArray, X: NDArray, labels: NDArray) -> tuple[NDArray, NDArray]:
    """The start as A = B P, in coordinates B that suit a solver, and P.

    P = c (S_W + ridge)^(-1/2): a step in B moves the directions of large
    within-class variance alike. c makes the norm of the start 10, as a solver's
    first step has norm 1. Measured in docs/decisions/0003-solver-coordinates.md.
    """
    variances, directions = eigh(_within(X, labels))
    variances = variances + _COORDINATE_RIDGE * variances.mean()
    P = (directions / np.sqrt(variances)) @ directions.T
    B = A @ (directions * np.sqrt(variances)) @ directions.T
    c = (norm(B.ravel()) or 10.0) / 10.0  # of a vector: the norm that cannot overflow
    return B / c, P * c


def _given(init: Any, n_components: int, n_features: int) -> NDArray:
    start = check_array(init, dtype=np.float64, input_name="init", copy=True)
    if start.shape != (n_components, n_features):
        raise ValueError(
            f"init has shape {start.shape}, but n_components={n_components} and "
            f"{n_features} features need shape ({n_components}, {n_features})."
        )
    return start


def _random(
    X: NDArray, n_components: int, random_state: int | np.random.RandomState | None
) -> NDArray:
    """Gaussian entries, scaled so that projected coordinates have unit variance on average."""
    draw = check_random_state(random_state).standard_normal((n_components, X.shape[1]))
    total_variance = np.square(X, dtype=np.float64).sum() / len(X)
    return draw / np.sqrt(total_variance or 1.0)


def _pca(X: NDArray, n_components: int) -> NDArray:
    """Leading rows of the whitening S^(-1/2) (thesis 3.15); 0 where the data has no variance."""
    variances, directions = _leading(_covariance(X), None, n_components)
    seen = variances > 1e-14 * variances.max(initial=0.0)
    scale = np.where(seen, 1.0 / np.sqrt(np.where(seen, variances, 1.0)), 0.0)
    return scale[:, None] * directions


def _lda(X: NDArray, labels: NDArray, n_components: int) -> NDArray:
    """Leading directions of S_B with respect to S_W (thesis 3.16, 3.17), white within classes."""
    means = _class_means(X, labels)
    if n_components > len(means) - 1:
        raise ValueError(
            f"init='lda' finds at most n_classes - 1 = {len(means) - 1} directions, but "
            f"n_components={n_components}: use init='rca' or fewer components."
        )
    spread = means - means.mean(axis=0)  # S_B must be centered; the text forgets it
    between = spread.T @ spread / len(means)
    return _leading(between, _within(X, labels), n_components)[1]


def _rca(X: NDArray, labels: NDArray, n_components: int) -> NDArray:
    """Leading directions of S_T with respect to S_W, white within classes: A S_W Aᵀ = I.

    Truncating S_W^(-1/2), as the thesis has it for d < D, keeps arbitrary directions.
    """
    return _leading(_covariance(X), _within(X, labels), n_components)[1]


def _leading(target: NDArray, within: NDArray | None, k: int) -> tuple[NDArray, NDArray]:
    """Largest (generalized) eigenvalues and eigenvectors, as rows, with definite signs."""
    n = len(target)
    values, vectors = eigh(target, within, subset_by_index=[n - k, n - 1])
    values, vectors = values[::-1], vectors.T[::-1]
    peaks = np.abs(vectors).argmax(axis=1)
    return values, vectors * np.sign(vectors[np.arange(k), peaks])[:, None]


def _covariance(X: NDArray, means: NDArray | None = None, labels: NDArray | None = None) -> NDArray:
    """Second moments about the mean, or about each row's class mean, in float64.

    Row by block of rows: a float64 copy of float32 data could exceed memory.
    """
    center = X.mean(axis=0, dtype=np.float64)
    total = np.zeros((X.shape[1], X.shape[1]))
    for start in range(0, len(X), _BLOCK):
        rows = slice(start, start + _BLOCK)
        block = X[rows] - (center if means is None or labels is None else means[labels[rows]])
        total += block.T @ block
    return total / len(X)


def _within(X: NDArray, labels: NDArray) -> NDArray:
    """S_W (thesis 3.17) with a relative ridge, positive definite for any data."""
    within = _covariance(X, _class_means(X, labels), labels)
    # Where classes have no spread at all, the spread of everything sets the scale.
    scale = np.trace(within) or np.square(X, dtype=np.float64).sum() / len(X) or 1.0
    within.flat[:: len(within) + 1] += RIDGE * scale / len(within)
    return within


def _class_means(X: NDArray, labels: NDArray) -> NDArray:
    """Mean of every class, shape (n_classes, D)."""
    members = csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    return (members @ X) / np.bincount(labels)[:, None]
