"""EM for all parameters of a mixture at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.mixture.equations import (
    Look,
    Parts,
    Prior,
    look_around,
    responsibilities,
    wide_moments,
)
from vicinal.neighborhood import Engine

__all__ = ["MixtureProblem"]


@dataclass(frozen=True)
class MixtureProblem:
    """EM on points, whose leave-one-out likelihood, with the prior, never falls.

    Attributes
    ----------
    points : WeightedPoints
    prior : Prior
    engine : Engine
    log_volume : float
        By which log-densities are lower in the coordinates of the user.
    """

    points: WeightedPoints
    prior: Prior
    engine: Engine
    log_volume: float = 0.0

    def parts(self, packed: NDArray) -> Parts:
        """Parameters as the loop has them, in their own shapes."""
        return Parts.unpacked(packed, *self.points.X.shape)

    def step(self, packed: NDArray) -> tuple[float, NDArray]:
        """Penalized mean leave-one-out log-likelihood, and the next parameters."""
        parts = self.parts(packed)
        looks = self._looks(parts, moments=True)
        log_mass = np.stack([look.log_mass for look in looks], axis=1)
        penalty = sum(self.prior.penalty(k, look.shape) for k, look in enumerate(looks))
        objective = self._mean(log_mass) - penalty / self.points.total
        return objective, self._following(parts, looks, responsibilities(log_mass)).packed()

    def log_likelihood(self, parts: Parts) -> float:
        """Mean leave-one-out log-likelihood, without the prior."""
        looks = self._looks(parts, moments=False)
        return self._mean(np.stack([look.log_mass for look in looks], axis=1))

    def _looks(self, parts: Parts, moments: bool) -> list[Look]:
        each = zip(parts.shapes, parts.means, parts.memberships.T, strict=True)
        return [
            look_around(shape, self.engine, self.points, mean, q, moments=moments)
            for shape, mean, q in each
        ]

    def _mean(self, log_mass: NDArray) -> float:
        """Of the logarithms of densities, each divided by the number of other points."""
        counts, total = self.points.counts, self.points.total
        others = np.maximum(total - np.minimum(counts, 1.0), np.finfo(float).tiny)
        log_p = np.logaddexp.reduce(log_mass, axis=1) - np.log(others)
        return float(counts @ log_p) / total - self.log_volume

    def _following(self, parts: Parts, looks: list[Look], shares: NDArray) -> Parts:
        found = [self._updated(k, look, shares[:, k]) for k, look in enumerate(looks)]
        totals, means, wide, near = (np.stack(each) for each in zip(*found, strict=True))
        kept = totals.sum(axis=0) > 0  # a key that nobody looks at stays where it is
        memberships = parts.memberships.copy()
        memberships[kept] = (totals[:, kept] / totals[:, kept].sum(axis=0)).T
        return Parts(memberships, means, wide, near)

    def _updated(self, k: int, look: Look, shares: NDArray) -> tuple[NDArray, ...]:
        """Σ_i ρ_i(j, k), μ_k, M_k and C_k."""
        total, mean, scatter = wide_moments(self.points, shares)
        wide = self.prior.mean(scatter, self.prior.wide[k], total)
        keys, around = look.gathered(self.engine, shares)
        if around is None:
            return keys, mean, wide, 2.0 * wide
        return keys, mean, wide, self.prior.mean(around, self.prior.near[k], total)
