"""Fits that go on from the one before."""

from dataclasses import replace

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from local_components.paper import Paper
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from vicinal import LocalComponents


@pytest.fixture(scope="module")
def iris():
    return load_iris().data


def with_one_more(X):
    return np.concatenate([X, X.mean(axis=0, keepdims=True) + 0.05])


@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"covariance": "diag"},
        {"covariance": "spherical"},
        {"covariance": "low_rank", "rank": 1},
        {"kernel": "student", "regularization": 0.01},
        {"gaussian": "em"},
    ],
    ids=str,
)
def test_fewer_updates_to_the_same_optimum(iris, settings, accelerate):
    settings = {"accelerate": accelerate, "tol": 1e-10, **settings}
    more = with_one_more(iris)
    warm = Paper(warm_start=True, **settings).fit(iris).fit(more)
    cold = Paper(**settings).fit(more)
    assert warm.converged_
    assert warm.n_iter_ < cold.n_iter_
    objectives = [model.history_["objective"][-1] for model in (warm, cold)]
    assert_allclose(*objectives, atol=1e-7)


@pytest.mark.parametrize(("gaussian", "n_gaussian"), [("search", 1), ("auto", 0)])
def test_gaussian_directions_stay_without_another_search(iris, gaussian, n_gaussian, monkeypatch):
    model = LocalComponents(gaussian=gaussian, warm_start=True).fit(iris)
    chosen = model.recipe_
    monkeypatch.delattr("vicinal.local_components.plan.search")
    model.fit(with_one_more(iris))
    assert model.n_gaussian_ == n_gaussian
    assert model.recipe_ == chosen


@given(seed=st.integers(0, 2**32 - 1), covariance=st.sampled_from(["full", "diag", "spherical"]))
@examples(10)
def test_the_same_rows_leave_nothing_to_do(seed, covariance):
    X = np.random.default_rng(seed).normal(size=(40, 3))
    model = Paper(covariance=covariance, warm_start=True).fit(X)
    before = model.loo_log_likelihood_
    model.fit(X)
    assert model.n_iter_ <= 3
    assert model.loo_log_likelihood_ >= before - 1e-12


def test_what_was_chosen_is_kept(iris):
    model = LocalComponents(warm_start=True).fit(iris)
    chosen = model.regularization_
    assert "score" in model.path_
    model.fit(iris[:100])
    assert model.regularization_ == chosen
    assert not hasattr(model, "path_")
    model.set_params(covariance="diag").fit(iris)  # another question, which is asked
    assert hasattr(model, "path_")
    fresh = LocalComponents(covariance="diag").fit(iris)
    assert model.regularization_ == fresh.regularization_


def test_too_few_rows_for_what_was_chosen_choose_anew():
    rng = np.random.default_rng(0)
    model = LocalComponents(warm_start=True).fit(rng.normal(size=(40, 5)))
    model._penalty = replace(model._penalty, local=1e-8)
    with pytest.warns(UserWarning, match="7 points in 5 dimensions are too few"):
        model.fit(rng.normal(size=(7, 5)))
    assert model.regularization_[1] >= 1e-4


def test_it_goes_on_from_a_given_covariance_and_from_a_stream(iris):
    learned = Paper(tol=1e-12).fit(iris)
    model = Paper(covariance=learned.covariance_, warm_start=True).fit(iris)
    model.set_params(covariance="full").fit(iris)
    assert model.n_iter_ <= 3
    assert_allclose(model.loo_log_likelihood_, learned.loo_log_likelihood_, atol=1e-6)
    stream = Paper(warm_start=True, random_state=0).partial_fit(iris)
    begun = stream.fit(iris).history_["objective"][0]
    assert begun > Paper().fit(iris).history_["objective"][0]


def test_other_units_begin_anew(iris):
    model = Paper(warm_start=True).fit(iris).fit(1e8 * iris)
    assert_allclose(model.covariance_, 1e16 * Paper().fit(iris).covariance_, rtol=1e-6)


def test_other_features_are_refused(iris):
    model = Paper(warm_start=True).fit(iris)
    with pytest.raises(
        ValueError, match=r"covariance of 4 features, but X has 3: set warm_start=F"
    ):
        model.fit(iris[:, :3])
    assert Paper().fit(iris).set_params(warm_start=False).fit(iris[:, :3]).n_features_in_ == 3


@pytest.mark.parametrize(
    "settings", [{"covariance": "local"}, {"covariance": "auto"}, {"n_mixture": 2}], ids=str
)
def test_what_one_covariance_does_not_tell_is_refused(iris, settings):
    ((name, value),) = settings.items()
    with pytest.raises(ValueError, match=rf"warm_start=True goes on from one.*{name}={value!r}"):
        LocalComponents(warm_start=True, **settings).fit(iris)


def test_a_word_is_no_flag(iris):
    with pytest.raises(ValueError, match=r"warm_start='yes' is unknown"):
        LocalComponents(warm_start="yes").fit(iris)
