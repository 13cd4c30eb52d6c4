"""The nearest rows, against distances taken one query at a time."""

import threading
from unittest.mock import patch

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import NearestNeighbors

from vicinal.inputs.nearest import (
    nearest,
    search,
    squared_distances,
    within,
)
from vicinal.neighborhood.threads import computing


def naive_nearest(keys, queries, k, own=None):
    """By differences, query by query; equally near ones by position."""
    keys, queries = keys.astype(np.float64), queries.astype(np.float64)
    k = min(k, len(keys))
    positions, squared = np.empty((len(queries), k), dtype=int), np.empty((len(queries), k))
    for i, query in enumerate(queries):
        distances = np.square(keys - query).sum(axis=1)
        if own is not None and own[i] >= 0:
            distances[own[i]] = np.inf
        positions[i] = np.lexsort((np.arange(len(keys)), distances))[:k]
        squared[i] = distances[positions[i]]
    return positions, squared


def assert_same(found, expected):
    assert_array_equal(found[0], expected[0])
    assert_allclose(found[1], expected[1], rtol=1e-12)


@st.composite
def searches(draw):
    """Keys, queries and own: the keys themselves, some of them and not all their own, or others."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 60)), draw(st.sampled_from([1, 2, 3, 20]))
    n_queries, grid = draw(st.integers(0, 12)), draw(st.booleans())

    def points(n):
        """On a grid, sums of squares are exact: ties are ties."""
        return np.round(2 * rng.normal(size=(n, d))) / 2 if grid else rng.normal(size=(n, d))

    keys = points(n)
    if draw(st.booleans()):  # duplicates
        keys = keys[rng.integers(0, n, n)]
    keys = keys.astype(draw(st.sampled_from([np.float64, np.float32])))
    whose = draw(st.sampled_from(["all", "some", "none"]))
    if whose == "all":
        return keys, keys, np.arange(n)
    if whose == "some":
        chosen = rng.integers(0, n, n_queries)
        return keys, keys[chosen], np.where(rng.random(n_queries) < 0.5, chosen, -1)
    return keys, points(n_queries), None


@given(search=searches(), k=st.integers(1, 70), few=st.sampled_from([0, 300, 4096]))
@examples(200)
def test_the_nearest_are_those_of_the_definition(search, k, few):
    """By an index, and by all differences where there are few."""
    keys, queries, own = search
    with patch("vicinal.inputs.nearest._FEW", few):
        assert_same(nearest(keys, queries, k, own), naive_nearest(keys, queries, k, own))


@given(search=searches(), k=st.integers(1, 9), numbers=st.sampled_from([1, 50, 500]))
@examples(20)
def test_blocks_change_nothing(search, k, numbers):
    keys, queries, own = search
    names = "vicinal.inputs.nearest._BLOCK_NUMBERS", "vicinal.inputs.nearest._FEW"
    with patch(names[0], numbers), patch(names[1], 0):
        assert_same(nearest(keys, queries, k, own), naive_nearest(keys, queries, k, own))


@pytest.mark.parametrize("side", [7, 12])
def test_a_lattice_of_ties_larger_than_the_spare(side):
    """The first search cannot see all that are equally near: it must look again."""
    keys = np.stack(np.meshgrid(*[np.arange(side)] * 2), axis=-1).reshape(-1, 2) / 2
    keys = np.repeat(keys, 3, axis=0)
    own = np.arange(len(keys))
    for k in (1, 4, 13):
        assert_same(nearest(keys, keys, k, own), naive_nearest(keys, keys, k, own))


def test_duplicates_come_by_position_and_never_the_point_itself():
    keys = np.zeros((50, 3))
    positions, squared = nearest(keys, keys, 4, np.arange(50))
    assert_array_equal(positions[[0, 2, 49]], [[1, 2, 3, 4], [0, 1, 3, 4], [0, 1, 2, 3]])
    assert_array_equal(squared, 0.0)


def test_where_fewer_are_left_the_last_are_infinitely_far():
    keys = np.arange(4.0)[:, None]
    positions, squared = nearest(keys, keys, 9, np.array([0, 1, -1, 3]))
    assert positions.shape == squared.shape == (4, 4)
    assert_array_equal(np.isinf(squared).sum(axis=1), [1, 1, 0, 1])
    assert_array_equal(positions[[0, 2]], [[1, 2, 3, 0], [2, 1, 3, 0]])


def test_no_queries_and_no_neighbors():
    keys = np.arange(6.0).reshape(3, 2)
    assert nearest(keys, keys[:0], 2)[0].shape == (0, 2)
    assert nearest(keys, keys, 0)[1].shape == (3, 0)


@pytest.mark.parametrize("n_features", [3, 20])
def test_far_from_the_origin(n_features):
    """More than 15 features are searched by matrix products, fewer by a tree."""
    keys = np.round(4 * np.random.default_rng(0).normal(size=(200, n_features))) / 4
    own = np.arange(200)
    near, far = nearest(keys, keys, 5, own), nearest(keys + 2.0**30, keys + 2.0**30, 5, own)
    assert_same(far, near)


@pytest.mark.parametrize("n_features", [3, 20])
def test_tiles_and_jobs_change_nothing(n_features):
    """Ties are those of the definition, whichever thread looks at a query."""
    keys = np.round(2 * np.random.default_rng(0).normal(size=(300, n_features))) / 2
    expected, around = naive_nearest(keys, keys, 5), within(keys, keys, 1.5)
    for n_jobs, tile in ((1, 300), (1, 7), (2, 300), (2, 7)):
        with patch.multiple("vicinal.inputs.nearest", _TILE_WORK=0, _LEAST_QUERIES=tile):
            assert_array_equal(nearest(keys, keys, 5, n_jobs=n_jobs)[0], expected[0])
            for found, near in zip(within(keys, keys, 1.5, n_jobs), around, strict=True):
                assert_array_equal(found, near)


@pytest.mark.parametrize("n_features", [3, 20])
def test_a_search_on_threads_is_that_of_its_index(n_features):
    keys = np.random.default_rng(0).normal(size=(300, n_features))
    index = NearestNeighbors().fit(keys)
    expected = index.kneighbors(keys, 5)
    with patch.multiple("vicinal.inputs.nearest", _TILE_WORK=0, _LEAST_QUERIES=7):
        for n_jobs in (1, 2):
            with computing(n_jobs):
                distances, positions = search(index, keys, 5)
            assert_array_equal(positions, expected[1])
            assert_allclose(distances, expected[0], atol=1e-6)


def test_a_search_takes_the_threads_of_whoever_computes():
    keys, threads = np.random.default_rng(0).normal(size=(300, 20)), set()

    def recorded(*args, **options):
        threads.add(threading.current_thread().name)
        return original(*args, **options)

    original = NearestNeighbors.kneighbors
    with (
        patch.object(NearestNeighbors, "kneighbors", recorded),
        patch.multiple("vicinal.inputs.nearest", _TILE_WORK=0, _LEAST_QUERIES=7),
    ):
        with computing(1):
            nearest(keys, keys, 5)
        assert threads == {threading.current_thread().name}
        with computing(2):
            nearest(keys, keys, 5)
        assert any(name.startswith("vicinal") for name in threads)


def test_searches_tell_how_far_they_are():
    rng, told = np.random.default_rng(0), []
    with patch.multiple("vicinal.inputs.nearest", _TILE_WORK=0, _LEAST_QUERIES=10):
        nearest(rng.normal(size=(100, 2)), rng.normal(size=(60, 2)), 3, tell=told.append)
    assert sum(told) == 60
    assert len(told) == 6


@given(seed=st.integers(0, 2**32 - 1), numbers=st.sampled_from([1, 20, 10_000]))
def test_squared_distances_of_pairs(seed, numbers):
    rng = np.random.default_rng(seed)
    X, (first, second) = rng.normal(size=(20, 3)) + 1e6, rng.integers(0, 20, size=(2, 30))
    with patch("vicinal.inputs.nearest._BLOCK_NUMBERS", numbers):
        found = squared_distances(X, first, second)
    assert_allclose(found, np.square(X[first] - X[second]).sum(axis=1), rtol=1e-12)


# ------------------------------------------------------------------------------------ approximate


# --------------------------------------------------------------------------------- hostile data


@pytest.mark.parametrize("n_features", [3, 20])
def test_one_key_far_away_makes_no_second_search_for_others(n_features):
    """It did for all, among all keys: the errors of products were those of the farthest key."""
    keys = np.random.default_rng(0).normal(size=(500, n_features))
    keys = np.vstack([keys, np.full(n_features, 1e8)])
    asked = []

    def recorded(self, X, n_neighbors, **options):
        asked.append((len(X), n_neighbors))
        return original(self, X, n_neighbors, **options)

    original = NearestNeighbors.kneighbors
    with patch.object(NearestNeighbors, "kneighbors", recorded):
        found = nearest(keys, keys, 5, np.arange(501))
    assert asked[0] == (501, 11)
    assert sum(rows for rows, _ in asked[1:]) < 10
    assert_same(found, naive_nearest(keys, keys, 5, np.arange(501)))


@pytest.mark.parametrize("scale", [1e-139, 1e139])
def test_any_units(scale):
    keys = scale * np.random.default_rng(0).normal(size=(150, 20))
    assert_same(nearest(keys, keys, 5), naive_nearest(keys, keys, 5))


def naive_within(keys, queries, radius):
    squared = np.square(keys[None].astype(float) - queries[:, None]).sum(axis=2)
    return [np.flatnonzero(row <= radius**2) for row in squared]


@given(search=searches(), radius=st.sampled_from([0.25, 0.5, 1.0, 3.0]))
@examples(50)
def test_all_within_a_radius_are_those_of_the_definition(search, radius):
    keys, queries, _ = search
    found, expected = within(keys, queries, radius), naive_within(keys, queries, radius)
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("n_features", [3, 20])
def test_all_within_a_radius_far_from_the_origin(n_features):
    keys = np.round(2 * np.random.default_rng(0).normal(size=(200, n_features))) / 4
    radius = float(np.sqrt(n_features)) / 2
    expected = naive_within(keys, keys, radius)
    assert max(map(len, expected)) > 1
    with patch("vicinal.inputs.nearest._BLOCK_NUMBERS", 1000):
        for shift in (0.0, 2.0**30):
            for one, other in zip(
                within(keys + shift, keys + shift, radius), expected, strict=True
            ):
                assert_array_equal(one, other)


@pytest.mark.parametrize(("radius", "n_found"), [(1e-200, 1), (1e200, 30)])
def test_a_radius_whose_square_is_no_number(radius, n_found):
    keys = np.arange(30.0)[:, None]
    assert [len(found) for found in within(keys, keys, radius)] == [n_found] * 30
