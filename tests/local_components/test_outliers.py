"""Outliers: scikit-learn's interface over log-densities."""

import numpy as np
import pytest
from local_components.paper import Paper
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_outlier_detector
from sklearn.datasets import load_iris

from vicinal import LocalComponents
from vicinal.neighborhood.blocked import BlockedEngine


@pytest.fixture(scope="module")
def iris():
    return load_iris().data


@pytest.mark.parametrize("covariance", ["full", "local"])
def test_far_rows_are_outliers_and_near_ones_are_not(iris, covariance):
    model = LocalComponents(covariance=covariance).fit(iris[::2])
    assert is_outlier_detector(model)
    labels = model.predict(iris[1::2])
    assert (labels == 1).mean() > 0.85
    assert_array_equal(model.predict(iris[::2] + 5.0), -1)
    assert_array_equal(model.predict(iris), np.where(model.decision_function(iris) >= 0, 1, -1))
    expected = model.score_samples(iris) - model.offset_
    assert_allclose(model.decision_function(iris), expected)


@pytest.mark.parametrize("contamination", [0.02, 0.1, 0.5])
def test_a_share_of_the_training_rows(contamination):
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = LocalComponents(contamination=contamination)
    assert (model.fit_predict(X) == -1).sum() == contamination * 200


def test_the_default_leaves_rows_out(iris):
    """One in twenty rows lies below, by the definition."""
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = Paper(covariance="spherical").fit(X)
    variance = model.covariance_[0, 0]
    squares = np.square(X[:, None] - X).sum(axis=-1)
    kernel = np.exp(-0.5 * squares / variance) / (2 * np.pi * variance)
    np.fill_diagonal(kernel, 0.0)
    left_out = np.sort(np.log(kernel.sum(axis=1) / 99))
    assert_allclose(model.offset_, left_out[4:6].mean(), rtol=1e-9)


def test_kernels_of_their_own_are_left_out(iris):
    model = Paper(covariance="local", smoothing=20, regularization=0.01).fit(iris[::5])
    merged = model._density.merged(1000, np.random.default_rng(0))
    left_out = merged.left_out(BlockedEngine())
    for position in (0, 7, 20):
        others = np.arange(len(merged.points)) != position
        X, T = merged.points.X[others], model.local_covariances_[_rows(iris[::5], merged)][others]
        apart = merged.points.X[position] - X
        squares = np.einsum("ni,nij,nj->n", apart, np.linalg.inv(T), apart)
        heights = np.exp(-0.5 * squares) / np.sqrt(np.linalg.det(2 * np.pi * T))
        counts = merged.points.counts[others]
        expected = np.log(counts @ heights / counts.sum())
        assert_allclose(left_out[position], expected, rtol=1e-8)


def _rows(X, merged):
    return [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in merged.points.X]


def test_many_rows_are_a_sample(iris):
    model = LocalComponents(covariance="local", smoothing=10).fit(iris)
    assert len(model._density.merged(40, np.random.default_rng(0)).points) <= 40


def test_streams_have_an_offset(iris):
    model = LocalComponents(random_state=0).partial_fit(iris[::2])
    assert (model.predict(iris[1::2]) == 1).mean() > 0.85


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("much", "contamination='much' is unknown: use one of 'auto'"),
        (0.7, "contamination=0.7 must be at most 0.5"),
        (0.0, "contamination=0.0 must lie between 0 and 1"),
    ],
)
def test_wrong_shares_are_named(iris, value, message):
    with pytest.raises(ValueError, match=message):
        LocalComponents(contamination=value).fit(iris)
