"""The Gaussian mixture a fit begins with, and which directions of its parts become local."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.mixture.directions import with_local_directions
from vicinal.local_components.mixture.starts import (
    Floors,
    gaussian_shares,
    k_means_shares,
    settled,
)
from vicinal.neighborhood.blocked import BlockedEngine


@pytest.fixture(scope="module")
def blobs():
    """One wide and one narrow, far apart."""
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(60, 2)) * 2.0, 0.1 * rng.normal(size=(60, 2)) + 20.0])


def floors(d, wide=1e-6, near=1e-6):
    return Floors(np.full(d, wide), np.full(d, near))


def test_parts_of_few_points_are_dropped(blobs):
    points = WeightedPoints(np.vstack([blobs, [[500.0, 500.0]]]))
    assert k_means_shares(points, 3, seed=0).shape == (121, 2)


def test_no_more_parts_than_different_rows():
    assert k_means_shares(WeightedPoints(np.ones((10, 2))), 4, seed=0).shape == (10, 1)


def test_without_a_prior_it_is_em_for_a_gaussian_mixture(blobs):
    points = WeightedPoints(blobs)
    shares = gaussian_shares(points, k_means_shares(points, 2, seed=0), 0.0, floors(2))
    parts, _ = settled(points, shares, 0.0, floors(2))
    order = np.argsort(parts.means[:, 0])
    for k, rows in zip(order, (blobs[:60], blobs[60:]), strict=True):
        assert_allclose(parts.means[k], rows.mean(axis=0), atol=1e-6)
        assert_allclose(parts.wide[k], np.cov(rows.T, bias=True) + 1e-6 * np.eye(2), rtol=1e-6)
    assert [shape.n_local for shape in parts.shapes] == [0, 0]


def test_parts_are_pulled_to_a_shape_of_their_own_width(blobs):
    points = WeightedPoints(blobs)
    parts, prior = settled(points, k_means_shares(points, 2, seed=0), 1e6, floors(2, 1e-12))
    covariances = parts.wide
    scale = np.trace(covariances, axis1=1, axis2=2)
    # One shape, but 400 times as wide in one part.
    ratio = covariances / scale[:, None, None]
    assert_allclose(ratio[0], ratio[1], atol=1e-3)
    assert 100 < scale.max() / scale.min() < 1600
    assert prior.points == 1e6


def test_a_curve_has_local_directions_and_a_cloud_has_none():
    rng = np.random.default_rng(1)
    angles = rng.uniform(0, 2 * np.pi, 150)
    ring = np.stack([np.cos(angles), np.sin(angles)], axis=1) + 0.05 * rng.normal(size=(150, 2))
    cloud = rng.normal(size=(150, 2)) + 30.0
    points = WeightedPoints(np.vstack([ring, cloud]))
    start = settled(points, np.repeat(np.eye(2), 150, axis=0), 2.0, floors(2))
    parts = with_local_directions(points, start.parts, start.prior, BlockedEngine(1))
    assert [shape.n_local for shape in parts.shapes] == [2, 0]
