"""Scales of anchors, κ, where each has its own, and what they say about new points."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vicinal.coincidence.equations import LatentMap, exponents, log_likelihoods, pulls
from vicinal.coincidence.learning import CoincidenceProblem
from vicinal.fitting import few_updates, lbfgs
from vicinal.inputs.nearest import nearest
from vicinal.neighborhood import times

__all__ = ["LocalScales", "with_local_scales"]

# A scale is learned from few pairs: that of a point is the median of so many anchors around it.
_AROUND = 10

# Updates of the two numbers that a calibration learns.
_CALIBRATION_STEPS = 100


@dataclass(frozen=True)
class LocalScales:
    """Where anchors are under the map, and their scales.

    Attributes
    ----------
    anchors : ndarray of shape (n_anchors, d)
    kappa2 : ndarray of shape (n_anchors,)
        κ².
    """

    anchors: NDArray
    kappa2: NDArray

    def at(self, Z: NDArray) -> NDArray:
        """κ² of points by their projections: the median of the nearest anchors', shape (n,)."""
        found, _ = nearest(self.anchors, Z, _AROUND)
        return np.median(self.kappa2[found], axis=1)

    def of_others(self) -> NDArray:
        """κ² that anchors would have by the others alone, shape (n_anchors,)."""
        if len(self.kappa2) == 1:
            return self.kappa2
        own = np.arange(len(self.kappa2))
        found, squared = nearest(self.anchors, self.anchors, _AROUND, own)
        known = np.where(np.isfinite(squared), self.kappa2[found], np.nan)
        return np.nanmedian(known, axis=1)


def with_local_scales(problem: CoincidenceProblem, latent: LatentMap) -> LatentMap:
    """The likeliest size of W and σ² for scales that anchors have by those around them.

    Those are what new points will have, too; neighbors stay who they are. The geometric mean of
    the scales becomes 1.
    """
    unit = float(np.exp(np.log(latent.kappa2).mean()))
    W, sigma2, kappa2 = latent.W / np.sqrt(unit), latent.sigma2 / unit, latent.kappa2 / unit
    data, p = problem.data, len(W)
    Z = times(data.X, W.T)
    squared = data.pairs.squared_distances(Z)
    kappa2_of_pairs = LocalScales(Z[problem.first_of_anchors], kappa2).of_others()[data.anchors]

    def value_and_gradient(logs: NDArray) -> tuple[float, NDArray]:
        size, noise = np.exp(np.clip(logs, -60.0, 60.0)) * (1.0, sigma2)
        c = kappa2_of_pairs + 2.0 * noise
        q = exponents(size * squared, p, noise, kappa2_of_pairs)
        pull = pulls(q, data.coincide)
        in_size = 0.5 * size * (pull * squared / c).mean()
        in_noise = noise * (pull * (p / c - size * squared / c**2)).mean()
        value = float(log_likelihoods(q, data.coincide).mean())
        return value, np.array([in_size, in_noise])

    logs, _ = few_updates(lbfgs(value_and_gradient), np.zeros(2), _CALIBRATION_STEPS, 1e-12)
    size, noise = np.exp(np.clip(logs, -60.0, 60.0)) * (1.0, sigma2)
    return LatentMap(W * np.sqrt(size), float(noise), kappa2)
