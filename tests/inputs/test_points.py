import numpy as np
import pytest
from numpy.testing import assert_array_equal

from vicinal.inputs.points import LabeledPoints, WeightedPoints

X = np.arange(8.0).reshape(4, 2)
WEIGHTS = np.array([1.0, 2.0, 0.5, 3.0])
LABELS = np.array([0, 1, 1, 2])


def test_without_weights_every_point_counts_once():
    points = WeightedPoints(X)
    assert len(points) == points.total == 4
    assert_array_equal(points.counts, np.ones(4))
    assert points.log_counts is None
    assert points[1:].weights is None


def test_weights_are_copies():
    points = WeightedPoints(X, WEIGHTS)
    assert points.total == 6.5
    assert_array_equal(points.counts, WEIGHTS)
    assert_array_equal(points.log_counts, np.log(WEIGHTS))


@pytest.mark.parametrize(
    "which", [slice(1, 3), np.array([3, 0]), np.array([True, False, True, False])]
)
def test_a_part_has_its_own_weights_and_labels(which):
    part = LabeledPoints(X, WEIGHTS, labels=LABELS)[which]
    assert isinstance(part, LabeledPoints)
    assert_array_equal(part.X, X[which])
    assert_array_equal(part.weights, WEIGHTS[which])
    assert_array_equal(part.labels, LABELS[which])


def test_other_coordinates_keep_weights_and_labels():
    moved = LabeledPoints(X, WEIGHTS, labels=LABELS).at(X[:, :1])
    assert_array_equal(moved.X, X[:, :1])
    assert moved.weights is WEIGHTS
    assert moved.labels is LABELS


def test_points_follow_each_other():
    both = LabeledPoints(X, labels=LABELS).followed_by(LabeledPoints(X, WEIGHTS, labels=LABELS + 3))
    assert_array_equal(both.X, np.vstack([X, X]))
    assert_array_equal(both.weights, [1, 1, 1, 1, 1, 2, 0.5, 3])
    assert_array_equal(both.labels, [0, 1, 1, 2, 3, 4, 4, 5])
    assert WeightedPoints(X).followed_by(WeightedPoints(X)).weights is None


def test_some_points_are_drawn_once_and_stay_in_order():
    points = LabeledPoints(X, WEIGHTS, labels=LABELS)
    few = points.some(3, np.random.default_rng(0))
    assert len(few) == 3
    assert (np.diff(few.X[:, 0]) > 0).all()
    assert_array_equal(few.labels, LABELS[(few.X[:, 0] / 2).astype(int)])
    assert points.some(4, np.random.default_rng(0)) is points
