import tracemalloc
from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from vicinal.neighborhood.pair_list import PairList
from vicinal.neighborhood.threads import computing


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    n, n_pairs = 50, 700
    first, second = rng.integers(0, n, n_pairs), rng.integers(0, n, n_pairs)
    points = rng.normal(size=(n, 4))
    return PairList(first, second, n), points[:, :2], points, rng.normal(size=n_pairs)


@pytest.mark.parametrize("few", [0, 10**6])
def test_sums_are_those_of_the_definition(problem, few):
    """Compiled or not."""
    pairs, Z, X, c = problem
    apart_z, apart_x = Z[pairs.first] - Z[pairs.second], X[pairs.first] - X[pairs.second]
    with patch("vicinal.neighborhood.pair_list._FEW_NUMBERS", few):
        assert_allclose(pairs.squared_distances(Z), np.square(apart_z).sum(axis=1), rtol=1e-12)
        assert_allclose(pairs.scatter(c, Z, X), (c[:, None] * apart_z).T @ apart_x, atol=1e-10)


def test_threads_and_steps_change_no_bit(problem):
    pairs, Z, X, c = problem
    found = []
    for n_jobs, step in ((1, 10**6), (3, 10**6), (2, 17)):
        with (
            computing(n_jobs),
            patch("vicinal.neighborhood.pair_list._FEW_NUMBERS", 0),
            patch("vicinal.neighborhood.pair_list._STEP", step),
        ):
            found.append((pairs.squared_distances(Z), pairs.scatter(c, Z, X)))
    for squared, scatter in found[1:]:
        assert_array_equal(squared, found[0][0])
        assert_array_equal(scatter, found[0][1])


def test_memory_of_many_pairs_is_that_of_a_number_each():
    rng = np.random.default_rng(0)
    n, n_pairs, d = 100, 200_000, 20
    pairs = PairList(rng.integers(0, n, n_pairs), rng.integers(0, n, n_pairs), n)
    Z, c = rng.normal(size=(n, d)), rng.normal(size=n_pairs)
    pairs.scatter(c * pairs.squared_distances(Z), Z, Z)  # compiles
    tracemalloc.start()
    pairs.scatter(c * pairs.squared_distances(Z), Z, Z)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 8 * n_pairs  # differences alone would take 20 numbers a pair
