import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicinal.report.numbers import plane
from vicinal.report.numbers.plane import Plane, sample


@given(st.integers(1, 400), st.integers(1, 300), st.integers(1, 300))
def test_a_sample_is_as_large_as_wanted(n, n_classes, most):
    codes = np.random.default_rng(n).integers(0, n_classes, n)
    rows = sample(codes, most)
    assert len(rows) == len(set(rows)) == min(n, most)
    if len(set(codes)) <= most:
        assert set(codes[rows]) == set(codes)


def test_classes_keep_their_share_in_a_sample():
    codes = np.repeat([0, 1, 2], [8000, 1990, 10])
    counts = np.bincount(codes[sample(codes, 1000)])
    np.testing.assert_allclose(counts, [799, 199, 2], atol=1)


@pytest.mark.parametrize(("n", "d"), [(50, 5), (15, 40), (60, 40)])
def test_the_widest_plane(n, d, monkeypatch):
    monkeypatch.setattr(plane, "_MOST_EXACT", 20)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n, d)) + 100 * rng.normal(size=(n, 2)) @ rng.normal(size=(2, d))
    found = Plane.widest(points + 7.0)
    np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(2), atol=1e-8)
    _, values, _ = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    placed = found.project(points + 7.0)
    np.testing.assert_allclose(np.linalg.svd(placed, compute_uv=False), values[:2], rtol=1e-6)


@pytest.mark.parametrize("power", [-300, -150, 150, 300])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_points_of_any_size_can_be_drawn(power, d):
    points = np.random.default_rng(0).normal(size=(20, d))
    far, usual = Plane.widest(points * 10.0**power), Plane.widest(points)
    placed = far.project(points * 10.0**power)
    assert "unit: 1e" in far.note
    assert "unit" not in usual.note
    size = np.abs(placed).max() / np.abs(usual.project(points)).max()
    assert 0.1 <= size <= 10
    np.testing.assert_allclose(np.abs(placed), size * np.abs(usual.project(points)), rtol=1e-6)


def test_a_single_point_of_many_dimensions():
    placed = Plane.widest(np.ones((1, 2000))).project(np.ones((1, 2000)))
    np.testing.assert_array_equal(placed, np.zeros((1, 2)))
