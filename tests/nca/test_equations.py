import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from vicinal.inputs.features import Features, moments
from vicinal.inputs.points import LabeledPoints
from vicinal.nca import objective
from vicinal.nca.background import ClassGaussians
from vicinal.nca.criteria import ACCURACY, CRITERIA, LOG
from vicinal.nca.equations import Objective, evaluate, own_class_log_probabilities
from vicinal.neighborhood import COMPACT, GAUSSIAN
from vicinal.neighborhood.blocked import BlockedEngine
from vicinal.neighborhood.oracle import OracleEngine

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
        (
            {"kernel": "compact", "background": 0.5},
            116.76355966,
            184.96616271,
            -113.497488394,
        ),
    ],
    ids=["classic", "regularized", "log", "uniform", "compact", "background"],
)
def test_golden_values_on_iris(iris, engine, arguments, value, norm, first):
    f, G = objective(spec_map(2, 4), *iris, engine=engine, **arguments)
    assert_allclose(f, value, rtol=1e-11)
    assert_allclose(np.linalg.norm(G), norm, rtol=1e-11)
    assert_allclose(G[0, 0], first, rtol=1e-11)


def gaussians(X, y):
    features = Features(X, np.zeros(X.shape[1]), 1.0)
    return ClassGaussians.of(features, y, moments(features, y, y.max() + 1))


def test_golden_derivative_of_the_share_of_the_background(iris):
    X, y = iris
    goal = Objective(COMPACT, ACCURACY, "empirical", 3, gaussians(X, y))
    found = evaluate(spec_map(2, 4), goal, BlockedEngine(), LabeledPoints(X, labels=y), logit=0.0)
    assert_allclose(found.value, 116.76355966, rtol=1e-11)
    assert_allclose(found.logit_gradient, 10.8169735198, rtol=1e-11)


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
    name=st.sampled_from(sorted(CRITERIA)),
    prior=st.sampled_from(["empirical", "uniform", "given"]),
    penalty=st.sampled_from([0.0, 0.3]),
    weighted=st.booleans(),
)
def test_gradient_equals_finite_differences(engine, problem, name, prior, penalty, weighted):
    X, y, A, rng = problem
    prior = rng.dirichlet(np.full(y.max() + 1, 5.0)) if prior == "given" else prior
    settings = {"objective": name, "prior": prior, "regularization": penalty, "engine": engine}
    if weighted:
        settings["sample_weight"] = rng.choice([0.3, 1.0, 2.0, 3.5], len(y))
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


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("prior", ["empirical", "uniform", [0.2, 0.5, 0.3]])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient_with_a_background_equals_finite_differences(iris, name, prior, weighted):
    """In the map and in the logit of β, at a fixed, checked point."""
    keep = np.r_[0:50, 50:80, 100:115]  # classes of 50, 30 and 15
    X, y = iris[0][keep], iris[1][keep]
    weights = 1.0 + np.arange(95) % 3 if weighted else None
    prior = prior if isinstance(prior, str) else np.array(prior)
    goal = Objective(COMPACT, CRITERIA[name], prior, 3, gaussians(X, y))

    def value(A, b):
        return evaluate(A, goal, BlockedEngine(), LabeledPoints(X, weights, labels=y), logit=b)

    A, direction, b, h = spec_map(2, 4), spec_map(2, 4)[::-1], -0.7, 1e-6
    found = value(A, b)
    along_map = (value(A + h * direction, b).value - value(A - h * direction, b).value) / (2 * h)
    along_logit = (value(A, b + h).value - value(A, b - h).value) / (2 * h)
    assert_allclose((found.gradient * direction).sum(), along_map, rtol=1e-6)
    assert_allclose(found.logit_gradient, along_logit, rtol=1e-6)


def test_background_equals_a_naive_posterior(iris):
    """Equations 4.22 and 3.11 as they stand, over n × n arrays."""
    from scipy.stats import multivariate_normal

    X, y = iris
    A, beta, prior = spec_map(2, 4), 0.3, np.array([0.2, 0.5, 0.3])
    Z = X @ A.T
    k = np.square(np.maximum(1 - np.square(Z[:, None] - Z[None]).sum(-1), 0)) * 3 / np.pi
    np.fill_diagonal(k, 0.0)
    joint = np.empty((150, 3))
    for c in range(3):
        mine = y == c
        S = A @ np.cov(X[mine].T, bias=True) @ A.T
        gaussian = multivariate_normal(Z[mine].mean(axis=0), S).pdf(Z)
        joint[:, c] = prior[c] * (
            beta * gaussian + (1 - beta) * k[:, mine].sum(axis=1) / (mine.sum() - mine)
        )
    p = joint[np.arange(150), y] / joint.sum(axis=1)
    for name, expected in (("accuracy", p.sum()), ("log", np.log(p).sum())):
        value, _ = objective(
            A, X, y, kernel="compact", background=beta, prior=prior, objective=name
        )
        assert_allclose(value, expected, rtol=1e-11)


@pytest.mark.parametrize("size", [1, 3])
def test_a_class_too_small_for_a_gaussian_gets_a_ridge(iris, size):
    keep = np.r_[0:50, 50:100, 100 : 100 + size]
    X, y = iris[0][keep], iris[1][keep]
    value, gradient = objective(np.eye(4), X, y, kernel="compact", background=0.5)
    assert np.isfinite(value)
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"objective": "log"},
        {"prior": "uniform"},
        {"prior": [0.2, 0.5, 0.3]},
        {"kernel": "compact"},
        {"kernel": "compact", "background": 0.3},
        {"kernel": "compact", "background": 0.3, "objective": "log", "prior": "uniform"},
    ],
    ids=str,
)
@given(seed=st.integers(0, 2**32 - 1))
def test_weight_k_equals_k_copies(iris, settings, seed):
    rng = np.random.default_rng(seed)
    keep = np.r_[rng.choice(50, 12), 50 + rng.choice(50, 20), 100 + rng.choice(50, 9)]
    X, y = iris[0][keep] + 0.01 * rng.normal(size=(41, 4)), iris[1][keep]
    weights = rng.integers(0, 4, 41)
    weights[[0, 1, 12, 13, 32, 33]] = 1  # two of each class at least
    copies = np.repeat(np.arange(41), weights)
    value, gradient = objective(spec_map(2, 4), X, y, sample_weight=weights, **settings)
    expected, expected_gradient = objective(spec_map(2, 4), X[copies], y[copies], **settings)
    assert_allclose(value, expected, rtol=1e-9)
    assert_allclose(gradient, expected_gradient, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("prior", ["empirical", "uniform"])
def test_row_gradients_of_stochastic_learning_sum_to_the_full_gradient(iris, background, prior):
    """Thesis 4.3: rows of a batch against all points."""
    X, y = iris
    law = COMPACT if background else GAUSSIAN
    goal = Objective(law, ACCURACY, prior, 3, gaussians(X, y) if background else None)
    everything = LabeledPoints(X, 1.0 + np.arange(150) % 2, labels=y)
    full = evaluate(spec_map(2, 4), goal, BlockedEngine(), everything)
    batches = np.array_split(np.random.default_rng(0).permutation(150), 7)
    parts = [
        evaluate(spec_map(2, 4), goal, BlockedEngine(), everything[rows], everything, rows)
        for rows in batches
    ]
    assert_allclose(sum(part.value for part in parts), full.value, rtol=1e-13)
    assert_allclose(sum(part.gradient for part in parts), full.gradient, atol=1e-12)
    assert_allclose(sum(part.logit_gradient for part in parts), full.logit_gradient, atol=1e-12)


def test_points_that_are_no_keys_leave_nobody_out(iris):
    X, y = iris
    goal = Objective(GAUSSIAN, ACCURACY, "uniform", 3)
    new, old = LabeledPoints(X[::3], labels=y[::3]), LabeledPoints(X[1::3], labels=y[1::3])
    log_p = own_class_log_probabilities(spec_map(2, 4), goal, OracleEngine(), new, old)
    Z, Q = old.X @ spec_map(2, 4).T, new.X @ spec_map(2, 4).T
    k = np.exp(-np.square(Q[:, None] - Z[None]).sum(-1))
    density = np.stack([k[:, old.labels == c].mean(axis=1) for c in range(3)], axis=1)
    expected = density[np.arange(50), new.labels] / density.sum(axis=1)
    assert_allclose(np.exp(log_p), expected, rtol=1e-12)


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
    goal = Objective(GAUSSIAN, LOG, "empirical", 2)
    log_p = own_class_log_probabilities(A, goal, BlockedEngine(), LabeledPoints(X, labels=y))
    log_q = own_class_log_probabilities(
        A,
        goal,
        BlockedEngine(),
        LabeledPoints(X, labels=1 - y),
        LabeledPoints(X, labels=y),
        np.arange(len(y)),
    )
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


def test_the_only_member_of_a_class_counts_nothing(iris):
    X, y = iris[0][:101], iris[1][:101]
    for name in ("accuracy", "log"):
        value, gradient = objective(spec_map(2, 4), X, y, objective=name)
        log_p = own_class_log_probabilities(
            spec_map(2, 4),
            Objective(GAUSSIAN, CRITERIA[name], "empirical", 3),
            BlockedEngine(),
            LabeledPoints(X, labels=y),
        )[:100]
        assert_allclose(value, (np.exp(log_p) if name == "accuracy" else log_p).sum())
        assert np.isfinite(gradient).all()


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
        ({"background": 0.5}, "background=0.5 stands behind kernels of compact support"),
        ({"kernel": "compact", "background": 1.0}, "background=1.0 must lie between 0 and 1"),
        ({"kernel": "compact", "objective": "log"}, "has no finite value"),
        ({"sample_weight": np.zeros(150)}, "zero for every row"),
        ({"sample_weight": -np.ones(150)}, "Negative values in data passed to `sample_weight`"),
    ],
)
def test_wrong_arguments_are_named(iris, arguments, message):
    with pytest.raises(ValueError, match=message):
        objective(spec_map(2, 4), *iris, **arguments)


def test_a_map_of_the_wrong_width(iris):
    with pytest.raises(ValueError, match="A has 3 columns, but X has 4 features"):
        objective(np.eye(2, 3), *iris)
