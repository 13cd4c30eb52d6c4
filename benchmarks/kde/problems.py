"""Points, queries, and their densities by the definition."""

from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.common.arrays import write_arrays
from benchmarks.kde.process import N_CHECKED

BANDWIDTHS = {"small": 0.25, "medium": 1.0, "large": 4.0}  # times Scott's rule
N_COMPONENTS = 10
ORACLE_PAIRS = 10**7  # at a time


class Mixture:
    """Gaussians of different weight, size and shape; every coordinate has mean 0, variance 1."""

    def __init__(self, d: int, seed: int = 0) -> None:
        rng = np.random.default_rng((seed, d))
        self.weights = rng.dirichlet(np.full(N_COMPONENTS, 2.0))
        centers = rng.normal(size=(N_COMPONENTS, d))
        sizes = rng.permutation(np.geomspace(0.15, 1.0, N_COMPONENTS))[:, None, None]
        shapes = 0.8 * rng.normal(size=(N_COMPONENTS, d, d)) / np.sqrt(d)
        # One factor for the shape, one that keeps a component from being flat.
        factors = sizes * np.concatenate(
            [shapes, np.tile(0.3 * np.eye(d), (N_COMPONENTS, 1, 1))], axis=2
        )
        mean = self.weights @ centers
        variances = np.square(factors).sum(axis=2) + np.square(centers - mean)
        scale = np.sqrt(self.weights @ variances)
        self.centers = (centers - mean) / scale
        self.factors = factors / scale[:, None]  # of shape (components, d, 2 d)

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Rows in random order."""
        component = rng.choice(N_COMPONENTS, size=n, p=self.weights)
        X = self.centers[component]
        for k, factor in enumerate(self.factors):
            rows = component == k
            X[rows] += rng.normal(size=(rows.sum(), factor.shape[1])) @ factor.T
        return X


class Truth(NamedTuple):
    """Of the queries that are checked."""

    log_density: np.ndarray
    neighbors: np.ndarray  # (Σ w)² / Σ w²


def oracle(Q: np.ndarray, X: np.ndarray, bandwidth: float) -> Truth:
    """The definition, in float64, some queries at a time."""
    logs, neighbors = [], []
    for start in range(0, len(Q), max(1, ORACLE_PAIRS // len(X))):
        some = Q[start : start + max(1, ORACLE_PAIRS // len(X))]
        s = sum(np.square(some[:, j, None] - X[:, j]) for j in range(X.shape[1]))
        exponents = s / (-2 * bandwidth**2)
        logs.append(logsumexp(exponents))
        neighbors.append(np.exp(2 * logs[-1] - logsumexp(2 * exponents)))
    log_norm = np.log(len(X)) + X.shape[1] * np.log(bandwidth * np.sqrt(2 * np.pi))
    return Truth(np.concatenate(logs) - log_norm, np.concatenate(neighbors))


def logsumexp(exponents: np.ndarray) -> np.ndarray:
    peak = exponents.max(axis=1)
    return peak + np.log(np.exp(exponents - peak[:, None]).sum(axis=1))


def scott(n: int, d: int) -> float:
    """Scott's rule for unit variance."""
    return n ** (-1 / (d + 4))


class Problem:
    """Points and queries of one size and dimension, drawn and written when first needed."""

    def __init__(self, n: int, d: int, n_queries: int, folder: str) -> None:
        self.n, self.d, self.n_queries, self.folder = n, d, n_queries, Path(folder)
        self._truths: dict[str, Truth] = {}

    @cached_property
    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """X and Q, in files, too."""
        mixture, rng = Mixture(self.d), np.random.default_rng((1, self.n, self.d))
        X, Q = mixture.draw(self.n, rng), mixture.draw(self.n_queries, rng)
        write_arrays(self.folder, X=X, Q=Q)
        return X, Q

    def bandwidth(self, name: str) -> float:
        """Standard deviation of the kernels."""
        return BANDWIDTHS[name] * scott(self.n, self.d)

    def truth(self, name: str) -> Truth:
        """For the first queries; they are in random order."""
        if name not in self._truths:
            X, Q = self.points
            self._truths[name] = oracle(Q[:N_CHECKED], X, self.bandwidth(name))
        return self._truths[name]
