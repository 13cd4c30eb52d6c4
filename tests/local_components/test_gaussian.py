"""Gaussian × Parzen (section 4): Algorithm 1 and the search over the number of directions."""

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from local_components.paper import Paper
from local_components.quadrature import integral
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from vicinal.datasets import make_noisy_circles
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.equations import Form, Shape, expected_scatter, log_density
from vicinal.local_components.frame import GlobalFrame
from vicinal.local_components.learning import LocalProblem, Penalty
from vicinal.neighborhood.blocked import BlockedEngine
from vicinal.neighborhood.fused import FusedEngine
from vicinal.neighborhood.oracle import OracleEngine


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)[0]


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 15)), draw(st.integers(2, 4))
    n_local = draw(st.integers(1, d))
    X = rng.normal(size=(n, d))
    # Neither so narrow nor so flat that the naive sums underflow.
    factor = np.linalg.qr(rng.normal(size=(d, d)))[0] * rng.uniform(0.5, 2.0, d)
    return X - X.mean(axis=0), Shape(factor, n_local), rng


def naive_densities(queries, X, shape, leave_out=False):
    """The spec's formula, term by term."""
    B = np.linalg.inv(shape.factor).T
    local, gaussian = B[:, : shape.n_local], B[:, shape.n_local :]
    out = []
    for i, x in enumerate(queries):
        kernel = np.array([np.exp(-0.5 * np.square(local.T @ (x - y)).sum()) for y in X])
        if leave_out:
            kernel[i] = 0.0
        wide = np.exp(-0.5 * np.square(gaussian.T @ x).sum())
        height = (2 * np.pi) ** (-0.5 * len(x)) * abs(np.linalg.det(B))
        out.append(height * wide * kernel.sum() / (len(X) - leave_out))
    return np.array(out)


@pytest.mark.parametrize(
    "engine", [BlockedEngine(1), FusedEngine(1), OracleEngine()], ids=["blocked", "fused", "oracle"]
)
@given(problem=problems())
@examples(20)
def test_densities_and_scatter_equal_the_naive_ones(engine, problem):
    X, shape, rng = problem
    queries = rng.normal(size=(4, X.shape[1]))
    assert_allclose(
        log_density(shape, engine, queries, WeightedPoints(X)),
        np.log(naive_densities(queries, X, shape)),
        rtol=1e-9,
        atol=1e-9,
    )
    found = expected_scatter(shape, engine, WeightedPoints(X))
    likelihood = np.log(naive_densities(X, X, shape, leave_out=True)).mean()
    assert_allclose(found.log_likelihood, likelihood, rtol=1e-9, atol=1e-9)
    Z = np.linalg.solve(shape.factor, X.T).T[:, : shape.n_local]
    weight = np.exp(-0.5 * np.square(Z[:, None] - Z[None]).sum(axis=-1))
    np.fill_diagonal(weight, 0.0)
    weight /= weight.sum(axis=1, keepdims=True)
    apart = X[:, None] - X[None]
    C = np.einsum("ij,ijk,ijl->kl", weight, apart, apart) / len(X)
    assert_allclose(found.scatter, C, rtol=1e-7, atol=1e-9)


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 5))
@examples(20)
def test_proposition_1(seed, d):
    """No other B with as many Gaussian columns has a lower bound (6), nor any other number."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(d, d))
    scatter = root @ root.T / d + 0.05 * np.eye(d)

    def bound(shape):
        B = np.linalg.inv(shape.factor).T
        local, gaussian = B[:, : shape.n_local], B[:, shape.n_local :]
        _, log_det = np.linalg.slogdet(B @ B.T)
        return np.trace(gaussian.T @ gaussian) + np.trace(local.T @ scatter @ local) - log_det

    best = Form(gaussian=True).shape(scatter)
    for _ in range(20):
        near = best.factor @ (np.eye(d) + 0.1 * rng.normal(size=(d, d)))
        for n_local in range(1, d + 1):
            assert bound(Shape(near, n_local)) >= bound(best) - 1e-12
    variances = np.linalg.eigvalsh(scatter)
    assert best.n_local == max(1, (variances < 1).sum())


def test_golden_numbers_on_iris(iris):
    plain = Paper(gaussian="em", tol=1e-13).fit(iris)
    assert plain.n_gaussian_ == 0
    assert_allclose(plain.loo_log_likelihood_, -1.66319837815, atol=1e-9)
    model = Paper(gaussian="search", tol=1e-13).fit(iris)
    assert model.n_gaussian_ == 1
    assert model.loo_log_likelihood_ > -1.54524694196 - 1e-9
    assert model.components_.shape == (3, 4)
    assert model.gaussian_components_.shape == (1, 4)
    assert model.transform(iris).shape == (150, 3)


@pytest.mark.parametrize("regularization", [0.0, 0.02, (0.1, 0.01)])
def test_the_penalized_likelihood_never_falls(iris, regularization):
    noisy = np.hstack([iris, np.random.default_rng(0).normal(size=(150, 3))])
    model = Paper(gaussian="em", regularization=regularization, tol=1e-10).fit(noisy)
    assert (np.diff(model.history_["objective"]) >= -1e-12).all()


def test_penalties_are_those_of_the_paper(iris):
    """F + ½ ν_G tr B_GᵀB_G + ½ ν_L tr B_LᵀB_L, in the coordinates of the user."""
    noisy = np.hstack([iris, np.random.default_rng(0).normal(size=(150, 3))])
    model = Paper(gaussian="search", regularization=(0.3, 0.05)).fit(noisy)
    local, gaussian = model.components_, model.gaussian_components_
    assert model.n_gaussian_ >= 1
    penalty = 0.15 * np.square(gaussian).sum() + 0.025 * np.square(local).sum()
    objective = model.history_["objective"][-1]
    assert_allclose(model.loo_log_likelihood_ - penalty, objective, atol=1e-10)
    assert model.regularization_ == (0.3, 0.05)


def test_all_gaussian_is_absorbing(iris):
    """Without local coordinates λ is uniform, and every variance 2n/(n-1) of the global one."""
    n = len(iris)
    form = Form(gaussian=True)
    frame = GlobalFrame.of(WeightedPoints(iris), form)
    white = frame.inward(WeightedPoints(iris))
    weights = (1 - np.eye(n)) / (n - 1)
    apart = white.X[:, None] - white.X[None]
    C = np.einsum("ij,ijk,ijl->kl", weights, apart, apart) / n
    assert_allclose(C, 2 * n / (n - 1) * np.eye(4), atol=1e-10)
    problem = LocalProblem(WeightedPoints(iris), frame, form, Penalty(), BlockedEngine())
    # One direction is kept; in the others the next scatter is as wide as ever.
    _, following = problem.step(np.diag([1.5, 2.0, 2.0, 2.0]))
    assert form.shape(following).n_local == 1
    assert_allclose(np.linalg.eigvalsh(following)[1:], 2 * n / (n - 1), rtol=0.05)


def test_the_density_integrates_to_one():
    rng = np.random.default_rng(0)
    X = np.c_[rng.choice([-1.0, 1.0], 12) + 0.1 * rng.normal(size=12), 0.7 * rng.normal(size=12)]
    model = Paper(gaussian="search").fit(X @ [[1.0, 0.4], [-0.3, 1.0]])
    assert model.n_gaussian_ == 1
    assert_allclose(integral(model, 2, 6, 0.02), 1.0, rtol=1e-6)


def test_samples_have_the_moments_of_the_density(iris):
    model = Paper(gaussian="search", random_state=0).fit(iris)
    draws = model.sample(60_000)
    assert_allclose(draws.mean(axis=0), iris.mean(axis=0), atol=0.03)
    B = np.vstack([model.components_, model.gaussian_components_])
    spread = np.cov(((iris - model.mean_) @ B.T).T, ddof=0) + np.eye(4)
    # Gaussian coordinates are independent of the others, and of variance 1.
    spread[3, :] = spread[:, 3] = [0, 0, 0, 1]
    found = np.cov(((draws - model.mean_) @ B.T).T)
    unit = np.sqrt(np.outer(np.diag(spread), np.diag(spread)))
    assert_allclose(found / unit, spread / unit, atol=0.03)


def test_affine_maps_change_nothing_but_the_coordinates(iris):
    rng = np.random.default_rng(1)
    M = rng.normal(size=(4, 4)) + 2 * np.eye(4)
    plain = Paper(gaussian="search").fit(iris)
    moved = Paper(gaussian="search").fit(iris @ M.T + 5.0)
    log_volume = np.log(abs(np.linalg.det(M)))
    assert_allclose(moved.loo_log_likelihood_, plain.loo_log_likelihood_ - log_volume, atol=1e-5)
    before, after = plain.transform(iris), moved.transform(iris @ M.T)
    assert_allclose(np.abs(after[1:] - after[0]), np.abs(before[1:] - before[0]), atol=0.05)
    assert moved.n_gaussian_ == plain.n_gaussian_


def test_coordinates_are_signed_and_white(iris):
    model = Paper(gaussian="search").fit(iris)
    rows = model.components_
    most = np.abs(rows * np.sqrt(np.diag(model.covariance_))).argmax(axis=1)
    assert (rows[np.arange(3), most] > 0).all()
    B = np.vstack([rows, model.gaussian_components_])
    assert_allclose(B @ model.covariance_ @ B.T, np.eye(4), atol=1e-9)
    gaussian = (iris - model.mean_) @ model.gaussian_components_.T
    assert_allclose(np.cov(gaussian.T, ddof=0), 1.0, rtol=1e-9)


def test_on_gaussian_data_one_direction_stays_local():
    X = np.random.default_rng(0).normal(size=(300, 4))
    model = Paper(gaussian="search").fit(X)
    assert model.n_gaussian_ == 3
    truth = multivariate_normal(np.zeros(4)).logpdf(X).mean()
    assert_allclose(model.score(X), truth, atol=0.1)


def test_the_search_finds_circles_in_noise():
    X, y = make_noisy_circles(800, n_noise=8, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    clusters = SpectralClustering(2, gamma=0.5, random_state=0)  # kernels of width 1
    raw = adjusted_rand_score(y, clusters.fit_predict(X))
    model = make_pipeline(Paper(gaussian="search"), clusters)
    labels = model.fit_predict(X)
    assert model[0].n_gaussian_ == 8
    assert adjusted_rand_score(y, labels) > 0.9 > 0.5 > raw


def test_weight_k_equals_k_copies(iris):
    weights = 1 + np.arange(150) % 2
    settings = {"gaussian": "em", "regularization": 0.02, "tol": 1e-8}
    weighted = Paper(**settings).fit(iris, sample_weight=weights)
    repeated = Paper(**settings).fit(np.repeat(iris, weights, axis=0))
    assert_allclose(weighted.loo_log_likelihood_, repeated.loo_log_likelihood_, rtol=1e-9)
    assert_array_equal(weighted.n_gaussian_, repeated.n_gaussian_)
    assert_allclose(weighted.score_samples(iris), repeated.score_samples(iris), rtol=1e-6)
