"""One covariance per point."""

from unittest.mock import patch

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from local_components.paper import Paper
from local_components.quadrature import integral
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris

from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.equations import Shape
from vicinal.local_components.per_point import (
    PerPointDensity,
    PerPointProblem,
    neighborhood_covariances,
)
from vicinal.neighborhood.blocked import BlockedEngine

ENGINE = BlockedEngine(1, compiled=False)


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


def spread(rng, n, d):
    """Random covariances."""
    roots = 0.4 * rng.normal(size=(n, d, d)) + np.eye(d)
    return roots @ roots.transpose(0, 2, 1) + 0.2 * np.eye(d)


@given(problem=problems())
@examples(20)
def test_one_step_equals_the_naive_one(problem):
    X, covariances, rng = problem
    n, d = X.shape
    prior = spread(rng, n, d)
    model = PerPointProblem(WeightedPoints(X), prior, 2.0, 0.7, ENGINE)
    objective, found = model.step(covariances)
    density = naive_densities(X, X, covariances)
    np.fill_diagonal(density, 0.0)
    weight = density / density.sum(axis=1, keepdims=True)
    expected, penalty = np.empty_like(covariances), 0.0
    for j in range(n):
        apart = X - X[j]
        S = np.einsum("i,ik,il->kl", weight[:, j], apart, apart)
        expected[j] = (S + 2.0 * prior[j]) / (weight[:, j].sum() + 2.0)
        ratio = np.linalg.solve(covariances[j], prior[j])
        penalty += np.trace(ratio) - d - np.linalg.slogdet(ratio)[1]
    assert_allclose(found, expected, rtol=1e-7, atol=1e-9)
    likelihood = np.log(density.sum(axis=1) / (n - 1)).mean() - 0.7
    assert_allclose(objective, likelihood - penalty / n, rtol=1e-8, atol=1e-8)
    assert_allclose(model.log_likelihood(covariances), likelihood, rtol=1e-8, atol=1e-8)


@given(problem=problems())
@examples(20)
def test_one_step_of_the_scale_equals_the_naive_one(problem):
    X, prior, _ = problem
    n, d = X.shape
    objective, found = PerPointProblem(WeightedPoints(X), prior, 2.0, 0.0, ENGINE).scale_step(
        np.ones(1)
    )
    density = naive_densities(X, X, prior)
    np.fill_diagonal(density, 0.0)
    weight = density / density.sum(axis=1, keepdims=True)
    apart = X[:, None] - X[None]
    squares = np.einsum("ijk,jkl,ijl->ij", apart, np.linalg.inv(prior), apart)
    assert_allclose(found, [((weight * squares).sum() + d) / (n * d + d)], rtol=1e-7)
    assert_allclose(objective, np.log(density.sum(axis=1) / (n - 1)).mean(), rtol=1e-8, atol=1e-8)


@given(problem=problems())
@examples(20)
def test_neither_step_ever_descends(problem):
    X, prior, _ = problem
    model = PerPointProblem(WeightedPoints(X), prior, 1.0, 0.0, ENGINE)
    for step, parameters in ((model.scale_step, np.full(1, 3.0)), (model.step, prior)):
        before, following = step(parameters)
        after, _ = step(following)
        assert after >= before - 1e-9 * (1 + abs(before))


@given(problem=problems())
@examples(20)
def test_weight_k_equals_k_copies(problem):
    X, covariances, rng = problem
    weights, prior = rng.integers(1, 4, len(X)), spread(rng, *X.shape)
    weighted = PerPointProblem(WeightedPoints(X, weights.astype(float)), prior, 1.5, 0.0, ENGINE)
    copies = np.repeat(np.arange(len(X)), weights)
    repeated = PerPointProblem(WeightedPoints(X[copies]), prior[copies], 1.5, 0.0, ENGINE)
    value, found = weighted.step(covariances)
    expected_value, expected = repeated.step(covariances[copies])
    assert_allclose(value, expected_value, rtol=1e-8, atol=1e-9)
    assert_allclose(found[copies], expected, rtol=1e-6, atol=1e-8)
    _, scale = weighted.scale_step(np.ones(1))
    assert_allclose(scale, repeated.scale_step(np.ones(1))[1], rtol=1e-6)


def test_twins_end_in_a_finite_density(iris):
    X = np.repeat(iris[::10], 2, axis=0)
    model = Paper(covariance="local", regularization=0.05).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert np.linalg.eigvalsh(model.local_covariances_).min() > 1e-6


def test_covariances_of_neighborhoods():
    X = np.random.default_rng(0).normal(size=(30, 3))
    found = neighborhood_covariances(WeightedPoints(X), 6)
    plain = np.empty((30, 3, 3))
    for j, x in enumerate(X):
        nearest = np.argsort(np.square(X - x).sum(axis=1))[:7]  # with itself
        plain[j] = np.cov(X[nearest].T, ddof=0)
    size = np.trace(plain.mean(axis=0)) / 3
    assert_allclose(found, (6 * plain / size + np.eye(3)) / 7, rtol=1e-10)
    with patch("vicinal.local_components.per_point._BLOCK_NUMBERS", 50):
        assert_array_equal(neighborhood_covariances(WeightedPoints(X), 6), found)
    everything = neighborhood_covariances(WeightedPoints(X), 1000)
    assert_allclose(everything[0], everything[1], rtol=1e-10)


def test_copies_are_neighbors():
    X = np.random.default_rng(0).normal(size=(30, 2))
    weights = 1.0 + np.arange(30) % 3
    weighted = neighborhood_covariances(WeightedPoints(X, weights), 8)
    copies = np.repeat(np.arange(30), weights.astype(int))
    repeated = neighborhood_covariances(WeightedPoints(X[copies]), 8)
    assert_allclose(weighted[copies], repeated, rtol=1e-8)


@given(problem=problems())
@examples(20)
def test_the_density_in_other_coordinates(problem):
    X, covariances, rng = problem
    d = X.shape[1]
    F = rng.normal(size=(d, d)) + 2 * np.eye(d)
    density = PerPointDensity(
        WeightedPoints(X @ F.T + 3.0), np.full(d, 3.0), Shape(F, d), covariances
    )
    queries = rng.normal(size=(5, d))
    expected = naive_densities(queries, X, covariances).mean(axis=1) / abs(np.linalg.det(F))
    found = density.log_density(queries @ F.T + 3.0, ENGINE)
    assert_allclose(found, np.log(expected), rtol=1e-7, atol=1e-7)
    in_place = naive_densities(queries @ F.T + 3.0, density.points.X, density.local_covariances)
    assert_allclose(found, np.log(in_place.mean(axis=1)), rtol=1e-7, atol=1e-7)


@given(problem=problems())
@examples(20)
def test_climbing_never_descends(problem):
    X, covariances, rng = problem
    d, engine = X.shape[1], ENGINE
    density = PerPointDensity(WeightedPoints(X), np.zeros(d), Shape(np.eye(d), d), covariances)
    queries = rng.normal(size=(5, d))
    higher = density.climb(queries, engine)
    before, after = density.log_density(queries, engine), density.log_density(higher, engine)
    assert (after >= before - 1e-10).all()


def test_the_objective_never_falls(iris):
    shared = Paper().fit(iris)
    model = Paper(covariance="local", smoothing=30).fit(iris)
    assert (np.diff(model.history_["objective"]) >= -1e-12).all()
    assert model.loo_log_likelihood_ >= model.history_["objective"][-1]
    assert model.local_covariances_.shape == (150, 4, 4)
    assert_allclose(model.covariance_, shared.covariance_, rtol=1e-6)
    assert_allclose(model.transform(iris), shared.transform(iris), rtol=1e-6)
    assert model.smoothing_ == 30


def test_affine_maps_change_nothing_but_the_coordinates(iris):
    M = np.random.default_rng(0).normal(size=(4, 4)) + 2 * np.eye(4)
    settings = {"covariance": "local", "smoothing": 30, "tol": 1e-11}
    plain = Paper(**settings).fit(iris)
    moved = Paper(**settings).fit(iris @ M.T)
    log_volume = np.log(abs(np.linalg.det(M)))
    assert_allclose(moved.loo_log_likelihood_, plain.loo_log_likelihood_ - log_volume, atol=1e-4)


def test_local_covariances_follow_the_data():
    """A narrow and a wide cloud: no shared covariance fits both."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(150, 2)) * 0.1, 8.0 + rng.normal(size=(150, 2))])
    test = np.vstack([rng.normal(size=(150, 2)) * 0.1, 8.0 + rng.normal(size=(150, 2))])
    model = Paper(covariance="local", random_state=0).fit(X)
    traces = np.trace(model.local_covariances_, axis1=1, axis2=2)
    assert np.median(traces[150:]) > 30 * np.median(traces[:150])
    assert model.score(test) > Paper().fit(X).score(test) + 0.2
    assert model.smoothing_ in (10, 20, 40, 80, 160)


def test_the_density_integrates_to_one():
    X = np.random.default_rng(0).normal(size=(8, 2)) * 0.5
    model = Paper(covariance="local", smoothing=3).fit(X)
    assert_allclose(integral(model, 2, 5, 0.02), 1.0, rtol=1e-6)


def test_samples_have_the_moments_of_the_density(iris):
    model = Paper(covariance="local", smoothing=20, random_state=0).fit(iris)
    draws = model.sample(40_000)
    assert_allclose(draws.mean(axis=0), iris.mean(axis=0), atol=0.05)
    spread = np.cov(iris.T, ddof=0) + model.local_covariances_.mean(axis=0)
    assert_allclose(np.cov(draws.T), spread, atol=0.06)


def test_rows_held_back(iris):
    model = Paper(covariance="local", early_stopping=True, random_state=0).fit(iris)
    assert len(model.local_covariances_) == 135
    assert np.isfinite(model.validation_score_)


def test_a_far_outlier(iris):
    X = np.vstack([iris, [[1e6, 0, 0, 0]]])
    model = Paper(covariance="local", regularization=1e-3).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(model.local_covariances_).all()
