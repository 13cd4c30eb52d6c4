"""The fitted mixture: its density, its draws, the way up."""

from dataclasses import replace

import numpy as np
from effort import examples
from hypothesis import given
from local_components.mixture.reference import densities, gaussian_density, problems
from numpy.testing import assert_allclose
from scipy.stats import kstest, multivariate_t

from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.mixture.density import MixtureDensity
from vicinal.local_components.mixture.equations import Parts
from vicinal.neighborhood.blocked import BlockedEngine

ENGINE = BlockedEngine(1)


def density_of(problem, parts, share=0.0):
    d = problem.points.X.shape[1]
    return MixtureDensity.of(problem.points, parts, np.zeros(d), np.ones(d), share)


@given(problems())
@examples(20)
def test_density_and_probabilities_are_their_definition(case):
    problem, parts = case
    queries = problem.points.X[::2] + 0.1
    terms = densities(parts, problem.points.X, queries).sum(axis=1)
    density = density_of(problem, parts)
    assert_allclose(density.log_density(queries, ENGINE), np.log(terms.sum(axis=1)), rtol=1e-8)
    expected = terms / terms.sum(axis=1, keepdims=True)
    assert_allclose(density.part_probabilities(queries, ENGINE), expected, atol=1e-9)


@given(problems())
@examples(20)
def test_climbing_never_descends(case):
    problem, parts = case
    density = density_of(problem, parts, share=0.05)
    places = problem.points.X + 0.3
    before = density.log_density(places, ENGINE)
    for _ in range(5):
        places = density.climb(places, ENGINE)
        after = density.log_density(places, ENGINE)
        assert (after >= before - 1e-9).all()
        before = after


def test_gaussian_parts_are_a_gaussian_mixture():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    memberships = rng.dirichlet([1.0, 2.0], size=50)
    wide = np.array([[[1.0, 0.3], [0.3, 0.5]], [[0.2, 0.0], [0.0, 2.0]]])
    means = np.array([[0.0, 1.0], [-1.0, 0.5]])
    parts = Parts(memberships, means, wide, 2.0 * wide)
    density = MixtureDensity.of(WeightedPoints(X), parts, np.zeros(2), np.ones(2), 0.0)
    expected = gaussian_density(memberships.mean(axis=0), means, wide, X)
    assert_allclose(np.exp(density.log_density(X, ENGINE)), expected)


def test_units_and_mean_are_those_of_the_user():
    rng = np.random.default_rng(2)
    mean, units = np.array([5.0, -3.0]), np.array([10.0, 0.1])
    inner = rng.normal(size=(12, 2))
    wide = np.stack([np.eye(2), 0.5 * np.eye(2)])
    parts = Parts(rng.dirichlet([1.0, 1.0], size=12), rng.normal(size=(2, 2)), wide, 0.3 * wide)
    plain = MixtureDensity.of(WeightedPoints(inner), parts, np.zeros(2), np.ones(2))
    moved = MixtureDensity.of(WeightedPoints(mean + units * inner), parts, mean, units)
    expected = plain.log_density(inner, ENGINE) - np.log(units).sum()
    assert_allclose(moved.log_density(mean + units * inner, ENGINE), expected)


def test_draws_are_of_the_density():
    rng = np.random.default_rng(3)
    X = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) * 0.2 + 4.0])
    memberships = np.repeat(np.eye(2), 30, axis=0)
    wide = np.stack([np.cov(X[:30].T), np.cov(X[30:].T)])
    parts = Parts(
        memberships, np.stack([X[:30].mean(axis=0), X[30:].mean(axis=0)]), wide, 0.2 * wide
    )
    density = MixtureDensity.of(WeightedPoints(X), parts, np.zeros(2), np.ones(2))
    draws = density.sample(4000, np.random.RandomState(0))
    axis = np.arange(-8, 10, 0.06)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    mass = np.exp(density.log_density(grid, ENGINE)).reshape(len(axis), -1) * 0.06**2
    assert_allclose(mass.sum(), 1.0, atol=1e-3)
    for column, marginal in enumerate((mass.sum(axis=1), mass.sum(axis=0))):
        below = np.cumsum(marginal) - marginal / 2
        assert (
            kstest(draws[:, column], lambda x, below=below: np.interp(x, axis, below)).pvalue > 1e-3
        )


def test_behind_all_parts_is_one_students_t():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(20, 2))
    narrow = 1e-6 * np.eye(2)[None]
    parts = Parts(np.ones((20, 1)), np.zeros((1, 2)), narrow, 0.5 * narrow)
    density = MixtureDensity.of(WeightedPoints(X), parts, np.zeros(2), np.ones(2))
    far = np.array([[3.0, -3.0]])
    covariance = np.cov(X.T, bias=True) + 1e-6 * np.eye(2)
    expected = multivariate_t(X.mean(axis=0), covariance, df=3).logpdf(far) - np.log(21)
    assert_allclose(density.log_density(far, ENGINE), expected)


@given(problems())
@examples(20)
def test_a_row_left_out_is_seen_by_all_others(case):
    problem, parts = case
    left = densities(parts, problem.points.X, problem.points.X, leave_out=True).sum(axis=(1, 2))
    density = density_of(problem, parts)
    assert_allclose(density.left_out(ENGINE), np.log(left), rtol=1e-7)


@given(problems())
@examples(10)
def test_copies_are_merged_and_left_out_together(case):
    problem, parts = case
    density, n = density_of(problem, parts), len(problem.points.X)
    twice = replace(problem, points=WeightedPoints(np.repeat(problem.points.X, 2, axis=0)))
    doubled = density_of(twice, replace(parts, memberships=np.repeat(parts.memberships, 2, axis=0)))
    merged = doubled.merged(1000, np.random.default_rng(0))
    assert len(merged.points.X) == n
    X = problem.points.X + 0.1
    assert_allclose(merged.log_density(X, ENGINE), density.log_density(X, ENGINE), rtol=1e-7)
    order = np.lexsort(problem.points.X.T[::-1])
    assert_allclose(merged.left_out(ENGINE), density.left_out(ENGINE)[order], rtol=1e-7)
