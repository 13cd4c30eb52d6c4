import tracemalloc
from unittest.mock import patch

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from vicinal.coincidence.neighbors import LabeledPoints, labeled_pairs


def naive_pairs(X, labels, k, kind):
    """Every pair as the definition has it, ties by position."""
    squared = np.square(X[:, None] - X[None]).sum(axis=-1)
    found = set()
    for i in range(len(X)):
        order = np.lexsort((np.arange(len(X)), squared[i]))
        targets = [j for j in order if labels[j] == labels[i] and j != i][:k]
        others = [j for j in order if labels[j] != labels[i]]
        if kind == "impostors":
            radius = squared[i, targets].max() if targets else 0.0
            others = [j for j in others if squared[i, j] < radius]
            targets = targets if others else []
        else:
            others = others[:k]
        found |= {(i, j, True) for j in targets} | {(i, j, False) for j in others}
    return found


@pytest.mark.parametrize("kind", ["impostors", "all"])
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 4), lattice=st.booleans())
@examples(30)
def test_pairs_are_those_of_the_definition(kind, seed, k, lattice):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    X = rng.normal(size=(n, 2))
    if lattice:  # many ties
        X = np.round(3 * X) / 2
    labels = rng.integers(0, 3, n)
    first, second, coincide = labeled_pairs(LabeledPoints(X, labels), k, kind)
    found = set(zip(first.tolist(), second.tolist(), coincide.tolist(), strict=True))
    expected = naive_pairs(X, labels, k, kind)
    assert found == expected
    assert_array_equal(np.diff(first) >= 0, True)


def test_blocks_change_nothing():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(300, 5)), rng.integers(0, 4, 300)
    whole = labeled_pairs(LabeledPoints(X, labels), 3, "impostors")
    with (
        patch("vicinal.inputs.nearest._BLOCK_NUMBERS", 1000),
        patch("vicinal.coincidence.neighbors._TILE", 70),
    ):
        for a, b in zip(
            whole, labeled_pairs(LabeledPoints(X, labels), 3, "impostors"), strict=True
        ):
            assert_array_equal(a, b)


def test_memory_grows_with_the_block_only():
    rng = np.random.default_rng(0)
    n = 4000
    X, labels = rng.normal(size=(n, 8)), rng.integers(0, 10, n)
    with (
        patch("vicinal.inputs.nearest._BLOCK_NUMBERS", 200_000),
        patch("vicinal.coincidence.neighbors._TILE", 450),
    ):
        labeled_pairs(LabeledPoints(X[:100], labels[:100]), 3, "all")  # import what is needed first
        tracemalloc.start()
        first, _, _ = labeled_pairs(LabeledPoints(X, labels), 3, "all")
        labeled_pairs(LabeledPoints(X, labels), 1, "impostors")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert len(first) == 6 * n
    assert peak < n * n * 8 / 4


def test_far_from_the_origin():
    rng = np.random.default_rng(0)
    X, labels = np.round(rng.normal(size=(60, 3)), 2), rng.integers(0, 2, 60)
    near, far = (
        labeled_pairs(LabeledPoints(X + shift, labels), 3, "impostors") for shift in (0.0, 2.0**30)
    )
    assert {*zip(near[0], near[1])} == {*zip(far[0], far[1])}  # noqa: B905


@pytest.mark.parametrize("kind", ["impostors", "all"])
def test_anchors_have_the_pairs_they_would_have_among_all(kind):
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
    anchors = np.sort(rng.choice(200, 40, replace=False))
    told = []
    some = labeled_pairs(LabeledPoints(X, labels, anchors), 3, kind, told.append)
    every = labeled_pairs(LabeledPoints(X, labels), 3, kind)
    mine = np.isin(every[0], anchors)
    for few, many in zip(some, every, strict=True):
        assert_array_equal(few, many[mine])
    assert sum(told) == pytest.approx(40) if kind == "all" else 40 < sum(told) < 80


def test_the_nearest_impostors_count_where_there_are_too_many():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(300, 4)), (np.arange(300) < 20).astype(int)
    first, second, coincide = labeled_pairs(LabeledPoints(X, labels), 3, "impostors")
    squared = np.square(X[first] - X[second]).sum(axis=1)
    with patch("vicinal.coincidence.neighbors._TILE", 64):
        few = labeled_pairs(LabeledPoints(X, labels, most_impostors=5), 3, "impostors")
    for i in np.unique(few[0]):
        impostors = (first == i) & ~coincide
        nearest = second[impostors][np.argsort(squared[impostors])][:5]
        assert set(few[1][(few[0] == i) & ~few[2]]) == set(nearest)
    assert_array_equal(np.unique(few[0]), np.unique(first))
    assert np.bincount(first[~coincide]).max() > 5
