"""Class probabilities of new points (thesis 3.24, 3.25), never over an n × m array."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from vicinal.inputs.nearest import nearest_neighbor_descent, search
from vicinal.inputs.points import LabeledPoints
from vicinal.nca.background import ClassGaussians
from vicinal.nca.calibration import CERTAIN, Calibration
from vicinal.nca.equations import Objective, class_counts, class_log_priors, class_log_weights
from vicinal.neighborhood import Engine, Law, class_log_masses, log_shares, times

__all__ = ["Classifier", "nearest_index", "under_map"]

# Below this many keys the exact search is faster than building an approximate index.
_EXACT_SEARCH_UP_TO = 4096


@dataclass(frozen=True)
class Classifier:
    """What the NCA rule needs of the training points.

    Attributes
    ----------
    keys : ndarray of shape (m, d)
        Projected training points, in multiples of `1 / scale`.
    labels : ndarray of shape (m,)
    weights : ndarray of shape (m,) or None
    log_weights : ndarray of shape (n_classes,)
        What turns a class's sum over keys into density times prior.
    law : Law
        The one the points were learned with.
    background : ClassGaussians or None
        Of the projected points.
    background_log_weights : ndarray of shape (n_classes,) or None
        log(β π_c).
    scale : float
        What projected points are multiplied by: the smaller, the softer neighborhoods are.
    calibration : Calibration
        How sure probabilities are.
    """

    keys: NDArray
    labels: NDArray
    weights: NDArray | None
    log_weights: NDArray
    law: Law
    background: ClassGaussians | None = None
    background_log_weights: NDArray | None = None
    scale: float = 1.0
    calibration: Calibration = CERTAIN

    @classmethod
    def of(
        cls,
        projected: LabeledPoints,
        objective: Objective,
        logit: float = 0.0,
        scale: float = 1.0,
        calibration: Calibration = CERTAIN,
    ) -> "Classifier":
        """From projected points, with the projected Gaussians as the background."""
        counts = class_counts(projected, objective.n_classes)
        log_weights = class_log_weights(objective, counts)
        X, behind = projected.X, None
        if objective.background is not None:
            log_weights = log_weights - np.logaddexp(0.0, logit)  # log(1 - β)
            log_weights = log_weights + objective.law.log_normalizer(X.shape[1])
            behind = class_log_priors(objective, counts) - np.logaddexp(0.0, -logit)
        known = (X, projected.labels, projected.weights, log_weights, objective.law)
        rule = cls(*known, objective.background, behind, calibration=calibration)
        return rule if scale == 1.0 else rule._resized(scale)

    def accuracy(self, queries: LabeledPoints, engine: Engine) -> float:
        """Share of projected points whose class is the most probable."""
        right = self.log_probabilities(queries.X, engine).argmax(axis=1) == queries.labels
        return float(np.average(right, weights=queries.weights))

    def log_probabilities(
        self, queries: NDArray, engine: Engine, index: Any = None, k: int | None = None
    ) -> NDArray:
        """log p(c | x) of projected points, shape (n, n_classes).

        A point with nobody in reach (compact support without background) has
        the class of its nearest neighbor. With an `index` only the `k` nearest
        keys count.
        """
        if self.scale != 1.0:
            queries = queries * queries.dtype.type(self.scale)
        if index is None:
            log_mass = self._log_masses(queries, engine)[0]
        else:
            log_mass = self._nearest_log_masses(queries, index, k or 1)
        return self._from_masses(queries, log_mass)

    def log_probabilities_at(self, scales: NDArray, queries: NDArray, engine: Engine) -> NDArray:
        """log p(c | x) at several sizes of all distances, shape (len(scales), n, n_classes)."""
        rules = [self._resized(float(scale)) for scale in scales]
        log_masses = self._log_masses(queries, engine, scales)
        sized = (queries * queries.dtype.type(scale) for scale in scales)
        found = zip(rules, sized, log_masses, strict=True)
        return np.stack([rule._from_masses(points, masses) for rule, points, masses in found])

    def _resized(self, scale: float) -> "Classifier":
        """The rule for points that are multiplied by a number."""
        keys = self.keys * self.keys.dtype.type(scale)
        behind = self.background
        if behind is not None:
            behind = behind.under(scale * np.eye(keys.shape[1]))
        return replace(self, keys=keys, background=behind, scale=scale * self.scale)

    def _from_masses(self, queries: NDArray, log_mass: NDArray) -> NDArray:
        """log p(c | x) from sums over the keys of each class."""
        log_mass = log_mass + self.log_weights
        if self.background is not None:
            densities = self.background.log_densities(np.eye(queries.shape[1]), queries)
            log_mass = np.logaddexp(log_mass, densities + self.background_log_weights)
        alone = np.isneginf(log_mass).all(axis=1)
        if alone.any():
            nearest = NearestNeighbors(n_neighbors=1).fit(self.keys)
            found = nearest.kneighbors(queries[alone], return_distance=False)[:, 0]
            log_mass[np.flatnonzero(alone), self.labels[found]] = 0.0
        return self.calibration.apply(log_shares(log_mass, axis=1))

    def _log_masses(
        self, queries: NDArray, engine: Engine, scales: Sequence[float] | NDArray = (1.0,)
    ) -> NDArray:
        """log Σ_{j in c} w_j k over all keys, at every size of distances."""
        known = (self.keys, self.labels, len(self.log_weights))
        log_weights = None if self.weights is None else np.log(self.weights)
        return class_log_masses(queries, *known, log_weights, self.law, engine, scales)

    def _nearest_log_masses(self, queries: NDArray, index: Any, k: int) -> NDArray:
        """log Σ_{j in c} w_j k over the k nearest keys of each query only."""
        who, distance = index(queries, min(k, len(self.keys)))
        s = np.square(distance, dtype=np.float64)
        with np.errstate(divide="ignore"):
            log_k = self.law.log_mass(s, queries.shape[1])
            if self.weights is not None:
                log_k = log_k + np.log(self.weights[who])
        log_mass = np.full((len(queries), len(self.log_weights)), -np.inf)
        for c in range(len(self.log_weights)):
            mine = np.where(self.labels[who] == c, log_k, -np.inf)
            log_mass[:, c] = np.logaddexp.reduce(mine, axis=1)
        return log_mass


def under_map(
    A: NDArray, points: LabeledPoints, objective: Objective
) -> tuple[LabeledPoints, Objective]:
    """Points under a map, and the objective with its background there."""
    projected = points.at(times(points.X, A.T.astype(points.X.dtype)))
    if objective.background is None:
        return projected, objective
    return projected, replace(objective, background=objective.background.under(A))


def nearest_index(keys: NDArray, n_neighbors: int, n_jobs: int | None) -> Any:
    """Search for nearest keys: a function of queries and k that returns positions and distances.

    Approximate, by nearest neighbor descent, where there are many keys.
    """
    if len(keys) <= _EXACT_SEARCH_UP_TO:
        exact = NearestNeighbors().fit(keys)
        return lambda queries, k: search(exact, queries, k)[::-1]
    who = f"n_neighbors={n_neighbors} with more than {_EXACT_SEARCH_UP_TO} training points"
    descent = nearest_neighbor_descent(who, ", or set n_neighbors=None")
    index = descent(keys.astype(np.float32), n_neighbors, n_jobs)
    index.prepare()
    return lambda queries, k: index.query(queries.astype(np.float32), k)
