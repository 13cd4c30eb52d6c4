"""regularization="auto", and which covariances there are."""

import numpy as np
import pytest
from local_components.paper import Paper
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from vicinal import LocalComponents
from vicinal.local_components.equations import Form


@pytest.fixture(scope="module")
def wine():
    return StandardScaler().fit_transform(load_wine(return_X_y=True)[0])


def test_the_penalty_is_chosen_by_rows_held_back(wine):
    order = np.random.default_rng(0).permutation(len(wine))
    X, X_test = wine[order[:120]], wine[order[120:]]
    plain = Paper().fit(X)
    model = LocalComponents().fit(X)
    nu_global, nu_local = model.regularization_
    assert nu_global == nu_local == model.recipe_["regularization"] > 0
    assert model.score(X_test) > plain.score(X_test) + 0.5
    tried = model.path_
    assert tried["regularization"][tried["score"].argmax()] == nu_local
    again = LocalComponents().fit(X)
    assert again.regularization_ == model.regularization_
    assert_array_equal(again.covariance_, model.covariance_)


def test_with_a_gaussian_there_are_two(wine):
    model = LocalComponents(gaussian="em", regularization="auto", random_state=0).fit(wine)
    nu_global, nu_local = model.regularization_
    assert 0 < nu_global < 1
    assert 0 < nu_local < 1
    assert model.n_gaussian_ > 0


def test_low_rank_plus_scalar_is_that_of_probabilistic_pca():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) @ rng.normal(size=(5, 5))
    pca = PCA(n_components=2).fit(X)
    expected = pca.get_covariance()
    found = Form("low_rank", 2).restrict(np.cov(X.T))
    assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("rank", [1, 3, 12, 13, None])
def test_low_rank_kernels(wine, rank):
    settings = {"regularization": 0.05, "tol": 1e-11}
    model = LocalComponents(covariance="low_rank", rank=rank, **settings).fit(wine)
    variances = np.linalg.eigvalsh(model.covariance_)
    rest = 13 - (rank or 6)
    if rest > 1:
        assert_allclose(variances[:rest], variances[0], rtol=1e-8)
    assert (np.diff(model.history_["objective"]) >= -1e-12).all()
    full = LocalComponents(**settings).fit(wine)
    assert model.history_["objective"][-1] <= full.history_["objective"][-1] + 1e-6
    if rest <= 1:
        assert_allclose(model.loo_log_likelihood_, full.loo_log_likelihood_, atol=1e-4)


def test_low_rank_kernels_turn_with_the_data(wine):
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(13, 13)))[0]
    settings = {"covariance": "low_rank", "rank": 2, "regularization": 0.1, "tol": 1e-11}
    plain = LocalComponents(**settings).fit(wine)
    turned = LocalComponents(**settings).fit(wine @ Q.T)
    assert_allclose(turned.loo_log_likelihood_, plain.loo_log_likelihood_, atol=1e-7)
    assert_allclose(turned.covariance_, Q @ plain.covariance_ @ Q.T, atol=1e-4)


def test_low_rank_where_there_are_fewer_rows_than_columns():
    X = np.random.default_rng(0).normal(size=(30, 50)) * np.r_[10.0, np.ones(49)]
    model = LocalComponents(covariance="low_rank", rank=1, regularization=0.1).fit(X)
    assert np.isfinite(model.loo_log_likelihood_)
