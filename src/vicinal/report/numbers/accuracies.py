"""How often neighbors name the class of a point right, under several metrics."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array, check_consistent_length

from vicinal.inputs.checks import check_choice, check_count
from vicinal.report.numbers.fitted import projected
from vicinal.report.numbers.labels import coded_together
from vicinal.report.numbers.plane import sample
from vicinal.voting import nearest_others, nearest_points, votes

__all__ = ["accuracies_of", "spaces_of", "with_baselines"]

MOST_SCORED = 5_000


def accuracies_of(
    embeddings: Mapping[str, ArrayLike],
    y: ArrayLike,
    test_embeddings: Mapping[str, ArrayLike] | None,
    y_test: ArrayLike | None,
    most: int,
) -> tuple[dict[str, NDArray], int, str]:
    """Share of points named right by 1 to `most` neighbors, how many points, and what was done."""
    if (test_embeddings is None) != (y_test is None):
        given, missing = ("y_test", "test rows") if y_test is not None else ("test rows", "y_test")
        raise ValueError(f"{given} are given without {missing}: both are needed, or neither.")
    if not embeddings:
        raise ValueError("there is no metric to look at: name at least one.")
    known, asked = coded_together(y, y if y_test is None else y_test)
    n_others = len(known) - (y_test is None)
    if n_others < 1:
        raise ValueError("y has 1 label: without test rows, neighbors need at least two.")
    check_count("max_neighbors", most, 1, n_others, " (number of points there are)")
    rows = np.sort(sample(asked, MOST_SCORED))
    found = {}
    for name, points in embeddings.items():
        test = None if test_embeddings is None else test_embeddings[name]
        near = known[_neighbors(name, points, test, len(known), len(asked), rows, most)]
        found[name] = (votes(near) == asked[rows, None]).mean(axis=0)
    return found, len(rows), _note(len(rows), len(asked), len(known), y_test is not None)


def _neighbors(
    name: str,
    points: ArrayLike,
    test: ArrayLike | None,
    n: int,
    n_test: int,
    rows: NDArray,
    k: int,
) -> NDArray:
    """Positions of the k nearest of the chosen test points, or of points among the others."""
    keys = check_array(points, dtype=np.float64, input_name=f"embedding {name!r}")
    check_consistent_length(keys, np.empty(n))
    if test is None:
        return nearest_others(keys, rows, k)[1]
    queries = check_array(test, dtype=np.float64, input_name=f"test embedding {name!r}")
    check_consistent_length(queries, np.empty(n_test))
    return nearest_points(keys, queries[rows], k)[1]


def _note(n_scored: int, n_asked: int, n_known: int, is_test: bool) -> str:
    some = f"a sample of {n_scored:,} of {n_asked:,}" if n_scored < n_asked else f"{n_scored:,}"
    if is_test:
        return f"{some} test points, their neighbors among {n_known:,} others"
    return f"leave-one-out: {some} points, each with neighbors among all others"


def spaces_of(estimators: Mapping[str, BaseEstimator | None], X: ArrayLike) -> dict[str, NDArray]:
    """Points under each metric; those of None as they are."""
    return {
        str(name): np.asarray(X) if estimator is None else projected(estimator, X)
        for name, estimator in estimators.items()
    }


def with_baselines(
    estimator: BaseEstimator, name: str, X: ArrayLike, baselines: Sequence[str]
) -> dict[str, BaseEstimator | None]:
    """The estimator by its name, then simple metrics fitted to X."""
    if isinstance(baselines, str):
        raise ValueError(f"baselines={baselines!r} must be a list: use [{baselines!r}].")
    estimators: dict[str, BaseEstimator | None] = {name: estimator}
    for baseline in baselines:
        check_choice("baselines", baseline, ("raw", "standardized", "pca"))
        if baseline == "raw":
            estimators["raw"] = None
        elif baseline == "standardized":
            estimators["standardized"] = StandardScaler().fit(X)
        else:
            width = min(projected(estimator, X).shape[1], *np.shape(X))
            estimators["PCA"] = make_pipeline(StandardScaler(), PCA(width, random_state=0)).fit(X)
    return estimators
