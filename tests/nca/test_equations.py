import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from vicinal.nca import objective
from vicinal.nca.equations import class_priors, point_log_probabilities
from vicinal.neighborhood import GAUSSIAN, Pairs
from vicinal.neighborhood.blocked import BlockedEngine

ENGINES = ("blocked", "fused")


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def spec_map(d, D):
    i, j = np.indices((d, D))
    return 0.6 * np.cos(1 + 1.7 * i + 0.9 * j) / np.sqrt(D)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("arguments", "value", "norm", "first"),
    [
        ({}, 61.7323821833, 106.741986089, -50.9593267374),
        ({"regularization": 0.01}, 61.7287171211, 106.737625512, -50.9625685512),
        ({"objective": "log"}, -133.891125538, 252.981035236, -121.142120636),
        ({"prior": "uniform"}, 62.4626325978, 107.05259031, -51.1108344093),
        ({"kernel": "compact"}, 82.3388055028, 263.135324046, -127.069839936),
    ],
    ids=["classic", "regularized", "log", "uniform", "compact"],
)
def test_golden_values_on_iris(iris, engine, arguments, value, norm, first):
    f, G = objective(spec_map(2, 4), *iris, engine=engine, **arguments)
    assert_allclose(f, value, rtol=1e-11)
    assert_allclose(np.linalg.norm(G), norm, rtol=1e-11)
    assert_allclose(G[0, 0], first, rtol=1e-11)


def naive_objective(A, X, y):
    """Equations 3.1 to 3.3 as they stand."""
    Z = X @ A.T
    weights = np.exp(-np.square(Z[:, None] - Z[None]).sum(-1))
    np.fill_diagonal(weights, 0.0)
    p = weights / weights.sum(axis=1, keepdims=True)
    return (p * (y[:, None] == y[None])).sum(axis=1)


def test_naive_reference(iris):
    X, y = iris
    p = naive_objective(spec_map(3, 4), X, y)
    assert_allclose(objective(spec_map(3, 4), X, y)[0], p.sum(), rtol=1e-13)
    assert_allclose(
        objective(spec_map(3, 4), X, y, objective="log")[0], np.log(p).sum(), rtol=1e-13
    )


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, D = draw(st.integers(4, 25)), draw(st.integers(1, 6))
    d = draw(st.integers(1, D))
    y = rng.permutation(np.arange(n) % draw(st.integers(2, min(4, n // 2))))
    X = rng.normal(size=(n, D)) + y[:, None] * rng.normal(size=D)
    return X, y, rng.normal(size=(d, D)) / np.sqrt(d * D), rng


@pytest.mark.parametrize("engine", ENGINES)
@given(
    problem=problems(),
    name=st.sampled_from(["accuracy", "log"]),
    prior=st.sampled_from(["empirical", "uniform", "given"]),
    penalty=st.sampled_from([0.0, 0.3]),
)
def test_gradient_equals_finite_differences(engine, problem, name, prior, penalty):
    X, y, A, rng = problem
    prior = rng.dirichlet(np.full(y.max() + 1, 5.0)) if prior == "given" else prior
    settings = {"objective": name, "prior": prior, "regularization": penalty, "engine": engine}
    direction = rng.normal(size=A.shape)
    h = 1e-6
    up, down = (objective(A + s * h * direction, X, y, **settings)[0] for s in (1, -1))
    G = objective(A, X, y, **settings)[1]
    assert_allclose((G * direction).sum(), (up - down) / (2 * h), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("prior", ["empirical", "uniform"])
def test_gradient_of_compact_support_equals_finite_differences(iris, engine, prior):
    """Its second derivative jumps at the edge of the support: a fixed, checked point."""
    X, y = iris
    A, direction, h = spec_map(2, 4), spec_map(2, 4)[::-1], 1e-6
    settings = {"kernel": "compact", "prior": prior, "engine": engine}
    up, down = (objective(A + s * h * direction, X, y, **settings)[0] for s in (1, -1))
    G = objective(A, X, y, **settings)[1]
    assert_allclose((G * direction).sum(), (up - down) / (2 * h), rtol=1e-6)


def test_equals_scikit_learn_at_its_own_solution(iris):
    X, y = iris
    theirs = NeighborhoodComponentsAnalysis(2, init="pca", max_iter=15, random_state=0).fit(X, y)
    same = y[:, None] == y[None]
    value, gradient = theirs._loss_grad_lbfgs(theirs.components_.ravel(), X, same)
    for engine in ENGINES:
        f, G = objective(theirs.components_, X, y, engine=engine)
        assert_allclose(f, value, rtol=1e-11)
        assert_allclose(G.ravel(), gradient, rtol=1e-8, atol=1e-10)


@given(problem=problems())
def test_invariances(problem):
    """Rotating the projected space, moving the data, renaming the classes: nothing changes."""
    X, y, A, rng = problem
    value, G = objective(A, X, y)
    Q = np.linalg.qr(rng.normal(size=(len(A), len(A))))[0]
    rotated_value, rotated_G = objective(Q @ A, X, y)
    assert_allclose(rotated_value, value, rtol=1e-9)
    assert_allclose(rotated_G, Q @ G, atol=1e-9)
    moved_value, moved_G = objective(A, X + 5.0, y)
    assert_allclose(moved_value, value, rtol=1e-9)
    assert_allclose(moved_G, G, atol=1e-9)
    names = np.array(["d", "a", "c", "b"])
    assert_allclose(objective(A, X, names[y])[0], value, rtol=1e-12)


@given(problem=problems())
def test_a_rotation_of_the_inputs_rotates_the_gradient(problem):
    X, y, A, rng = problem
    Q = np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0]
    value, G = objective(A, X, y)
    rotated_value, rotated_G = objective(A @ Q.T, X @ Q.T, y)
    assert_allclose(rotated_value, value, rtol=1e-9)
    assert_allclose(rotated_G, G @ Q.T, atol=1e-9)


def test_logarithms_survive_where_probabilities_underflow(load_dataset):
    """With a random full-rank start many ionosphere rows underflow; max(p, eps) would hide it."""
    ionosphere = load_dataset("ionosphere")
    X, y = ionosphere.data, ionosphere.target
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    A = np.random.default_rng(0).normal(size=(34, 34))
    with np.errstate(invalid="ignore"):
        naive = naive_objective(A, X, y)
    assert np.isnan(naive).sum() > 30
    rows = BlockedEngine().rows(Pairs.among(X @ A.T, y), GAUSSIAN).finish()
    log_p, log_q = point_log_probabilities(rows, class_priors("empirical", y))
    assert np.isfinite(log_p).all()
    assert_allclose(np.exp(log_p) + np.exp(log_q), 1.0, rtol=1e-12)
    value, gradient = objective(A, X, y, objective="log")
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


def test_points_out_of_everybodys_reach_count_nothing():
    X = np.array([[0.0], [0.1], [0.2], [50.0], [0.15]])
    value, gradient = objective(np.eye(1), X, [0, 0, 1, 1, 1], kernel="compact")
    nearby, near_gradient = objective(np.eye(1), X[[0, 1, 2, 4]], [0, 0, 1, 1], kernel="compact")
    assert_allclose(value, nearby)
    assert_allclose(gradient, near_gradient)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"objective": "f1"}, "objective='f1' is unknown: use one of 'accuracy', 'log'"),
        ({"kernel": "cubic"}, "kernel='cubic' is unknown"),
        ({"prior": "flat"}, "prior='flat' is unknown"),
        ({"prior": [0.5, 0.5]}, "must be 3 positive numbers that sum to 1"),
        ({"prior": [0.5, 0.4, 0.2]}, "must be 3 positive numbers that sum to 1"),
        ({"regularization": -1.0}, r"regularization=-1.0 must be finite and 0 or larger"),
        ({"engine": "abacus"}, "engine='abacus' is unknown"),
    ],
)
def test_wrong_arguments_are_named(iris, arguments, message):
    with pytest.raises(ValueError, match=message):
        objective(spec_map(2, 4), *iris, **arguments)


def test_a_map_of_the_wrong_width(iris):
    with pytest.raises(ValueError, match="A has 3 columns, but X has 4 features"):
        objective(np.eye(2, 3), *iris)
