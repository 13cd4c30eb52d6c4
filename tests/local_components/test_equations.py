import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.neighbors import KernelDensity

from vicinal.inputs.points import WeightedPoints
from vicinal.local_components import log_density
from vicinal.local_components.equations import Shape, expected_scatter
from vicinal.neighborhood.blocked import BlockedEngine
from vicinal.neighborhood.oracle import OracleEngine


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 20)), draw(st.integers(1, 4))
    root = rng.normal(size=(d, d)) + 2 * np.eye(d)
    # Not so narrow that the naive sums underflow.
    return rng.normal(size=(n, d)), root @ root.T + 0.5 * np.eye(d), rng


def naive(X, covariance):
    """Mean leave-one-out log-likelihood and C as the paper writes them."""
    n = len(X)
    density = np.array([[multivariate_normal(x, covariance).pdf(y) for y in X] for x in X])
    density = density.reshape(n, n)
    np.fill_diagonal(density, 0.0)
    weight = density / density.sum(axis=1, keepdims=True)
    difference = X[:, None] - X[None]
    C = np.einsum("ij,ijk,ijl->kl", weight, difference, difference) / n
    return np.log(density.sum(axis=1) / (n - 1)).mean(), C


@pytest.mark.parametrize("engine", [BlockedEngine(), OracleEngine()], ids=["blocked", "oracle"])
@given(problem=problems())
def test_one_e_step_equals_the_naive_one(engine, problem):
    X, covariance, _ = problem
    found = expected_scatter(Shape.of(covariance), engine, WeightedPoints(X))
    likelihood, C = naive(X, covariance)
    assert_allclose(found.log_likelihood, likelihood, rtol=1e-9, atol=1e-9)
    assert_allclose(found.scatter, C, rtol=1e-7, atol=1e-9)


@given(problem=problems())
def test_the_scatter_is_the_gradient(problem):
    """∂F/∂Σ⁻¹ = ½ (C - Σ) for the mean negative log-likelihood F."""
    X, covariance, rng = problem
    precision = np.linalg.inv(covariance)
    direction = rng.normal(size=precision.shape)
    direction = direction + direction.T

    def mean_loss(h):
        at = np.linalg.inv(precision + h * direction)
        return -expected_scatter(Shape.of(at), OracleEngine(), WeightedPoints(X)).log_likelihood

    h = 1e-4 * np.linalg.eigvalsh(precision)[0] / np.linalg.norm(direction)
    C = expected_scatter(Shape.of(covariance), OracleEngine(), WeightedPoints(X)).scatter
    expected = 0.5 * ((C - covariance) * direction).sum()
    assert_allclose((mean_loss(h) - mean_loss(-h)) / (2 * h), expected, rtol=1e-4, atol=1e-4)


@given(problem=problems())
def test_weight_k_equals_k_copies(problem):
    X, covariance, rng = problem
    weights = rng.integers(1, 4, len(X))
    copies = np.repeat(X, weights, axis=0)
    found = expected_scatter(
        Shape.of(covariance), BlockedEngine(), WeightedPoints(X, weights.astype(float))
    )
    expected = expected_scatter(Shape.of(covariance), BlockedEngine(), WeightedPoints(copies))
    assert_allclose(found.log_likelihood, expected.log_likelihood, rtol=1e-10, atol=1e-12)
    assert_allclose(found.scatter, expected.scatter, rtol=1e-8, atol=1e-10)
    Q = rng.normal(size=(5, X.shape[1]))
    assert_allclose(
        log_density(Q, X, covariance=covariance, weights=weights),
        log_density(Q, copies, covariance=covariance),
        rtol=1e-10,
    )


def test_the_density_is_that_of_scikit_learn_for_one_bandwidth():
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(50, 3)), rng.normal(size=(20, 3))
    theirs = KernelDensity(bandwidth=0.4, leaf_size=100).fit(X).score_samples(Q)
    for covariance in (0.16, np.full(3, 0.16), 0.16 * np.eye(3)):
        assert_allclose(log_density(Q, X, covariance=covariance), theirs, rtol=1e-10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"covariance": np.ones(3)}, r"covariance has shape \(3,\), expected a number, \(2,\) or"),
        ({"covariance": -1.0}, "must be symmetric and positive definite"),
        ({"covariance": [[1.0, 0.5], [0.0, 1.0]]}, "must be symmetric and positive definite"),
        ({"covariance": 1.0, "weights": [1.0]}, "sample_weight"),
        ({"covariance": 1.0, "engine": "abacus"}, "engine='abacus' is unknown"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        log_density(np.zeros((1, 2)), np.eye(2), **arguments)


def test_queries_of_another_width():
    with pytest.raises(ValueError, match="Q has 3 features, but X has 2"):
        log_density(np.zeros((1, 3)), np.eye(2), covariance=1.0)
