"""Divergences by Dask's scheduler of one thread: those of one machine, in whatever shares."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array", reason="the extra dask is not installed")

from vicinal import DivergenceEmbedding, DivergenceNeighbors  # noqa: E402
from vicinal.divergence import local, made, paired, pairwise  # noqa: E402
from vicinal.divergence.cluster import SpreadComparison  # noqa: E402
from vicinal.divergence.comparison import Comparison  # noqa: E402
from vicinal.divergence.divergences import DIVERGENCES, divergence_named  # noqa: E402
from vicinal.divergence.places import HOST  # noqa: E402
from vicinal.inputs import cells, nearest  # noqa: E402
from vicinal.neighborhood.cluster.presence import asking_workers, asks_workers  # noqa: E402
from vicinal.neighborhood.cluster.sharing import shared  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread(monkeypatch):
    """Small problems are sent, too."""
    monkeypatch.setattr("vicinal.divergence.engines.FEW_PAIRS", 1000)
    monkeypatch.setattr(nearest, "_is_for_workers", lambda keys, queries: asks_workers())
    monkeypatch.setattr(nearest, "_queries_per_share", lambda *sizes: 30)
    monkeypatch.setattr(cells, "_MUCH", 0)
    monkeypatch.setattr(made, "_MUCH", 0)
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def small_tiles(monkeypatch):
    """So that there are many, in many squares."""
    monkeypatch.setattr("vicinal.divergence.places._TILE", 8)


@pytest.fixture
def sent(monkeypatch):
    """What goes to the workers, by its name."""
    from vicinal.neighborhood.cluster import sharing

    names, kept = [], sharing.kept
    monkeypatch.setattr(
        sharing, "kept", lambda value, what: names.append(what) or kept(value, what)
    )
    return names


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(230, 6)) * [1, 2, 3, 1, 1, 1]
    X[:100] += 8.0
    X[7] = X[3]  # twins
    return X


def neighbors(**parameters):
    return DivergenceNeighbors(8, **parameters)


@pytest.mark.parametrize("divergence", DIVERGENCES)
def test_all_pairs(points, divergence, small_tiles, sent):
    expected = neighbors(divergence=divergence).fit_transform(points)
    found = neighbors(divergence=divergence, engine="dask").fit_transform(points)
    assert_array_equal(found, expected)
    assert "divergences" in sent


@pytest.mark.parametrize("divergence", DIVERGENCES)
@pytest.mark.parametrize("n_candidates", [None, 20])
def test_the_graph(points, divergence, n_candidates, small_tiles, sent):
    graph = {"divergence": divergence, "n_graph_neighbors": 5, "n_candidates": n_candidates}
    expected = neighbors(**graph).fit_transform(points)
    found = neighbors(**graph, engine="dask").fit_transform(points)
    assert_array_equal(found.indices, expected.indices)
    assert_allclose(found.data, expected.data, rtol=1e-12)
    assert sent


def test_one_that_is_not_symmetric(points, small_tiles, monkeypatch):
    lopsided = replace(divergence_named("jeffreys"), symmetric=False)
    P = local.LocalModel(8).fit(points)
    for k in (5, 100):  # more than a square has columns
        expected = Comparison(lopsided).nearest(P, None, k)
        found = Comparison(lopsided, engine="dask").nearest(P, None, k)
        for one, other in zip(found, expected, strict=True):
            assert_array_equal(one, other)
    expected = Comparison(lopsided).matrix(P)
    assert_array_equal(Comparison(lopsided, engine="dask").matrix(P), expected)


def test_gaussians_that_are_made_when_they_are_asked_for(points, monkeypatch, sent):
    monkeypatch.setattr(local, "_STORED_NUMBERS", 100)
    graph = {"n_graph_neighbors": 5, "n_candidates": 20, "search": "approximate"}
    expected = neighbors(**graph).fit(points)
    model = neighbors(**graph, engine="dask").fit(points)
    assert not model.gaussians_.is_stored
    assert set(sent) >= {"gaussians", "neighbors"}
    there, here = model.transform(points[:30] + 0.1), expected.transform(points[:30] + 0.1)
    assert_array_equal(there.indices, here.indices)
    assert_allclose(there.data, here.data, rtol=1e-12)


def test_few_results_at_a_time(points, small_tiles, monkeypatch):
    expected = neighbors().fit_transform(points)
    monkeypatch.setattr("vicinal.divergence.cluster._NUMBERS_AT_A_TIME", 1)
    assert_array_equal(neighbors(engine="dask").fit_transform(points), expected)


def test_new_points(points, sent):
    new = points[:40] + 0.1
    for graph in ({}, {"n_graph_neighbors": 4}, {"n_graph_neighbors": 4, "n_candidates": 30}):
        expected = neighbors(**graph).fit(points).transform(new)
        model = neighbors(**graph, engine="dask").fit(points)
        sent.clear()
        found = model.transform(new)
        assert sent
        if graph:
            assert_array_equal(found.indices, expected.indices)
            found, expected = found.data, expected.data
        assert_allclose(found, expected, rtol=1e-12)


def test_functions(points):
    assert_array_equal(pairwise(points, engine="dask"), pairwise(points))
    new = points[:50] + 0.1
    assert_array_equal(pairwise(new, points, engine="dask"), pairwise(new, points))
    pairs = np.random.default_rng(0).integers(0, len(points), (2000, 2))
    assert_allclose(paired(points, pairs, engine="dask"), paired(points, pairs), rtol=1e-12)


@pytest.mark.parametrize("method", ["isomap", "laplacian", "lle", "mds"])
@pytest.mark.filterwarnings("ignore:the neighborhood graph has")
def test_embeddings(points, method, sent):
    expected = DivergenceEmbedding(method=method, random_state=0).fit_transform(points)
    found = DivergenceEmbedding(method=method, random_state=0, engine="dask").fit_transform(points)
    assert_allclose(np.abs(found), np.abs(expected), rtol=1e-6, atol=1e-8)
    assert sent


def test_edges_between_components(points, sent, monkeypatch):
    """Of two clouds far apart, compared by workers as here."""
    far = np.concatenate([points[:100], points[100:] + 1000.0])
    monkeypatch.setattr("vicinal.divergence.engines.FEW_PAIRS", 5)
    model = DivergenceEmbedding(n_graph_neighbors=5, engine="dask", n_candidates=10)
    with pytest.warns(UserWarning, match="2 components"):
        found = model.fit(far).dist_matrix_
    assert "edges" in sent
    with pytest.warns(UserWarning, match="2 components"):
        expected = DivergenceEmbedding(n_graph_neighbors=5, n_candidates=10).fit(far).dist_matrix_
    assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("chunks", [(230, 6), (17, 2)])
def test_rows_of_dask(points, chunks, sent):
    rows = da.from_array(points, chunks=chunks)
    expected = neighbors(n_graph_neighbors=5).fit_transform(points)
    assert not sent
    found = neighbors(n_graph_neighbors=5).fit_transform(rows)
    assert "nearest" in sent
    assert_array_equal(found.toarray(), expected.toarray())


def test_who_is_asked_for_by_name_computes_here(points, sent):
    neighbors(engine="dense").fit_transform(da.from_array(points, chunks=(100, 6)))
    assert not sent


@pytest.mark.parametrize(("n_queries", "n_tasks"), [(31 * 128, []), (32 * 128, [32])])
def test_a_search_that_is_seconds_of_work_is_shared_out(n_queries, n_tasks, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(nearest, "_TILE_WORK", 1000 * 40 * 100)  # of a hundred queries
    rng, tasks = np.random.default_rng(0), []
    keys, queries = rng.normal(size=(1000, 40)), rng.normal(size=(n_queries, 40))
    expected = nearest.nearest(keys, queries, 3)
    monkeypatch.setattr(
        nearest, "shared", lambda *given: tasks.append(len(given[1])) or shared(*given)
    )
    with asking_workers():
        found = nearest.nearest(keys, queries, 3)
    assert tasks == n_tasks
    for one, other in zip(found, expected, strict=True):
        assert_array_equal(one, other)


def test_few_pairs_are_compared_here(points, sent, monkeypatch):
    monkeypatch.setattr("vicinal.divergence.engines.FEW_PAIRS", 230 * 115)
    neighbors(engine="dask").fit_transform(points)
    assert "divergences" not in sent


def test_a_worker_chooses_by_what_it_has_itself(points, monkeypatch):
    """Not by what the machine has that asks: this one has a GPU, and its workers have none."""
    from vicinal.neighborhood.cluster.presence import is_worker

    asked = []

    def choose(engine, divergence, n_pairs):
        asked.append((is_worker(), engine, n_pairs))
        return HOST

    monkeypatch.setattr("vicinal.divergence.comparison.choose_place", choose)
    neighbors(engine="dask").fit_transform(points)
    # Whether a GPU pays is asked of all pairs, not of those of a share.
    assert set(asked) == {(True, "auto", 230 * 230 // 2)}


def test_without_a_cluster(points):
    model = neighbors(engine="dask").fit(points)
    expected = model.transform(points[:5])
    with dask.config.set(scheduler=None):
        for refused in (neighbors(engine="dask"), DivergenceEmbedding(engine="dask")):
            with pytest.raises(ValueError, match=r"dask.distributed.Client\(\)"):
                refused.fit(points)
        with pytest.raises(ValueError, match=r"dask.distributed.Client\(\)"):
            paired(points, [[0, 1]], engine="dask")
        with pytest.warns(UserWarning, match="no client is open: divergences are computed on this"):
            found = model.transform(points[:5])
    assert_allclose(found, expected, rtol=1e-12)


def test_shares_are_whole_tiles(points):
    P = local.LocalModel(8).fit(points)
    comparison = SpreadComparison(divergence_named("jeffreys"), n_pairs=1)
    squares = comparison._squares(comparison._ready(P, None))
    assert squares == [
        (slice(0, 128), slice(0, 128)),
        (slice(0, 128), slice(128, 230)),
        (slice(128, 230), slice(128, 230)),
    ]
