"""EM for all parameters of a mixture at once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vicinal.inputs.places import in_place
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.mixture.equations import (
    Look,
    Parts,
    Prior,
    look_around,
    responsibilities,
    wide_moments,
)
from vicinal.neighborhood import Engine, log_sum, namespace
from vicinal.neighborhood.arrays import Array, beside, in_dtype_of, on_host, placed_like

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

    @cached_property
    def here(self) -> WeightedPoints:
        """The points where the engine computes, if it has room."""
        return in_place(self.engine, self.points)[0]

    @cached_property
    def total(self) -> float:
        """Number of points, copies counted."""
        return float(self.points.total)

    def packed(self, parts: Parts) -> Array:
        """Parameters as the loop has them: in one row, where the points are."""
        return placed_like(parts.packed(), self.here.X)

    def parts(self, packed: Array) -> Parts:
        """Parameters as the loop has them, in their own shapes, on the host."""
        return Parts.unpacked(on_host(packed), *self.points.X.shape)

    def step(self, packed: Array) -> tuple[float, Array]:
        """Penalized mean leave-one-out log-likelihood, and the next parameters."""
        parts = Parts.unpacked(packed, *self.points.X.shape)
        looks = self._looks(parts, moments=True)
        log_mass = _beside_each_other([look.log_mass for look in looks])
        penalty = sum(self.prior.penalty(k, look.shape) for k, look in enumerate(looks))
        objective = self._mean(log_mass) - penalty / self.total
        return objective, self._following(parts, looks, responsibilities(log_mass)).packed()

    def log_likelihood(self, parts: Parts) -> float:
        """Mean leave-one-out log-likelihood, without the prior."""
        looks = self._looks(parts, moments=False)
        return self._mean(_beside_each_other([look.log_mass for look in looks]))

    def _looks(self, parts: Parts, moments: bool) -> list[Look]:
        return [
            look_around(
                shape, self.engine, self.here, mean, parts.memberships[:, k], moments=moments
            )
            for k, (shape, mean) in enumerate(zip(parts.shapes, parts.means, strict=True))
        ]

    def _mean(self, log_mass: Array) -> float:
        """Of the logarithms of densities, each divided by the number of other points."""
        xp, counts = namespace(log_mass), self.here.counts
        others = self.total - self.here.once
        log_others = xp.log(xp.where(others > 0.0, others, np.finfo(float).tiny))
        log_p = log_sum(log_mass, axis=1) - beside(log_mass, log_others)
        return float(beside(log_p, counts) @ log_p) / self.total - self.log_volume

    def _following(self, parts: Parts, looks: list[Look], shares: Array) -> Parts:
        found = [self._updated(k, look, shares[:, k]) for k, look in enumerate(looks)]
        totals = _beside_each_other([in_dtype_of(parts.memberships, each[0]) for each in found])
        means, wide, near = (np.stack([each[part] for each in found]) for part in (1, 2, 3))
        xp, sums = namespace(totals), totals.sum(axis=1)[:, None]
        kept = sums > 0  # a key that nobody looks at stays where it is
        memberships = xp.where(kept, totals / xp.where(kept, sums, 1.0), parts.memberships)
        return Parts(memberships, means, wide, near)

    def _updated(
        self, k: int, look: Look, shares: Array
    ) -> tuple[Array, NDArray, NDArray, NDArray]:
        """Σ_i ρ_i(j, k), where the points are, and μ_k, M_k and C_k, on the host."""
        total, mean, scatter = wide_moments(self.here, shares)
        wide = self.prior.mean(scatter, self.prior.wide[k], total)
        keys, around = look.gathered(self.engine, shares)
        if around is None:
            return keys, mean, wide, 2.0 * wide
        return keys, mean, wide, self.prior.mean(around, self.prior.near[k], total)


def _beside_each_other(columns: list[Array]) -> Array:
    """One array of all columns."""
    return namespace(*columns).stack(columns, axis=1)
