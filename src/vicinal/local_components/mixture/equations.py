"""The mixture in equations.

    p(x) = (1/n) Σ_j Σ_k q_jk f_jk(x),        Σ_k q_jk = 1

Kernel j of part k, f_jk, is Gaussian: around x_j in the local directions of the part, around the
mean μ_k of the part in the others. So q_jk is how much of key j belongs to part k, and the part's
share of the density is π_k = (1/n) Σ_j q_jk. A point that is left out is left out of all parts.

All of it is one mixture of n K Gaussians, and EM is exact for all parameters at once: with
ρ_i(j, k) the share of kernel (j, k) in the density of point i, and r_ik = Σ_j ρ_i(j, k),

    q_jk ∝ Σ_i ρ_i(j, k)
    M_k = (Σ_i r_ik (x_i - μ_k)(x_i - μ_k)ᵀ + P_k) / (R_k + s)
    C_k = (Σ_ij ρ_i(j, k) (x_i - x_j)(x_i - x_j)ᵀ + Q_k) / (R_k + s),        R_k = Σ_i r_ik

and proposition 1 of the paper makes a shape of M_k and C_k. P_k, Q_k and s are a prior: s points
more in every part, with these scatters around its mean and around their neighbors.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.equations import Form, Shape
from vicinal.local_components.shapes import KernelShape
from vicinal.neighborhood import (
    Engine,
    Pairs,
    Rows,
    gram,
    log_shares,
    namespace,
    symmetric_scatter,
)
from vicinal.neighborhood.arrays import (
    Array,
    beside,
    in_dtype_of,
    on_host,
    placed_like,
    positions,
)

__all__ = [
    "FORM",
    "Look",
    "Parts",
    "Prior",
    "look_around",
    "part_shape",
    "responsibilities",
    "wide_moments",
]

# Parts may be Gaussian in all directions.
FORM = Form(gaussian=True, least_local=0)

# Points of a part below which nothing is divided by their number.
_NOBODY = 1e-9


@dataclass(frozen=True)
class Parts:
    """Parameters of a mixture of K parts with n keys in d dimensions.

    Attributes
    ----------
    memberships : array of shape (n, K)
        q; rows sum to one. Where the points are, all else on the host.
    means : ndarray of shape (K, d)
        μ.
    wide : ndarray of shape (K, d, d)
        M, covariances of the parts.
    near : ndarray of shape (K, d, d)
        C, covariances of points around their neighbors.
    """

    memberships: Array
    means: NDArray
    wide: NDArray
    near: NDArray

    def packed(self) -> Array:
        """All of them in one row of numbers, where the memberships are."""
        q = self.memberships.reshape(-1)
        small = np.concatenate([field.ravel() for field in (self.means, self.wide, self.near)])
        return namespace(q).concatenate([q, in_dtype_of(q, small)])

    @classmethod
    def unpacked(cls, packed: Array, n: int, d: int) -> "Parts":
        """From one row of numbers: memberships stay where they are, the rest comes to the host."""
        K = len(packed) // (n + d + 2 * d * d)
        q, small = packed[: n * K], on_host(packed[n * K :])
        means, wide, near = np.split(small, np.cumsum([K * d, K * d * d]))
        square = (K, d, d)
        return cls(q.reshape(n, K), means.reshape(K, d), wide.reshape(square), near.reshape(square))

    @property
    def shapes(self) -> list[Shape]:
        """Of the kernels of each part."""
        return [part_shape(*both) for both in zip(self.wide, self.near, strict=True)]

    def some(self, which: NDArray) -> "Parts":
        """Some of the parts, among which the keys are divided anew."""
        q = self.memberships[:, which]
        total = q.sum(axis=1, keepdims=True)
        q = np.where(total > 0, q / np.where(total > 0, total, 1.0), 1.0 / len(which))
        return Parts(q, self.means[which], self.wide[which], self.near[which])


@dataclass(frozen=True)
class Prior:
    """What every part is given beside its own points.

    Attributes
    ----------
    points : float
        s, how many points it is worth.
    wide : ndarray of shape (K, d, d)
        P, their scatter around the mean of the part.
    near : ndarray of shape (K, d, d)
        Q, their scatter around neighbors.
    """

    points: float
    wide: NDArray
    near: NDArray

    def some(self, which: NDArray) -> "Prior":
        """Of some of the parts."""
        return Prior(self.points, self.wide[which], self.near[which])

    def penalty(self, part: int, shape: KernelShape) -> float:
        """-log of the prior of a shape, but for a constant."""
        local, gaussian = np.split(shape.inverse, [shape.n_local])
        squares = np.einsum("ij,jk,ik->", local, self.near[part], local)
        squares += np.einsum("ij,jk,ik->", gaussian, self.wide[part], gaussian)
        return 0.5 * float(squares) + self.points * shape.log_volume

    def mean(self, scatter: NDArray, more: NDArray, total: float) -> NDArray:
        """The covariance of so many points and of those of the prior, from the scatters of both."""
        return (scatter + more) / (total + self.points + _NOBODY)


def part_shape(wide: NDArray, near: NDArray) -> Shape:
    """Proposition 1: directions in which kernels are as wide as the part are Gaussian."""
    factor = np.linalg.cholesky(wide)
    half = np.linalg.solve(factor, near)
    white = np.linalg.solve(factor, half.T)
    return FORM.full_shape(0.5 * (white + white.T)).moved(factor)


def wide_moments(points: WeightedPoints, shares: Array) -> tuple[float, NDArray, NDArray]:
    """Number, mean and scatter of the points of a part, to which each belongs with a share.

    On the host, wherever the points are.
    """
    weights = beside(points.X, points.counts * placed_like(shares, points.X))
    total = float(weights.sum())
    mean = weights @ points.X / max(total, _NOBODY)
    apart = points.X - mean
    return total, on_host(mean), on_host(gram(apart, weights[:, None] * apart))


@dataclass(frozen=True)
class Look:
    """What all points see of one part, each without itself.

    Attributes
    ----------
    points : WeightedPoints
    memberships : array of shape (n,)
        Of the keys in this part.
    shape : KernelShape
    log_mass : array of shape (n,)
        log Σ_j q_j f_j(x_i).
    """

    points: WeightedPoints
    memberships: Array
    shape: KernelShape
    log_mass: Array

    def gathered(self, engine: Engine, shares: Array) -> tuple[Array, NDArray | None]:
        """Σ_i ρ_i(j) for every key, and the scatter of points around their neighbors.

        `shares` are the r_i of this part. Where it is all Gaussian nobody has neighbors: None.
        """
        counts, q, left_out = self.points.counts, self.memberships, self.points.once
        others = (counts * q).sum() - left_out * q
        shares = placed_like(shares, q)
        seen = counts * shares / namespace(others).where(others > 0, others, 1.0)
        return q * (counts * seen.sum() - left_out * seen), None


@dataclass(frozen=True)
class _LocalLook(Look):
    """Where kernels of the part differ from key to key."""

    pairs: Pairs
    rows: Rows
    keys: Array
    log_around: Array  # as log_mass, in local directions only

    def gathered(self, engine: Engine, shares: Array) -> tuple[Array, NDArray | None]:
        """Σ_i ρ_i(j) for every key, and the scatter of points around their neighbors."""
        around, shares = self.log_around, placed_like(shares, self.log_around)
        weights = beside(around, self.points.counts * shares)
        # Copies of the point itself take their share, at distance 0.
        by_others = weights * namespace(around).exp(self.rows.log_slope[0] - around)
        law, outer = self.shape.law, self.shape.unit * self.shape.factor
        columns = engine.columns(
            self.pairs, law, self.rows.log_slope, by_others[None, :], moments=False
        )
        totals = weights - by_others
        totals[self.keys] += beside(totals, columns.total)
        scatter = symmetric_scatter(self.pairs, self.rows, by_others[None, :], columns.total)
        return totals, outer @ on_host(scatter) @ outer.T


def look_around(
    shape: KernelShape,
    engine: Engine,
    points: WeightedPoints,
    mean: NDArray,
    memberships: Array,
    *,
    moments: bool,
    copies_count: bool = True,
) -> Look:
    """One part of the E-step; where copies of a point do not count, it is left out with them.

    The mean is on the host, memberships are anywhere.
    """
    xp, counts = namespace(points.X), points.counts
    Z, q = shape.coordinates(points.X - beside(points.X, mean)), placed_like(memberships, counts)
    gaussian = shape.log_gaussian(Z) + shape.log_normalizer
    left_out = points.once if copies_count else counts
    with np.errstate(divide="ignore"):
        if shape.n_local == 0:
            others = (counts * q).sum() - left_out * q
            log_mass = xp.log(xp.where(others > 0.0, others, 0.0)) + gaussian
            return Look(points, q, shape, log_mass)
        log_copies = xp.log((counts - left_out) * q)
    pairs, keys = _pairs(shape, Z / shape.unit, counts * q)
    rows = engine.rows(pairs, shape.law, moments=moments).finish()
    log_around = xp.logaddexp(rows.log_mass[0], beside(rows.log_mass[0], log_copies))
    log_mass = log_around + gaussian
    return _LocalLook(points, q, shape, log_mass, pairs, rows, keys, log_around)


def _pairs(shape: KernelShape, Z: Array, weights: Array) -> tuple[Pairs, Array]:
    """All points against the keys of a part, and where among the points these are."""
    xp = namespace(weights)
    keys = xp.nonzero(weights > 0)[0]
    own = xp.full_like(positions(Z), -1)
    own[keys] = positions(keys)
    rows = Z if len(keys) == len(Z) else Z[keys]
    log_weights = xp.log(weights[keys])
    pairs = Pairs(Z, rows, key_log_weights=log_weights, own=own, n_near=shape.n_local)
    return pairs, keys


def responsibilities(log_mass: Array) -> Array:
    """r_ik from log masses, shape (n, K)."""
    return namespace(log_mass).exp(log_shares(log_mass, axis=1))
