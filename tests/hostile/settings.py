"""Random documented parameters of every public estimator."""

import numpy as np

from vicinal import (
    CoincidenceClassifier,
    DivergenceEmbedding,
    DivergenceNeighbors,
    LatentCoincidence,
    LocalComponents,
    ModeClustering,
    NeighborhoodComponents,
)

_SEEDS = {"random_state": [0, 0, 0, 1, 2**32 - 1, -1]}
_COVARIANCES = ["ridge", "trace", "frank-wolfe", "shrunk", "shrunk-diagonal", "ledoit-wolf", "oas"]
_DIVERGENCES = [
    "jeffreys",
    "bhattacharyya",
    "hellinger",
    "jeffreys-riemann",
    "bhattacharyya-riemann",
    "riemann",
    "euclidean",
]

# Each value is drawn from a list; what was drawn replaces the default in a few parameters at once.
CHOICES = {
    NeighborhoodComponents: {
        **_SEEDS,
        "n_components": [1, 2, 3, 50, "auto"],
        "init": ["rca", "lda", "pca", "identity", "random"],
        "n_init": [2],
        "objective": ["log"],
        "kernel": ["compact", "student"],
        "degrees_of_freedom": [0.1, 1.0, 1e6, 0.0],
        "background": [True, 0.1],
        "prior": ["uniform"],
        "solver": ["lbfgs", "cg", "bold-driver", "sgd", "adam"],
        "batching": ["full", "subsample", "random", "farthest", "projection", "stochastic"],
        "batch_size": [2, 10, 1000],
        "annealing": [True],
        "regularization": [0.0, 1e-6, 1.0, 1e6, 1e200, -1.0],
        "tol": [0.0, 1e-2, 1e300],
        "early_stopping": [True, False],
        "validation_fraction": [0.01, 0.5, 0.99],
        "n_neighbors": [1, 5, 1000],
        "engine": ["blocked", "fused", "tree", "adaptive", "radius"],
        "tolerance": [1e-3, 1.0],
        "n_iter_no_change": [1],
        "validation_every": [1, 1000],
        "validation_metric": ["accuracy"],
        "eta0": [1e-3, 1e30],
        "t0": [1e-6, 1.0],
    },
    LocalComponents: {
        **_SEEDS,
        "covariance": ["diag", "spherical", "low_rank", "local", "scott", "silverman", "isj", 0.3],
        "warm_start": [True],
        "kernel": ["student"],
        "degrees_of_freedom": [0.1, 1.0, 1e6, 0.0],
        "gaussian": ["em", "search"],
        "rank": [1, 2, 30],
        "smoothing": [1, 5, 1000],
        "regularization": [0.0, 1e-9, 1e-3, 1.0, 1e6, "auto", "auto", 1e200, (0.1, 0.1)],
        "batch_size": [2, 20],
        "n_neighbors": [2, 25],
        "discount": [0.0, 0.99],
        "accelerate": [False],
        "tol": [0.0, 1e-3],
        "early_stopping": [True],
        "validation_fraction": [0.01, 0.5, 0.99],
        "engine": ["blocked", "fused", "tree", "adaptive"],
        "tolerance": [1e-3, 1.0],
    },
    ModeClustering: {
        **_SEEDS,
        "density": [
            LocalComponents(covariance="local", smoothing=5),
            LocalComponents(kernel="student", max_iter=15),
            LocalComponents(n_mixture=2, max_iter=15),
            LocalComponents(gaussian="search", regularization=0.1, max_iter=15),
        ],
        "significance": [0.0, 1.0, 10.0, -1.0],
        "max_samples": [2, 20, None, 1],
    },
    LatentCoincidence: {
        **_SEEDS,
        "n_components": [1, 2, 50],
        "pairs": ["all", "impostors"],
        "n_targets": [1, 100],
        "scale": ["shared", "local"],
        "init": ["rca", "lda", "scaled", "pca", "identity", "random"],
        "solver": ["lbfgs", "em", "em-endpoints"],
        "tol": [0.0, 1e-2],
        "early_stopping": [True, False],
        "validation_fraction": [0.01, 0.5, 0.99],
    },
    CoincidenceClassifier: {
        **_SEEDS,
        "n_components": [1, 2, 50],
        "solver": ["em", "em-endpoints"],
        "init": ["lda", "scaled", "pca", "identity", "random"],
        "tol": [0.0, 1e-2],
    },
    DivergenceNeighbors: {
        "n_neighbors": [1, 2, 5, 5, 5, 1000, "growth"],
        "divergence": _DIVERGENCES,
        "covariance": _COVARIANCES,
        "gamma": ["auto", 1e-12, 1e-2, 1.0, 1e6],
        "n_graph_neighbors": ["auto", 1, 5, 1000],
        "n_candidates": [1, 10, 1000],
        "search": ["auto", "exact", "approximate"],
    },
    DivergenceEmbedding: {
        **_SEEDS,
        "n_components": [1, 2, 3, 50],
        "method": ["isomap", "laplacian", "lle", "mds"],
        "n_neighbors": [2, 5, 5, 5, 1000, "growth", "energy"],
        "divergence": _DIVERGENCES,
        "covariance": _COVARIANCES,
        "gamma": ["auto", 1e-12, 1e-2, 1.0],
        "disconnected": ["connect", "separate"],
        "n_graph_neighbors": [3, 10, 1000],
        "n_candidates": [10, 1000],
    },
}

# So that a case takes fractions of a second.
_SHORT = {"max_iter": 15}


def draw_estimator(rng: np.random.Generator):
    """An estimator with some of its parameters set."""
    kinds = list(CHOICES)
    kind = kinds[rng.choice(len(kinds), p=[0.26, 0.26, 0.08, 0.12, 0.08, 0.08, 0.12])]
    choices = CHOICES[kind]
    n_set = int(rng.choice([0, 1, 2, 3, 4, 6]))
    names = rng.choice(sorted(choices), size=min(n_set, len(choices)), replace=False)
    settings = {str(name): choices[name][rng.integers(len(choices[name]))] for name in names}
    if "random_state" in choices:
        settings.setdefault("random_state", 0)
    if "max_iter" in kind().get_params():
        settings.setdefault("max_iter", _SHORT["max_iter"])
    return kind(**settings)
