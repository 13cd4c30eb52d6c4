"""The likelihood as solvers see it, scales by line search, and the certificate of an optimum."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vicinal.coincidence.equations import (
    CoincidenceData,
    LatentMap,
    em_differences,
    em_endpoints,
    exponents,
    log_likelihoods,
    pulls,
)
from vicinal.fitting import EM, Solver, Step, few_updates, lbfgs
from vicinal.neighborhood import times

__all__ = ["SOLVERS", "CoincidenceProblem", "likeliest_scales"]

SOLVERS = ("lbfgs", "em", "em-endpoints")

# Where κ² is looked for, how often the range is halved, and how often a line through its ends then
# tells where in it.
_SCALE_RANGE, _HALVINGS, _INTERPOLATIONS = (1e-8, 1e8), 12, 3

# Updates of the two numbers that a calibration learns.
_CALIBRATION_STEPS = 100

# A certificate: how far from zero, relative to its parts, the gradient and its eigenvalues may be.
_CERTAIN = 1e-5

# Directions of differences below this, relative to the largest variance, are none.
_NO_VARIANCE = 1e-12


# From a map to its log-likelihood and to the next map.
FormOfEM = Callable[[CoincidenceData, LatentMap], tuple[float, LatentMap]]


@dataclass(frozen=True)
class CoincidenceProblem:
    """Mean log-likelihood of pairs over the parameters of a solver.

    With one scale for all (κ = 1) these are A = W / √(1 + 2σ²) and log t, t = (p/2) log(1 + 2σ²):
    the exponent of a pair is t + ½ |A Δ|². With a scale for every anchor they are W and log σ²,
    and each scale is the likeliest for them.

    Attributes
    ----------
    data : CoincidenceData
    n_components : int
        p.
    local : bool
        Whether every anchor has a scale of its own.
    """

    data: CoincidenceData
    n_components: int
    local: bool = False

    def solver(self, name: str) -> Solver:
        """L-BFGS, or EM in one of its forms."""
        if name == "lbfgs":
            return lbfgs(self.value_and_gradient)
        return EM(self._step_of(em_differences if name == "em" else em_endpoints))

    def pack(self, latent: LatentMap) -> NDArray:
        """Parameters of a map, its noise and its scales."""
        if self.local:
            return np.append(latent.W.ravel(), np.log(latent.sigma2))
        c = 1.0 + 2.0 * latent.sigma2
        t = 0.5 * self.n_components * np.log1p(2.0 * latent.sigma2)
        return np.append(latent.W.ravel() / np.sqrt(c), np.log(t))

    def directions(self, parameters: NDArray) -> NDArray:
        """The map but for its size: all that neighbors depend on."""
        return parameters[:-1].reshape(self.n_components, -1)

    @cached_property
    def first_of_anchors(self) -> NDArray:
        """Position of a point that has each scale, shape (n_anchors,)."""
        positions = np.empty(self.data.n_anchors, dtype=np.intp)
        positions[self.data.anchors] = self.data.pairs.first
        return positions

    def unpack(self, parameters: NDArray) -> LatentMap:
        """Map, noise and scales of parameters; the likeliest scales where there are many."""
        B, last = self.directions(parameters), float(parameters[-1])
        if self.local:
            sigma2 = float(np.exp(np.clip(last, -60.0, 60.0)))
            return LatentMap(B, sigma2, likeliest_scales(self.data, B, sigma2))
        return self.unpack_shared(B, float(np.exp(np.clip(last, -60.0, 60.0))))

    def unpack_shared(self, A: NDArray, t: float) -> LatentMap:
        """Map and noise of A and t, with κ = 1."""
        sigma2 = 0.5 * float(np.expm1(min(2.0 * t / self.n_components, 100.0)))
        return LatentMap(A * np.sqrt(1.0 + 2.0 * sigma2), sigma2, np.ones(1))

    def value_and_gradient(self, parameters: NDArray) -> tuple[float, NDArray]:
        """Mean log-likelihood and its gradient."""
        latent, data, p = self.unpack(parameters), self.data, self.n_components
        Z = times(data.X, latent.W.T)
        squared, kappa2 = data.pairs.squared_distances(Z), latent.kappa2[data.anchors]
        q = exponents(squared, p, latent.sigma2, kappa2)
        pull, n = pulls(q, data.coincide), len(data)
        value = float(log_likelihoods(q, data.coincide).mean())
        c = kappa2 + 2.0 * latent.sigma2
        in_W = data.pairs.scatter(pull / c, Z, data.X) / n  # dq/dW = W Δ Δᵀ / c
        if self.local:
            # Scales are at their maximum: they need no term of their own.
            in_log_sigma2 = latent.sigma2 * float((pull * (p / c - squared / c**2)).mean())
            return value, np.append(in_W.ravel(), in_log_sigma2)
        t = 0.5 * p * np.log1p(2.0 * latent.sigma2)
        # dq/dA = A Δ Δᵀ = √c (W Δ Δᵀ / c), dq/dt = 1
        in_A = np.sqrt(1.0 + 2.0 * latent.sigma2) * in_W
        return value, np.append(in_A.ravel(), t * float(pull.mean()))

    def is_global_optimum(self, latent: LatentMap) -> bool:
        """Whether no map of any rank has a higher likelihood, by the conditions of Karush et al.

        The likelihood is concave in t and M = AᵀA. At an optimum G = Σ (d log P / dq) ½ ΔΔᵀ has
        no positive eigenvalue, G M = 0, and the derivative in t is 0, or negative where t is 0.
        """
        data = self.data
        squared = data.pairs.squared_distances(times(data.X, latent.W.T))
        q = exponents(squared, self.n_components, latent.sigma2, latent.kappa2[data.anchors])
        pull = pulls(q, data.coincide)
        G = data.scatter(pull)
        size = np.linalg.eigvalsh(data.scatter(np.abs(pull)))[-1]
        largest = np.linalg.norm(latent.W, 2)
        stationary = np.linalg.norm(latent.W @ G, 2) <= _CERTAIN * size * largest
        in_t, t = float(pull.sum()), 0.5 * self.n_components * np.log1p(2.0 * latent.sigma2)
        balanced = max(in_t, abs(t * in_t)) <= _CERTAIN * np.abs(pull).sum()
        highest = np.linalg.eigvalsh(G)[-1] <= _CERTAIN * size
        return bool(stationary and balanced and highest)

    def calibrated(self, latent: LatentMap) -> LatentMap:
        """The likeliest σ², and size of W, for κ = 1; neighbors stay who they are.

        A map that was kept for its neighbors, or learned with local scales, has neither.
        """
        squared = self.data.pairs.squared_distances(times(self.data.X, latent.W.T))
        unit = float(squared.mean()) or 1.0

        def value_and_gradient(logs: NDArray) -> tuple[float, NDArray]:
            size, t = np.exp(np.clip(logs, -60.0, 60.0))
            q = t + 0.5 * size * squared / unit
            pull = pulls(q, self.data.coincide)
            gradient = [0.5 * size * (pull * squared).mean() / unit, t * pull.mean()]
            return float(log_likelihoods(q, self.data.coincide).mean()), np.array(gradient)

        logs, _ = few_updates(lbfgs(value_and_gradient), np.zeros(2), _CALIBRATION_STEPS, 1e-12)
        size, t = np.exp(np.clip(logs, -60.0, 60.0))
        A = latent.W * np.sqrt(size / unit)
        return self.unpack_shared(A, float(t))

    def without_null_space(self, latent: LatentMap) -> LatentMap:
        """Drop what W does in directions in which no pair differs."""
        return LatentMap(latent.W @ self._range, latent.sigma2, latent.kappa2)

    @cached_property
    def _range(self) -> NDArray:
        """Projection on directions in which pairs differ, shape (D, D)."""
        variances, directions = np.linalg.eigh(self.data.total_scatter)
        seen = directions[:, variances > _NO_VARIANCE * max(variances[-1], 0.0)]
        return seen @ seen.T

    def _step_of(self, form: FormOfEM) -> Step:
        def step(parameters: NDArray) -> tuple[float, NDArray]:
            value, following = form(self.data, self.unpack(parameters))
            return value / len(self.data), self.pack(following)

        return step


def likeliest_scales(data: CoincidenceData, W: NDArray, sigma2: float) -> NDArray:
    """κ² of every anchor by bisection in log κ², then by false position: there is one peak.

    As W, σ and κ share a unit, κ² is looked for around 2σ².
    """
    squared, p, n = data.pairs.squared_distances(times(data.X, W.T)), len(W), data.n_anchors
    low, high = (np.full(n, np.log(bound * 2.0 * sigma2)) for bound in _SCALE_RANGE)

    def rise(log_kappa2: NDArray) -> NDArray:
        """Derivative of the log-likelihood in log κ²."""
        kappa2 = np.exp(log_kappa2)[data.anchors]
        c = kappa2 + 2.0 * sigma2
        slope = -0.5 * p * 2.0 * sigma2 / c - 0.5 * squared * kappa2 / c**2  # dq / d log κ²
        q = exponents(squared, p, sigma2, kappa2)
        return np.bincount(data.anchors, pulls(q, data.coincide) * slope, minlength=n)

    at_low, at_high = np.full(n, np.inf), np.full(n, -np.inf)
    for step in range(_HALVINGS + _INTERPOLATIONS):
        guess = 0.5 * (low + high)
        if step >= _HALVINGS:
            guess = _zero_between(low, high, at_low, at_high, guess)
        found = rise(guess)
        low, at_low = np.where(found > 0, (guess, found), (low, at_low))
        high, at_high = np.where(found > 0, (high, at_high), (guess, found))
    return np.exp(_zero_between(low, high, at_low, at_high, 0.5 * (low + high)))


def _zero_between(
    low: NDArray, high: NDArray, at_low: NDArray, at_high: NDArray, otherwise: NDArray
) -> NDArray:
    """Where a line through both ends is zero; `otherwise` where an end was never looked at."""
    known = np.isfinite(at_low) & np.isfinite(at_high) & (at_low > at_high)
    share = np.divide(at_low, at_low - at_high, out=np.full(len(low), 0.5), where=known)
    return np.where(known, low + share * (high - low), otherwise)
