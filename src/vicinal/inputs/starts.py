"""Starting maps: pca, lda, rca, identity, random, or the user's own (thesis 3.3.2)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, norm, svd
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array

from vicinal.inputs.checks import check_seed
from vicinal.inputs.features import Features, Moments
from vicinal.inputs.tensors import as_numpy

__all__ = [
    "STARTS",
    "discriminant_map",
    "given_map",
    "principal_map",
    "reach_neighbors",
    "solver_coordinates",
    "starting_map",
    "unlearned_map",
]

STARTS = ("auto", "rca", "lda", "pca", "identity", "random")

# Added to the within-class covariance, relative to its mean variance. Large enough to order
# directions the classes do not differ in (by variance) and to keep constant columns harmless,
# small enough to leave the whitening of all but the least directions alone.
RIDGE = 1e-6

# Directions in which classes differ by less than this, relative to the most, differ by rounding.
_NO_GAIN = 1e-10

# White directions whose projected variance is below this, not near 1, exist only by the ridge.
_NO_VARIANCE = 1e-4

# Relative ridge of the coordinates solvers work in. Smaller ones converge faster, but let
# directions of little variance, mostly noise, move first: docs/decisions/0003.
_COORDINATE_RIDGE = 10.0

# Points per feature below which "auto" does not trust a covariance: docs/decisions/0006.
_FEW_POINTS = 10

# Root mean square of points under a map that nothing was learned for.
_UNLEARNED_SPREAD = 2.0

# Compact support: this many others in reach of this share of the points.
_REACH, _REACHED = 10, 0.95

# Points whose neighbors are looked at for that.
_SUPPORT_SAMPLE = 2000


def starting_map(
    init: str,
    known: Moments,
    n_components: int,
    random_state: int | np.random.RandomState | None = None,
) -> NDArray:
    """Linear map to start from.

    Parameters
    ----------
    init : {"auto", "rca", "lda", "random"}
        "auto" is "rca", which the thesis found best, but where there are few points for
        the number of features its within-class covariance is shrunk first.
    known : Moments
        Of the training points.
    n_components : int
        d.
    random_state : int, RandomState or None
        For "random".

    Returns
    -------
    ndarray of float64, shape (d, D)
    """
    if init == "random":
        return _random(known, n_components, random_state)
    share, n, D = 0.0, known.counts.sum(), known.means.shape[1]
    # Where points are fewer than features, a covariance is singular: no start could do without.
    if n < (_FEW_POINTS if init == "auto" else 1) * D:
        share = _shrinkage(known.within, n)
    if init == "lda":
        return _lda(known, n_components, _within(known, share))
    return _rca(known, n_components, share)


def principal_map(features: Features, known: Moments, n_components: int) -> NDArray:
    """Leading rows of the whitening S^(-1/2) of the columns (thesis 3.15), for these features.

    Of the columns as the user has them, whose units count here; 0 where they have no variance.
    """
    variances, directions = eigh(known.total)
    roots = np.sqrt(np.maximum(variances, 0.0))[:, None] * directions.T  # S_T = rootsᵀ roots
    unit = features.unit / np.max(features.unit)  # so that squares are numbers
    columns = (roots if features.basis is None else roots @ features.basis) * unit
    _, deviations, axes = svd(columns, full_matrices=False)
    deviations, axes = deviations[:n_components], _definite_signs(axes[:n_components])
    seen = deviations > 1e-7 * deviations.max(initial=0.0)
    scale = np.where(seen, 1.0 / np.where(seen, deviations, 1.0), 0.0)
    return features.inward(scale[:, None] * axes / np.max(features.unit))


def unlearned_map(known: Moments, n_components: int) -> NDArray:
    """Leading principal components of the features, at the size of a start.

    At full rank distances under it are those of the features themselves: what nearest neighbors
    would look at if nothing had been learned.
    """
    variances, directions = _leading(known.total, None, n_components)
    return directions * (_UNLEARNED_SPREAD / np.sqrt(variances.sum() or 1.0))


def discriminant_map(known: Moments, n_components: int) -> NDArray:
    """Linear discriminants, the directions of "auto" in which classes differ; the others are 0."""
    A = starting_map("auto", known, n_components)
    A[len(known.means) - 1 :] = 0.0
    return A


def reach_neighbors(A: NDArray, Z: NDArray, weights: NDArray | None = None) -> NDArray:
    """Scale a map for compact support: 95 % of the points have 10 others within distance 1.

    From a larger start most points would have no neighbor at all, and no
    gradient. `Z` are the points under `A`.
    """
    weights = np.ones(len(Z)) if weights is None else weights
    sample = np.arange(0, len(Z), max(1, len(Z) // _SUPPORT_SAMPLE))
    neighbors = NearestNeighbors(n_neighbors=min(_REACH + 1, len(Z))).fit(Z)
    distances, who = neighbors.kneighbors(Z[sample])
    # A point is its own first neighbor, and all its copies but one are others at distance 0.
    others = np.cumsum(np.where(who == sample[:, None], weights[who] - 1.0, weights[who]), axis=1)
    enough = (others >= _REACH).argmax(axis=1)
    enough[others[:, -1] < _REACH] = distances.shape[1] - 1
    farthest = distances[np.arange(len(sample)), enough]
    radius = _quantile(farthest, weights[sample], _REACHED) or float(farthest.max()) or 1.0
    return A / (radius * (1.0 + 1e-6))


def _quantile(values: NDArray, weights: NDArray, share: float) -> float:
    """Smallest value with at least `share` of the weight at or below it."""
    order = values.argsort()
    below = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(below, share * below[-1] * (1.0 - 1e-12))]])


def solver_coordinates(A: NDArray, known: Moments) -> tuple[NDArray, NDArray]:
    """The start as A = B P, in coordinates B that suit a solver, and P.

    P = c (V + ridge)^(-1/2) Uᵀ with S_W = U V Uᵀ: a step in B moves the
    directions of large within-class variance alike, and turning the features
    turns U with them, so that solvers which treat coordinates one by one
    (Adam) see the same problem. c makes the norm of the start 10, as a
    solver's first step has norm 1. Measured in docs/decisions/0003.
    """
    variances, directions = _within_axes(known)
    # Either sign is an eigenvector, and libraries differ in which one they find.
    largest = np.abs(directions).argmax(axis=0)
    directions = directions * np.sign(directions[largest, np.arange(len(variances))])
    scale = np.sqrt(variances + _COORDINATE_RIDGE * variances.mean())
    B = (A @ directions) * scale
    c = (norm(B.ravel()) or 10.0) / 10.0  # of a vector: the norm that cannot overflow
    return B / c, directions.T * (c / scale)[:, None]


def given_map(init: Any, n_components: int, n_features: int) -> NDArray:
    """The user's own map, if it has the right shape."""
    try:
        start = check_array(as_numpy(init), dtype=np.float64, input_name="init", copy=True)
    except TypeError as error:
        raise TypeError(f"init={init!r} is neither a name nor an array of numbers.") from error
    if start.shape != (n_components, n_features):
        raise ValueError(
            f"init has shape {start.shape}, but n_components={n_components} and "
            f"{n_features} features need shape ({n_components}, {n_features})."
        )
    return start


def _random(
    known: Moments, n_components: int, random_state: int | np.random.RandomState | None
) -> NDArray:
    """Gaussian entries, scaled so that projected coordinates have unit variance on average."""
    draw = check_seed(random_state).standard_normal((n_components, known.means.shape[1]))
    return draw / np.sqrt(np.trace(known.total) or 1.0)


def _lda(known: Moments, n_components: int, within: NDArray) -> NDArray:
    """Leading directions of S_B with respect to S_W (thesis 3.16, 3.17), white within classes."""
    if n_components > len(known.means) - 1:
        raise ValueError(
            f"init='lda' finds at most n_classes - 1 = {len(known.means) - 1} directions, but "
            f"n_components={n_components}: use init='rca' or fewer components."
        )
    return _leading(known.between, within, n_components)[1]


def _rca(known: Moments, n_components: int, share: float) -> NDArray:
    """Leading directions of S_T with respect to S_W, white within classes: A S_W Aᵀ = I.

    Truncating S_W^(-1/2), as the thesis has it for d < D, keeps arbitrary directions. Those in
    which the classes do not differ, of which there are D - n_classes + 1 at least, are all worth
    the same: they are taken by variance, and are 0 where the data has none.
    """
    variances, basis = _within_axes(known, share)
    white = (basis / np.sqrt(variances)).T  # rows: S_W^(-1/2) in its own basis
    # S_T = S_W + MᵀM; the singular vectors of M in white coordinates are the directions wanted.
    M = known.spread @ white.T
    _, gains, turn = svd(M, full_matrices=False)
    n_gains = int((gains > _NO_GAIN * max(1.0, gains[0])).sum())
    if n_components <= n_gains:
        white = turn[:n_components] @ white
    else:
        white = svd(M, full_matrices=True)[2] @ white
        # White directions are the shorter the larger the variance along them.
        _, lengths, axes = svd(white[n_gains:], full_matrices=False)
        white[n_gains:] = (lengths[:, None] * axes)[::-1]
    A = _definite_signs(white[:n_components])
    seen = np.einsum("ij,ij->i", A @ known.total, A)
    return np.where(seen[:, None] > _NO_VARIANCE, A, 0.0)


def _shrinkage(S: NDArray, n: float) -> float:
    """How far to move a covariance of n points towards a multiple of the identity.

    By the share that Chen, Wiesel, Eldar and Hero find best for Gaussians ("Shrinkage
    algorithms for MMSE covariance estimation", IEEE TSP 2010, equation 23).
    """
    D, trace, squares = len(S), np.trace(S), float(np.square(S).sum())
    apart = squares - trace * trace / D  # 0 for a multiple of the identity
    share = ((1 - 2 / D) * squares + trace * trace) / ((n + 1 - 2 / D) * apart) if apart > 0 else 1
    return float(min(share, 1.0))


def _leading(target: NDArray, within: NDArray | None, k: int) -> tuple[NDArray, NDArray]:
    """Largest (generalized) eigenvalues and eigenvectors, as rows, with definite signs."""
    n = len(target)
    values, vectors = eigh(target, within, subset_by_index=[n - k, n - 1])
    values, vectors = values[::-1], vectors.T[::-1]
    return values, _definite_signs(vectors)


def _definite_signs(rows: NDArray) -> NDArray:
    """The largest entry of every row is positive."""
    peaks = np.abs(rows).argmax(axis=1)
    return rows * np.sign(rows[np.arange(len(rows)), peaks])[:, None]


def _within(known: Moments, share: float = 0.0) -> NDArray:
    """S_W (thesis 3.17), shrunk by a share, with a relative ridge: positive definite always."""
    within = (1.0 - share) * known.within
    within.flat[:: len(within) + 1] += _on_the_diagonal(known, share)
    return within


def _within_axes(known: Moments, share: float = 0.0) -> tuple[NDArray, NDArray]:
    """Eigenvalues and eigenvectors of `_within`, the latter those of S_W itself."""
    variances, directions = known.axes
    return (1.0 - share) * np.maximum(variances, 0.0) + _on_the_diagonal(known, share), directions


def _on_the_diagonal(known: Moments, share: float) -> float:
    """What is added to all variances: that of a shrunk covariance, and the ridge."""
    # Where classes have no spread at all, the spread of everything sets the scale.
    trace = float(np.trace(known.within))
    scale = trace or float(np.trace(known.total)) or 1.0
    return (share * trace + RIDGE * scale) / len(known.within)
