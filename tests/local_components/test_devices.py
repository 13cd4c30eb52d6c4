"""EM on a device: that of the host to rounding, and nothing of the size of the data comes back."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

torch = pytest.importorskip("torch")

from elsewhere import Elsewhere, counted_waits  # noqa: E402

from vicinal import LocalComponents, ModeClustering  # noqa: E402
from vicinal.fitting import Draws  # noqa: E402
from vicinal.inputs.points import WeightedPoints  # noqa: E402
from vicinal.local_components.equations import Form  # noqa: E402
from vicinal.local_components.frame import GlobalFrame  # noqa: E402
from vicinal.local_components.learning import Batching, LocalProblem, Penalty  # noqa: E402
from vicinal.local_components.mixture.equations import Parts, Prior  # noqa: E402
from vicinal.local_components.mixture.learning import MixtureProblem  # noqa: E402
from vicinal.local_components.modes import _climb  # noqa: E402
from vicinal.local_components.per_point import local_problem  # noqa: E402
from vicinal.neighborhood import ENGINES  # noqa: E402
from vicinal.neighborhood.blocked import BlockedEngine  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:.*stopped before convergence")

X, _ = load_iris(return_X_y=True)
WEIGHTS = np.arange(len(X)) % 3 + 1.0


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch):
    monkeypatch.setitem(ENGINES, "elsewhere", lambda work, tolerance, n_jobs: Elsewhere(n_jobs))


def both(weights=None, **parameters):
    """The model fitted on the host, and on the device."""
    models = (
        LocalComponents(random_state=0, engine=engine, **parameters)
        for engine in ("blocked", "elsewhere")
    )
    return [model.fit(X, sample_weight=weights) for model in models]


def assert_alike(expected, found, rtol=1e-6):
    assert found.engine_ == "elsewhere"
    assert type(found.covariance_) is np.ndarray
    assert_allclose(found.covariance_, expected.covariance_, rtol=rtol, atol=rtol)
    assert found.loo_log_likelihood_ == pytest.approx(expected.loo_log_likelihood_, abs=rtol)
    assert found.offset_ == pytest.approx(expected.offset_, abs=rtol)
    assert_allclose(found.score_samples(X), expected.score_samples(X), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("covariance", ["full", "diag", "spherical", "low_rank"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_exact_em_is_that_of_the_host(covariance, weights):
    options = {"covariance": covariance, "regularization": 0.01, "max_iter": 30}
    assert_alike(*both(weights, **options), rtol=1e-5)


@pytest.mark.parametrize(
    "parameters",
    [
        {"batch_size": 30},
        {"batch_size": 30, "n_neighbors": 60},
        {"batch_size": 30, "early_stopping": True},
        {"gaussian": "search"},
        {"kernel": "student"},
        {"early_stopping": True},
        {"accelerate": False},
    ],
    ids=str,
)
def test_variants_are_those_of_the_host(parameters):
    options = {"regularization": 0.01, "max_iter": 30}
    assert_alike(*both(**options | parameters), rtol=1e-5)


def test_penalties_by_folds_are_those_of_the_host():
    expected, found = both()
    assert_allclose(found.path_["score"], expected.path_["score"], rtol=1e-5)
    assert_alike(expected, found, rtol=1e-4)


def test_local_covariances_mixtures_streams_and_modes():
    for parameters in ({"covariance": "local"}, {"n_mixture": 2}, {"covariance": 0.1}):
        assert_alike(*both(regularization=0.01, **parameters), rtol=1e-4)
    expected, found = both(regularization=0.01)
    for model in (expected, found):
        model.partial_fit(X)
    assert_allclose(found.covariance_, expected.covariance_, rtol=1e-6)
    found, expected = (
        ModeClustering(LocalComponents(engine=engine), random_state=0).fit(X)
        for engine in ("elsewhere", "blocked")
    )
    assert_allclose(found.labels_, expected.labels_)


CLIMBED = ({}, {"covariance": "diag"}, {"covariance": "low_rank"}, {"n_mixture": 2},
           {"kernel": "student"}, {"covariance": "local"})  # fmt: skip


@pytest.mark.parametrize("parameters", CLIMBED, ids=str)
@pytest.mark.parametrize("full", [False, True])
def test_modes_are_those_of_the_host(parameters, full, monkeypatch):
    monkeypatch.setattr(Elsewhere, "full", full)
    expected, found = both(WEIGHTS, regularization=0.02, **parameters)
    (centers, labels), (tops, of_tops) = expected.modes(), found.modes()
    assert len(tops) == len(centers)
    assert_allclose(tops, centers, atol=1e-3)
    assert np.mean(labels == of_tops) > 0.98
    assert type(tops) is np.ndarray


@pytest.mark.parametrize("parameters", CLIMBED, ids=str)
def test_points_climb_where_the_engine_computes(parameters, monkeypatch):
    """Only how many have arrived is known to the host, until all have."""
    model = both(regularization=0.02, **parameters)[0]
    engine, told = Elsewhere(), []
    with counted_waits(monkeypatch) as waits:
        tops = _climb(model._density, X[:40].copy(), engine, told.append, warn=False)
    assert type(tops) is np.ndarray
    assert sum(told) == 40
    # Those of a covariance each are told how far points reach, four numbers a step, and arrive.
    n_steps = len(told) if "local" in parameters.values() else 0
    assert sum(waits.sizes) <= tops.size + 4 * n_steps
    here = BlockedEngine(1, compiled=False)
    expected = _climb(model._density, X[:40].copy(), here, told.append, warn=False)
    assert_allclose(tops, expected, atol=1e-3)


def problem_of(engine, weights=None):
    points = WeightedPoints(X, weights)
    penalty = Penalty(0.01, 0.01)
    frame = GlobalFrame.of(points, Form(), penalty.global_variances)
    return LocalProblem(points, frame, Form(), penalty, engine)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_a_step_brings_a_scatter_and_a_number_to_the_host(weights, monkeypatch):
    problem = problem_of(Elsewhere(), weights)
    assert isinstance(problem.white.X, torch.Tensor)
    d = X.shape[1]
    with counted_waits(monkeypatch) as waits:
        value, following = problem.step(problem.start)
    assert type(value) is float
    assert isinstance(following, np.ndarray)
    n_totals = 0 if weights is None else 2
    assert sum(waits.sizes) <= d * d + 1 + n_totals


@pytest.mark.parametrize("n_mixture", [1, 3, "auto"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_mixtures_are_those_of_the_host(n_mixture, weights):
    expected, found = both(weights, regularization=0.01, n_mixture=n_mixture)
    assert_alike(expected, found, rtol=1e-4)
    if n_mixture != 1:
        probabilities = found.part_probabilities(X)
        assert_allclose(probabilities, expected.part_probabilities(X), rtol=1e-4, atol=1e-6)


def mixture_of(engine, weights=None):
    """A mixture of a Gaussian part, of one with local directions only, and of one with both."""
    wide = np.stack([np.cov(X.T)] * 3)
    root = np.linalg.cholesky(wide[0])
    scales = ([2.0] * 4, [0.3] * 4, [0.2, 0.5, 2.0, 3.0])
    near = np.stack([root @ np.diag(each) @ root.T for each in scales])
    memberships = np.random.default_rng(0).dirichlet(np.ones(3), size=len(X))
    parts = Parts(memberships, X[[0, 60, 120]], wide, near)
    prior = Prior(2.0, 0.1 * wide, 0.1 * wide)
    return MixtureProblem(WeightedPoints(X, weights), prior, engine), parts


@pytest.mark.parametrize("weights", [None, WEIGHTS, WEIGHTS / 4.0], ids=["plain", "whole", "parts"])
def test_a_step_of_a_mixture_brings_what_is_small_to_the_host(weights, monkeypatch):
    problem, parts = mixture_of(Elsewhere(), weights)
    on_host, _ = mixture_of(BlockedEngine(1, compiled=False), weights)
    packed = problem.packed(parts)
    assert isinstance(problem.here.X, torch.Tensor)
    with counted_waits(monkeypatch) as waits:
        value, following = problem.step(packed)
    d, K = X.shape[1], 3
    assert type(value) is float
    assert isinstance(following, torch.Tensor)
    # Parameters but for memberships; number, mean and two scatters of each part; the likelihood.
    assert sum(waits.sizes) <= 2 * K * (1 + d + 2 * d * d) + 1 + 2 * K
    expected, after = on_host.step(on_host.packed(parts))
    assert value == pytest.approx(expected)
    assert_allclose(following.numpy(), after, rtol=1e-7, atol=1e-9)
    assert problem.log_likelihood(parts) == pytest.approx(on_host.log_likelihood(parts))


def test_mixtures_where_the_device_is_full(monkeypatch):
    monkeypatch.setattr(Elsewhere, "full", True)
    problem, parts = mixture_of(Elsewhere())
    assert isinstance(problem.packed(parts), np.ndarray)
    assert_alike(*both(regularization=0.01, n_mixture=2), rtol=1e-5)


@pytest.mark.parametrize("weights", [None, WEIGHTS, WEIGHTS / 4.0], ids=["plain", "whole", "parts"])
@pytest.mark.parametrize("copies_count", [True, False])
def test_a_step_for_covariances_of_points_brings_a_few_numbers(weights, copies_count, monkeypatch):
    centers = WeightedPoints((X - X.mean(axis=0)) / 0.3, weights)
    there, here = (
        local_problem(centers, 10, 0.5, engine, copies_count)
        for engine in (Elsewhere(), BlockedEngine(1, compiled=False))
    )
    assert isinstance(there.prior, torch.Tensor)
    assert_allclose(there.prior.numpy(), here.prior, rtol=1e-6)
    there.step(there.prior)
    with counted_waits(monkeypatch) as waits:
        value, following = there.step(there.prior)
    assert sum(waits.sizes) <= 4 + 2  # how far points and kernels reach, likelihood and penalty
    expected, after = here.step(here.prior)
    assert value == pytest.approx(expected, rel=1e-6)
    assert_allclose(following.numpy(), after, rtol=1e-6, atol=1e-8)
    assert there.log_likelihood(following) == pytest.approx(here.log_likelihood(after), rel=1e-6)


@pytest.mark.parametrize("parameters", [{}, {"early_stopping": True}, {"smoothing": 8}], ids=str)
def test_covariances_of_points_are_those_of_the_host(parameters):
    expected, found = both(WEIGHTS, covariance="local", regularization=0.01, **parameters)
    assert_alike(expected, found, rtol=1e-4)
    assert type(found.local_covariances_) is np.ndarray
    assert_allclose(found.local_covariances_, expected.local_covariances_, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("n_keys", [len(X), 60])
def test_a_batch_is_gathered_where_the_points_are(n_keys, monkeypatch):
    problem = problem_of(Elsewhere())
    step = problem.batched(Batching(30, n_keys, 0.6), Draws(np.random.default_rng(0)))
    step(problem.start)
    with counted_waits(monkeypatch) as waits:
        step(problem.start)
    assert sum(waits.sizes) <= X.shape[1] ** 2 + 1


def test_where_the_device_is_full_points_stay(monkeypatch):
    expected = both(regularization=0.01)[0]
    monkeypatch.setattr(Elsewhere, "full", True)
    for parameters in ({}, {"batch_size": 30, "n_neighbors": 60}):
        assert_alike(*both(regularization=0.01, max_iter=20, **parameters), rtol=1e-5)
    assert_alike(expected, both(regularization=0.01)[1], rtol=1e-5)
