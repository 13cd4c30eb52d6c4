"""Pairs: nobody says what an image is, only whether two show the same digit."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.stats import rankdata
from sklearn.decomposition import PCA

from vicinal.coincidence import LatentCoincidence
from vicinal.demo.chapter import Chapter, Outcome, Split, Tell, fit_timed
from vicinal.demo.chapters.digits import load_pixels
from vicinal.demo.panels import Histograms
from vicinal.sampling import sample_pairs

__all__ = ["tell_pairs"]

N_COMPONENTS = 10
N_PAIRS = 4000


def tell_pairs(seed: int, tell: Tell, n_rows: int | None = None) -> Chapter:
    """How often an image of the same digit is nearer than one of another."""
    X, y = load_pixels(n_rows)
    split = Split.of(X, y, seed)
    X_test, y_test = split.X_test, split.y_test
    pairs, same = sample_pairs(split.y_train, N_PAIRS, random_state=seed)
    model, pca = LatentCoincidence(N_COMPONENTS, random_state=0), PCA(N_COMPONENTS, random_state=0)
    tell(f"learning from {N_PAIRS} pairs of digits")
    pca_seconds = fit_timed(pca, split.X_train)
    seconds = fit_timed(_OfPairs(model), pairs, same, split.X_train)
    new, new_same = sample_pairs(y_test, N_PAIRS, random_state=seed)
    together = np.asarray(new_same) == 1
    distance = np.linalg.norm(X_test[new[:, 0]] - X_test[new[:, 1]], axis=1)
    probability = model.pair_probability(new, X_test)
    return Chapter(
        key="pairs",
        title="Pairs",
        data=f"digits: {N_PAIRS} pairs, labeled same or different, never which digit",
        trouble="Many pairs that belong together lie farther apart than pairs that do not.",
        cure="LatentCoincidence learns the probability that two images belong together.",
        measure=f"{len(y_test)} new images: how often the same digit is nearer than another",
        outcomes=(
            Outcome("all pixels", False, _same_nearer(X_test, y_test)),
            Outcome("PCA", False, _same_nearer(pca.transform(X_test), y_test), pca_seconds),
            Outcome(
                "LatentCoincidence", True, _same_nearer(model.transform(X_test), y_test), seconds
            ),
        ),
        panels=(
            Histograms(distance[together], distance[~together], "distance of pixels"),
            Histograms(
                probability[together], probability[~together], "probability of the same digit"
            ),
        ),
    )


class _OfPairs:
    """A model that learns from pairs, to be fitted like others."""

    def __init__(self, model: LatentCoincidence) -> None:
        self.model = model

    def fit(self, pairs: NDArray, same: NDArray, X: NDArray) -> None:
        self.model.fit_pairs(pairs, same, X=X)


def _same_nearer(Z: NDArray, y: NDArray) -> NDArray:
    """For every point, how often one of its class is nearer to it than one of another."""
    distances = cdist(Z, Z)
    np.fill_diagonal(distances, -1.0)  # a point is the nearest to itself, and is not counted
    ranks = rankdata(distances, axis=1) - 1
    same = y[:, None] == y[None, :]
    n_same = same.sum(axis=1) - 1
    n_others = len(y) - 1 - n_same
    # Mann and Whitney's count of others before each of the same class.
    others_before = np.where(same, ranks, 0).sum(axis=1) - n_same * (n_same + 1) / 2
    return 1 - others_before / (n_same * n_others)
