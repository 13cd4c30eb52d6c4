"""LocalComponents with Student's kernels: a mixture of Gaussians of many widths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from local_components.paper import Paper
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kstest, multivariate_t
from scipy.stats import t as student_t
from sklearn.datasets import load_iris

from vicinal.inputs.points import WeightedPoints
from vicinal.local_components import log_density
from vicinal.local_components.equations import Shape, expected_scatter
from vicinal.neighborhood import Student
from vicinal.neighborhood.blocked import BlockedEngine
from vicinal.neighborhood.oracle import OracleEngine

# Measured to a tenth, nearly every flower has a twin in each feature; these have not.
ROUNDED = load_iris().data
IRIS = ROUNDED + np.random.default_rng(0).uniform(-0.05, 0.05, ROUNDED.shape)


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(2, 20)), draw(st.integers(1, 4))
    root = rng.normal(size=(d, d)) + 2 * np.eye(d)
    nu = draw(st.sampled_from([0.5, 1.0, 3.0, 40.0]))
    return rng.normal(size=(n, d)), root @ root.T + 0.5 * np.eye(d), nu, rng


def naive(X, scale, nu):
    """Mean leave-one-out log-likelihood, and the scatter of EM with a precision per pair."""
    n, d = X.shape
    density = np.array([[multivariate_t(x, scale, df=nu).pdf(y) for y in X] for x in X])
    density = density.reshape(n, n)
    np.fill_diagonal(density, 0.0)
    weight = density / density.sum(axis=1, keepdims=True)
    apart = X[:, None] - X[None]
    s = np.einsum("ijk,kl,ijl->ij", apart, np.linalg.inv(scale), apart)
    precision = (nu + d) / (nu + s)
    C = np.einsum("ij,ij,ijk,ijl->kl", weight, precision, apart, apart) / n
    return np.log(density.sum(axis=1) / (n - 1)).mean(), C


@pytest.mark.parametrize("engine", [BlockedEngine(), OracleEngine()], ids=["blocked", "oracle"])
@given(problem=problems())
def test_one_e_step_equals_the_naive_one(engine, problem):
    X, scale, nu, _ = problem
    found = expected_scatter(Shape.of(scale, Student(nu)), engine, WeightedPoints(X))
    likelihood, C = naive(X, scale, nu)
    assert_allclose(found.log_likelihood, likelihood, rtol=1e-9, atol=1e-9)
    assert_allclose(found.scatter, C, rtol=1e-7, atol=1e-9)


@given(problem=problems())
def test_the_scatter_is_the_gradient(problem):
    """∂F/∂Σ⁻¹ = ½ (C - Σ) for the mean negative log-likelihood F, as with Gaussian kernels."""
    X, scale, nu, rng = problem
    precision, law = np.linalg.inv(scale), Student(nu)
    direction = rng.normal(size=precision.shape)
    direction = direction + direction.T

    def mean_loss(h):
        shape = Shape.of(np.linalg.inv(precision + h * direction), law)
        return -expected_scatter(shape, OracleEngine(), WeightedPoints(X)).log_likelihood

    h = 1e-4 * np.linalg.eigvalsh(precision)[0] / np.linalg.norm(direction)
    C = expected_scatter(Shape.of(scale, law), OracleEngine(), WeightedPoints(X)).scatter
    numeric = (mean_loss(h) - mean_loss(-h)) / (2 * h)
    assert_allclose(numeric, 0.5 * np.sum((C - scale) * direction), rtol=1e-4, atol=1e-4)


@given(seed=st.integers(0, 2**32 - 1))
def test_weight_k_equals_k_copies(seed):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(12, 2)), rng.integers(1, 4, 12).astype(float)
    shape = Shape.of(np.eye(2), Student(2.0))
    found = expected_scatter(shape, OracleEngine(), WeightedPoints(X, weights))
    copies = WeightedPoints(np.repeat(X, weights.astype(int), axis=0))
    expected = expected_scatter(shape, OracleEngine(), copies)
    assert_allclose(found.log_likelihood, expected.log_likelihood, rtol=1e-10)
    assert_allclose(found.scatter, expected.scatter, rtol=1e-9)


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("structure", ["full", "diag", "spherical", "low_rank"])
@pytest.mark.parametrize("regularization", [0.0, 0.05])
def test_em_never_falls(structure, accelerate, regularization):
    model = Paper(
        kernel="student", covariance=structure, accelerate=accelerate, regularization=regularization
    ).fit(IRIS)
    steps = np.diff(model.history_["objective"])
    assert (steps >= -1e-12).all()
    assert model.converged_


@given(seed=st.integers(0, 2**32 - 1))
def test_affine_maps_change_nothing_but_the_units(seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(4, 4)) + 3 * np.eye(4)
    settings = {"kernel": "student", "max_iter": 3, "accelerate": False, "tol": 0.0}
    with pytest.warns(UserWarning, match="max_iter=3"):
        model = Paper(**settings).fit(IRIS)
    with pytest.warns(UserWarning, match="max_iter=3"):
        moved = Paper(**settings).fit(IRIS @ A.T)
    assert_allclose(moved.covariance_, A @ model.covariance_ @ A.T, rtol=1e-6, atol=1e-8)
    volume = np.linalg.slogdet(A)[1]
    assert_allclose(moved.score_samples(IRIS @ A.T), model.score_samples(IRIS) - volume, atol=1e-7)


def test_many_degrees_of_freedom_are_gaussian_kernels():
    gaussian = Paper().fit(IRIS)
    student = Paper(kernel="student", degrees_of_freedom=1e6).fit(IRIS)
    assert_allclose(student.covariance_, gaussian.covariance_, atol=1e-4)
    assert_allclose(student.loo_log_likelihood_, gaussian.loo_log_likelihood_, atol=1e-4)


def test_density_by_the_definition():
    rng = np.random.default_rng(0)
    X, Q, scale = rng.normal(size=(30, 3)), rng.normal(size=(10, 3)), np.diag([0.5, 1.0, 2.0])
    kernels = [multivariate_t(x, scale, df=2.5).pdf(Q) for x in X]
    expected = np.log(np.mean(kernels, axis=0))
    options = {"covariance": scale, "kernel": "student", "degrees_of_freedom": 2.5}
    for engine in ("blocked", "fused", "tree", "adaptive"):
        assert_allclose(log_density(Q, X, engine=engine, **options), expected, rtol=1e-11)
    model = Paper(kernel="student", degrees_of_freedom=2.5).fit(X)
    found = log_density(
        Q, X, covariance=model.covariance_, kernel="student", degrees_of_freedom=2.5
    )
    assert_allclose(model.score_samples(Q), found, rtol=1e-9)


def test_samples_come_from_the_density():
    """A single cluster far narrower than its kernels: draws are Student's t around it."""
    X = 1e-4 * np.random.default_rng(0).normal(size=(50, 1))
    model = Paper(kernel="student", degrees_of_freedom=2.0, regularization=1.0, random_state=0).fit(
        X
    )
    draws = model.sample(4000)[:, 0]
    width = np.sqrt(model.covariance_[0, 0])
    assert kstest((draws - X.mean()) / width, student_t(2.0).cdf).pvalue > 0.01


def test_far_points_do_not_widen_the_kernels_and_stay_likely():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(200, 2)), 30 * rng.normal(size=(10, 2))])
    gaussian, student = Paper().fit(X), Paper(kernel="student").fit(X)
    assert student.loo_log_likelihood_ > gaussian.loo_log_likelihood_ + 0.5
    new = 30 * rng.normal(size=(50, 2))
    assert student.score(new) > gaussian.score(new) + 10


def test_modes_climb():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 2)), 12 + rng.normal(size=(60, 2))])
    model = Paper(kernel="student", covariance="spherical", regularization=0.3).fit(X)
    centers, labels = model.modes()
    assert not set(labels[:60]) & set(labels[60:])
    heights = model.score_samples(centers[labels])
    assert (heights >= model.score_samples(X) - 1e-9).all()


def test_a_stream_learns_heavy_tails():
    X = np.random.default_rng(0).standard_t(3, size=(1200, 2))
    X, new = X[:1000], X[1000:]
    model = Paper(kernel="student", random_state=0)
    for rows in np.array_split(X, 5):
        model.partial_fit(rows)
    whole = Paper(kernel="student").fit(X)
    assert model.score(new) > whole.score(new) - 0.3
    assert model.score(new) > Paper().fit(X).score(new) + 1.0


def test_what_was_fitted_is_kept_when_parameters_change():
    model = Paper(kernel="student", degrees_of_freedom=2.0).fit(IRIS)
    before, modes = model.score_samples(IRIS), model.modes()[0]
    model.set_params(kernel="gaussian", degrees_of_freedom=50.0)
    assert_array_equal(model.score_samples(IRIS), before)
    assert_array_equal(model.modes()[0], modes)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "cosine"}, "kernel='cosine' is unknown: use one of 'gaussian', 'student'"),
        ({"kernel": "compact"}, "kernel='compact' is unknown"),
        ({"kernel": "student", "gaussian": "em"}, "cannot be combined with gaussian='em'"),
        ({"kernel": "student", "gaussian": "search"}, "cannot be combined with gaussian='search'"),
        ({"kernel": "student", "covariance": "local"}, "cannot be combined with covariance='local"),
        ({"kernel": "student", "degrees_of_freedom": 0.0}, "degrees_of_freedom=0.0 must lie betw"),
    ],
    ids=str,
)
def test_refusals_name_the_argument(settings, message):
    with pytest.raises(ValueError, match=message):
        Paper(**settings).fit(IRIS)
    if set(settings) <= {"kernel", "degrees_of_freedom"}:
        with pytest.raises(ValueError, match=message):
            log_density(IRIS, IRIS, covariance=1.0, **settings)


def test_heavy_tails_forgive_some_points_that_they_have_no_twin():
    """Not all flowers have one in any direction: enough for ν = 3, not for Gaussian kernels."""
    Paper().fit(ROUNDED)
    with pytest.raises(ValueError, match="in some direction nearly every point has a twin"):
        Paper(kernel="student").fit(ROUNDED)
    model = Paper(kernel="student", regularization="auto", random_state=0).fit(ROUNDED)
    assert np.isfinite(model.loo_log_likelihood_)
    assert model.regularization_[1] > 0
