"""One covariance per point: Manifold Parzen windows, and where steps of EM lead from there.

The kernel at point j has a covariance T_j of its own. It begins as τ R_j, with R_j the covariance
of the points around j and τ, the same for all, by EM; then EM moves it, held there by a prior
worth as many points. Everything is in coordinates u in which the shared kernels are round. There

    log N(u; u_j, T_j) = -½ uᵀ P_j u + uᵀ P_j u_j - ½ u_jᵀ P_j u_j - ½ log |T_j| + const,

with P_j = T_j⁻¹, is a product φ(u)·ψ_j of features of the query and of the key, which
|αφ - (-ψ/2α)|² = |αφ|² + φ·ψ + |ψ/2α|² turns into a squared distance: the norms go to the row
and to the weight of the key, and the shared computation does the rest. Its moments are the sums of
u uᵀ and u that the M-step needs. The price is d (d + 3) / 2 coordinates instead of d, and rounding
in the unit of the largest |u|², in kernel widths.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting import EM, Validation, few_updates
from vicinal.inputs.copies import distinct_points
from vicinal.inputs.nearest import nearest
from vicinal.inputs.places import in_place
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.density import draw_positions, gradient_widening
from vicinal.local_components.learning import PATIENCE
from vicinal.local_components.per_point_features import PointKernels, symmetric, upper
from vicinal.local_components.shapes import KernelShape
from vicinal.neighborhood import GAUSSIAN, Engine, namespace
from vicinal.neighborhood.arrays import (
    Array,
    beside,
    on_host,
    positions,
)

__all__ = [
    "PerPointDensity",
    "PerPointProblem",
    "local_problem",
    "neighborhood_covariances",
    "per_point_validation",
]


# How much lower a kernel may be than the highest one, as a logarithm, and still be a number.
_LEAST_LOG_HEIGHT = 600.0

# Updates of the common scale, and what one must gain.
_MOST_SCALE_STEPS, _LEAST_GAIN = 50, 1e-6

# Coordinates of neighbors held at a time.
_BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True)
class PerPointProblem:
    """EM for the covariances, in coordinates in which the shared kernels are round.

    Points, prior and parameters are where the engine computes, if it has room.

    Attributes
    ----------
    points : WeightedPoints
    prior : array of shape (n, d, d)
        N_j, covariances that those of the kernels are held to.
    strength : float
        How many points the prior counts for: s in the prior
        -(s/2) Σ_j (log |T_j| - log |N_j| + tr T_j⁻¹ N_j - d) on the log-likelihood.
    log_volume : float
        Log-determinant of the map to the user's coordinates, where likelihoods are reported.
    engine : Engine
    copies_count : bool, default=True
        Whether copies of a point help to explain it. If not, it is left out with all of them.
    """

    points: WeightedPoints
    prior: Array
    strength: float
    log_volume: float
    engine: Engine
    copies_count: bool = True

    @cached_property
    def total(self) -> float:
        """Number of points, copies counted."""
        return float(self.points.total)

    def step(self, covariances: Array) -> tuple[float, Array]:
        """Mean leave-one-out log-likelihood less the penalty, and the next covariances."""
        kernels = PointKernels(self.points, covariances)
        likelihood, scatter, totals = self._expect(kernels)
        strength = (self.strength * self.points.counts)[:, None, None]
        # T_j = (S_j + s N_j) / (c_j + s)
        following = (scatter + strength * self.prior) / (totals[:, None, None] + strength)
        return likelihood - self._penalty(kernels), following

    def scale_step(self, scale: NDArray) -> tuple[float, NDArray]:
        """Mean likelihood less its penalty for kernels τ N_j of one scale τ, and the next scale.

        A prior worth one point with τ = 1 keeps the scale of points that all have twins from 0.
        """
        d, n, tau = self.points.X.shape[1], self.total, float(scale[0])
        kernels = PointKernels(self.points, tau * self.prior)
        likelihood, scatter, _ = self._expect(kernels)
        penalty = 0.5 * d * (np.log(tau) + 1.0 / tau - 1.0) / n
        # Σ_ij λ_ij (u_i - u_j)ᵀ N_j⁻¹ (u_i - u_j)
        squares = tau * float((kernels.precisions * scatter).sum())
        return likelihood - penalty, np.array([(squares + d) / (n * d + d)])

    def scaled(self) -> "PerPointProblem":
        """The problem with the prior at its likeliest scale."""
        scale, _ = few_updates(EM(self.scale_step), np.ones(1), _MOST_SCALE_STEPS, _LEAST_GAIN)
        return replace(self, prior=float(scale[0]) * self.prior)

    def log_likelihood(self, covariances: Array) -> float:
        """Mean leave-one-out log-likelihood."""
        kernels = PointKernels(self.points, covariances)
        log_others, _ = kernels.log_sums(self.points.X, self.engine, positions(self.points.X))
        return self._mean(self._with_copies(log_others, kernels))

    def _expect(self, kernels: PointKernels) -> tuple[float, Array, Array]:
        """Likelihood, scatters S_j (n, d, d) and sums c_j (n,) of the responsibilities."""
        points = self.points
        log_others, looked = kernels.log_sums(points.X, self.engine, positions(points.X))
        log_mass = self._with_copies(log_others, kernels)
        others = namespace(log_mass).exp(log_others - log_mass)
        columns = self.engine.columns(
            looked.pairs, GAUSSIAN, looked.log_slope, (points.counts * others)[None, :]
        )
        moments, totals = (beside(points.X, each) for each in (columns.moment, columns.total))
        scatter = _scatter(moments / looked.alpha, totals, points.X)
        copies = points.counts * (1.0 - others)  # of the point itself, at distance 0
        return self._mean(log_mass), scatter, totals + copies

    def _mean(self, log_mass: Array) -> float:
        d, points = self.points.X.shape[1], self.points
        n_others = self.total - self._left_out
        constant = 0.5 * d * float(np.log(2.0 * np.pi))
        log_p = log_mass - namespace(n_others).log(n_others) - constant
        return float(points.counts @ log_p) / self.total - self.log_volume

    @property
    def _left_out(self) -> Array:
        """How many copies of each point do not explain it."""
        return self.points.once if self.copies_count else self.points.counts

    def _with_copies(self, log_others: Array, kernels: PointKernels) -> Array:
        xp = namespace(log_others)
        with np.errstate(divide="ignore"):
            copies = xp.log(self.points.counts - self._left_out)
        return xp.logaddexp(log_others, copies + kernels.log_heights)

    def _penalty(self, kernels: PointKernels) -> float:
        xp = namespace(self.prior)
        traces = xp.einsum("nij,nij->n", kernels.precisions, self.prior)
        log_ratios = -2.0 * kernels.log_heights - xp.linalg.slogdet(self.prior)[1]
        each = log_ratios + traces - self.points.X.shape[1]
        return 0.5 * self.strength * float(self.points.counts @ each) / self.total


def local_problem(
    centers: WeightedPoints, size: int, log_volume: float, engine: Engine, copies_count: bool
) -> PerPointProblem:
    """EM that begins with, and is held to, the covariances of so many nearest neighbors.

    Where copies of a point do not count for it, they are not among its neighbors either.
    """
    around = centers if copies_count else WeightedPoints(centers.X)
    # Both where the engine computes, or neither.
    here, held = in_place(engine, centers, WeightedPoints(neighborhood_covariances(around, size)))
    return PerPointProblem(here, held.X, size, log_volume, engine, copies_count).scaled()


def neighborhood_covariances(points: WeightedPoints, n_neighbors: int) -> NDArray:
    """Covariance of each point and its nearest neighbors, copies counted, shape (n, d, d).

    In units of their mean size, in which a round one that counts as one point keeps them
    invertible.
    """
    X, counts = points.X, points.counts
    n, d = X.shape
    # As many as there are copies: weighted rows have the neighborhoods that copies would have.
    n_neighbors = max(1, int(min(n_neighbors, points.total - 1)))
    others, _ = nearest(X, X, min(n_neighbors, n - 1), np.arange(n))
    out = np.empty((n, d, d))
    step = max(1, _BLOCK_NUMBERS // (d * (n_neighbors + 1)))
    for start in range(0, n, step):
        rows = np.arange(start, min(start + step, n))
        members = np.column_stack([rows, others[rows]])
        shares = _shares(counts[members], n_neighbors + 1)
        out[rows] = _weighted_covariances(X[members], shares)
    traces = np.trace(out, axis1=1, axis2=2)
    size = max(float(counts @ traces) / (points.total * d), np.finfo(float).tiny)
    return (n_neighbors * out / size + np.eye(d)) / (n_neighbors + 1)


def _shares(counts: NDArray, n_places: int) -> NDArray:
    """How often each is counted, the point itself first, until so many places are taken.

    `counts` of shape (n, n_members).
    """
    before = np.cumsum(counts, axis=1) - counts
    return np.clip(n_places - before, 0.0, counts)


def _weighted_covariances(members: NDArray, shares: NDArray) -> NDArray:
    total = shares.sum(axis=1)[:, None]
    centered = members - (np.einsum("nk,nkd->nd", shares, members) / total)[:, None, :]
    return np.einsum("nk,nkd,nke->nde", shares / total, centered, centered, optimize=True)


@dataclass(frozen=True)
class PerPointDensity:
    """Kernels of a covariance each.

    Attributes
    ----------
    points : WeightedPoints
        Centers, as the user has them.
    mean : ndarray of shape (d,)
    shape : KernelShape
        Of the shared kernels.
    covariances : ndarray of shape (n, d, d)
        In coordinates in which these are round.
    """

    points: WeightedPoints
    mean: NDArray
    shape: KernelShape
    covariances: NDArray

    @property
    def _kernels(self) -> PointKernels:
        centers = self.shape.coordinates(self.points.X - beside(self.points.X, self.mean))
        return PointKernels(self.points.at(centers), self.covariances)

    def log_density(self, X: NDArray, engine: Engine) -> NDArray:
        """Logarithm of the density, shape (n,)."""
        u = self.shape.coordinates(X - self.mean)
        log_sums, _ = self._kernels.log_sums(u, engine)
        return log_sums - np.log(self.points.total) + self.shape.log_normalizer

    def sample(self, n: int, rng: np.random.RandomState) -> NDArray:
        """A center, moved by a draw from its kernel."""
        chosen = draw_positions(self.points, n, rng)
        noise = rng.standard_normal((n, len(self.mean)))
        factors = np.linalg.cholesky(self.covariances[chosen])
        return self.points.X[chosen] + np.einsum("nij,nj->ni", factors, noise) @ self.shape.factor.T

    def placed(self, engine: Engine) -> "PerPointDensity":
        """The density with its kernels where an engine computes, if it has room there."""
        points = self.points.at(self.points.X.astype(np.float64, copy=False))
        here, each = in_place(engine, points, WeightedPoints(self.covariances))
        return replace(self, points=here, covariances=each.X)

    def climb(self, X: Array, engine: Engine) -> Array:
        """To (Σ_j w_j P_j)⁻¹ Σ_j w_j P_j x_j, with w_j the kernels' shares."""
        mean = beside(X, self.mean)
        u = self.shape.coordinates(X - mean)
        xp, d = namespace(u), u.shape[1]
        _, looked = self._kernels.log_sums(u, engine, moments=True)
        psi = -2.0 * looked.alpha * beside(u, looked.centroid)
        rows, columns = upper(u)
        P = symmetric(xp.where(rows == columns, 2.0, 1.0) * psi[:, d:], d)
        top = xp.linalg.solve(P, -psi[:, :d, None])[:, :, 0]
        return self.shape.points(top) + mean

    def merged(self, most: int, rng: np.random.Generator) -> "PerPointDensity":
        """The density with a kernel for every row, copies counted, or for so many of them."""
        some = np.arange(len(self.points))
        if len(some) > most:
            some = np.sort(rng.choice(some, most, replace=False))
        distinct, which = distinct_points(self.points[some])
        first = some[np.unique(which, return_index=True)[1]]
        return replace(self, points=distinct, covariances=self.covariances[first])

    def left_out(self, engine: Engine) -> NDArray:
        """Log-density at the center of every kernel without that kernel, shape (n,)."""
        kernels, points = self._kernels, self.points
        if len(points) == 1:
            return self.log_density(points.X, engine)
        log_sums, _ = kernels.log_sums(kernels.centers.X, engine, np.arange(len(points)))
        return log_sums - np.log(points.total - points.counts) + self.shape.log_normalizer

    def for_gradients(self) -> "PerPointDensity":
        """The density to climb: kernels are as wide as its gradient, not its height, needs them."""
        factor = gradient_widening(self.points.total, len(self.mean))
        return replace(self, covariances=factor**2 * self.covariances)

    def log_squares(self, X: NDArray, engine: Engine) -> NDArray:
        """log Σ_j f_j(x)² over what points add to the density, Σ_j f_j(x), shape (n,)."""
        kernels, points = self._kernels, self.points
        # N(u; u_j, T)² is N(u; u_j, T/2) times its own height at T/2, less 2^d.
        peak = kernels.log_heights.max()
        heights = np.exp(np.maximum(kernels.log_heights - peak, -_LEAST_LOG_HEIGHT))
        centers = WeightedPoints(kernels.centers.X, points.counts * heights)
        halves = PointKernels(centers, 0.5 * self.covariances)
        log_sums, _ = halves.log_sums(self.shape.coordinates(X - self.mean), engine)
        log_sums += peak - 0.5 * len(self.mean) * np.log(2.0)
        return log_sums + 2.0 * (self.shape.log_normalizer - np.log(points.total))

    @property
    def local_covariances(self) -> NDArray:
        """Covariance of every kernel in the user's coordinates, shape (n, d, d)."""
        F = self.shape.factor
        if self.covariances.shape[1:] != F.shape:  # asked for while a file is read: see saving
            raise ValueError(f"covariances {self.covariances.shape} do not fit {F.shape}")
        return F @ self.covariances @ F.T


def per_point_validation(
    density: Callable[[NDArray], PerPointDensity], held_back: WeightedPoints, engine: Engine
) -> Validation:
    """Mean log-density of points held back, after every update."""

    def score(covariances: Array) -> float:
        log_p = density(on_host(covariances)).log_density(held_back.X, engine)
        return float(np.average(log_p, weights=held_back.weights))

    return Validation(score, 1, PATIENCE)


def _scatter(moments: Array, totals: Array, u: Array) -> Array:
    """S_j = Σ_i λ_ij (u_i - u_j)(u_i - u_j)ᵀ from sums of λ φ(u_i), shape (n, d, d)."""
    d = u.shape[1]
    cross = moments[:, :d, None] * u[:, None, :]
    around = totals[:, None, None] * u[:, :, None] * u[:, None, :]
    return symmetric(moments[:, d:], d) - cross - cross.swapaxes(1, 2) + around
