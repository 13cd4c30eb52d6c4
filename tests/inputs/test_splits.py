import numpy as np
import pytest
from numpy.testing import assert_array_equal

from vicinal.inputs.splits import in_turn


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
