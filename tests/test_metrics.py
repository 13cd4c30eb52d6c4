from itertools import permutations

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st

from vicinal.metrics import permutation_accuracy, purity


@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(1, 4), n_clusters=st.integers(1, 4))
@examples(30)
def test_the_best_of_all_ways_to_name_clusters(seed, n_classes, n_clusters):
    rng = np.random.default_rng(seed)
    y, labels = rng.integers(0, n_classes, 20), rng.integers(0, n_clusters, 20)
    n = max(n_classes, n_clusters)
    best = max((np.array(names)[labels] == y).mean() for names in permutations(range(n)))
    assert permutation_accuracy(y, labels) == pytest.approx(best)
    most = sum(np.bincount(y[labels == k]).max() for k in np.unique(labels)) / 20
    assert purity(y, labels) == pytest.approx(most)
    assert permutation_accuracy(y, labels) <= purity(y, labels) + 1e-12


def test_names_of_classes_and_clusters_do_not_matter():
    y, labels = np.array(["a", "b", "b", "c"]), np.array([7, -1, -1, 3])
    assert permutation_accuracy(y, labels) == purity(y, labels) == 1.0
    assert purity(y, np.arange(4)) == 1.0
    assert permutation_accuracy(y, np.arange(4)) == 0.75


def test_rows_must_be_as_many():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        purity([0, 1], [0])
    with pytest.raises(ValueError, match="y_true has no rows"):
        permutation_accuracy([], [])
