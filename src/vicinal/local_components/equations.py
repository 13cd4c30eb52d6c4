"""Local component analysis in equations (Le Roux and Bach, 2011).

A density of points x = μ + F z: in the first, local coordinates of z a Parzen
density with round kernels of width 1, in the others, if there are any, one
standard Gaussian. It is fitted by EM on the leave-one-out likelihood, and its
E-step is the shared computation: the λ_ij are the soft neighbor weights of the
local coordinates, and the scatter of all coordinates gives C_L.

Kernels of another law than the Gaussian are mixtures of Gaussians of many widths. EM then weighs
a pair once more, by the expected precision of its Gaussian, -2k'/k in the units of the law: λ_ij
times that is what engines call a slope, and all else stays as it is.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, norm, svd

from vicinal.inputs.points import WeightedPoints
from vicinal.neighborhood import GAUSSIAN, Engine, Law, Pairs, Rows, symmetric_scatter, times

__all__ = [
    "STRUCTURES",
    "ExpectedScatter",
    "Form",
    "Shape",
    "each_left_out",
    "expected_scatter",
    "leave_one_out",
    "log_density",
]

# What a covariance that all kernels share may look like.
STRUCTURES = ("full", "diag", "spherical", "low_rank")

# Directions whose local variance is the global one up to rounding count as local: at the start of
# Algorithm 1 all of them are. By proposition 1 it makes no difference to the bound.
_AS_WIDE_AS_THE_DATA = 1.0 + 1e-10


@dataclass(frozen=True)
class Shape:
    """The map from round coordinates to points, x = F z, and how many of them are local.

    Attributes
    ----------
    factor : ndarray of shape (d, d)
        F = B⁻ᵀ for the paper's B = (B_L, B_G).
    n_local : int
        Number of Parzen coordinates, which come first; the others are Gaussian.
    law : Law
        Of the kernels.
    """

    factor: NDArray
    n_local: int
    law: Law = GAUSSIAN

    @classmethod
    def of(cls, covariance: NDArray, law: Law = GAUSSIAN) -> "Shape":
        """Kernels of that covariance (of a law, its scale matrix), without a Gaussian part."""
        return cls(np.linalg.cholesky(covariance), len(covariance), law)

    @cached_property
    def units(self) -> NDArray:
        """Widths of the density along the features, √diag Σ, shape (d,)."""
        return norm(self.factor, axis=1)

    @cached_property
    def balanced(self) -> NDArray:
        """F with every feature in units of its own, shape (d, d): all that needs to be inverted."""
        return self.factor / self.units[:, None]

    @cached_property
    def inverse(self) -> NDArray:
        """Bᵀ: local rows first."""
        return np.linalg.inv(self.balanced) / self.units

    @property
    def covariance(self) -> NDArray:
        """F Fᵀ: of the kernels in local directions, of the data in Gaussian ones."""
        return self.factor @ self.factor.T

    @property
    def round_map(self) -> NDArray:
        """Bᵀ_L, or the symmetric root of Σ⁻¹ in features of width 1, shape (n_local, d).

        The latter where all directions are local: of all maps to round coordinates the one with
        each of them closest to its feature, whatever the units of features are. From F, as
        Σ = F Fᵀ has the square of its condition.
        """
        if self.n_local < len(self.factor):
            rows = self.inverse[: self.n_local]
            # Eigenvectors have any sign: that of the feature which counts most is to be positive.
            most = np.abs(rows * self.units).argmax(axis=1)
            return rows * np.sign(np.take_along_axis(rows, most[:, None], axis=1))
        directions, widths, _ = svd(self.balanced)
        return (directions / widths) @ directions.T / self.units

    @property
    def log_volume(self) -> float:
        """log |det F|."""
        return float(np.linalg.slogdet(self.balanced)[1] + np.log(self.units).sum())

    @property
    def log_normalizer(self) -> float:
        """log of |det B| (2π)^(-d/2), or of what the law has for its part of that power."""
        n_gaussian = len(self.factor) - self.n_local
        local = self.law.log_normalizer(self.n_local) - self.n_local * np.log(self.unit)
        return float(local) - 0.5 * n_gaussian * float(np.log(2.0 * np.pi)) - self.log_volume

    @property
    def unit(self) -> float:
        """What round coordinates are divided by for the law: √2 for exp(-s)."""
        return float(np.sqrt(self.law.squared_width))

    def coordinates(self, X: NDArray) -> NDArray:
        """Z = X B, shape (n, d)."""
        return times(X.astype(np.float64, copy=False), self.inverse.T)

    def for_law(self, X: NDArray) -> NDArray:
        """Round coordinates in which kernels are k(s), shape (n, d)."""
        return self.coordinates(X) / self.unit

    def log_gaussian(self, Z: NDArray) -> NDArray:
        """Exponent of the Gaussian part, -½ |B_Gᵀ (x - μ)|², shape (n,)."""
        return -0.5 * np.square(Z[:, self.n_local :]).sum(axis=1)

    def moved(self, outer: NDArray) -> "Shape":
        """The shape of points y = outer x."""
        return replace(self, factor=outer @ self.factor)

    def widened(self, factor: float) -> "Shape":
        """Kernels so many times as wide; Gaussian directions stay as they are."""
        factors = np.where(np.arange(len(self.factor)) < self.n_local, factor, 1.0)
        return replace(self, factor=self.factor * factors)


@dataclass(frozen=True)
class Form:
    """What a density may look like; turns expected scatters into shapes (the M-step).

    Attributes
    ----------
    structure : {"full", "diag", "spherical", "low_rank"}
    rank : int
        For "low_rank".
    gaussian : bool
        Whether directions may be modeled by a Gaussian; needs "full".
    law : Law
        Of the kernels.
    least_local : int
        Directions that are local even where all are as wide as the data.
    """

    structure: str = "full"
    rank: int = 0
    gaussian: bool = False
    law: Law = GAUSSIAN
    least_local: int = 1

    def restrict(self, covariance: NDArray) -> NDArray:
        """The covariance of this structure with the least log |Σ| + tr Σ⁻¹ C."""
        if self.structure == "full":
            return covariance
        if self.structure == "low_rank":
            return _low_rank_plus_scalar(covariance, self.rank)
        variances = np.diag(covariance)
        if self.structure == "spherical":
            variances = np.full(len(variances), variances.mean())
        return np.diag(variances)

    def shape(self, scatter: NDArray) -> Shape:
        """Where an M-step arrives, in coordinates in which the data as a whole are white.

        With a Gaussian part this is proposition 1 for M₁ = I: directions in
        which C_L is as wide as the data are Gaussian, but for `least_local` of them.
        """
        variances, directions = eigh(self.restrict(scatter))
        n_local = len(variances)
        if self.gaussian:
            found = int(np.searchsorted(variances, _AS_WIDE_AS_THE_DATA))
            n_local = max(self.least_local, found)
            variances = np.append(variances[:n_local], np.ones(len(variances) - n_local))
        return Shape(directions * np.sqrt(variances), n_local, self.law)


class ExpectedScatter(NamedTuple):
    """Mean leave-one-out log-likelihood, and C_L = (1/n) Σ_ij λ_ij (x_i - x_j)(x_i - x_j)ᵀ."""

    log_likelihood: float
    scatter: NDArray


def expected_scatter(
    shape: Shape,
    engine: Engine,
    queries: WeightedPoints,
    keys: WeightedPoints | None = None,
    own: NDArray | None = None,
    copies_count: bool = True,
) -> ExpectedScatter:
    """One E-step (3) and the scatter (4), over queries against keys.

    Parameters
    ----------
    shape : Shape
    engine : Engine
    queries : WeightedPoints
    keys : WeightedPoints, optional
        None: the queries, each against all others.
    own : ndarray of int, shape (n,), optional
        Position of each query among the keys, or -1.
    copies_count : bool, default=True
        Whether copies of a query help to explain it. If not, it is left out with all of them.
    """
    if keys is None:
        keys, own = queries, np.arange(len(queries))
    pairs, rows, log_p, log_mass = _look_around(
        shape, engine, queries, keys, own, copies_count, moments=True
    )
    # λ, times 2 -k'/k in units of the law. Copies of the point itself take their share of λ, at
    # distance 0.
    weight = 2.0 / shape.law.squared_width * np.exp(rows.log_slope[0] - log_mass)
    share = (queries.counts * weight)[None, :]
    columns = engine.columns(pairs, shape.law, rows.log_slope, share, moments=False)
    outer = shape.unit * shape.factor
    C = outer @ symmetric_scatter(pairs, rows, share, columns.total) @ outer.T / queries.total
    return ExpectedScatter(_mean(log_p, queries), 0.5 * (C + C.T))


def leave_one_out(
    shape: Shape,
    engine: Engine,
    queries: WeightedPoints,
    keys: WeightedPoints,
    own: NDArray,
    copies_count: bool = True,
) -> float:
    """Mean log-likelihood of queries, each under all keys but itself, or but all its copies."""
    looked = _look_around(shape, engine, queries, keys, own, copies_count, moments=False)
    return _mean(looked[2], queries)


def each_left_out(shape: Shape, engine: Engine, points: WeightedPoints) -> NDArray:
    """Log-likelihood of every point under all others, its own copies left out, shape (n,)."""
    own = np.arange(len(points))
    return _look_around(shape, engine, points, points, own, copies_count=False, moments=False)[2]


def log_density(shape: Shape, engine: Engine, queries: NDArray, points: WeightedPoints) -> NDArray:
    """log of (2π)^(-d/2) |det B| exp(-½|B_Gᵀ(x-μ)|²) (1/n) Σ_j exp(-½|B_Lᵀ(x-x_j)|²), shape (n,).

    Queries and points are centered at μ.
    """
    Z = shape.coordinates(queries)
    if shape.n_local == 0:
        return shape.log_gaussian(Z) + shape.log_normalizer
    pairs = Pairs(
        Z / shape.unit,
        shape.for_law(points.X),
        key_log_weights=points.log_counts,
        n_near=shape.n_local,
    )
    rows = engine.rows(pairs, shape.law, moments=False).finish()
    log_parzen = rows.log_mass[0] - np.log(points.total)
    return log_parzen + shape.log_gaussian(Z) + shape.log_normalizer


def _look_around(
    shape: Shape,
    engine: Engine,
    queries: WeightedPoints,
    keys: WeightedPoints,
    own: NDArray | None,
    copies_count: bool,
    moments: bool,
) -> tuple[Pairs, Rows, NDArray, NDArray]:
    """Pairs, their rows pass, leave-one-out log-densities, and log masses with own copies."""
    Z = shape.coordinates(queries.X)
    # So that k(s) is the kernel; Gaussian coordinates are carried along.
    points = Z / shape.unit
    pairs = Pairs(
        points,
        points if keys is queries else shape.for_law(keys.X),
        key_log_weights=keys.log_counts,
        own=own,
        n_near=shape.n_local,
    )
    rows = engine.rows(pairs, shape.law, moments=moments).finish()
    is_key = np.zeros(len(queries)) if own is None else (own >= 0).astype(float)
    left_out = np.minimum(queries.counts, 1.0) if copies_count else queries.counts
    log_mass = _with_copies(rows.log_mass[0], is_key * (queries.counts - left_out))
    n_keys = keys.total - is_key * left_out
    log_p = log_mass - np.log(n_keys) + shape.log_gaussian(Z) + shape.log_normalizer
    return pairs, rows, log_p, log_mass


def _mean(values: NDArray, points: WeightedPoints) -> float:
    return float(points.counts @ values) / points.total


def _with_copies(log_mass: NDArray, copies: NDArray) -> NDArray:
    """Log mass of the other points and of a point's own copies."""
    with np.errstate(divide="ignore"):
        return np.logaddexp(log_mass, np.log(np.maximum(copies, 0.0)))


def _low_rank_plus_scalar(covariance: NDArray, rank: int) -> NDArray:
    """Leading directions as they are, one variance for all others (as in probabilistic PCA)."""
    variances, directions = eigh(covariance)
    rest = len(variances) - rank
    if rest > 1:
        variances[:rest] = variances[:rest].mean()
    return (directions * variances) @ directions.T
