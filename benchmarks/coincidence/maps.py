"""Methods that learn a map from the training part of a split."""

from collections.abc import Callable

import numpy as np
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from benchmarks.coincidence.cases import Case
from benchmarks.coincidence.fits import Lmnn
from benchmarks.coincidence.scores import Failure
from benchmarks.common.children import last_line
from benchmarks.common.splits import Split
from vicinal import LatentCoincidence, NeighborhoodComponents

LARGE_NCA_UPDATES = 20  # of scikit-learn's, as the reference has it

# Learns a map of a part in d dimensions, with a seed; None: no map.
Method = Callable[[Split, int, int], np.ndarray | None]


def euclid(part: Split, d: int, seed: int) -> None:
    return None


def principal(part: Split, d: int, seed: int) -> np.ndarray:
    if d == part.X.shape[1]:
        raise Failure("–", lasting=True)
    return PCA(d, svd_solver="covariance_eigh").fit(part.X).components_


def discriminants(part: Split, d: int, seed: int) -> np.ndarray:
    most = min(d, len(np.unique(part.y)) - 1)
    return LinearDiscriminantAnalysis(n_components=most).fit(part.X, part.y).scalings_[:, :most].T


def coincidence(**options: str) -> Method:
    """One of ours."""

    def learn(part: Split, d: int, seed: int) -> np.ndarray:
        model = LatentCoincidence(d, random_state=seed, **options)
        try:
            return model.fit(part.X, part.y).components_
        except ValueError as error:
            raise Failure(f"failed: {last_line(error)}") from error

    return learn


def scikit_learn(part: Split, d: int, seed: int, **options: int) -> np.ndarray:
    model = NeighborhoodComponentsAnalysis(d, random_state=seed, **options)
    return model.fit(part.X, part.y).components_


def scikit_learn_briefly(part: Split, d: int, seed: int) -> np.ndarray:
    return scikit_learn(part, d, seed, max_iter=LARGE_NCA_UPDATES)


def our_nca(part: Split, d: int, seed: int) -> np.ndarray:
    return NeighborhoodComponents(d, random_state=seed).fit(part.X, part.y).components_


def methods(case: Case, lmnn: Lmnn) -> dict[str, Method]:
    return {
        "Euclid": euclid,
        "PCA": principal,
        "LDA": discriminants,
        "default": coincidence(),
        "shared": coincidence(pairs="impostors", scale="shared", init="pca"),
        "local": coincidence(pairs="impostors", scale="local", init="pca"),
        "all": coincidence(pairs="all", scale="shared", init="pca"),
        "all, local": coincidence(pairs="all", scale="local", init="pca"),
        "scikit-learn NCA": scikit_learn_briefly if case.is_large else scikit_learn,
        "vicinal NCA": our_nca,
        "LMNN": lmnn,
    }
