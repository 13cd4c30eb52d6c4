"""Pairs drawn from labels: what holds for any labels, and what near and hard mean."""

from unittest.mock import patch

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from vicinal import LatentCoincidence, sample_pairs

X, Y = load_iris(return_X_y=True)


@st.composite
def labels(draw):
    """At least two classes, and one with two members; sizes of all kinds."""
    sizes = draw(st.lists(st.integers(1, 12), min_size=2, max_size=8).filter(lambda s: max(s) > 1))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.permutation(np.repeat(np.arange(len(sizes)), sizes))


def numbers_of_pairs(y):
    """How many pairs of rows are of the same class, and how many are not."""
    same = np.triu(y[:, None] == y, 1).sum()
    return same, len(y) * (len(y) - 1) // 2 - same


def assert_pairs(y, pairs, coincide):
    """What holds for every kind."""
    assert pairs.dtype.kind == coincide.dtype.kind == "i"
    assert ((pairs >= 0) & (pairs < len(y))).all()
    assert (pairs[:, 0] != pairs[:, 1]).all()
    assert_array_equal(coincide, y[pairs[:, 0]] == y[pairs[:, 1]])
    assert len(np.unique(np.sort(pairs, axis=1), axis=0)) == len(pairs)
    same, different = numbers_of_pairs(y)
    half = len(pairs) // 2
    assert coincide.sum() == min(max(half, len(pairs) - different), same)


@pytest.mark.parametrize("kind", ["random", "near", "hard"])
@given(labels(), st.floats(0, 1), st.integers(0, 100))
@examples(60)
def test_pairs_are_distinct_and_balanced(kind, y, share, seed):
    points = np.random.default_rng(seed).normal(size=(len(y), 2)).round(1)  # some are equal
    n_pairs = max(1, round(share * sum(numbers_of_pairs(y))))
    found = sample_pairs(y, n_pairs, X=points, kind=kind, random_state=seed)
    assert len(found[0]) == len(found[1]) == n_pairs
    assert_pairs(y, *found)
    again = sample_pairs(y, n_pairs, X=points, kind=kind, random_state=seed)
    assert_array_equal(again[0], found[0])


@pytest.mark.parametrize("kind", ["random", "near", "hard"])
def test_all_pairs_that_there_are(kind):
    y = np.array([0, 1, 1, 2, 2, 2])
    pairs, coincide = sample_pairs(y, 15, X=X[:6], kind=kind, random_state=0)
    assert_pairs(y, pairs, coincide)
    assert coincide.sum() == 4


def test_any_labels_and_any_order():
    names = np.array(["setosa", "versicolor", "virginica"])[Y]
    pairs, coincide = sample_pairs(names.tolist(), 1001, random_state=3)
    assert_pairs(Y, pairs, coincide)
    assert coincide.sum() == 500
    # Neither kind comes first, nor the lower class, nor the lower position.
    assert 200 < coincide[:500].sum() < 300
    others = pairs[coincide == 0]
    assert 0.4 < (Y[others[:, 0]] < Y[others[:, 1]]).mean() < 0.6
    assert 0.4 < (pairs[:, 0] < pairs[:, 1]).mean() < 0.6


@pytest.mark.parametrize("n_pairs", [2, 6])  # by the complement, and by drawing again
def test_random_pairs_are_equally_likely(n_pairs):
    y, counts = np.array([0, 0, 0, 1, 1]), np.zeros((5, 5))
    for seed in range(1500):
        pairs, _ = sample_pairs(y, n_pairs, random_state=seed)
        np.add.at(counts, tuple(np.sort(pairs, axis=1).T), 1)
    same, same_again = counts[[0, 0, 1, 3], [1, 2, 2, 4]], counts[:3, 3:].ravel()
    for share in (same / same.sum(), same_again / same_again.sum()):
        assert abs(share * len(share) - 1.0).max() < 0.2


def nearest_ranks(y, first, second, same):
    """How many rows of the kind of the second are nearer to the first."""
    ranks = []
    for i, j in zip(first, second, strict=True):
        distances = np.linalg.norm(X - X[i], axis=1)
        kind = (y == y[i]) == same
        kind[i] = False
        ranks.append((distances[kind] < distances[j] - 1e-12).sum())
    return np.array(ranks)


@pytest.mark.parametrize("keys", [50_000, 60])
def test_near_pairs_are_of_the_nearest(keys):
    with patch("vicinal.sampling._MOST_KEYS", keys):
        pairs, coincide = sample_pairs(Y, 100, X=X, kind="near", random_state=0)
    assert_pairs(Y, pairs, coincide)
    for same in (True, False):
        ranks = nearest_ranks(Y, *pairs[coincide == same].T, same)
        if keys > len(X):
            assert ranks.max() <= 2
            assert {0, 1, 2} <= set(ranks)
        else:  # 60 of 150 rows: three times as far down the list, about
            assert ranks.max() > 2
            assert np.median(ranks) < 10


def test_more_near_pairs_than_three_neighbors_make():
    pairs, coincide = sample_pairs(Y, 3000, X=X, kind="near", random_state=0)
    assert_pairs(Y, pairs, coincide)
    assert nearest_ranks(Y, *pairs[coincide == 1].T, True).max() <= 2 * 3000 / 150


def test_hard_pairs_are_far_in_a_class_and_near_between_classes():
    def median_distances(kind):
        pairs, coincide = sample_pairs(Y, 300, X=X, kind=kind, random_state=0)
        assert_pairs(Y, pairs, coincide)
        apart = np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
        return np.median(apart[coincide == 1]), np.median(apart[coincide == 0])

    near, random, hard = map(median_distances, ("near", "random", "hard"))
    assert 2 * near[0] < random[0] < 0.7 * hard[0]
    assert hard[1] == pytest.approx(near[1], rel=0.1)
    assert 2 * near[1] < random[1]


def test_hard_pairs_are_of_every_class():
    """The farthest of all would be of the one wide class."""
    points, y = X * np.array([0.01, 1.0, 100.0])[Y][:, None], Y
    pairs, coincide = sample_pairs(y, 300, X=points, kind="hard", random_state=0)
    counts = np.bincount(y[pairs[coincide == 1, 0]])
    assert (counts > 40).all()


def test_a_class_per_two_rows():
    """Many classes are looked through by halves."""
    y = np.random.default_rng(0).permutation(np.repeat(np.arange(75), 2))
    pairs, coincide = sample_pairs(y, 100, X=X, kind="near", random_state=0)
    assert_pairs(y, pairs, coincide)
    assert nearest_ranks(y, *pairs[coincide == 0].T, False).max() <= 2


def test_a_million_pairs_of_a_million_rows():
    y = np.random.default_rng(0).integers(0, 1000, 1_000_000)
    pairs, coincide = sample_pairs(y, 1_000_000, random_state=0)
    assert coincide.sum() == 500_000
    assert_array_equal(coincide, y[pairs[:, 0]] == y[pairs[:, 1]])
    numbers = np.sort(pairs.min(axis=1) * len(y) + pairs.max(axis=1))
    assert (np.diff(numbers) > 0).all()


def test_numbers_of_pairs_beyond_single_digits_of_a_root():
    """Two classes of a hundred million rows: the square root is rounded, the pair is not."""
    from vicinal.sampling import _triangle

    i = np.array([1, 2, 3, 10**4, 10**8, 3 * 10**8])
    first = i * (i - 1) // 2
    for numbers, j in ((first, 0 * i), (first + i - 1, i - 1)):
        row, column = _triangle(numbers)
        assert_array_equal(row, i)
        assert_array_equal(column, j)


def test_a_model_learns_from_them():
    pairs, coincide = sample_pairs(Y, 1000, random_state=0)
    model = LatentCoincidence().fit_pairs(pairs[:500], coincide[:500], X)
    model.calibrate_threshold(pairs[500:], coincide[500:], X)
    assert model.score_pairs(pairs[500:], coincide[500:], X) > 0.9


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"kind": "far"}, ValueError, "kind='far' is unknown: use one of 'random', 'near', 'hard'"),
        ({"kind": "near"}, ValueError, "kind='near' needs X, whose rows are near or far"),
        ({"kind": "hard", "X": X[:9]}, ValueError, "X has 9 rows, but y has 150 labels"),
        ({"kind": "hard", "X": X * np.nan}, ValueError, "X contains NaN"),
        ({"kind": "near", "X": X * 1e200}, ValueError, "X reaches .* too large"),
        ({"n_pairs": 0}, ValueError, "n_pairs=0 must be a whole number at least 1"),
        ({"n_pairs": 2.5}, TypeError, r"n_pairs=2\.5 must be a whole number"),
        ({"n_pairs": 11176}, ValueError, "n_pairs=11176 must be a whole number from 1 to 11175"),
        ({"y": np.zeros(9)}, ValueError, "y has 1 class"),
        ({"y": np.arange(9)}, ValueError, "y has no class with two members"),
        ({"y": np.arange(9) / 2}, ValueError, "continuous"),
        ({"random_state": -1}, ValueError, "random_state=-1 must be"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        sample_pairs(arguments.pop("y", Y), arguments.pop("n_pairs", 10), **arguments)
