import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.neighbors import KNeighborsClassifier

from vicinal.voting import majority, nearest_others, nearest_points, votes


def naive(points, rows, k):
    """By differences, in long numbers."""
    wide = points.astype(np.longdouble)
    distances = np.sqrt(np.square(wide[rows][:, None] - wide).sum(axis=2))
    distances[np.arange(len(rows)), rows] = np.inf
    who = distances.argsort(axis=1)[:, :k]
    return np.take_along_axis(distances, who, axis=1).astype(float), who


@pytest.mark.parametrize("d", [2, 40])  # by a tree, and by products of matrices
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_of_any_scale(d, scale):
    points, rows = np.random.default_rng(0).normal(size=(50, d)) * scale, np.arange(7)
    distance, who = nearest_others(points, rows, 4)
    expected, positions = naive(points, rows, 4)
    np.testing.assert_array_equal(who, positions)
    np.testing.assert_allclose(distance, expected, rtol=1e-10)


@pytest.mark.parametrize("d", [2, 40])
def test_far_from_zero(d):
    points, rows = np.random.default_rng(0).normal(size=(50, d)) + 1e9, np.arange(7)
    points[:, -1] = 0.1  # nor does a constant disturb
    distance, who = nearest_others(points, rows, 4)
    expected, positions = naive(points, rows, 4)
    np.testing.assert_array_equal(who, positions)
    np.testing.assert_allclose(distance, expected, rtol=1e-6)


def test_coordinates_of_very_different_sizes():
    points = np.array([[0.0, 0.0], [1e300, 0.0], [3e300, 1e-300]])
    assert nearest_others(points, np.arange(3), 1)[1].ravel().tolist() == [1, 0, 1]


def test_around_zero_nothing_changes():
    points = np.random.default_rng(0).integers(-3, 4, size=(60, 3)).astype(float)
    distance, _ = nearest_points(points, points, 5)
    squares = np.square(points[:, None] - points).sum(axis=2)
    np.testing.assert_array_equal(np.rint(distance**2), np.sort(squares, axis=1)[:, :5])


def test_nobody_is_near_a_single_point():
    distance, who = nearest_others(np.ones((1, 3)), np.array([0]), 0)
    assert distance.shape == who.shape == (1, 0)


SHAPES = st.tuples(st.integers(1, 8), st.integers(1, 9))


@given(arrays(np.int64, SHAPES, elements=st.integers(0, 3)))
def test_votes_are_those_of_a_plain_count(classes):
    found = votes(classes)
    for row, winners in zip(classes.tolist(), found.tolist(), strict=True):
        for k in range(1, len(row) + 1):
            counts = {c: row[:k].count(c) for c in row[:k]}
            tied = [c for c in counts if counts[c] == max(counts.values())]
            assert winners[k - 1] == min(tied)  # the first in sorted order


def test_the_majority_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    keys, queries = rng.normal(size=(60, 3)), rng.normal(size=(20, 3))
    labels = np.array(["b", "a", "c"])[rng.integers(3, size=60)]
    for k in (1, 2, 5):
        rule = KNeighborsClassifier(k).fit(keys, labels)
        np.testing.assert_array_equal(majority(keys, labels, k, queries), rule.predict(queries))
        near = rule.kneighbors(return_distance=False)
        counts = np.stack([(labels[near] == name).sum(axis=1) for name in "abc"])
        np.testing.assert_array_equal(
            majority(keys, labels, k), np.array(["a", "b", "c"])[counts.argmax(axis=0)]
        )
