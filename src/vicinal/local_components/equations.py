"""Local component analysis in equations (Le Roux and Bach, 2011).

A density of points x = μ + F z: in the first, local coordinates of z a Parzen
density with round kernels of width 1, in the others, if there are any, one
standard Gaussian. It is fitted by EM on the leave-one-out likelihood, and its
E-step is the shared computation: the λ_ij are the soft neighbor weights of the
local coordinates, and the scatter of all coordinates gives C_L.

Kernels of another law than the Gaussian are mixtures of Gaussians of many widths. EM then weighs
a pair once more, by the expected precision of its Gaussian, -2k'/k in the units of the law: λ_ij
times that is what engines call a slope, and all else stays as it is.

Points may be tensors: sums over them are made where they are. Shapes, and what EM makes of a
scatter, are on the host.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.low_rank import (
    SpanShape,
    is_packed,
    low_rank_plus_scalar,
    unpacked,
)
from vicinal.local_components.shapes import DiagonalShape, KernelShape, Shape
from vicinal.neighborhood import GAUSSIAN, Engine, Law, Pairs, Rows, namespace
from vicinal.neighborhood.arrays import Array, beside, in_dtype_of, positions

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
    n_features : int
        For "low_rank": dimensions, of which coordinates may be those in a span alone.
    """

    structure: str = "full"
    rank: int = 0
    gaussian: bool = False
    law: Law = GAUSSIAN
    least_local: int = 1
    n_features: int = 0

    @property
    def is_diagonal(self) -> bool:
        """Whether covariances are variances of the columns, and held as such, shape (d,)."""
        return self.structure in ("diag", "spherical")

    @property
    def fits_a_span(self) -> bool:
        """Whether few rows are all that need be looked at, and one coordinate beside them."""
        return self.structure == "low_rank" and not self.law.knows_dimension

    def adopt(self, covariance: NDArray) -> NDArray:
        """A covariance of any structure as this one holds it, shape (d, d) or (d,)."""
        if is_packed(covariance):
            covariance = unpacked(covariance).covariance
        if self.is_diagonal:
            return covariance if covariance.ndim == 1 else np.diag(covariance)
        return covariance if covariance.ndim == 2 else np.diag(covariance)

    def restrict(self, covariance: NDArray) -> NDArray:
        """The covariance of this structure with the least log |Σ| + tr Σ⁻¹ C."""
        held = self.adopt(covariance)
        if self.structure == "low_rank":
            return low_rank_plus_scalar(held, self.rank, self._n_more(held))
        return np.full(len(held), held.mean()) if self.structure == "spherical" else held

    def shape(self, scatter: NDArray) -> KernelShape:
        """Where an M-step arrives, in coordinates in which the data as a whole are white."""
        if self.is_diagonal:
            return DiagonalShape(np.sqrt(self.restrict(scatter)), self.law)
        return self.full_shape(scatter)

    def full_shape(self, scatter: NDArray) -> Shape:
        """Where an M-step arrives for covariances that are held as matrices.

        With a Gaussian part this is proposition 1 for M₁ = I: directions in
        which C_L is as wide as the data are Gaussian, but for `least_local` of them.
        """
        variances, directions = eigh(self.restrict(scatter))
        n_local = len(variances)
        if self.gaussian:
            found = int(np.searchsorted(variances, _AS_WIDE_AS_THE_DATA))
            n_local = max(self.least_local, found)
            variances = np.append(variances[:n_local], np.ones(len(variances) - n_local))
        factor, n_more = directions * np.sqrt(variances), self._n_more(scatter)
        if n_more:
            return SpanShape(factor, n_local, self.law, n_more=n_more)
        return Shape(factor, n_local, self.law)

    def _n_more(self, covariance: NDArray) -> int:
        """Directions for which the last coordinate stands beside its own."""
        return max(0, self.n_features - len(covariance)) if self.fits_a_span else 0


class ExpectedScatter(NamedTuple):
    """Mean leave-one-out log-likelihood, and C_L = (1/n) Σ_ij λ_ij (x_i - x_j)(x_i - x_j)ᵀ.

    Of shapes without a matrix, the diagonal of that.
    """

    log_likelihood: float
    scatter: NDArray


def expected_scatter(
    shape: KernelShape,
    engine: Engine,
    queries: WeightedPoints,
    keys: WeightedPoints | None = None,
    own: Array | None = None,
    copies_count: bool = True,
) -> ExpectedScatter:
    """One E-step (3) and the scatter (4), over queries against keys.

    Parameters
    ----------
    shape : KernelShape
    engine : Engine
    queries : WeightedPoints
    keys : WeightedPoints, optional
        None: the queries, each against all others.
    own : array of int, shape (n,), optional
        Position of each query among the keys, or -1.
    copies_count : bool, default=True
        Whether copies of a query help to explain it. If not, it is left out with all of them.
    """
    if keys is None:
        keys, own = queries, positions(queries.X)
    pairs, rows, log_p, log_mass = _look_around(
        shape, engine, queries, keys, own, copies_count, moments=True
    )
    # λ, times 2 -k'/k in units of the law. Copies of the point itself take their share of λ, at
    # distance 0.
    by_others = namespace(log_mass).exp(rows.log_slope[0] - log_mass)
    weight = 2.0 / shape.law.squared_width * by_others
    share = (beside(weight, queries.counts) * weight)[None, :]
    columns = engine.columns(pairs, shape.law, rows.log_slope, share, moments=False)
    C = shape.scatter(pairs, rows, share, columns.total) / float(queries.total)
    return ExpectedScatter(_mean(log_p, queries), C)


def leave_one_out(
    shape: KernelShape,
    engine: Engine,
    queries: WeightedPoints,
    keys: WeightedPoints,
    own: Array,
    copies_count: bool = True,
) -> float:
    """Mean log-likelihood of queries, each under all keys but itself, or but all its copies."""
    looked = _look_around(shape, engine, queries, keys, own, copies_count, moments=False)
    return _mean(looked[2], queries)


def each_left_out(shape: KernelShape, engine: Engine, points: WeightedPoints) -> Array:
    """Log-likelihood of every point under all others, its own copies left out, shape (n,)."""
    own = positions(points.X)
    return _look_around(shape, engine, points, points, own, copies_count=False, moments=False)[2]


def log_density(
    shape: KernelShape, engine: Engine, queries: Array, points: WeightedPoints
) -> Array:
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
    log_parzen = rows.log_mass[0] - float(np.log(float(points.total)))
    return log_parzen + shape.log_gaussian(Z) + shape.log_normalizer


def _look_around(
    shape: KernelShape,
    engine: Engine,
    queries: WeightedPoints,
    keys: WeightedPoints,
    own: Array | None,
    copies_count: bool,
    moments: bool,
) -> tuple[Pairs, Rows, Array, Array]:
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
    counts = queries.counts
    is_key = 0.0 if own is None else in_dtype_of(counts, own >= 0)
    left_out = queries.once if copies_count else counts
    log_mass = _with_copies(rows.log_mass[0], is_key * (counts - left_out))
    n_keys = beside(log_mass, keys.total - is_key * left_out)
    log_p = log_mass - namespace(n_keys).log(n_keys)
    return pairs, rows, log_p + shape.log_gaussian(Z) + shape.log_normalizer, log_mass


def _mean(values: Array, points: WeightedPoints) -> float:
    return float(beside(values, points.counts) @ values) / float(points.total)


def _with_copies(log_mass: Array, copies: Array) -> Array:
    """Log mass of the other points and of a point's own copies."""
    xp = namespace(log_mass)
    with np.errstate(divide="ignore"):
        log_copies = xp.log(xp.where(copies > 0.0, copies, 0.0))
    return xp.logaddexp(log_mass, beside(log_mass, log_copies))
