"""Which directions of one part are Gaussian: a search, as in LCA-Gauss-Red."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from vicinal.fitting import EM, few_updates
from vicinal.fitting.checkpoints import remembered
from vicinal.inputs.places import in_place
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.equations import expected_scatter
from vicinal.local_components.mixture.equations import FORM, Parts, Prior
from vicinal.local_components.shapes import KernelShape
from vicinal.neighborhood import Engine
from vicinal.neighborhood.arrays import beside

__all__ = ["with_local_directions"]

# Updates of EM for each trial; the least one must gain per dimension, and a trial in all.
_N_UPDATES, _LEAST_GAIN, _LEAST_BETTER = 15, 3e-4, 1e-3

# Points that belong less than that to a part say nothing about its directions; parts of fewer
# points than that are Gaussian.
_LEAST_SHARE, _FEWEST = 0.02, 4.0

# Any variance above that of the part makes a direction Gaussian, and at the start none is.
_WIDE, _NARROWER = 2.0, 1.0 - 1e-6


def with_local_directions(
    points: WeightedPoints, parts: Parts, prior: Prior, engine: Engine
) -> Parts:
    """Parts of a Gaussian mixture, each with the local directions that make its points likelier."""
    every = (_PartProblem.of(points, parts, prior, k, engine) for k in range(len(parts.means)))
    near = [remembered(part.best_near) for part in every]
    return Parts(parts.memberships, parts.means, parts.wide, np.stack(near))


@dataclass(frozen=True)
class _PartProblem:
    """EM for the kernels of one part, the points of which do not change, where it is white."""

    points: WeightedPoints  # where the engine computes
    total: float
    factor: NDArray
    wide: NDArray
    near: NDArray
    n_prior: float
    engine: Engine

    @classmethod
    def of(
        cls, points: WeightedPoints, parts: Parts, prior: Prior, k: int, engine: Engine
    ) -> "_PartProblem":
        """The points of a part, each as often as it belongs there."""
        factor = np.linalg.cholesky(parts.wide[k])
        inverse = np.linalg.inv(factor)
        inside = parts.memberships[:, k] > _LEAST_SHARE
        X = (points.X[inside] - parts.means[k]) @ inverse.T
        weights = points.counts[inside] * parts.memberships[inside, k]
        wide, near = (inverse @ scatter[k] @ inverse.T for scatter in (prior.wide, prior.near))
        here = in_place(engine, WeightedPoints(X, weights))[0]
        return cls(here, float(weights.sum()), factor, wide, near, prior.points, engine)

    def best_near(self) -> NDArray:
        """C of the part, as the user has it: with as many local directions as pay."""
        d = len(self.factor)
        gaussian = _WIDE * np.eye(d)
        found = gaussian if self.total < _FEWEST else self._searched(gaussian)
        return self.factor @ found @ self.factor.T

    def _searched(self, gaussian: NDArray) -> NDArray:
        """Make the widest directions Gaussian: half of them, or half as many as did not pay."""
        best, objective = self._some_updates(_NARROWER * np.eye(len(gaussian)))
        n_moved = (FORM.shape(best).n_local + 1) // 2
        while n_moved >= 1:
            trial, reached = self._some_updates(_transferred(best, n_moved))
            if reached > objective + _LEAST_BETTER:
                best, objective = trial, reached
            else:
                n_moved //= 2
            n_moved = min(n_moved, FORM.shape(best).n_local)
        return best if objective > self.step(gaussian)[0] else gaussian

    def _some_updates(self, start: NDArray) -> tuple[NDArray, float]:
        return few_updates(EM(self.step), start, _N_UPDATES, _LEAST_GAIN * len(start))

    def step(self, near: NDArray) -> tuple[float, NDArray]:
        """Penalized mean leave-one-out log-likelihood, and the next C."""
        shape, total = FORM.shape(near), self.total
        penalty = self._penalty(shape) / total
        if shape.n_local == 0:
            log_p = shape.log_gaussian(self.points.X) + shape.log_normalizer
            return float(beside(log_p, self.points.counts) @ log_p) / total - penalty, near
        found = expected_scatter(shape, self.engine, self.points)
        following = (total * found.scatter + self.near) / (total + self.n_prior)
        return found.log_likelihood - penalty, following

    def _penalty(self, shape: KernelShape) -> float:
        wide, near = self.wide[None], self.near[None]
        return Prior(self.n_prior, wide, near).penalty(0, shape)


def _transferred(near: NDArray, n_moved: int) -> NDArray:
    """C with the widest of its local directions made Gaussian."""
    variances, directions = eigh(near)
    variances[FORM.shape(near).n_local - n_moved :] = _WIDE
    return (directions * variances) @ directions.T
