import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from vicinal.fitting import Draws, split


@given(st.integers(1, 40), st.integers(1, 50))
def test_parts_are_balanced_and_whole(n, size):
    parts = split(np.arange(n), size)
    assert_array_equal(np.concatenate(parts), np.arange(n))
    sizes = [len(part) for part in parts]
    assert max(sizes) <= size
    assert max(sizes) - min(sizes) <= 1


def drawn(draws, n):
    def next_batch():
        return draws.next_of(lambda: split(draws.rng.permutation(17), 5))

    return [np.append(next_batch(), draws.rng.integers(100)) for _ in range(n)]


@given(st.integers(0, 20), st.integers(0, 20))
def test_who_has_the_state_draws_the_same(before, after):
    draws = Draws(np.random.default_rng(0))
    drawn(draws, before)
    state = pickle.loads(pickle.dumps(draws.state))
    expected = drawn(draws, after)
    other = Draws(np.random.default_rng(1))
    other.restore(state)
    for mine, theirs in zip(drawn(other, after), expected, strict=True):
        assert_array_equal(mine, theirs)


def test_the_next_batch_can_be_known_within_an_epoch():
    draws = Draws(np.random.default_rng(0))
    assert draws.peek() is None
    epoch = [np.array([0, 1]), np.array([2]), np.array([3, 4])]
    seen = []
    for _ in range(3):
        following = draws.peek()
        seen.append(draws.next_of(lambda: epoch))
        assert following is None or following is seen[-1]
    assert draws.peek() is None
    assert sorted(np.concatenate(seen)) == [0, 1, 2, 3, 4]
