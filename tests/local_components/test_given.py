"""Covariances that are given and kept."""

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity
from sklearn.utils.estimator_checks import parametrize_with_checks

import vicinal
from vicinal import LocalComponents
from vicinal.local_components import log_density

MATRIX = np.diag([0.2, 0.1, 0.3, 0.1]) + 0.05


@parametrize_with_checks([LocalComponents(covariance=0.5)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def iris():
    return load_iris().data


@pytest.mark.parametrize("kernel", ["gaussian", "student"])
@pytest.mark.parametrize("covariance", [0.3, [0.1, 0.2, 0.3, 0.4], MATRIX], ids=["1", "d", "dd"])
def test_the_density_is_that_of_the_function(iris, covariance, kernel):
    X, Q = iris[::2], iris[1::2]
    weights = 1.0 + np.arange(len(X)) % 3
    model = LocalComponents(covariance=covariance, kernel=kernel).fit(X, sample_weight=weights)
    expected = log_density(Q, X, covariance=covariance, kernel=kernel, weights=weights)
    assert_allclose(model.score_samples(Q), expected, rtol=1e-12)
    whole = np.asarray(covariance)
    assert_allclose(model.covariance_, whole if whole.ndim == 2 else whole * np.eye(4))
    assert_allclose(model.get_mahalanobis_matrix(), np.linalg.inv(model.covariance_), rtol=1e-9)
    assert model.converged_
    assert model.n_iter_ == 1
    assert model.regularization_ == (0.0, 0.0)
    assert_allclose(model.history_["objective"], [model.loo_log_likelihood_])


def test_one_variance_is_a_kernel_density(iris):
    model = LocalComponents(covariance=0.4**2).fit(iris)
    peer = KernelDensity(bandwidth=0.4).fit(iris)
    assert_allclose(model.score_samples(iris), peer.score_samples(iris), rtol=1e-10)


def test_the_likelihood_leaves_out_a_row_with_its_copies(iris):
    X = np.unique(iris, axis=0)
    model = LocalComponents(covariance=MATRIX).fit(X)
    each = [log_density(X[[i]], np.delete(X, i, 0), covariance=MATRIX) for i in range(len(X))]
    assert_allclose(model.loo_log_likelihood_, np.mean(each), rtol=1e-12)
    copies = LocalComponents(covariance=MATRIX).fit(np.concatenate([X, X]))
    assert_allclose(copies.loo_log_likelihood_, model.loo_log_likelihood_, rtol=1e-12)


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 4))
@examples(20)
def test_diagonals_are_matrices_that_are_diagonal(seed, d):
    rng = np.random.default_rng(seed)
    X, Q, variances = rng.normal(size=(20, d)), rng.normal(size=(5, d)), rng.uniform(0.1, 2, d)
    short = LocalComponents(covariance=variances, random_state=0).fit(X)
    whole = LocalComponents(covariance=np.diag(variances), random_state=0).fit(X)
    for name in ("covariance_", "components_", "mixture_covariances_", "loo_log_likelihood_"):
        assert_allclose(getattr(short, name), getattr(whole, name), rtol=1e-10, atol=1e-12)
    for method in ("score_samples", "transform", "decision_function", "predict"):
        found, expected = (getattr(model, method)(Q) for model in (short, whole))
        assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    pairs = np.stack([Q[:2], Q[2:4]], axis=1)
    assert_allclose(short.pair_distance(pairs), whole.pair_distance(pairs), rtol=1e-10)
    assert_allclose(short.sample(4), whole.sample(4), rtol=1e-9, atol=1e-9)
    assert_allclose(short.modes()[0], whole.modes()[0], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "X",
    [[[1.0, 2.0]], [[1.0, 2.0]] * 5, [[0.0, 1.0], [1.0, 1.0]], np.repeat(np.eye(2), 2, axis=0)],
    ids=["one row", "one repeated", "constant column", "twins"],
)
@pytest.mark.parametrize("regularization", ["auto", 0.0, 0.1])
def test_any_rows_will_do(X, regularization):
    model = LocalComponents(covariance=0.5, regularization=regularization).fit(X)
    assert np.isfinite(model.score_samples([[0.0, 0.0], [1.0, 1.0]])).all()
    assert np.isfinite([model.loo_log_likelihood_, model.offset_]).all()
    assert_allclose(model.covariance_, 0.5 * np.eye(2))


@pytest.mark.parametrize(
    ("covariance", "message"),
    [
        (-1.0, r"covariance=-1.0 must be symmetric and positive definite, and have variances from"),
        (0.0, r"covariance=0.0 must be symmetric and positive definite"),
        (np.nan, r"covariance=nan must be finite"),
        (None, r"covariance=None must be finite"),
        ([1.0, 2.0], r"covariance has shape \(2,\), expected a number, \(4,\) or \(4, 4\)"),
        ([1.0, "wide", 1.0, 1.0], r"must be made of numbers"),
        (np.eye(4) + np.eye(4, k=1), r"must be symmetric and positive definite: use \(C \+ C.T\)"),
        (np.ones((4, 4)), r"positive definite: add a small variance to its diagonal"),
        ("narrow", r"covariance='narrow' is unknown: use one of 'full', .*'scott'"),
    ],
)
def test_what_is_no_covariance_is_refused(iris, covariance, message):
    with pytest.raises(ValueError, match=message):
        LocalComponents(covariance=covariance).fit(iris)


@pytest.mark.parametrize(
    "settings",
    [
        {"gaussian": "em"},
        {"n_mixture": 2},
        {"n_mixture": "auto"},
        {"batch_size": 20},
        {"n_neighbors": 20},
        {"early_stopping": True},
        {"rank": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("covariance", [0.1, MATRIX, "scott"], ids=["1", "dd", "scott"])
def test_what_belongs_to_learning_is_refused_by_name(iris, settings, covariance):
    (name,) = settings
    with pytest.raises(ValueError, match=rf"{name}=.* is for .*, but covariance"):
        LocalComponents(covariance=covariance, **settings).fit(iris)


def test_a_stream_has_something_to_learn(iris):
    with pytest.raises(AttributeError, match="partial_fit") as caught:
        LocalComponents(covariance=MATRIX).partial_fit(iris)
    assert "covariance is given" in str(caught.value.__cause__)
    model = LocalComponents(covariance=MATRIX, random_state=0).fit(iris)
    model.set_params(covariance="diag").partial_fit(iris[:30] + 0.01)
    assert np.isfinite(model.score(iris))


@pytest.mark.parametrize("covariance", [0.3, MATRIX], ids=["1", "dd"])
def test_files_and_clones_keep_it(iris, covariance, tmp_path):
    model = LocalComponents(covariance=covariance).fit(iris)
    assert model.components_.shape == (4, 4)  # and is not in the file, if it need not be
    vicinal.save(model, tmp_path / "model.skops")
    loaded = vicinal.load(tmp_path / "model.skops")
    assert_array_equal(loaded.score_samples(iris), model.score_samples(iris))
    assert_array_equal(loaded.transform(iris), model.transform(iris))
    assert_array_equal(loaded.components_, model.components_)
    assert_array_equal(loaded.covariance_, model.covariance_)
    assert_array_equal(clone(model).covariance, covariance)
    assert "covariance=" in repr(model)


def test_a_grid_search_drives_it(iris):
    rng = np.random.default_rng(0)
    X = rng.permutation(iris)
    choices = {
        "covariance": ["full", "diag", "scott", 0.1, MATRIX],
        "regularization": ["auto", 0.1],
    }
    search = GridSearchCV(LocalComponents(), choices, cv=3, error_score="raise").fit(X)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    variances = np.logspace(-3, 0, 7)
    own = GridSearchCV(LocalComponents(), {"covariance": variances}, cv=3).fit(X)
    peer = GridSearchCV(KernelDensity(), {"bandwidth": np.sqrt(variances)}, cv=3).fit(X)
    assert own.best_index_ == peer.best_index_
    # A mean and a sum over rows; for the narrowest kernels the peer errs by 4 percent.
    scores = (search.cv_results_["mean_test_score"][2:] for search in (own, peer))
    assert_allclose(50 * next(scores), next(scores), rtol=1e-6)
    matrices = [scale * MATRIX for scale in (0.001, 0.3, 100.0)]
    assert GridSearchCV(LocalComponents(), {"covariance": matrices}, cv=3).fit(X).best_index_ == 1
