"""NCA, its variants and scikit-learn's: accuracies on a split."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from benchmarks.common.judging import nca_rule_accuracy, neighbor_accuracy
from benchmarks.common.splits import Split
from vicinal import NeighborhoodComponents
from vicinal.inputs.features import moments, standard_units
from vicinal.inputs.starts import starting_map

VARIANTS = {
    "default": {},
    "classic": {"solver": "lbfgs"},
    "stochastic": {
        "solver": "adam",
        "batching": "stochastic",
        "batch_size": 50,
        "early_stopping": True,
        "max_iter": 1000,
    },
    "compact": {"kernel": "compact", "solver": "lbfgs"},
    "background": {"kernel": "compact", "background": True, "solver": "lbfgs"},
}


class Scores(NamedTuple):
    """Test accuracy by the NCA rule and by the nearest neighbor.

    `broken`: the map has fewer dimensions than asked for.
    """

    rule: float
    nearest: float
    broken: bool = False


# Fits on a split in d dimensions, with a seed.
Method = Callable[[Split, int, int], Scores]


def variant(name: str) -> Method:
    """One of ours."""

    def measure(part: Split, d: int, seed: int) -> Scores:
        model = NeighborhoodComponents(d, random_state=seed, **VARIANTS[name])
        model.fit(part.X, part.y)
        rule = model.score(part.X_test, part.y_test)
        return Scores(rule, nearest(part, model.transform(part.X), model.transform(part.X_test)))

    return measure


def scikit_learn(part: Split, d: int, seed: int) -> Scores:
    model = NeighborhoodComponentsAnalysis(d, random_state=seed).fit(part.X, part.y)
    # Its LDA start loses dimensions where a class has no variance along a column, and what is
    # left has entries near 1e16: the fit then ends where it began.
    return scores_of_map(part, model.components_)._replace(broken=len(model.components_) < d)


def rca_only(part: Split, d: int, seed: int) -> Scores:
    """The map that the others start from."""
    features = standard_units(part.X)
    classes, labels = np.unique(part.y, return_inverse=True)
    known = moments(features, labels, len(classes))
    return scores_of_map(part, starting_map("rca", known, d) / features.unit)


def scores_of_map(part: Split, A: np.ndarray) -> Scores:
    Z, Z_test = part.X @ A.T, part.X_test @ A.T
    return Scores(nca_rule_accuracy(Z, part.y, Z_test, part.y_test), nearest(part, Z, Z_test))


def nearest(part: Split, Z: np.ndarray, Z_test: np.ndarray) -> float:
    return neighbor_accuracy(1, Z, part.y, Z_test, part.y_test)


METHODS = {name: variant(name) for name in VARIANTS}
METHODS |= {"RCA only": rca_only, "scikit-learn": scikit_learn}
