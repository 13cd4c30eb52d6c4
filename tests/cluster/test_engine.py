"""The engine of a cluster does what every engine does; here by Dask's scheduler of one thread."""

from dataclasses import replace

import numpy as np
import pytest
from neighborhood.conformance import EngineConformance
from numpy.testing import assert_allclose, assert_array_equal

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
pytest.importorskip("dask.array", reason="the extra dask is not installed")

from vicinal.neighborhood import ColumnSums, Pairs, Workload, gram, law_named, times  # noqa: E402
from vicinal.neighborhood.arrays import on_host, picked  # noqa: E402
from vicinal.neighborhood.cluster import blocks  # noqa: E402
from vicinal.neighborhood.cluster.engine import DaskEngine  # noqa: E402
from vicinal.neighborhood.cluster.rows import sent_in_blocks, spread, summed_over  # noqa: E402


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "LEAST_ROWS", 1000)


def engine_of(n_jobs=1, size=300, few_pairs=0):
    return DaskEngine(Workload(1, 1, 1), n_jobs=n_jobs, few_pairs=few_pairs, size=size)


class TestBlocksOfAnySize(EngineConformance):
    def make(self, n_jobs=1, tile=None):
        return engine_of(n_jobs, tile or 300)


class KeysOnWorkers:
    """Puts keys on the workers first, and takes column sums back."""

    def __init__(self, engine, size):
        self.engine, self.size, self.kept = engine, size, (None, None)
        self.name, self.can = engine.name, engine.can

    def _placed(self, pairs):
        if not len(pairs.keys) or not len(pairs.queries):
            return pairs
        if self.kept[0] is not pairs:
            sizes = [s.stop - s.start for s in blocks.slices_of(len(pairs.keys), self.size)]
            there = replace(pairs, keys=sent_in_blocks(pairs.keys, sizes))
            self.kept = pairs, there
        return self.kept[1]

    def rows(self, pairs, law, *, moments=True):
        return self.engine.rows(self._placed(pairs), law, moments=moments)

    def columns(self, pairs, law, log_slope, coefficients, *, moments=True):
        there = self._placed(pairs)
        found = self.engine.columns(there, law, log_slope, coefficients, moments=moments)
        return ColumnSums(on_host(found.total), on_host(found.moment))


class TestKeysOnWorkers(EngineConformance):
    def make(self, n_jobs=1, tile=None):
        size = 300 if tile is None else max(tile, 5)
        return KeysOnWorkers(engine_of(n_jobs), size)


def test_blocks_depend_on_the_number_of_rows_alone():
    sizes = [blocks.block_size(n) for n in (10, 80_000, 160_000, 10**9)]
    assert sizes == [2500, 2500, 5000, 250_000]
    assert blocks.slices_of(6000) == [slice(0, 2500), slice(2500, 5000), slice(5000, 6000)]


def test_the_chunks_of_the_user_change_no_bit(small_blocks):
    rng = np.random.default_rng(0)
    X, M = rng.normal(size=(3210, 4)), rng.normal(size=(4, 2))
    results = []
    for chunks in ((3210, 4), (100, 4), ((7, 3000, 203), (1, 3))):
        rows = spread(dask.array.from_array(X, chunks=chunks))
        assert rows.chunks == ((1000, 1000, 1000, 210), (4,))
        Z = times(rows, M)
        results.append((on_host(Z), gram(Z, rows)))
    for Z, products in results:
        assert_array_equal(Z, results[0][0])
        assert_array_equal(products, results[0][1])
    assert_allclose(results[0][0], X @ M, rtol=1e-12)
    assert_allclose(results[0][1], (X @ M).T @ X, rtol=1e-9)


def test_rows_are_taken_in_the_order_asked_for(small_blocks):
    X = np.arange(6000.0).reshape(3000, 2)
    rows, which = spread(X), np.array([2999, 0, 1500, 3, 1])
    assert_array_equal(picked(rows, which), X[which])
    assert_array_equal(picked(rows, slice(990, 1010)), X[990:1010])
    assert_array_equal(picked(rows, X[:, 0] % 7 == 0), X[X[:, 0] % 7 == 0])
    assert picked(rows, np.empty(0, dtype=int)).shape == (0, 2)


def test_sums_over_rows_and_what_is_beside_them(small_blocks):
    rng = np.random.default_rng(0)
    X, weights = rng.normal(size=(2500, 3)), rng.random(2500)
    found = summed_over(lambda block, w: w @ block, spread(X), weights)
    assert_allclose(found, weights @ X, rtol=1e-10)


def test_few_pairs_are_computed_here(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("sent to the workers")

    monkeypatch.setattr("vicinal.neighborhood.cluster.engine.kept", refuse)
    pairs = Pairs.among(np.random.default_rng(0).normal(size=(200, 2)))
    engine, law = engine_of(few_pairs=40_000), law_named("gaussian")
    rows = engine.rows(pairs, law).finish()
    engine.columns(pairs, law, rows.log_slope, np.ones_like(rows.log_slope))
    with pytest.raises(AssertionError, match="sent to the workers"):
        engine_of(few_pairs=39_999).rows(pairs, law)


def test_labels_of_keys_on_the_workers_are_sent_once(monkeypatch, small_blocks):
    rng = np.random.default_rng(0)
    keys, labels = spread(rng.normal(size=(2500, 2))), rng.integers(0, 3, 2500)
    sent = []
    monkeypatch.setattr(
        "vicinal.neighborhood.cluster.keys.sent_in_blocks",
        lambda values, *where: sent.append(values) or sent_in_blocks(values, *where),
    )
    engine, law = engine_of(), law_named("gaussian")
    for weights in (np.zeros(2500), np.zeros(2500), np.ones(2500)):
        queries = rng.normal(size=(10, 2))
        pairs = Pairs(queries, keys, np.zeros(10, dtype=int), labels, weights)
        engine.rows(pairs, law)
    assert [values.dtype.kind for values in sent] == ["i", "f", "f"]


def test_without_a_cluster_it_is_refused():
    from vicinal.neighborhood import choose_engine

    with (
        dask.config.set(scheduler=None),
        pytest.raises(ValueError, match=r"dask.distributed.Client\(\)"),
    ):
        choose_engine("dask", Workload(10, 10, 2))


def test_a_worker_uses_its_own_gpu(monkeypatch):
    """By what the worker has: here tasks find a GPU, and the machine that asks them finds none."""
    from vicinal.neighborhood import engine as choosing
    from vicinal.neighborhood.blocked import BlockedEngine
    from vicinal.neighborhood.cluster.presence import is_worker

    used = []

    class Gpu(BlockedEngine):
        name = "cuda"

        def rows(self, *args, **kwargs):
            used.append(is_worker())
            return super().rows(*args, **kwargs)

    monkeypatch.setattr(choosing, "has_gpu", is_worker)
    monkeypatch.setattr(choosing, "GPU_WORK", 0)
    monkeypatch.setitem(choosing.ENGINES, "cuda", lambda work, tolerance, n_jobs: Gpu())
    pairs = Pairs.among(np.random.default_rng(0).normal(size=(700, 2)))
    law = law_named("gaussian")
    expected = choosing.choose_engine("auto", Workload(700, 700, 2))[0].rows(pairs, law)
    assert not used
    engine_of(few_pairs=10**9).rows(pairs, law)  # on this machine
    assert not used
    found = engine_of(size=300).rows(pairs, law)
    assert used == [True] * 3
    assert_allclose(found.finish().log_mass, expected.finish().log_mass, rtol=1e-12)
