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
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.density import draw_positions, gradient_widening
from vicinal.local_components.learning import PATIENCE
from vicinal.local_components.shapes import KernelShape
from vicinal.neighborhood import GAUSSIAN, Engine, Pairs

__all__ = [
    "PerPointDensity",
    "PerPointProblem",
    "local_problem",
    "neighborhood_covariances",
    "per_point_validation",
]


# Of an exponent.
_MOST_ROUNDING = 1e-3

# Length of features, as good as 0, whose inverse is a number all the same.
_SHORTEST = 1e-100

# How much lower a kernel may be than the highest one, as a logarithm, and still be a number.
_LEAST_LOG_HEIGHT = 600.0

# Updates of the common scale, and what one must gain.
_MOST_SCALE_STEPS, _LEAST_GAIN = 50, 1e-6

# Coordinates of neighbors held at a time.
_BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True)
class _Kernels:
    """Kernels with a center and a covariance each, as keys of the shared computation.

    Attributes
    ----------
    centers : WeightedPoints
        With shape (n, d).
    covariances : ndarray of shape (n, d, d)
    """

    centers: WeightedPoints
    covariances: NDArray

    @cached_property
    def precisions(self) -> NDArray:
        return np.linalg.inv(self.covariances)

    @cached_property
    def log_heights(self) -> NDArray:
        """-½ log |T_j|, shape (n,)."""
        return -0.5 * np.linalg.slogdet(self.covariances)[1]

    @cached_property
    def features(self) -> NDArray:
        """ψ_j: minus P_j u_j, then half of P_j, off-diagonal entries counted twice."""
        u, P = self.centers.X, self.precisions
        rows, columns = np.triu_indices(u.shape[1])
        halves = np.where(rows == columns, 0.5, 1.0) * P[:, rows, columns]
        return np.hstack([-np.einsum("nij,nj->ni", P, u), halves])

    def log_sums(
        self, u: NDArray, engine: Engine, own: NDArray | None = None, moments: bool = False
    ) -> tuple[NDArray, "_Looked"]:
        """log Σ_j N(u; u_j, T_j) (2π)^(d/2) over the kernels, own ones left out, shape (n,)."""
        phi, psi = _features(u), self.features
        alpha = _balance(phi, psi, u.shape[1])
        log_weights = (
            self.log_heights
            - 0.5 * np.einsum("nij,ni,nj->n", self.precisions, self.centers.X, self.centers.X)
            + 0.25 * np.square(psi / alpha).sum(axis=1)
            + np.log(self.centers.counts)
        )
        pairs = Pairs(alpha * phi, -0.5 * psi / alpha, key_log_weights=log_weights, own=own)
        rows = engine.rows(pairs, GAUSSIAN, moments=moments).finish()
        log_sums = rows.log_mass[0] + np.square(alpha * phi).sum(axis=1)
        return log_sums, _Looked(pairs, rows.log_slope, rows.centroid[0], alpha)


@dataclass(frozen=True)
class _Looked:
    """What a rows pass leaves for the next one."""

    pairs: Pairs
    log_slope: NDArray
    centroid: NDArray
    alpha: NDArray


@dataclass(frozen=True)
class PerPointProblem:
    """EM for the covariances, in coordinates in which the shared kernels are round.

    Attributes
    ----------
    points : WeightedPoints
    prior : ndarray of shape (n, d, d)
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
    prior: NDArray
    strength: float
    log_volume: float
    engine: Engine
    copies_count: bool = True

    def step(self, covariances: NDArray) -> tuple[float, NDArray]:
        """Mean leave-one-out log-likelihood less the penalty, and the next covariances."""
        kernels = _Kernels(self.points, covariances)
        likelihood, scatter, totals = self._expect(kernels)
        strength = (self.strength * self.points.counts)[:, None, None]
        # T_j = (S_j + s N_j) / (c_j + s)
        following = (scatter + strength * self.prior) / (totals[:, None, None] + strength)
        return likelihood - self._penalty(kernels), following

    def scale_step(self, scale: NDArray) -> tuple[float, NDArray]:
        """Mean likelihood less its penalty for kernels τ N_j of one scale τ, and the next scale.

        A prior worth one point with τ = 1 keeps the scale of points that all have twins from 0.
        """
        kernels = _Kernels(self.points, scale * self.prior)
        likelihood, scatter, _ = self._expect(kernels)
        d, n, tau = self.points.X.shape[1], self.points.total, float(scale[0])
        penalty = 0.5 * d * (np.log(tau) + 1.0 / tau - 1.0) / n
        # Σ_ij λ_ij (u_i - u_j)ᵀ N_j⁻¹ (u_i - u_j)
        squares = tau * float(np.einsum("nij,nij->", kernels.precisions, scatter))
        return likelihood - penalty, np.array([(squares + d) / (n * d + d)])

    def scaled(self) -> "PerPointProblem":
        """The problem with the prior at its likeliest scale."""
        scale, _ = few_updates(EM(self.scale_step), np.ones(1), _MOST_SCALE_STEPS, _LEAST_GAIN)
        return replace(self, prior=scale * self.prior)

    def log_likelihood(self, covariances: NDArray) -> float:
        """Mean leave-one-out log-likelihood."""
        kernels = _Kernels(self.points, covariances)
        log_others, _ = kernels.log_sums(self.points.X, self.engine, np.arange(len(self.points)))
        return self._mean(self._with_copies(log_others, kernels))

    def _expect(self, kernels: _Kernels) -> tuple[float, NDArray, NDArray]:
        """Likelihood, scatters S_j (n, d, d) and sums c_j (n,) of the responsibilities."""
        points = self.points
        log_others, looked = kernels.log_sums(points.X, self.engine, np.arange(len(points)))
        log_mass = self._with_copies(log_others, kernels)
        others = np.exp(log_others - log_mass)
        columns = self.engine.columns(
            looked.pairs, GAUSSIAN, looked.log_slope, (points.counts * others)[None, :]
        )
        scatter = _scatter(columns.moment / looked.alpha, columns.total, points.X)
        copies = points.counts * (1.0 - others)  # of the point itself, at distance 0
        return self._mean(log_mass), scatter, columns.total + copies

    def _mean(self, log_mass: NDArray) -> float:
        d, points = self.points.X.shape[1], self.points
        n_others = points.total - self._left_out
        log_p = log_mass - np.log(n_others) - 0.5 * d * np.log(2.0 * np.pi)
        return float(points.counts @ log_p) / points.total - self.log_volume

    @property
    def _left_out(self) -> NDArray:
        """How many copies of each point do not explain it."""
        counts = self.points.counts
        return np.minimum(counts, 1.0) if self.copies_count else counts

    def _with_copies(self, log_others: NDArray, kernels: _Kernels) -> NDArray:
        with np.errstate(divide="ignore"):
            copies = np.log(self.points.counts - self._left_out)
        return np.logaddexp(log_others, copies + kernels.log_heights)

    def _penalty(self, kernels: _Kernels) -> float:
        traces = np.einsum("nij,nij->n", kernels.precisions, self.prior)
        log_ratios = -2.0 * kernels.log_heights - np.linalg.slogdet(self.prior)[1]
        each = log_ratios + traces - self.points.X.shape[1]
        return 0.5 * self.strength * float(self.points.counts @ each) / self.points.total


def local_problem(
    centers: WeightedPoints, size: int, log_volume: float, engine: Engine, copies_count: bool
) -> PerPointProblem:
    """EM that begins with, and is held to, the covariances of so many nearest neighbors.

    Where copies of a point do not count for it, they are not among its neighbors either.
    """
    around = centers if copies_count else WeightedPoints(centers.X)
    prior = neighborhood_covariances(around, size)
    return PerPointProblem(centers, prior, size, log_volume, engine, copies_count).scaled()


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
    def _kernels(self) -> _Kernels:
        centers = self.shape.coordinates(self.points.X - self.mean)
        return _Kernels(self.points.at(centers), self.covariances)

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
        """The density itself: its kernels are sent with every step."""
        return self

    def climb(self, X: NDArray, engine: Engine) -> NDArray:
        """To (Σ_j w_j P_j)⁻¹ Σ_j w_j P_j x_j, with w_j the kernels' shares."""
        u = self.shape.coordinates(X - self.mean)
        d = u.shape[1]
        _, looked = self._kernels.log_sums(u, engine, moments=True)
        psi = -2.0 * looked.alpha * looked.centroid
        rows, columns = np.triu_indices(d)
        P = np.empty((len(u), d, d))
        P[:, rows, columns] = P[:, columns, rows] = np.where(rows == columns, 2.0, 1.0) * psi[:, d:]
        top = np.linalg.solve(P, -psi[:, :d, None])[:, :, 0]
        return top @ self.shape.factor.T + self.mean

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
        halves = _Kernels(centers, 0.5 * self.covariances)
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

    def score(covariances: NDArray) -> float:
        log_p = density(covariances).log_density(held_back.X, engine)
        return float(np.average(log_p, weights=held_back.weights))

    return Validation(score, 1, PATIENCE)


def _features(u: NDArray) -> NDArray:
    """φ: u, then the products of its coordinates, shape (n, d (d + 3) / 2)."""
    rows, columns = np.triu_indices(u.shape[1])
    return np.hstack([u, u[:, rows] * u[:, columns]])


def _balance(phi: NDArray, psi: NDArray, d: int) -> NDArray:
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


def _longest(features: NDArray) -> float:
    return float(np.sqrt(np.square(features).sum(axis=1).max()))


def _scatter(moments: NDArray, totals: NDArray, u: NDArray) -> NDArray:
    """S_j = Σ_i λ_ij (u_i - u_j)(u_i - u_j)ᵀ from sums of λ φ(u_i), shape (n, d, d)."""
    n, d = u.shape
    rows, columns = np.triu_indices(d)
    squares = np.empty((n, d, d))
    squares[:, rows, columns] = squares[:, columns, rows] = moments[:, d:]
    cross = moments[:, :d, None] * u[:, None, :]
    around = totals[:, None, None] * u[:, :, None] * u[:, None, :]
    return squares - cross - cross.transpose(0, 2, 1) + around
