import builtins
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.datasets import load_digits, load_iris

from vicinal import NeighborhoodComponents
from vicinal.nca import prediction
from vicinal.neighborhood import Workload, choose_engine


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernel", ["gaussian", "compact"])
def test_all_neighbors_give_the_exact_probabilities(iris, kernel, weighted):
    X, y = iris
    weights = 1.0 + np.arange(150) % 3 if weighted else None
    model = NeighborhoodComponents(2, kernel=kernel, prior="uniform").fit(X, y, weights)
    exact = model.predict_proba(X)
    assert_allclose(model.set_params(n_neighbors=150).predict_proba(X), exact, atol=1e-10)
    assert_allclose(model.set_params(n_neighbors=500).predict_proba(X), exact, atol=1e-10)


def test_few_neighbors_count_alone(iris):
    X, y = iris
    model = NeighborhoodComponents(2, n_neighbors=1, regularization=1e-3).fit(X, y)
    assert_array_equal(model.predict(X), y)
    assert_array_equal(np.sort(model.predict_proba(X), axis=1), [[0.0, 0.0, 1.0]] * 150)


@pytest.mark.descent
def test_approximate_search_finds_nearly_the_same(monkeypatch):
    X, y = load_digits(return_X_y=True)
    settings = {"init": "pca", "max_iter": 1, "tol": 1e9, "n_neighbors": 40, "regularization": 0.0}
    model = NeighborhoodComponents(2, **settings).fit(X, y)
    exact = model.predict_proba(X[:200])
    monkeypatch.setattr(prediction, "_EXACT_SEARCH_UP_TO", 50)
    model.fit(X, y)  # the old search is forgotten
    approximate = model.predict_proba(X[:200])
    assert np.abs(approximate - exact).max() < 0.05
    again = pickle.loads(pickle.dumps(model))  # without the index
    assert_allclose(again.predict_proba(X[:200]), approximate)


def test_a_missing_extra_is_named(iris, monkeypatch):
    monkeypatch.setattr(prediction, "_EXACT_SEARCH_UP_TO", 50)
    original = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "pynndescent":
            raise ImportError(name)
        return original(name, *args, **kwargs)

    model = NeighborhoodComponents(2, n_neighbors=5).fit(*iris)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"n_neighbors=5 .* pip install 'vicinal\[neighbors\]'"):
        model.predict(iris[0])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("background", [True, 0.3])
def test_background_probabilities_follow_the_class_densities(iris, background):
    """Equation 4.22 with the fitted map and β, over n × m arrays, away from the origin."""
    X, y = iris[0] + 3.0, iris[1]
    train = np.arange(150) % 3 > 0
    settings = {"kernel": "compact", "background": background, "prior": [0.2, 0.5, 0.3]}
    model = NeighborhoodComponents(2, max_iter=3, regularization=1e-3, **settings)
    model.fit(X[train], y[train])
    if background is True:
        assert 0 < model.background_ < 1
        assert model.background_ != pytest.approx(3 / 103, rel=1e-3)  # moved from its start
    else:
        assert_allclose(model.background_, 0.3)
    Z, Q = model.transform(X[train]), model.transform(X[~train])
    k = np.square(np.maximum(1 - np.square(Q[:, None] - Z[None]).sum(-1), 0)) * 3 / np.pi
    joint = np.empty((50, 3))
    for c, prior in enumerate([0.2, 0.5, 0.3]):
        mine = y[train] == c
        gaussian = multivariate_normal(Z[mine].mean(axis=0), np.cov(Z[mine].T, bias=True)).pdf(Q)
        joint[:, c] = prior * (
            model.background_ * gaussian + (1 - model.background_) * k[:, mine].mean(axis=1)
        )
    expected = joint / joint.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(X[~train]), expected, rtol=1e-6, atol=1e-9)
    far = model.predict_proba(X[:1] + 1e3)
    assert_allclose(far.sum(), 1.0)


@pytest.mark.parametrize("n_components", [2, None])
def test_a_background_learns(iris, n_components):
    model = NeighborhoodComponents(n_components, kernel="compact", background=True, solver="lbfgs")
    model.fit(*iris)
    assert (np.diff(model.history_["objective"]) >= 0).all()
    assert model.score(*iris) > 0.95
    assert not hasattr(model.set_params(background=False).fit(*iris), "background_")


@pytest.mark.parametrize(
    "settings", [{}, {"kernel": "compact", "background": 0.1}, {"kernel": "student"}]
)
def test_several_sizes_at_once_are_one_after_the_other(iris, settings):
    X, y = iris
    model = NeighborhoodComponents(2, regularization=1e-3, **settings).fit(X, y)
    rule, Z = model._classifier, model.transform(X)
    engine, _ = choose_engine("auto", Workload(150, 150, 2, law=rule.law), tolerance=0, n_jobs=1)
    scales = np.array([0.5, 1.0, 2.0])
    found = rule.log_probabilities_at(scales, Z, engine)
    for scale, log_p in zip(scales, found, strict=True):
        alone = rule._resized(float(scale)).log_probabilities(Z, engine)
        assert_allclose(log_p, alone, rtol=1e-10, atol=1e-10)
