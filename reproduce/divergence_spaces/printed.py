"""Table 2 as it is printed."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reproduce.verdicts import printed_values

# K-means without a manifold learner.
BASELINES = ("euc", "pca")

# What the paper prints for corel, the one set that is not to be had: Euc, PCA, plain and X.
COREL = {
    "ari": {
        "isomap": (0.199, 0.163, 0.176, 0.237),
        "laplacian": (0.199, 0.163, 0.204, 0.259),
        "lle": (0.199, 0.163, 0.041, 0.348),
        "tsne": (0.199, 0.163, 0.241, 0.294),
    },
    "nmi": {
        "isomap": (0.288, 0.242, 0.263, 0.321),
        "laplacian": (0.288, 0.242, 0.288, 0.328),
        "lle": (0.288, 0.242, 0.080, 0.417),
        "tsne": (0.288, 0.242, 0.318, 0.354),
    },
    "purity": {
        "isomap": (0.488, 0.462, 0.490, 0.562),
        "laplacian": (0.488, 0.462, 0.510, 0.586),
        "lle": (0.488, 0.462, 0.332, 0.612),
        "tsne": (0.488, 0.462, 0.536, 0.584),
    },
}


def printed_numbers(item: str) -> dict[str, float]:
    """Of an item, by the names that it has for them."""
    return printed_values(Path(__file__).parent, item)


def printed_table(learner: str, measure_name: str) -> NDArray:
    """Euc, PCA, plain and X of every set, corel included: shape (12, 4)."""
    plain, by_divergences = (printed_numbers(item) for item in ("table-2-euclid", "table-2"))
    sets = dict.fromkeys(name.split("/")[1] for name in by_divergences)
    rows = [
        [plain[f"{method}/{one}/{measure_name}"] for method in (*BASELINES, learner)]
        + [by_divergences[f"{learner}/{one}/{measure_name}"]]
        for one in sets
    ]
    return np.array([*rows, COREL[measure_name][learner]])
