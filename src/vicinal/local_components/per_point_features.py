"""Kernels of a covariance each, as keys of the shared computation: features of points and kernels.

Why a product of features is a squared distance: `per_point.py`. In arrays of one library, on one
device.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vicinal.inputs.points import WeightedPoints
from vicinal.neighborhood import GAUSSIAN, Engine, Pairs, namespace
from vicinal.neighborhood.arrays import Array, beside, new_zeros, placed_like

__all__ = ["Looked", "PointKernels", "symmetric", "upper"]

# Of an exponent.
_MOST_ROUNDING = 1e-3

# Length of features, as good as 0, whose inverse is a number all the same.
_SHORTEST = 1e-100


@dataclass(frozen=True)
class PointKernels:
    """Kernels with a center and a covariance each, as keys of the shared computation.

    Attributes
    ----------
    centers : WeightedPoints
        With shape (n, d).
    covariances : array of shape (n, d, d)
    """

    centers: WeightedPoints
    covariances: Array

    @cached_property
    def precisions(self) -> Array:
        """P_j, shape (n, d, d)."""
        return namespace(self.covariances).linalg.inv(self.covariances)

    @cached_property
    def log_heights(self) -> Array:
        """-½ log |T_j|, shape (n,)."""
        return -0.5 * namespace(self.covariances).linalg.slogdet(self.covariances)[1]

    @cached_property
    def features(self) -> Array:
        """ψ_j: minus P_j u_j, then half of P_j, off-diagonal entries counted twice."""
        u, P = self.centers.X, self.precisions
        xp, (rows, columns) = namespace(P), upper(P)
        halves = xp.where(rows == columns, 0.5, 1.0) * P[:, rows, columns]
        return xp.concatenate([-xp.einsum("nij,nj->ni", P, u), halves], axis=1)

    def log_sums(
        self, u: Array, engine: Engine, own: Array | None = None, moments: bool = False
    ) -> tuple[Array, "Looked"]:
        """log Σ_j N(u; u_j, T_j) (2π)^(d/2) over the kernels, own ones left out, shape (n,)."""
        xp, phi, psi = namespace(u), _features(u), self.features
        alpha = beside(u, _balance(phi, psi, u.shape[1]))
        centers = self.centers.X
        log_weights = (
            self.log_heights
            - 0.5 * xp.einsum("nij,ni,nj->n", self.precisions, centers, centers)
            + 0.25 * xp.square(psi / alpha).sum(axis=1)
            + xp.log(self.centers.counts)
        )
        pairs = Pairs(alpha * phi, -0.5 * psi / alpha, key_log_weights=log_weights, own=own)
        rows = engine.rows(pairs, GAUSSIAN, moments=moments).finish()
        log_sums = rows.log_mass[0] + xp.square(alpha * phi).sum(axis=1)
        return log_sums, Looked(pairs, rows.log_slope, rows.centroid[0], alpha)


@dataclass(frozen=True)
class Looked:
    """What a rows pass leaves for the next one."""

    pairs: Pairs
    log_slope: Array
    centroid: Array
    alpha: Array


def upper(reference: Array) -> tuple[Array, Array]:
    """Rows and columns of the upper triangle of d × d matrices, where an array of width d is."""
    rows, columns = np.triu_indices(reference.shape[1])
    return placed_like(rows, reference), placed_like(columns, reference)


def _features(u: Array) -> Array:
    """φ: u, then the products of its coordinates, shape (n, d (d + 3) / 2)."""
    rows, columns = upper(u)
    return namespace(u).concatenate([u, u[:, rows] * u[:, columns]], axis=1)


def _balance(phi: Array, psi: Array, d: int) -> NDArray:
    """α of linear and of quadratic features: both norms as small as can be, as they round.

    Refuses points so far out that nothing would be left of the others.
    """
    parts = slice(d), slice(d, None)
    longest = np.array([[_longest(f[:, part]) for part in parts] for f in (phi, psi)])
    longest = np.maximum(longest, _SHORTEST)
    if 4.0 * np.finfo(float).eps * longest.prod(axis=0).sum() > _MOST_ROUNDING:
        raise ValueError(
            f"a point lies {longest[0, 0]:.1e} kernel widths from the others: local covariances "
            "lose their digits. Drop it, or use covariance='full'."
        )
    alphas = np.sqrt(0.5 * longest[1] / longest[0])
    return np.repeat(alphas, (d, phi.shape[1] - d))


def _longest(features: Array) -> float:
    return float(namespace(features).square(features).sum(axis=1).max()) ** 0.5


def symmetric(entries: Array, d: int) -> Array:
    """Symmetric matrices from the entries of their upper triangles, shape (n, d, d)."""
    matrices = new_zeros(entries, (len(entries), d, d))
    rows, columns = upper(matrices)
    matrices[:, rows, columns] = entries
    matrices[:, columns, rows] = entries
    return matrices
