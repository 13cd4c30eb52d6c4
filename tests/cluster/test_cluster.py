"""Fits on a real cluster of processes: the same models, whatever happens to the workers."""

import gc
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

if "PYTEST_XDIST_WORKER" in os.environ:
    reason = "processes of a cluster need the cores: run it alone, without -n, as .ci/run does"
    pytest.skip(reason, allow_module_level=True)

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array", reason="the extra dask is not installed")
distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")
psutil = pytest.importorskip("psutil", reason="comes with distributed")

from vicinal import (  # noqa: E402
    DivergenceNeighbors,
    LatentCoincidence,
    LocalComponents,
    ModeClustering,
    NeighborhoodComponents,
)
from vicinal.inputs.features import class_units  # noqa: E402
from vicinal.nca.criteria import CRITERIA  # noqa: E402
from vicinal.nca.equations import Objective  # noqa: E402
from vicinal.nca.learning import Coordinates, NeighborhoodProblem  # noqa: E402
from vicinal.nca.training_set import TrainingSet  # noqa: E402
from vicinal.neighborhood import Workload, choose_engine, law_named  # noqa: E402
from vicinal.neighborhood.cluster import sharing  # noqa: E402
from vicinal.neighborhood.cluster.presence import asks_workers  # noqa: E402
from vicinal.neighborhood.cluster.rows import spread  # noqa: E402
from vicinal.neighborhood.cluster.running import Tasks  # noqa: E402

# Sockets of processes that were killed are left to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

PATIENCE = {
    "distributed.scheduler.allowed-failures": 1,
    "distributed.comm.timeouts.connect": "3s",
    # So long after a worker was lost, Dask looks whether it is back, and gives it up for good if
    # it is not: also where it was back, and the next test has killed it again.
    "distributed.deploy.lost-worker-timeout": "1 hour",
}

FULL = {"batching": "full", "max_iter": 6, "regularization": 0.01}
STOCHASTIC = {"batching": "stochastic", "batch_size": 200, "max_iter": 8, "regularization": 0.01}
RANDOM = {"batching": "random", "batch_size": 400, "max_iter": 8, "regularization": 0.01}
FARTHEST = {**RANDOM, "batching": "farthest"}
RECIPES = {"full": FULL, "stochastic": STOCHASTIC, "random": RANDOM, "farthest": FARTHEST}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """So that there is something to share."""
    monkeypatch.setattr("vicinal.neighborhood.cluster.engine.FEW_PAIRS", 300_000)
    monkeypatch.setattr("vicinal.neighborhood.cluster.blocks.LEAST_ROWS", 200)


@pytest.fixture(scope="module")
def cluster():
    with (
        dask.config.set(PATIENCE),
        distributed.LocalCluster(
            processes=True, n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        try:
            client.wait_for_workers(2, timeout=30)
        except TimeoutError:  # one that was killed has not come back: begin with others
            cluster.scale(0)
            cluster.scale(2)
            client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture(scope="module", autouse=True)
def nobody_is_left_behind():
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    yield
    now = psutil.Process().children(recursive=True)
    started = [p for p in now if p.pid not in before and not is_tracker(p)]
    assert not psutil.wait_procs(started, timeout=10)[1]


def is_tracker(process):
    """Of multiprocessing's resources, which ends with the process that has started it."""
    try:
        return "resource_tracker" in " ".join(process.cmdline())
    except psutil.Error:
        return False


@pytest.fixture(scope="module")
def labeled():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 1500)
    X = rng.normal(size=(1500, 5))
    X[:, :2] += 2.0 * np.stack([y == 1, y == 2], axis=1)
    return X, y


def nca(engine, **parameters):
    return NeighborhoodComponents(2, engine=engine, random_state=0, **parameters)


def at_evaluation(monkeypatch, number, action):
    """Do something when the objective is asked for so many times."""
    original, calls = NeighborhoodProblem._evaluated, []

    def evaluated(self, *args):
        calls.append(None)
        if len(calls) == number:
            action()
        return original(self, *args)

    monkeypatch.setattr(NeighborhoodProblem, "_evaluated", evaluated)
    return calls


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_the_model_of_one_machine(client, labeled, recipe):
    X, y = labeled
    expected = nca("auto", **recipe).fit(X, y)
    models = [nca("dask", **recipe).fit(X, y)]
    for chunks in ((1500, 5), (123, 3)):
        rows = da.from_array(X, chunks=chunks)
        models.append(nca("auto", **recipe).fit(rows, da.from_array(y, chunks=300)))
        assert models[-1].engine_ == "dask"
        assert models[-1].engine_reason_ == "X is an array of Dask, and a client is open"
    for model in models:
        assert_allclose(model.components_, expected.components_, rtol=1e-6, atol=1e-8)
        assert_allclose(model.predict_proba(X[:50]), expected.predict_proba(X[:50]), rtol=1e-6)
    assert_array_equal(models[1].components_, models[2].components_)


@pytest.mark.parametrize("recipe", [FULL, STOCHASTIC], ids=["full", "stochastic"])
def test_any_number_of_workers_gives_the_same_bits(client, cluster, labeled, recipe):
    X, y = labeled
    two = nca("dask", **recipe).fit(X, y)
    cluster.scale(1)
    while len(client.scheduler_info()["workers"]) > 1:
        time.sleep(0.05)
    one = nca("dask", **recipe).fit(X, y)
    cluster.scale(2)
    assert_array_equal(one.components_, two.components_)


def test_any_number_of_threads_gives_the_same_bits(client, labeled):
    """Three threads have no even share of eight blocks; rows are where Dask has put them."""
    X, y = labeled
    expected = nca("dask", **STOCHASTIC).fit(da.from_array(X, chunks=(400, 5)), y)
    options = {"processes": False, "n_workers": 1, "threads_per_worker": 3}
    with (
        distributed.LocalCluster(**options, dashboard_address=":0") as other,
        distributed.Client(other),
    ):
        rows = da.from_array(X, chunks=(200, 5)).persist()
        model = nca("dask", **STOCHASTIC).fit(rows, y)
    assert_array_equal(model.components_, expected.components_)


# A stochastic step: rows of its batch, their columns and components.
BATCH, COLUMNS, COMPONENTS = 200, 5, 2


def stochastic_steps(n):
    """Rows on the workers, and what makes a step of a batch against all of them."""
    rng = np.random.default_rng(0)
    y, start = rng.integers(0, 3, n), np.eye(COMPONENTS, COLUMNS)
    rows = TrainingSet(class_units(rng.normal(size=(n, COLUMNS)), y, 3), y)
    engine = choose_engine("dask", Workload(BATCH, n, COMPONENTS, 10))[0]
    objective = Objective(law_named("gaussian"), CRITERIA["accuracy"], "empirical", 3)
    coordinates = Coordinates(np.eye(COLUMNS), start.shape)
    problem = NeighborhoodProblem(rows, objective, engine, coordinates, 0.0)
    there = problem.everything

    def step():
        own = np.sort(rng.choice(n, BATCH, replace=False))
        return problem._of_rows(there, start, own)

    return there.X, step


def sent_by_workers(client):
    """Bytes, as the workers count them: to each other, and to us."""
    sent = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return sum(sent.values())


def bytes_of_a_step(client, n):
    _, step = stochastic_steps(n)
    step()  # which sends labels, too
    before = sent_by_workers(client)
    for _ in range(4):
        step()
    return (sent_by_workers(client) - before) / 4


def test_a_step_moves_a_batch_and_its_sums_however_many_keys_there_are(client):
    few, many = (bytes_of_a_step(client, n) for n in (8000, 32_000))
    n_workers = len(client.nthreads())
    # Of every row of a batch: its columns; coordinates, class and place; slopes and coefficients;
    # peak, mass, slope and moments of its sums, each for two parts.
    numbers = COLUMNS + (COMPONENTS + 2) + 4 + 2 * (3 + COMPONENTS)
    assert 0 < few <= 1.2 * 8 * BATCH * numbers * n_workers
    assert many <= 1.05 * few


def test_rows_stay_where_they_live(client):
    X, step = stochastic_steps(8000)
    step()  # after which they are all there
    before = client.who_has(X)
    for _ in range(3):
        step()
    assert client.who_has(X) == before
    homes = [before[X.name, i, 0] for i in range(32)]
    assert [len(who) for who in homes] == [1] * 32
    assert homes[:16] == homes[:1] * 16  # neighbors live together
    assert homes[16:] == homes[16:17] * 16
    assert homes[0] != homes[16]


def test_chunks_that_are_blocks_get_their_places_when_they_are_read(client):
    """Left to Dask neighbors would live apart, and every step move a sum for each of them."""
    rows = da.random.random((8000, 5), chunks=(250, 5))
    X = spread(rows)
    homes = [client.who_has(wait_for(X))[X.name, i, 0] for i in range(32)]
    assert X.chunks == rows.chunks
    assert homes == homes[:1] * 16 + homes[16:17] * 16
    assert homes[0] != homes[16]
    held = rows.persist()
    assert spread(held).name == held.name  # these stay where they are


def wait_for(X):
    distributed.wait(X)
    return X


def test_a_new_worker_gets_its_share(client, cluster):
    X, step = stochastic_steps(8000)
    step()
    cluster.scale(3)
    client.wait_for_workers(3, timeout=60)
    step()
    holders = {worker for who in client.who_has(X).values() for worker in who}
    cluster.scale(2)
    assert len(holders) == 3


def test_nothing_stays_on_the_workers(client, labeled):
    X, y = labeled
    for recipe in (FULL, STOCHASTIC, RANDOM):
        nca("dask", **recipe).fit(da.from_array(X, chunks=(400, 5)), y)
    gc.collect()
    deadline = time.monotonic() + 20
    while client.who_has() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not client.who_has()


def test_answers_about_rows_on_the_cluster(client, labeled):
    X, y = labeled
    model = nca("dask", **FULL).fit(X, y)
    rows = da.from_array(X, chunks=(400, 5))
    found = model.predict_proba(rows)
    assert isinstance(found, da.Array)
    assert_allclose(found.compute(), model.predict_proba(X), rtol=1e-9)


def test_densities(client, labeled):
    X, _ = labeled
    expected = LocalComponents(max_iter=4, regularization=0.01).fit(X)
    model = LocalComponents(max_iter=4, regularization=0.01, engine="dask").fit(X)
    assert_allclose(model.covariance_, expected.covariance_, rtol=1e-8)
    assert_allclose(model.score_samples(X), expected.score_samples(X), rtol=1e-8)
    rows = da.from_array(X, chunks=(400, 5))
    assert_allclose(model.score_samples(rows).compute(), expected.score_samples(X), rtol=1e-8)
    again = LocalComponents(max_iter=4, regularization=0.01).fit(rows)
    assert again.engine_ == "dask"
    assert_array_equal(again.covariance_, model.covariance_)


def test_streams(client, labeled):
    X, y = labeled
    expected, model = (nca("auto", batch_size=500, reservoir_size=400) for _ in range(2))
    expected.partial_fit(X, y)
    model.partial_fit(da.from_array(X, chunks=(400, 3)), da.from_array(y, chunks=400))
    assert model.engine_ == "dask"
    assert_allclose(model.components_, expected.components_, rtol=1e-8)


def test_clusters(client, labeled):
    X = labeled[0] + 9.0 * (labeled[1] == 1)[:, None]
    density = LocalComponents(covariance="diag", regularization=0.01, max_iter=3)
    expected = ModeClustering(density, max_samples=500, random_state=0).fit(X)
    model = ModeClustering(density, max_samples=500, random_state=0)
    model.fit(da.from_array(X, chunks=(400, 3)))
    assert expected.n_clusters_ == 2
    assert_array_equal(model.labels_, expected.labels_)


def noted(monkeypatch):
    """Names of what is shared out, as it goes to the workers."""
    names, kept = [], sharing.kept
    monkeypatch.setattr(
        sharing, "kept", lambda value, what: names.append(what) or kept(value, what)
    )
    return names


@pytest.mark.parametrize("kind", ["here", "there"])
def test_the_graph_of_divergences(client, labeled, kind, monkeypatch):
    """All pairs, and candidates of Gaussians that are made when they are asked for."""
    monkeypatch.setattr("vicinal.divergence.engines.FEW_PAIRS", 10_000)
    monkeypatch.setattr("vicinal.inputs.nearest._is_for_workers", lambda *_: asks_workers())
    monkeypatch.setattr("vicinal.inputs.nearest._queries_per_share", lambda *_: 100)
    monkeypatch.setattr("vicinal.divergence.local._STORED_NUMBERS", 1000)
    monkeypatch.setattr("vicinal.divergence.made._MUCH", 0)
    sent = noted(monkeypatch)
    X = labeled[0][:600]
    rows = X if kind == "here" else da.from_array(X, chunks=(170, 5))
    engine = "dask" if kind == "here" else "auto"
    for parameters in ({}, {"n_graph_neighbors": 5}, {"n_graph_neighbors": 5, "n_candidates": 20}):
        expected = DivergenceNeighbors(**parameters).fit_transform(X)
        found = DivergenceNeighbors(**parameters, engine=engine).fit_transform(rows)
        if parameters:
            assert_array_equal(found.indices, expected.indices)
            found, expected = found.data, expected.data
        assert_allclose(found, expected, rtol=1e-10)
    assert set(sent) == {"neighbors", "gaussians", "divergences", "nearest", "candidates"}


@pytest.mark.parametrize("kind", ["here", "there"])
def test_pairs_that_labels_make(client, labeled, kind, monkeypatch):
    monkeypatch.setattr("vicinal.inputs.nearest._is_for_workers", lambda *_: asks_workers())
    monkeypatch.setattr("vicinal.inputs.nearest._queries_per_share", lambda *_: 100)
    monkeypatch.setattr("vicinal.coincidence.neighbors._MUCH", 0)
    X, y = labeled[0][:400], labeled[1][:400]
    recipe = {"pairs": "impostors", "early_stopping": False, "max_iter": 5}
    expected = LatentCoincidence(2, **recipe).fit(X, y)
    sent = noted(monkeypatch)
    rows = X if kind == "here" else da.from_array(X, chunks=(130, 3))
    engine = "dask" if kind == "here" else "auto"
    model = LatentCoincidence(2, **recipe, engine=engine).fit(rows, y)
    assert set(sent) == {"neighbors", "impostors"}
    assert_array_equal(model.components_, expected.components_)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
@pytest.mark.parametrize("kind", ["here", "there"])
def test_a_worker_that_is_killed(client, labeled, recipe, kind, monkeypatch):
    X, y = labeled
    rows = X if kind == "here" else da.from_array(X, chunks=(400, 5))
    expected = nca("dask", **recipe).fit(rows, y)
    killed = []

    def kill():
        address, pid = next(iter(client.run(os.getpid).items()))
        killed.append(address)
        os.kill(pid, signal.SIGKILL)

    calls = at_evaluation(monkeypatch, 4, kill)
    model = nca("dask", **recipe).fit(rows, y)
    assert killed
    assert len(calls) > 4
    assert_array_equal(model.components_, expected.components_)
    client.wait_for_workers(2, timeout=60)


WITHOUT_CLASSES = {
    "density": lambda X: density(max_iter=4).fit(X).covariance_,
    "density, batches": lambda X: density(batch_size=300, max_iter=4).fit(X).covariance_,
    "divergences": lambda X: DivergenceNeighbors(engine="dask").fit_transform(X[:600]),
    "graph": lambda X: (
        DivergenceNeighbors(n_graph_neighbors=5, engine="dask").fit_transform(X[:600]).toarray()
    ),
}


def density(**parameters):
    return LocalComponents(regularization=0.01, engine="dask", random_state=0, **parameters)


@pytest.mark.parametrize("kind", WITHOUT_CLASSES)
def test_a_worker_that_is_killed_with_what_was_sent_to_it(client, labeled, kind, monkeypatch):
    """Before a graph runs that needs keys, or Gaussians, which were on it."""
    monkeypatch.setattr("vicinal.divergence.engines.FEW_PAIRS", 10_000)
    expected = WITHOUT_CLASSES[kind](labeled[0])
    computed, calls = Tasks._computed, []

    def kills(self, keys):
        calls.append(None)
        if len(calls) == 1:
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
        return computed(self, keys)

    monkeypatch.setattr(Tasks, "_computed", kills)
    assert_array_equal(WITHOUT_CLASSES[kind](labeled[0]), expected)
    assert calls
    client.wait_for_workers(2, timeout=60)


def test_a_cluster_that_shrinks_and_grows(client, cluster, labeled, monkeypatch):
    X, y = labeled
    expected = nca("dask", **FULL).fit(X, y)
    at_evaluation(monkeypatch, 3, lambda: cluster.scale(1))
    shrunk = nca("dask", **FULL).fit(X, y)
    monkeypatch.undo()
    monkeypatch.setattr("vicinal.neighborhood.cluster.engine.FEW_PAIRS", 300_000)
    monkeypatch.setattr("vicinal.neighborhood.cluster.blocks.LEAST_ROWS", 200)
    at_evaluation(monkeypatch, 3, lambda: cluster.scale(3))
    grown = nca("dask", **FULL).fit(X, y)
    cluster.scale(2)
    assert_array_equal(shrunk.components_, expected.components_)
    assert_array_equal(grown.components_, expected.components_)


def test_a_chunk_that_cannot_be_read(client, labeled, tmp_path):
    X, y = labeled
    paths = [tmp_path / f"part{i}.npy" for i in range(3)]
    for path, part in zip(paths, np.split(X, 3), strict=True):
        np.save(path, part)

    def rows():
        load = dask.delayed(np.load)
        parts = [da.from_delayed(load(str(path)), (500, 5), X.dtype) for path in paths]
        return da.concatenate(parts)

    assert nca("dask", **FULL).fit(rows(), y).components_.shape == (2, 5)
    paths[1].unlink()
    model = nca("dask", **FULL)
    with pytest.raises(OSError, match=r"X cannot be read by a worker.*part1\.npy"):
        model.fit(rows(), y)
    assert not hasattr(model, "components_")


def test_gaps_are_named(client, labeled):
    X, y = labeled
    holes = X.copy()
    holes[777, 3] = np.nan
    with pytest.raises(ValueError, match=r"X contains nan .* in row 777, column 3"):
        nca("dask", **FULL).fit(da.from_array(holes, chunks=(400, 5)), y)


def test_a_worker_out_of_memory(labeled):
    X, y = labeled

    def greedy(block):
        return block + np.ones(10**9)[0] * 0.0 if len(block) else block

    rows = da.from_array(X, chunks=(500, 5)).map_blocks(greedy, dtype=X.dtype)
    model = nca("dask", **FULL)
    limits = {"distributed.worker.memory.monitor-interval": "20ms", **PATIENCE}
    limits["distributed.scheduler.allowed-failures"] = 0
    with (
        dask.config.set(limits),
        distributed.LocalCluster(
            processes=True,
            n_workers=1,
            threads_per_worker=1,
            memory_limit="1GB",
            dashboard_address=":0",
        ) as small,
        distributed.Client(small),
        pytest.raises(RuntimeError, match=r"out of memory.*memory_limit of the cluster"),
    ):
        model.fit(rows, y)
    assert not hasattr(model, "components_")


def test_a_scheduler_that_is_gone(labeled, monkeypatch, tmp_path):
    """Started by hand, as the documentation has it, and killed in the middle of a fit."""
    X, y = labeled
    file = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    scheduler = subprocess.Popen(
        [*command, "--port", "0", "--no-dashboard", "--scheduler-file", str(file)],
        stderr=subprocess.DEVNULL,
    )
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file)]
    worker = subprocess.Popen(
        [*command, "--nthreads", "1", "--no-dashboard", "--death-timeout", "20"],
        stderr=subprocess.DEVNULL,
    )
    try:
        with dask.config.set(PATIENCE):
            client = distributed.Client(scheduler_file=str(file), timeout="30s")
            client.wait_for_workers(1, timeout=60)
            model = nca("dask", **FULL).fit(X, y)
            before = model.components_
            at_evaluation(monkeypatch, 3, scheduler.kill)
            with pytest.raises(RuntimeError, match="connection to the cluster was lost"):
                model.fit(X[:1400], y[:1400])
            assert model.components_ is before
            client.close(timeout=1)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()


def test_a_client_that_is_closed(cluster, labeled):
    X, y = labeled
    distributed.Client(cluster).close()
    with pytest.raises(ValueError, match="no client is open"):
        nca("dask", **FULL).fit(X, y)
    with pytest.raises(ValueError, match="no client is open"):
        LocalComponents(engine="dask").fit(X)


def test_rows_and_labels_that_a_closed_client_has_held(cluster, labeled):
    X, y = labeled
    with distributed.Client(cluster):
        rows = da.from_array(X, chunks=(400, 5)).persist() + 1.0
        labels = da.from_array(y, chunks=400).persist()
        model = nca("auto", **FULL).fit(rows, labels)
    told = "X was held by the workers of a cluster, and its client is closed"
    for ask in (lambda: nca("auto").fit(rows, y), lambda: model.predict(rows)):
        with pytest.raises(ValueError, match=told):
            ask()
    with pytest.raises(ValueError, match="y was held by the workers of a cluster"):
        model.score(X, labels)


def test_what_is_wrong_is_told_before_any_work(client, labeled):
    X, y = labeled
    rows = da.from_array(X, chunks=(400, 5))
    with pytest.raises(ValueError, match=r"chunks of unknown sizes.*compute_chunk_sizes"):
        nca("dask", **FULL).fit(rows[da.from_array(y, chunks=400) > 0], y)
    with pytest.raises(ValueError, match="y has 1400 values, but X has 1500 rows"):
        nca("dask", **FULL).fit(rows, y[:1400])


def test_predictions_without_the_cluster(cluster, labeled):
    X, y = labeled
    with distributed.Client(cluster):
        model = nca("dask", **FULL).fit(X, y)
        expected = model.predict_proba(X[:10])
    with pytest.warns(UserWarning, match="no client is open"):
        found = model.predict_proba(X[:10])
    assert_allclose(found, expected, rtol=1e-9)


def test_ctrl_c_keeps_the_best_map(client, labeled, monkeypatch):
    X, y = labeled

    def interrupt():
        raise KeyboardInterrupt

    at_evaluation(monkeypatch, 4, interrupt)
    with pytest.warns(Warning, match="interrupt"):
        model = nca("dask", **FULL).fit(X, y)
    assert model.n_iter_ >= 1
    assert not client.processing() or not any(client.processing().values())
