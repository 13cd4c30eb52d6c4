"""Latent coincidence analysis in equations (Der and Saul, 2012).

Two points x, x' are seen through a map with noise, z ~ N(W x, σ² I), and coincide with probability
exp(-|z - z'|² / 2κ²). With δ² = |W (x - x')|² and c = κ² + 2σ²,

    log P(y = 1 | x, x') = -q,     q = (p/2) log(c / κ²) + δ² / 2c.

Only W / κ and σ / κ matter. Where all pairs share κ = 1, q = t + ½ ΔᵀM Δ is linear in
t = (p/2) log(1 + 2σ²) and M = WᵀW / c, and the likelihood is concave in both.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vicinal.neighborhood import gram, times
from vicinal.neighborhood.pair_list import PairList

__all__ = [
    "CoincidenceData",
    "LatentMap",
    "em_differences",
    "em_endpoints",
    "exponents",
    "log_likelihood",
    "log_likelihoods",
    "odds",
    "pulls",
]


@dataclass(frozen=True)
class CoincidenceData:
    """Labeled pairs of points.

    Attributes
    ----------
    X : ndarray of shape (n, D)
    pairs : PairList
    coincide : ndarray of bool, shape (n_pairs,)
        y.
    anchors : ndarray of int, shape (n_pairs,)
        Which scale κ a pair is measured by; all 0 where there is one.
    """

    X: NDArray
    pairs: PairList
    coincide: NDArray
    anchors: NDArray

    def __len__(self) -> int:
        return len(self.coincide)

    @property
    def n_anchors(self) -> int:
        """Number of scales."""
        return int(self.anchors.max()) + 1

    def scatter(self, coefficients: NDArray) -> NDArray:
        """Σ c ΔΔᵀ, shape (D, D)."""
        return self.pairs.scatter(coefficients, self.X, self.X)

    @cached_property
    def total_scatter(self) -> NDArray:
        """S₁ = Σ ΔΔᵀ."""
        return self.scatter(np.ones(len(self)))

    @cached_property
    def inverse_scatter(self) -> NDArray:
        """S₁⁺; directions in which no pair differs are left alone."""
        return _inverse(self.total_scatter)

    @cached_property
    def inverse_second_moment(self) -> NDArray:
        """Of all endpoints, a point counted as often as it is one."""
        counts = np.bincount(self.pairs.first, minlength=len(self.X))
        counts = counts + np.bincount(self.pairs.second, minlength=len(self.X))
        return _inverse(gram(self.X, counts[:, None] * self.X))


@dataclass(frozen=True)
class LatentMap:
    """The map that points are seen through, with its noise, and the lengths that decide.

    Attributes
    ----------
    W : ndarray of shape (p, D)
    sigma2 : float
    kappa2 : ndarray of shape (n_anchors,)
        κ² of every scale.
    """

    W: NDArray
    sigma2: float
    kappa2: NDArray


def exponents(squared: NDArray, p: int, sigma2: float | NDArray, kappa2: NDArray) -> NDArray:
    """q = -log P(y = 1) (section 2.1), for squared distances |W Δ|² and κ² of every pair."""
    c = kappa2 + 2.0 * sigma2
    return 0.5 * p * np.log1p(2.0 * sigma2 / kappa2) + 0.5 * squared / c


def log_likelihoods(q: NDArray, coincide: NDArray) -> NDArray:
    """log P(y), shape (n_pairs,): -q, or log(1 - exp(-q))."""
    return np.where(coincide, -q, _log1mexp(q))


def odds(q: NDArray) -> NDArray:
    """ν = P(y = 1) / P(y = 0) = 1 / (e^q - 1), without overflow."""
    return np.exp(-q) / np.maximum(-np.expm1(-q), np.finfo(float).tiny)


def pulls(q: NDArray, coincide: NDArray) -> NDArray:
    """d log P(y) / dq: -1, or ν; shape (n_pairs,)."""
    return np.where(coincide, -1.0, odds(q))


def log_likelihood(data: CoincidenceData, latent: LatentMap) -> float:
    """Σ log P(y) over all pairs."""
    return float(log_likelihoods(_exponents(data, latent)[0], data.coincide).sum())


def em_differences(data: CoincidenceData, latent: LatentMap) -> tuple[float, LatentMap]:
    """Log-likelihood at a map, and one step of EM on the differences z - z' of a pair.

    They are all the likelihood depends on. Their posterior mean is (1 - 2a) W Δ, with a = b or
    -νb and b = σ² / c, so that W ← W (I - 2 S_a S₁⁻¹): translations change nothing.
    """
    q, squared, kappa2 = _exponents(data, latent)
    a, variance = _posterior_of_differences(q, squared, kappa2, data.coincide, latent)
    Z = times(data.X, latent.W.T)
    W = latent.W - 2.0 * data.pairs.scatter(a, Z, data.X) @ data.inverse_scatter
    moved = data.pairs.squared_distances(times(data.X, W.T))
    # |ū - W'Δ|² needs the product of old and new differences: by polarization.
    between = data.pairs.squared_distances(times(data.X, (latent.W - W).T))
    inner = 0.5 * (squared + moved - between)
    residual = np.square(1.0 - 2.0 * a) * squared - 2.0 * (1.0 - 2.0 * a) * inner + moved
    p = len(W)
    sigma2 = float((residual + variance).sum()) / (2.0 * p * len(data))
    value = float(log_likelihoods(q, data.coincide).sum())
    return value, LatentMap(W, sigma2, latent.kappa2)


def em_endpoints(data: CoincidenceData, latent: LatentMap) -> tuple[float, LatentMap]:
    """Log-likelihood at a map, and one step of EM on both endpoints, as the paper prints it.

    The posterior variance for y = 0 has one term more than the text: -ν(1 + ν) b² δ².
    """
    q, squared, kappa2 = _exponents(data, latent)
    nu, p = odds(q), len(latent.W)
    b = latent.sigma2 / (kappa2 + 2.0 * latent.sigma2)
    a = np.where(data.coincide, b, -nu * b)
    variance = np.where(
        data.coincide,
        p * latent.sigma2 * (1.0 - b),
        p * latent.sigma2 * (1.0 + nu * b) - nu * (1.0 + nu) * np.square(b) * squared,
    )
    # Σ z̄ xᵀ + z̄' x'ᵀ = W (M - Σ a Δ Δᵀ)
    pulled = data.pairs.scatter(a, times(data.X, latent.W.T), data.X)
    W = latent.W - pulled @ data.inverse_second_moment
    error = _endpoint_error(data, latent.W, W, a)
    sigma2 = (0.5 * error + float(variance.sum())) / (p * len(data))
    value = float(log_likelihoods(q, data.coincide).sum())
    return value, LatentMap(W, sigma2, latent.kappa2)


def _endpoint_error(data: CoincidenceData, W: NDArray, new: NDArray, a: NDArray) -> float:
    """Σ |z̄ - W'x|² + |z̄' - W'x'|², z̄ = W(x - aΔ), z̄' = W(x' + aΔ)."""
    X, first, second = data.X, data.pairs.first, data.pairs.second
    old, shift = times(X, W.T), times(X, (W - new).T)
    total = 0.0
    for rows in data.pairs.blocks(len(W)):
        i, j, share = first[rows], second[rows], a[rows, None]
        apart = share * (old[i] - old[j])
        total += float(np.square(shift[i] - apart).sum() + np.square(shift[j] + apart).sum())
    return total


def _exponents(data: CoincidenceData, latent: LatentMap) -> tuple[NDArray, NDArray, NDArray]:
    """q, |WΔ|² and κ² of every pair."""
    squared = data.pairs.squared_distances(times(data.X, latent.W.T))
    kappa2 = latent.kappa2[data.anchors]
    return exponents(squared, len(latent.W), latent.sigma2, kappa2), squared, kappa2


def _posterior_of_differences(
    q: NDArray, squared: NDArray, kappa2: NDArray, coincide: NDArray, latent: LatentMap
) -> tuple[NDArray, NDArray]:
    """a with posterior mean (1 - 2a) W Δ, and the variance, of u = z - z'."""
    p, sigma2 = len(latent.W), latent.sigma2
    b = sigma2 / (kappa2 + 2.0 * sigma2)
    nu, left = odds(q), 1.0 - 2.0 * b
    a = np.where(coincide, b, -nu * b)
    # Under y = 0 the density of u is that of the prior less that of y = 1: 1/P₀ = 1 + ν.
    prior, given_one = (
        squared + 2.0 * p * sigma2,
        np.square(left) * squared + 2.0 * p * sigma2 * left,
    )
    second_moment = (1.0 + nu) * prior - nu * given_one
    variance = np.where(
        coincide,
        2.0 * p * sigma2 * left,
        second_moment - np.square(1.0 + 2.0 * nu * b) * squared,
    )
    return a, variance


def _inverse(S: NDArray) -> NDArray:
    """S⁺, where directions without any variance stay without."""
    return np.linalg.pinv(S, rcond=1e-12, hermitian=True)


def _log1mexp(q: NDArray) -> NDArray:
    """log(1 - exp(-q)) for q ≥ 0 (Mächler 2012); -inf at 0."""
    with np.errstate(divide="ignore"):
        return np.where(q > np.log(2.0), np.log1p(-np.exp(-q)), np.log(-np.expm1(-q)))
