"""The likelihood, its gradient, EM in both forms, posterior moments, scales."""

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from sklearn.datasets import load_iris

from vicinal.coincidence.equations import (
    CoincidenceData,
    LatentMap,
    em_differences,
    em_endpoints,
    exponents,
    log_likelihood,
    log_likelihoods,
    odds,
)
from vicinal.coincidence.equations import _posterior_of_differences as posterior_of_differences
from vicinal.coincidence.learning import CoincidenceProblem, likeliest_scales
from vicinal.coincidence.neighbors import LabeledPoints, labeled_pairs
from vicinal.fitting import run
from vicinal.neighborhood.pair_list import PairList


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    first, second, coincide = labeled_pairs(LabeledPoints(X, y), 3, "impostors")
    return CoincidenceData(X, PairList(first, second, 150), coincide, np.zeros(109, dtype=int))


START = LatentMap(np.cos(np.arange(8) + 1.0).reshape(2, 4), 0.5, np.ones(1))


@st.composite
def problems(draw, local=False):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, D, n_pairs = draw(st.integers(4, 12)), draw(st.integers(1, 4)), draw(st.integers(4, 30))
    p = draw(st.integers(1, D))
    X = rng.normal(size=(n, D))
    first = rng.integers(0, n, n_pairs)
    second = (first + rng.integers(1, n, n_pairs)) % n  # never a point with itself
    coincide = rng.random(n_pairs) < 0.5
    coincide[:2] = True, False
    anchors = np.unique(first, return_inverse=True)[1] if local else np.zeros(n_pairs, dtype=int)
    data = CoincidenceData(X, PairList(first, second, n), coincide, anchors)
    kappa2 = np.exp(rng.normal(size=data.n_anchors)) if local else np.ones(1)
    latent = LatentMap(rng.normal(size=(p, D)), float(np.exp(rng.normal())), kappa2)
    return data, latent, rng


def naive_log_likelihood(data, latent):
    """The printed probability (section 2.1), pair by pair."""
    total = 0.0
    for i, j, y, anchor in zip(
        data.pairs.first, data.pairs.second, data.coincide, data.anchors, strict=True
    ):
        kappa2, p = latent.kappa2[anchor], len(latent.W)
        c = kappa2 + 2 * latent.sigma2
        squared = np.square(latent.W @ (data.X[i] - data.X[j])).sum()
        one = (kappa2 / c) ** (p / 2) * np.exp(-squared / (2 * c))
        total += np.log(one if y else 1 - one)
    return total


@given(problem=problems(local=True))
def test_the_likelihood_is_that_of_the_paper(problem):
    data, latent, _ = problem
    assert_allclose(log_likelihood(data, latent), naive_log_likelihood(data, latent), rtol=1e-9)


def test_golden_numbers_on_iris(iris):
    assert (len(iris), iris.coincide.sum()) == (109, 57)
    assert_allclose(log_likelihood(iris, START), -75.86453804468, atol=1e-8)
    golden = {
        em_endpoints: {1: -75.3991669411, 10: -72.2323322875, 100: -63.3340489192},
        em_differences: {1: -72.4429892924, 10: -62.2064054444, 100: -59.6609139929},
    }
    for form, expected in golden.items():
        latent = START
        for iteration in range(1, 101):
            _, latent = form(iris, latent)
            if iteration in expected:
                assert_allclose(log_likelihood(iris, latent), expected[iteration], atol=1e-8)


def test_the_maximum_on_iris_and_its_certificate(iris):
    for p in (1, 2, 4):
        problem = CoincidenceProblem(iris, p)
        start = problem.pack(LatentMap(np.eye(p, 4), 0.5, np.ones(1)))
        assert not problem.is_global_optimum(problem.unpack(start))
        outcome = run(problem.solver("lbfgs"), start, max_iter=500, tol=1e-13)
        assert_allclose(outcome.objective * 109, -59.66032324, atol=1e-8)
        assert problem.is_global_optimum(problem.unpack(outcome.parameters))
        moved = outcome.parameters * 1.01
        assert not problem.is_global_optimum(problem.unpack(moved))


def test_a_stationary_map_of_too_low_a_rank_has_no_certificate():
    """One coordinate is blind to what tells pairs apart in the other."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 5.0], [5.0, 0.0]])
    pairs = PairList(np.array([0, 0, 0, 0]), np.array([1, 2, 4, 5]), 6)
    coincide = np.array([True, True, False, False])
    data = CoincidenceData(X, pairs, coincide, np.zeros(4, dtype=int))
    one, two = CoincidenceProblem(data, 1), CoincidenceProblem(data, 2)
    lame = run(one.solver("lbfgs"), one.pack(LatentMap(np.array([[1.0, 0.0]]), 0.5, np.ones(1))),
               max_iter=500, tol=1e-13)  # fmt: skip
    full = run(two.solver("lbfgs"), two.pack(LatentMap(np.eye(2), 0.5, np.ones(1))),
               max_iter=500, tol=1e-13)  # fmt: skip
    assert full.objective > lame.objective + 0.1
    assert not one.is_global_optimum(one.unpack(lame.parameters))
    assert two.is_global_optimum(two.unpack(full.parameters))


@pytest.mark.parametrize("form", [em_differences, em_endpoints])
@given(problem=problems(local=True))
def test_em_never_descends(form, problem):
    data, latent, _ = problem
    before, following = form(data, latent)
    assert_allclose(before, log_likelihood(data, latent), rtol=1e-10)
    assert log_likelihood(data, following) >= before - 1e-9 * (1 + abs(before))
    assert following.sigma2 > 0


def test_both_forms_have_the_same_stationary_points(iris):
    problem = CoincidenceProblem(iris, 2)
    outcome = run(problem.solver("lbfgs"), problem.pack(START), max_iter=500, tol=1e-14)
    latent = problem.unpack(outcome.parameters)
    for form in (em_differences, em_endpoints):
        _, following = form(iris, latent)
        assert_allclose(following.W, latent.W, atol=1e-3)
        assert_allclose(following.sigma2, latent.sigma2, rtol=1e-3)


@pytest.mark.parametrize("local", [False, True])
@given(data_=st.data())
@examples(20)
def test_the_gradient_equals_finite_differences(local, data_):
    data, latent, _ = data_.draw(problems(local=local))
    problem = CoincidenceProblem(data, len(latent.W), local)
    parameters = problem.pack(latent)
    _, gradient = problem.value_and_gradient(parameters)
    numeric = approx_fprime(parameters, lambda t: problem.value_and_gradient(t)[0], 1e-6)
    assert_allclose(gradient, numeric, atol=2e-4 * (1 + np.abs(gradient).max()))


@given(problem=problems())
def test_parameters_return_to_the_state(problem):
    data, latent, _ = problem
    coordinates = CoincidenceProblem(data, len(latent.W))
    again = coordinates.unpack(coordinates.pack(latent))
    assert_allclose(again.W, latent.W, rtol=1e-10)
    assert_allclose(again.sigma2, latent.sigma2, rtol=1e-10)


@given(problem=problems(local=True))
def test_translations_swaps_and_units_change_nothing(problem):
    data, latent, rng = problem
    value = log_likelihood(data, latent)
    moved = CoincidenceData(data.X + 10 * rng.normal(), data.pairs, data.coincide, data.anchors)
    assert_allclose(log_likelihood(moved, latent), value, rtol=1e-8)
    _, step = em_differences(data, latent)
    assert_allclose(em_differences(moved, latent)[1].W, step.W, rtol=1e-6, atol=1e-8)
    swapped = PairList(data.pairs.second, data.pairs.first, len(data.X))
    other = CoincidenceData(data.X, swapped, data.coincide, data.anchors)
    assert_allclose(log_likelihood(other, latent), value, rtol=1e-12)
    scaled = LatentMap(3.0 * latent.W, 9.0 * latent.sigma2, 9.0 * latent.kappa2)
    assert_allclose(log_likelihood(data, scaled), value, rtol=1e-10)


def test_posterior_moments_against_monte_carlo():
    """Of u = z - z', by weighing draws of the prior; the variance the text prints would be off."""
    rng = np.random.default_rng(0)
    W, sigma2, p = np.array([[0.8, -0.3], [0.2, 0.9]]), 0.7, 2
    delta = np.array([0.9, -0.4])
    latent, mean = LatentMap(W, sigma2, np.ones(1)), W @ delta
    u = mean + np.sqrt(2 * sigma2) * rng.normal(size=(2_000_000, p))
    one = np.exp(-0.5 * np.square(u).sum(axis=1))
    squared = np.array([mean @ mean])
    q = exponents(squared, p, sigma2, np.ones(1))
    assert_allclose(np.exp(-q), one.mean(), rtol=3e-3)
    assert_allclose(odds(q), one.mean() / (1 - one.mean()), rtol=5e-3)
    for y, weight in ((True, one), (False, 1 - one)):
        a, variance = posterior_of_differences(q, squared, np.ones(1), np.array([y]), latent)
        center = np.average(u, axis=0, weights=weight)
        assert_allclose((1 - 2 * a) * mean, center, atol=5e-3)
        spread = np.average(np.square(u - center).sum(axis=1), weights=weight)
        assert_allclose(variance, spread, rtol=3e-3)


@given(problem=problems(local=True))
@examples(20)
def test_scales_are_the_likeliest(problem):
    data, latent, rng = problem
    scales = likeliest_scales(data, latent.W, latent.sigma2)
    best = log_likelihood(data, LatentMap(latent.W, latent.sigma2, scales))
    for _ in range(20):
        other = np.clip(scales * np.exp(rng.normal(size=len(scales))), 2e-8, None)
        other = np.clip(other, 2e-8 * latent.sigma2, 2e8 * latent.sigma2)
        assert log_likelihood(data, LatentMap(latent.W, latent.sigma2, other)) <= best + 1e-6


def test_extreme_exponents_stay_finite():
    q = np.array([1e-300, 1e-20, 1e-3, 1.0, 50.0, 800.0, 1e10])
    assert np.isfinite(log_likelihoods(q, np.zeros(7, dtype=bool))).all()
    assert np.isfinite(odds(q[1:])).all()
    assert_allclose(log_likelihoods(q[4:6], np.zeros(2, dtype=bool)), -np.exp(-q[4:6]), rtol=1e-12)


@given(problem=problems())
def test_scatter_of_a_list_of_pairs(problem):
    data, latent, rng = problem
    c, Z = rng.normal(size=len(data)), data.X @ latent.W.T
    expected = sum(
        c[k] * np.outer(Z[i] - Z[j], data.X[i] - data.X[j])
        for k, (i, j) in enumerate(zip(data.pairs.first, data.pairs.second, strict=True))
    )
    assert_allclose(data.pairs.scatter(c, Z, data.X), expected, atol=1e-10)
    squared = np.square(Z[data.pairs.first] - Z[data.pairs.second]).sum(axis=1)
    assert_allclose(data.pairs.squared_distances(Z), squared, rtol=1e-10, atol=1e-12)
