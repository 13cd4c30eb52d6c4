"""Nearly the nearest: what the search in cells finds, and what it never does."""

from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from vicinal.inputs import cells
from vicinal.inputs.cells import in_cells, nearly_nearest
from vicinal.inputs.nearest import nearest


@pytest.fixture(scope="module")
def sheet():
    """Points near a curved sheet, and a few more."""
    rng = np.random.default_rng(0)
    inner = rng.normal(size=(3100, 4))
    X = inner @ rng.normal(size=(4, 12)) + np.sin(inner) @ rng.normal(size=(4, 12))
    X += 0.02 * rng.normal(size=X.shape)
    return X[:3000], X[3000:]


@pytest.fixture
def small_cells():
    """Many cells, of which a tenth is looked through."""
    with patch.multiple(cells, _CELL=32, _LEAST=300, _SHARE=0.1):
        yield


def exactly(keys, queries, k):
    if queries is None:
        return nearest(keys, keys, k, np.arange(len(keys)))[0]
    return nearest(keys, queries, k)[0]


def recall(found, expected):
    return np.mean([np.isin(a, b).mean() for a, b in zip(expected, found, strict=True)])


@pytest.mark.usefixtures("small_cells")
@pytest.mark.parametrize("of_new_points", [False, True])
def test_it_finds_nearly_all_but_the_point_itself(sheet, of_new_points):
    keys, new = sheet
    queries = new if of_new_points else None
    found = nearly_nearest(keys, queries, 10)
    assert 0.9 < recall(found, exactly(keys, queries, 10)) < 1.0  # a tenth was looked through
    if not of_new_points:
        assert not (found == np.arange(len(keys))[:, None]).any()
    asked = keys if queries is None else queries
    squared = np.square(keys[found] - asked[:, None]).sum(axis=2)
    assert (np.diff(squared, axis=1) >= -1e-5 * squared.max()).all()
    assert all(len(set(row)) == 10 for row in found)


def test_where_all_are_looked_through_none_is_missed(sheet):
    keys, new = sheet
    for queries in (None, new):
        assert_array_equal(nearly_nearest(keys, queries, 10), exactly(keys, queries, 10))


@pytest.mark.usefixtures("small_cells")
def test_threads_change_nothing_and_all_is_told(sheet):
    keys, told = sheet[0], []
    once = nearly_nearest(keys, None, 7, n_jobs=1, tell=told.append)
    assert sum(told) == len(keys)
    assert_array_equal(nearly_nearest(keys, None, 7, n_jobs=3), once)


@pytest.mark.usefixtures("small_cells")
@pytest.mark.parametrize("scale", [1e-139, 1e139])
def test_any_units(sheet, scale):
    keys = sheet[0][:500]
    assert recall(nearly_nearest(scale * keys, None, 5), exactly(keys, None, 5)) > 0.9
    far = nearly_nearest(keys, np.full((2, 12), 1e120), 5)
    assert ((far >= 0) & (far < 500)).all()


@pytest.mark.usefixtures("small_cells")
def test_one_key_far_away_changes_nothing_for_the_others(sheet):
    keys = np.vstack([sheet[0], np.full(12, 1e8)])
    assert recall(nearly_nearest(keys, None, 10)[:-1], exactly(sheet[0], None, 10)) > 0.9


@pytest.mark.usefixtures("small_cells")
def test_duplicates_find_each_other_but_never_themselves():
    keys = np.repeat(np.random.default_rng(0).normal(size=(10, 3)), 40, axis=0)
    found = nearly_nearest(keys, None, 5)
    assert not (found == np.arange(400)[:, None]).any()
    assert_array_equal(keys[found], np.repeat(keys[:, None], 5, axis=1))
    assert all(len(set(row)) == 5 for row in found)


def test_few_keys_and_equal_ones():
    keys = np.random.default_rng(0).normal(size=(20, 3))
    assert_array_equal(nearly_nearest(keys, None, 19), exactly(keys, None, 19))
    same = nearly_nearest(np.ones((600, 2)), None, 3)
    assert not (same == np.arange(600)[:, None]).any()


@pytest.mark.usefixtures("small_cells")
def test_the_order_of_cells_has_every_row_once_and_near_ones_together(sheet):
    keys = sheet[0]
    order = in_cells(keys)
    assert_array_equal(np.sort(order), np.arange(len(keys)))
    steps, shuffled = (
        np.linalg.norm(np.diff(points, axis=0), axis=1).mean() for points in (keys[order], keys)
    )
    assert steps < 0.7 * shuffled
