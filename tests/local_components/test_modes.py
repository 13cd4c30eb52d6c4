import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from local_components.paper import Paper
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score, homogeneity_score

from vicinal import LocalComponents
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.density import ParzenDensity
from vicinal.local_components.equations import Shape
from vicinal.neighborhood.blocked import BlockedEngine


@given(seed=st.integers(0, 2**32 - 1), n_local=st.integers(1, 3))
@examples(20)
def test_climbing_never_descends(seed, n_local):
    rng = np.random.default_rng(seed)
    X, queries = rng.normal(size=(20, 3)), 2 * rng.normal(size=(6, 3))
    shape = Shape(rng.normal(size=(3, 3)) + 2 * np.eye(3), n_local)
    density = ParzenDensity(WeightedPoints(X, rng.uniform(0.5, 3, 20)), X.mean(axis=0), shape)
    engine = BlockedEngine(1, compiled=False)
    before = density.log_density(queries, engine)
    after = density.log_density(density.climb(queries, engine), engine)
    assert (after >= before - 1e-10).all()


SHAPES = [{}, {"covariance": "local", "smoothing": 40}, {"covariance": "spherical"}]


@pytest.mark.parametrize("settings", SHAPES, ids=str)
def test_every_mode_is_found_where_all_count(settings):
    X, y = make_blobs([60, 40, 50], n_features=2, cluster_std=0.6, random_state=3)
    model = Paper(regularization=0.1, **settings).fit(X)
    centers, labels = model.modes(significance=0)
    assert homogeneity_score(y, labels) > 0.95
    assert 3 <= len(centers) <= 6
    heights = model.score_samples(centers)
    assert (np.diff(heights) <= 1e-9).all()
    # Modes: no point around is higher.
    around = centers[:3, None] + 0.05 * np.random.default_rng(0).normal(size=(1, 50, 2))
    lower = model.score_samples(around.reshape(-1, 2)).reshape(3, 50)
    assert (lower.max(axis=1) <= heights[:3] + 1e-6).all()
    _, new = model.modes(centers, significance=0)
    assert_array_equal(new, np.arange(len(centers)))


@pytest.mark.parametrize("settings", [*SHAPES, {"kernel": "student"}, {"n_mixture": 2}], ids=str)
def test_blobs_are_clusters(settings):
    X, y = make_blobs([60, 40, 50], n_features=2, cluster_std=0.6, random_state=3)
    model = Paper(regularization=0.1, random_state=0, **settings).fit(X)
    centers, labels = model.modes()
    assert len(centers) == 3
    assert adjusted_rand_score(y, labels) == 1.0
    assert_array_equal(model.modes(centers)[1], np.arange(3))


def test_modes_of_many_dimensions_are_no_longer_as_many_as_rows():
    X = np.random.default_rng(0).normal(size=(200, 20))
    model = LocalComponents().fit(X)
    assert len(model.modes(significance=0)[0]) == 200
    assert len(model.modes()[0]) == 1


def test_in_gaussian_directions_the_mode_is_the_mean():
    X = load_iris(return_X_y=True)[0]
    model = Paper(gaussian="search").fit(X)
    centers, labels = model.modes(X[::10], significance=0)
    assert len(labels) == 15
    assert labels.max() < len(centers)
    assert_allclose((centers - model.mean_) @ model.gaussian_components_.T, 0.0, atol=1e-9)


def test_setosa_is_a_cluster_of_its_own():
    X, y = load_iris(return_X_y=True)
    centers, labels = Paper(gaussian="search", regularization=0.05).fit(X).modes()
    assert not set(labels[y == 0]) & set(labels[y != 0])
    assert len(centers) == 2


@pytest.mark.parametrize("significance", [-1.0, np.nan, "much"])
def test_significance_is_a_number(significance):
    model = Paper(regularization=0.1).fit(np.arange(20.0).reshape(10, 2) ** 2)
    with pytest.raises((ValueError, TypeError), match="significance"):
        model.modes(significance=significance)


def test_of_many_rows_a_sample_climbs(monkeypatch):
    X, y = make_blobs([300, 200], n_features=2, cluster_std=0.5, random_state=3)
    model = Paper(regularization=0.1, random_state=0).fit(X)
    monkeypatch.setattr("vicinal.local_components.modes._MOST_KERNELS", 200)
    monkeypatch.setattr("vicinal.local_components.modes._MOST_STARTS", 100)
    centers, labels = model.modes()
    assert len(centers) == 2
    assert adjusted_rand_score(y, labels) == 1.0
