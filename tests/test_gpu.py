"""Models on a real GPU beside the same on the CPU; `benchmarks.gpu_check` runs this there."""

import os
import subprocess
import sys
import warnings
from importlib.util import find_spec

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits, load_iris, make_blobs

if find_spec("torch") is None or find_spec("triton") is None:
    pytest.skip("needs torch and triton: the extra gpu", allow_module_level=True)

import torch

from vicinal import DivergenceNeighbors, LocalComponents, NeighborhoodComponents
from vicinal.divergence import paired, places
from vicinal.divergence.divergences import DIVERGENCES
from vicinal.divergence.places import GPU_PAIRS, HOST, Device, choose_place
from vicinal.inputs.points import LabeledPoints, WeightedPoints
from vicinal.local_components import log_density
from vicinal.local_components.mixture.equations import Parts, Prior
from vicinal.local_components.mixture.learning import MixtureProblem
from vicinal.local_components.per_point import local_problem
from vicinal.nca import objective
from vicinal.nca.criteria import CRITERIA
from vicinal.nca.equations import Objective, evaluate
from vicinal.neighborhood import GAUSSIAN
from vicinal.neighborhood.blocked import BlockedEngine
from vicinal.neighborhood.cuda import CudaEngine
from vicinal.torch import NeighborhoodLoss

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


@pytest.mark.parametrize("kernel", ["gaussian", "compact", "student"])
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_objective_and_gradient(digits, kernel, precision):
    X, y = digits
    A = 0.3 * np.random.default_rng(0).normal(size=(5, 64))
    A = A / 3.0 if kernel == "compact" else A
    value, gradient = objective(A, X, y, kernel=kernel, engine="blocked")
    found, slope = objective(A, X, y, kernel=kernel, engine="cuda", precision=precision)
    close = 1e-10 if precision == "float64" else 1e-4
    assert_allclose(found, value, rtol=close)
    assert_allclose(slope, gradient, atol=close * np.abs(gradient).max())


def test_background(digits):
    X, y = digits
    A = 0.1 * np.random.default_rng(0).normal(size=(3, 64))
    known = {"kernel": "compact", "background": 0.2}
    value, gradient = objective(A, X, y, engine="blocked", **known)
    found, slope = objective(A, X, y, engine="cuda", precision="float64", **known)
    assert_allclose(found, value, rtol=1e-8)
    assert_allclose(slope, gradient, atol=1e-8 * np.abs(gradient).max())


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"n_components": 2},
        {"regularization": 0.0, "solver": "cg"},
        {"batching": "random", "batch_size": 500, "max_iter": 300},
        {"batching": "stochastic", "batch_size": 200, "max_iter": 300},
        {"kernel": "student"},
        {"objective": "log", "prior": "uniform"},
    ],
    ids=str,
)
def test_a_fit_is_as_good_as_on_the_cpu(digits, settings):
    X, y = digits
    known = {"random_state": 0, **settings}
    there = NeighborhoodComponents(engine="cuda", **known).fit(X[:1200], y[:1200])
    here = NeighborhoodComponents(engine="auto", **known).fit(X[:1200], y[:1200])
    assert there.engine_ == "cuda"
    assert there.score(X[1200:], y[1200:]) > here.score(X[1200:], y[1200:]) - 0.02
    assert_allclose(there.predict_proba(X[1200:]).sum(axis=1), 1.0, rtol=1e-6)


def test_exact_em(digits):
    X = load_iris().data
    there = LocalComponents(engine="cuda", precision="float64").fit(X)
    here = LocalComponents(engine="blocked").fit(X)
    assert_allclose(there.covariance_, here.covariance_, rtol=1e-6, atol=1e-9)
    assert_allclose(there.score_samples(X), here.score_samples(X), rtol=1e-6)
    single = LocalComponents(engine="cuda").fit(X)
    assert_allclose(single.score_samples(X), here.score_samples(X), atol=0.02)


@pytest.mark.parametrize(
    "settings",
    [{"covariance": "diag"}, {"kernel": "student"}, {"gaussian": "em"}, {"batch_size": 100}],
    ids=str,
)
def test_kinds_of_local_components(digits, settings):
    X = load_iris().data
    known = {"regularization": 0.05, "random_state": 0, **settings}
    there = LocalComponents(engine="cuda", **known).fit(X)
    here = LocalComponents(engine="blocked", **known).fit(X)
    assert_allclose(there.score(X), here.score(X), atol=0.02)


def test_mixtures():
    X = load_iris().data
    there = LocalComponents(n_mixture=2, engine="cuda", random_state=0).fit(X)
    here = LocalComponents(n_mixture=2, random_state=0).fit(X)
    assert_allclose(there.score(X), here.score(X), atol=0.05)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_steps_of_mixtures_and_of_covariances_of_points(precision):
    """Rows stay on the device; what a step finds is what the CPU finds."""
    X, close = load_iris().data, 1e-9 if precision == "float64" else 1e-3
    wide = np.stack([np.cov(X.T)] * 2)
    parts = Parts(np.full((len(X), 2), 0.5), X[[0, 100]], wide, wide * [[[0.3]], [[2.0]]])
    for weights in (None, np.arange(len(X)) % 3 + 1.0):
        there, here = (
            MixtureProblem(WeightedPoints(X, weights), Prior(2.0, 0.1 * wide, 0.1 * wide), engine)
            for engine in (CudaEngine(precision=precision), BlockedEngine())
        )
        assert there.here.X.device.type == "cuda"
        value, following = there.step(there.packed(parts))
        expected, after = here.step(here.packed(parts))
        assert following.device.type == "cuda"
        assert_allclose(value, expected, rtol=close)
        assert_allclose(following.cpu().numpy(), after, rtol=close, atol=close)
        centers = WeightedPoints((X - X.mean(axis=0)) / 0.3, weights)
        there, here = (
            local_problem(centers, 10, 0.0, engine, copies_count=True)
            for engine in (CudaEngine(precision=precision), BlockedEngine())
        )
        value, following = there.step(there.prior)
        expected, after = here.step(here.prior)
        assert following.device.type == "cuda"
        assert_allclose(value, expected, rtol=close)
        assert_allclose(following.cpu().numpy(), after, rtol=close, atol=close)


@pytest.mark.parametrize(
    "settings", [{}, {"covariance": "diag"}, {"n_mixture": 2}, {"covariance": "local"}], ids=str
)
def test_modes(settings):
    X, _ = make_blobs(600, 3, centers=4, random_state=0, cluster_std=0.7)
    known = {"regularization": 0.05, "random_state": 0, **settings}
    there, here = (
        LocalComponents(engine=engine, **known).fit(X).modes() for engine in ("cuda", "blocked")
    )
    assert len(there[0]) == len(here[0])
    assert_allclose(there[0], here[0], atol=0.02)
    assert np.mean(there[1] == here[1]) > 0.98


def test_density_queries():
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(20_000, 3)), rng.normal(size=(1000, 3))
    here = log_density(Q, X, covariance=0.05)
    there = log_density(Q, X, covariance=0.05, engine="cuda")
    assert_allclose(there, here, atol=1e-4)


@pytest.mark.parametrize("name", DIVERGENCES)
@pytest.mark.parametrize(("m", "d"), [(10, 64), (10, 15), (10, 4)])
def test_divergences(digits, name, m, d):
    """Frames of low rank, frames that are completed, and all directions."""
    X = digits[0][:, 4 : 4 + d] if d < 64 else digits[0]
    X = X[:700] + 0.01 * np.random.default_rng(0).normal(size=(700, X.shape[1]))
    for options in ({}, {"n_graph_neighbors": 5, "n_candidates": 40}):
        there, here = (
            DivergenceNeighbors(m, divergence=name, engine=engine, **options)
            for engine in ("cuda", "auto")
        )
        for found, known in (
            (there.fit_transform(X[:600]), here.fit_transform(X[:600])),
            (there.transform(X[600:]), here.transform(X[600:])),
        ):
            lengths = (found, known) if not options else (found.data, known.data)
            assert_allclose(*lengths, rtol=1e-8, atol=1e-10)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Several at work on small data, and room for the tests beside this one."""
    monkeypatch.setattr(places, "_MOST_NUMBERS", 64_000_000)


@pytest.mark.parametrize("name", [name for name in DIVERGENCES if DIVERGENCES[name].shapes])
def test_divergences_hold_no_more_than_a_piece_at_a_time(name):
    X = np.random.default_rng(0).normal(size=(1500, 30))
    model = DivergenceNeighbors(divergence=name, engine="cuda").fit(X)
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    model.transform(X)
    assert torch.cuda.max_memory_allocated() - before < 2.5 * 8 * places._MOST_NUMBERS


def test_divergences_of_twins_are_0_and_copies_come_first():
    X = np.repeat(np.random.default_rng(0).normal(size=(300, 12)), 2, axis=0)
    for name in DIVERGENCES:
        model = DivergenceNeighbors(8, divergence=name, engine="cuda", n_graph_neighbors=3)
        graph = model.fit_transform(X)
        assert (graph.data.reshape(600, 4)[:, :2] == 0).all(), name
        assert (graph.indices.reshape(600, 4)[:, 1] // 2 == np.arange(600) // 2).all(), name


def test_auto_takes_the_gpu_for_many_divergences():
    assert choose_place("auto", DIVERGENCES["jeffreys"], GPU_PAIRS) == Device("cuda")
    assert choose_place("auto", DIVERGENCES["jeffreys"], GPU_PAIRS - 1) is HOST


@pytest.mark.skipif(
    os.environ.get("SCIPY_ARRAY_API") != "1", reason="SCIPY_ARRAY_API is not set to 1"
)
def test_divergences_of_tensors(digits):
    X = digits[0][:300]
    there = torch.tensor(X, device="cuda")
    with sklearn.config_context(array_api_dispatch=True):
        found = DivergenceNeighbors().fit(there).transform(there)
        some = paired(there, torch.tensor([[0, 1], [5, 9]], device="cuda"))
    assert found.device.type == some.device.type == "cuda"
    expected = DivergenceNeighbors().fit(X).transform(X)
    assert_allclose(found.cpu().numpy(), expected, rtol=1e-8, atol=1e-10)
    assert_allclose(some.cpu().numpy(), expected[[0, 5], [1, 9]], rtol=1e-8)


@pytest.mark.skipif(
    os.environ.get("SCIPY_ARRAY_API") != "1", reason="SCIPY_ARRAY_API is not set to 1"
)
def test_tensors_in_tensors_out(digits):
    X, y = digits
    torch.manual_seed(0)
    X_there, y_there = torch.tensor(X, device="cuda"), torch.tensor(y, device="cuda")
    with sklearn.config_context(array_api_dispatch=True):
        model = NeighborhoodComponents(2, random_state=0, max_iter=20, tol=1e-3)
        model.fit(X_there, y_there)
        assert model.engine_ == "cuda"
        for found in (model.transform(X_there), model.predict_proba(X_there)):
            assert isinstance(found, torch.Tensor)
            assert found.device.type == "cuda"
        points = X_there[:, 20:23] + 0.1 * torch.randn((len(X), 3), device="cuda")
        density = LocalComponents().fit(points)
        assert density.score_samples(points).device.type == "cuda"


def test_auto_takes_the_gpu_for_much_work():
    X, y = make_blobs(60_000, 10, centers=5, random_state=0)
    model = NeighborhoodComponents(3, random_state=0, max_iter=500).fit(X, y)
    assert model.engine_ == "cuda"
    assert "single precision" in model.engine_reason_


def test_what_is_replayed_is_what_was_computed(monkeypatch):
    """Random batches, of two sizes, of points whose reach changes the way they are compared."""
    rng = np.random.default_rng(0)
    rows = LabeledPoints(
        torch.tensor(rng.normal(size=(5000, 20)), device="cuda", dtype=torch.float32),
        labels=torch.tensor(rng.integers(0, 4, 5000), device="cuda"),
    )
    goal, engine = Objective(GAUSSIAN, CRITERIA["log"], "empirical", 4), CudaEngine()

    def plain(A, which):
        found = evaluate(A, goal, engine, rows[which])
        return found.value, found.gradient

    again = engine.repeated(plain, 1000**2)
    for size in (0.3, 0.3, 0.3, 0.3, 9.0, 40.0, 0.3, 1e4, 0.3, 9.0):
        for n in (1000, 1001):
            A = torch.tensor(size * rng.normal(size=(3, 20)), device="cuda")
            which = torch.tensor(rng.permutation(5000)[:n], device="cuda")
            for one, other in zip(again(A, which), plain(A, which), strict=True):
                assert torch.equal(one, other)


def test_a_device_that_fails_leaves_the_best_map():
    """In a process of its own, whose device is of no use afterwards."""
    code = """
import numpy as np, torch, warnings
import vicinal.neighborhood.cuda.engine as engine
from vicinal import NeighborhoodComponents
lay_out, n_calls = engine.lay_out, 0
def fails(*arguments):
    global n_calls
    n_calls += 1
    if n_calls == 40:
        torch.zeros(3, device="cuda")[torch.tensor([5], device="cuda")]
    return lay_out(*arguments)
engine.lay_out = fails
engine._RECORDED_PAIRS = 0
X = np.random.default_rng(0).normal(size=(20000, 10)); y = (X[:, 0] > 0).astype(int)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    model = NeighborhoodComponents(3, random_state=0, engine="cuda", regularization=0.0).fit(X, y)
print(*(each.message for each in said))
print(model.n_iter_, np.isfinite(model.components_).all())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "The best parameters so far are kept" in done.stdout
    assert "True" in done.stdout


@pytest.mark.parametrize("kind", ["accuracy", "log"])
def test_loss_and_its_gradient(kind):
    rng = np.random.default_rng(0)
    Z, y = rng.normal(size=(3000, 8)), rng.integers(0, 5, 3000)
    found = []
    for device, dtype in (("cpu", torch.float64), ("cuda", torch.float64), ("cuda", torch.float32)):
        points = torch.tensor(Z, device=device, dtype=dtype, requires_grad=True)
        loss = NeighborhoodLoss(kind)(points, torch.tensor(y, device=device))
        loss.backward()
        found.append((loss.item(), points.grad.double().cpu().numpy()))
    (value, gradient), double, single = found
    for (other, slope), close in ((double, 1e-10), (single, 1e-4)):
        assert_allclose(other, value, rtol=close)
        assert_allclose(slope, gradient, atol=close * np.abs(gradient).max())


def test_a_loss_of_many_rows_needs_memory_for_rows_only():
    torch.manual_seed(0)
    n, d = 100_000, 16
    points = torch.randn((n, d), device="cuda", requires_grad=True)
    labels = torch.randint(0, 100, (n,), device="cuda")
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    NeighborhoodLoss()(points, labels).backward()
    assert torch.isfinite(points.grad).all()
    assert torch.cuda.max_memory_allocated() - before < 200 * n * d  # n x n would be 2500 times d


def test_updates_wait_only_for_how_far_points_reach(digits):
    """One small transfer per evaluation, which settles how points are compared."""
    X, y = digits
    model = NeighborhoodComponents(
        2, engine="cuda", batching="random", batch_size=300, max_iter=20, early_stopping=False
    )
    model.set_params(regularization=0.01).fit(X, y)  # compiled
    with warnings.catch_warnings(record=True) as waits:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            model.fit(X, y)
        finally:
            torch.cuda.set_sync_debug_mode("default")
    messages = [str(each.message) for each in waits]
    assert sum("called a synchronizing" in message for message in messages) < 4 * 20 + 60


@pytest.fixture
def worker_with_gpu():
    distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", processes=True
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def taken_by(client):
    """The most memory of the device that the worker, another process, has ever held."""
    (taken,) = client.run(torch.cuda.max_memory_allocated).values()
    return taken


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_workers_of_a_cluster_use_their_gpu(worker_with_gpu):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300_000, 6))
    y = 2 * (X[:, 0] > 0) + (X[:, 1] > 0)
    A = 0.5 * rng.normal(size=(3, 6))
    assert taken_by(worker_with_gpu) == 0
    value, gradient = objective(A, X, y, engine="dask")
    assert taken_by(worker_with_gpu) > 0
    expected, slope = objective(A, X, y, engine="cuda")
    assert_allclose(value, expected, rtol=1e-5)
    assert_allclose(gradient, slope, atol=1e-4 * np.abs(slope).max())
    queries = rng.normal(size=(100_000, 6))
    found = log_density(queries, X, covariance=0.04, engine="dask")
    few = log_density(queries[:50], X, covariance=0.04, engine="blocked")
    assert_allclose(found[:50], few, atol=1e-4)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_on_a_cluster_uses_the_gpu_of_its_worker(worker_with_gpu):
    da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
    X, y = make_blobs(65_536, 20, centers=6, cluster_std=4.0, random_state=0)
    known = {"batching": "full", "max_iter": 20, "regularization": 1e-3, "random_state": 0}
    rows = da.from_array(X, chunks=(10_000, 20)), da.from_array(y, chunks=10_000)
    model = NeighborhoodComponents(2, **known).fit(*rows)
    assert model.engine_ == "dask"
    assert taken_by(worker_with_gpu) > 0
    alone = NeighborhoodComponents(2, **known, engine="cuda").fit(X, y)
    assert_allclose(model.objective_, alone.objective_, rtol=1e-3)
