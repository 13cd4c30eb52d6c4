"""Where the fit of a mixture begins: a Gaussian mixture whose parts lean on each other.

A part of few points has a covariance of its own as far as they go; for the rest it is like the
other parts, but as wide as itself: a_k S, where S is what the parts share (proportional
covariances). That is the prior, too: settled here, it stays while EM runs.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from vicinal.fitting import EM, few_updates
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.equations import Shape
from vicinal.local_components.mixture.equations import (
    Parts,
    Prior,
    responsibilities,
    wide_moments,
)

__all__ = ["Floors", "Start", "gaussian_shares", "k_means_shares", "settled"]

# Updates of EM, and the least that one must gain per dimension.
_N_UPDATES, _LEAST_GAIN = 60, 3e-5

# Parts with fewer points are dropped.
_FEWEST = 2.0

# Who belongs less than that to a part is none of its keys.
_LEAST_SHARE = 1e-3


@dataclass(frozen=True)
class Floors:
    """Variances that are added in every direction, in units of the columns.

    Attributes
    ----------
    wide : ndarray of shape (d,)
        To the covariances of parts.
    near : ndarray of shape (d,)
        To those of kernels.
    """

    wide: NDArray
    near: NDArray


class Start(NamedTuple):
    """A Gaussian mixture, and what its parts lean on."""

    parts: Parts
    prior: Prior


def k_means_shares(points: WeightedPoints, n_parts: int, seed: int) -> NDArray:
    """Each point wholly in one of so many parts, or fewer, shape (n, K)."""
    n_parts = min(n_parts, len(np.unique(points.X, axis=0)))
    if n_parts == 1:
        return np.ones((len(points), 1))
    clusters = KMeans(n_parts, n_init=3, random_state=seed)
    labels = clusters.fit_predict(points.X, sample_weight=points.weights)
    return _alive(points, np.eye(n_parts)[labels])


def gaussian_shares(
    points: WeightedPoints, shares: NDArray, n_prior: float, floors: Floors
) -> NDArray:
    """Responsibilities of a Gaussian mixture with a prior of so many points in every part."""

    def step(shares: NDArray) -> tuple[float, NDArray]:
        log_mass = _log_mass(points, settled(points, shares, n_prior, floors).parts)
        log_p = np.logaddexp.reduce(log_mass, axis=1)
        mean = float(points.counts @ log_p) / points.total
        return mean, _alive(points, responsibilities(log_mass))

    least_gain = _LEAST_GAIN * points.X.shape[1]
    found, _ = few_updates(EM(step), shares, _N_UPDATES, least_gain)
    found = np.where(found < _LEAST_SHARE, 0.0, found)
    return _alive(points, found / found.sum(axis=1, keepdims=True))


def settled(points: WeightedPoints, shares: NDArray, n_prior: float, floors: Floors) -> Start:
    """The Gaussian mixture of these shares, and the prior that belongs to its parts."""
    moments = [wide_moments(points, column) for column in shares.T]
    totals, means, scatters = (np.stack(each) for each in zip(*moments, strict=True))
    alike = _proportional(totals, scatters / totals[:, None, None], floors.wide)
    weights = (totals + n_prior)[:, None, None]
    wide = n_prior * alike + weights * np.diag(floors.wide)
    near = n_prior * alike + weights * np.diag(floors.near)
    covariances = (scatters + wide) / weights
    parts = Parts(shares, means, covariances, 2.0 * covariances)
    return Start(parts, Prior(n_prior, wide, near))


def _proportional(totals: NDArray, covariances: NDArray, floor: NDArray) -> NDArray:
    """For each part the shape that all share, as wide as the part, shape (K, d, d)."""
    weights, d = totals / totals.sum(), len(floor)
    shared = np.tensordot(weights, covariances, 1) + np.diag(floor)
    scales = _scales(shared, covariances)
    shared = np.tensordot(weights / scales, covariances, 1) + np.diag(floor)
    return _scales(shared, covariances)[:, None, None] * shared.reshape(1, d, d)


def _scales(shared: NDArray, covariances: NDArray) -> NDArray:
    """a_k = tr S⁻¹ M_k / d, shape (K,); a part without any width keeps a little of it."""
    inverse = np.linalg.inv(shared)
    scales = np.einsum("ij,kji->k", inverse, covariances) / len(inverse)
    return np.maximum(scales, np.finfo(float).eps)


def _log_mass(points: WeightedPoints, parts: Parts) -> NDArray:
    """log π_k + log N(x | μ_k, M_k), shape (n, K)."""
    weights = points.counts @ parts.memberships / points.total
    columns = []
    for weight, mean, covariance in zip(weights, parts.means, parts.wide, strict=True):
        factor = np.linalg.cholesky(covariance)
        shape = Shape(factor, 0)
        log_p = shape.log_gaussian(shape.coordinates(points.X - mean)) + shape.log_normalizer
        columns.append(np.log(weight) + log_p)
    return np.stack(columns, axis=1)


def _alive(points: WeightedPoints, shares: NDArray) -> NDArray:
    """Shares in the parts that have points enough; those of the others are divided among them."""
    totals = points.counts @ shares
    kept = totals >= min(_FEWEST, totals.max())
    shares = shares[:, kept]
    total = shares.sum(axis=1, keepdims=True)
    even = np.full_like(shares, 1.0 / shares.shape[1])
    return np.where(total > 0, shares / np.where(total > 0, total, 1.0), even)
