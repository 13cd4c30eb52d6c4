import numpy as np
import pytest
from numpy.testing import assert_array_equal

from vicinal.inputs.splits import class_folds, in_turn


def test_every_row_is_held_back_once():
    labels = np.repeat([0, 1, 2], [40, 25, 10])
    turns = in_turn(labels, 0.2, 5, np.random.default_rng(0))
    assert len(turns) == 5
    assert_array_equal(np.sort(np.concatenate([held for _, held in turns])), np.arange(75))
    for learned, held in turns:
        assert_array_equal(np.sort(np.r_[learned, held]), np.arange(75))
        assert_array_equal(np.bincount(labels[held]), [8, 5, 2])


@pytest.mark.parametrize(("fraction", "n_turns"), [(0.1, 3), (0.5, 2), (0.7, 1), (0.99, 1)])
def test_shares_and_numbers_of_turns(fraction, n_turns):
    labels = np.arange(200) % 2
    turns = in_turn(labels, fraction, 3, np.random.default_rng(0))
    assert len(turns) == n_turns
    assert all(abs(len(held) - 200 * fraction) <= 2 for _, held in turns)


def test_small_classes_stay_whole():
    labels = np.array([0, 0, 1, 1, 2, 2, 2, 2, 2, 2])
    for learned, _ in in_turn(labels, 0.5, 2, np.random.default_rng(0)):
        assert_array_equal(np.bincount(labels[learned])[:2], [2, 2])
    assert in_turn(labels[:4], 0.5, 2, np.random.default_rng(0)) == []


def test_folds_are_dealt_out_class_by_class():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2, 3], [40, 25, 2, 3])
    X = rng.normal(size=(70, 2))
    folds = class_folds(X, labels, 5)
    assert_array_equal(folds[labels == 2], [-1, -1])
    for c, n in ((0, 8), (1, 5)):
        assert_array_equal(np.bincount(folds[labels == c]), [n] * 5)
    assert len(np.unique(folds[labels == 3])) == 3


def test_folds_know_rows_by_what_is_in_them():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 60)
    X = rng.integers(0, 4, size=(60, 2)).astype(float)
    folds = class_folds(X, labels, 5)
    order = rng.permutation(np.repeat(np.arange(60), rng.integers(1, 3, 60)))
    assert_array_equal(class_folds(X[order] * [3.0, 0.1], labels[order], 5), folds[order])
    rows = np.column_stack([X, labels])
    for row in np.unique(rows, axis=0):
        assert len(np.unique(folds[(rows == row).all(axis=1)])) == 1
