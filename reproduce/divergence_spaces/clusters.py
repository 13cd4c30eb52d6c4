"""How well k-means finds classes in embeddings, over many settings: the best, the mean, held out.

The paper's number is the best of all settings by the labels themselves, which grows with the number
of settings, whatever these are. Two others stand beside it here: the mean over settings, and the
accuracy on one half of the labels of the setting that is best by the other half.
"""

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.model_selection import StratifiedShuffleSplit

from reproduce.divergence_spaces.data import Data
from reproduce.divergence_spaces.embeddings import Placed
from vicinal.metrics import purity
from vicinal.neighborhood.threads import on_own_threads

# Restarts of k-means (section 6).
N_STARTS = 50

# Divisions of the labels into two halves.
N_HALVES = 20

MEASURES = ("ari", "nmi", "purity")

Found = dict[str, Any]


def agreement(y: NDArray, labels: NDArray) -> list[float]:
    """The three measures; mutual information is divided by the larger entropy."""
    return [
        adjusted_rand_score(y, labels),
        normalized_mutual_info_score(y, labels, average_method="max"),
        purity(y, labels),
    ]


def clusters(Z: NDArray, n_clusters: int, seed: int) -> KMeans:
    """The best of many runs of k-means, by its own loss."""
    with warnings.catch_warnings():  # fewer distinct points than clusters
        warnings.simplefilter("ignore")
        return KMeans(n_clusters, n_init=N_STARTS, random_state=seed).fit(Z)


@on_own_threads  # on many, k-means of few points would wait more than it computes
def tally(placed: Iterable[Placed], data: Data, seed: int) -> Found:
    """What is found in all embeddings of a unit.

    Returns
    -------
    dict
        "ari", "nmi", "purity": the best, each for itself; "setting": that of the best ARI;
        "ari-mean" and others: means over settings; "n_settings"; "halves": for every division of
        the labels, the ARI on the first half of the setting that is best by it, and the three
        measures of this setting on the second half.
    """
    divided = list(halves(data.y))
    every, names = [], []
    chosen: list[list[float]] = [[-np.inf] for _ in divided]
    for settings, Z in placed:
        labels = clusters(Z, data.n_classes, seed).labels_
        every.append(agreement(data.y, labels))
        names.append(settings)
        for i, (first, second) in enumerate(divided):
            known = adjusted_rand_score(data.y[first], labels[first])
            if known > chosen[i][0]:
                chosen[i] = [known, *agreement(data.y[second], labels[second])]
    scores = np.array(every)
    return {
        **dict(zip(MEASURES, scores.max(axis=0).tolist(), strict=True)),
        **{f"{name}-mean": mean for name, mean in _named(scores.mean(axis=0))},
        "n_settings": len(scores),
        "setting": names[int(scores[:, 0].argmax())],
        "halves": np.round(chosen, 6).tolist(),
    }


def halves(y: NDArray) -> Iterable[tuple[NDArray, NDArray]]:
    """Rows whose labels are known, and rows to judge by; classes are halved, too."""
    return StratifiedShuffleSplit(N_HALVES, test_size=0.5, random_state=0).split(y, y)


def held_out(every: Sequence[Found]) -> list[Found]:
    """Of several units: for every division, the second half's measures of the setting chosen."""
    together = np.array([found["halves"] for found in every])  # units x divisions x 4
    best = together[together[:, :, 0].argmax(axis=0), np.arange(together.shape[1])]
    return [{f"{name}-held": value for name, value in _named(row[1:])} for row in best]


def _named(values: NDArray) -> list[tuple[str, float]]:
    return list(zip(MEASURES, values.tolist(), strict=True))
