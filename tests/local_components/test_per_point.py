"""One covariance per point."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from local_components.quadrature import integral
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris

from vicinal import LocalComponents
from vicinal.local_components.equations import Points, Shape
from vicinal.local_components.per_point import PerPointDensity, PerPointProblem
from vicinal.neighborhood.blocked import BlockedEngine


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)[0]


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 3))
    roots = 0.4 * rng.normal(size=(n, d, d)) + np.eye(d)
    covariances = roots @ roots.transpose(0, 2, 1) + 0.2 * np.eye(d)
    return rng.normal(size=(n, d)), covariances, rng


def naive_densities(queries, X, covariances):
    return np.array(
        [
            [multivariate_normal(x, T).pdf(q) for x, T in zip(X, covariances, strict=True)]
            for q in queries
        ]
    ).reshape(len(queries), len(X))


@given(problem=problems())
@settings(max_examples=20)
def test_one_step_equals_the_naive_one(problem):
    X, covariances, _ = problem
    n, d = X.shape
    engine = BlockedEngine(1, compiled=False)
    objective, found = PerPointProblem(Points(X), 2.0, 0.7, engine).step(covariances)
    density = naive_densities(X, X, covariances)
    np.fill_diagonal(density, 0.0)
    weight = density / density.sum(axis=1, keepdims=True)
    expected = np.empty_like(covariances)
    for j in range(n):
        apart = X - X[j]
        S = np.einsum("i,ik,il->kl", weight[:, j], apart, apart)
        expected[j] = (S + 2.0 * np.eye(d)) / (weight[:, j].sum() + 2.0)
    assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    penalty = sum(np.linalg.slogdet(T)[1] + np.trace(np.linalg.inv(T)) - d for T in covariances)
    likelihood = np.log(density.sum(axis=1) / (n - 1)).mean() - 0.7
    assert_allclose(objective, likelihood - penalty / n, rtol=1e-8, atol=1e-8)


@given(problem=problems())
@settings(max_examples=20)
def test_weight_k_equals_k_copies(problem):
    X, covariances, rng = problem
    weights = rng.integers(1, 4, len(X))
    engine = BlockedEngine(1, compiled=False)
    weighted = PerPointProblem(Points(X, weights.astype(float)), 1.5, 0.0, engine)
    copies = np.repeat(np.arange(len(X)), weights)
    repeated = PerPointProblem(Points(X[copies]), 1.5, 0.0, engine)
    value, found = weighted.step(covariances)
    expected_value, expected = repeated.step(covariances[copies])
    assert_allclose(value, expected_value, rtol=1e-8, atol=1e-9)
    assert_allclose(found[copies], expected, rtol=1e-6, atol=1e-8)


@given(problem=problems())
@settings(max_examples=20)
def test_the_density_in_other_coordinates(problem):
    X, covariances, rng = problem
    d = X.shape[1]
    F = rng.normal(size=(d, d)) + 2 * np.eye(d)
    density = PerPointDensity(Points(X @ F.T + 3.0), np.full(d, 3.0), Shape(F, d), covariances)
    queries = rng.normal(size=(5, d))
    expected = naive_densities(queries, X, covariances).mean(axis=1) / abs(np.linalg.det(F))
    found = density.log_density(queries @ F.T + 3.0, BlockedEngine(1, compiled=False))
    assert_allclose(found, np.log(expected), rtol=1e-7, atol=1e-7)
    in_place = naive_densities(queries @ F.T + 3.0, density.points.X, density.local_covariances)
    assert_allclose(found, np.log(in_place.mean(axis=1)), rtol=1e-7, atol=1e-7)


@given(problem=problems())
@settings(max_examples=20)
def test_climbing_never_descends(problem):
    X, covariances, rng = problem
    d = X.shape[1]
    engine = BlockedEngine(1, compiled=False)
    density = PerPointDensity(Points(X), np.zeros(d), Shape(np.eye(d), d), covariances)
    queries = rng.normal(size=(5, d))
    higher = density.climb(queries, engine)
    before, after = density.log_density(queries, engine), density.log_density(higher, engine)
    assert (after >= before - 1e-10).all()


def test_the_objective_never_falls_and_begins_at_the_shared_fit(iris):
    shared = LocalComponents().fit(iris)
    model = LocalComponents(covariance="local", smoothing=3.0).fit(iris)
    history = model.history_["objective"]
    assert_allclose(history[0], shared.loo_log_likelihood_, atol=1e-6)
    assert (np.diff(history) >= -1e-12).all()
    assert model.loo_log_likelihood_ > shared.loo_log_likelihood_
    assert model.local_covariances_.shape == (150, 4, 4)
    assert_allclose(model.covariance_, shared.covariance_, rtol=1e-6)


def test_much_smoothing_is_the_shared_fit(iris):
    shared = LocalComponents().fit(iris)
    model = LocalComponents(covariance="local", smoothing=1e7).fit(iris)
    assert_allclose(model.score_samples(iris), shared.score_samples(iris), atol=1e-4)


def test_local_covariances_follow_the_data():
    """A narrow and a wide cloud: no shared covariance fits both."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(150, 2)) * 0.1, 8.0 + rng.normal(size=(150, 2))])
    test = np.vstack([rng.normal(size=(150, 2)) * 0.1, 8.0 + rng.normal(size=(150, 2))])
    model = LocalComponents(covariance="local", smoothing=1.0).fit(X)
    traces = np.trace(model.local_covariances_, axis1=1, axis2=2)
    assert np.median(traces[150:]) > 1.5 * np.median(traces[:150])
    assert model.score(test) > LocalComponents().fit(X).score(test)


def test_the_density_integrates_to_one():
    X = np.random.default_rng(0).normal(size=(8, 2)) * 0.5
    model = LocalComponents(covariance="local", smoothing=2.0).fit(X)
    assert_allclose(integral(model, 2, 5, 0.02), 1.0, rtol=1e-6)


def test_samples_have_the_moments_of_the_density(iris):
    model = LocalComponents(covariance="local", random_state=0).fit(iris)
    draws = model.sample(40_000)
    assert_allclose(draws.mean(axis=0), iris.mean(axis=0), atol=0.05)
    spread = np.cov(iris.T, ddof=0) + model.local_covariances_.mean(axis=0)
    assert_allclose(np.cov(draws.T), spread, atol=0.06)


def test_rows_held_back(iris):
    model = LocalComponents(covariance="local", early_stopping=True, random_state=0).fit(iris)
    assert len(model.local_covariances_) == 135
    assert np.isfinite(model.validation_score_)


def test_a_far_outlier(iris):
    X = np.vstack([iris, [[1e6, 0, 0, 0]]])
    model = LocalComponents(covariance="local", regularization=1e-3).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(model.local_covariances_).all()
