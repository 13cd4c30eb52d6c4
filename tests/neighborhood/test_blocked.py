from types import SimpleNamespace

import numpy as np
import pytest
import threadpoolctl
from neighborhood.conformance import EngineConformance

from vicinal.neighborhood import GAUSSIAN, Pairs
from vicinal.neighborhood.blocked import BlockedEngine


class TestBlockedCompiled(EngineConformance):
    def make(self, n_jobs=1, tile=None):
        return BlockedEngine(n_jobs, tile=tile, into_tile=tile or 512)


class TestBlockedInNumPy(EngineConformance):
    def make(self, n_jobs=1, tile=None):
        return BlockedEngine(n_jobs, tile=tile, into_tile=tile or 512, compiled=False)


@pytest.mark.parametrize("into_tile", [1, 7, 16, 100])
def test_width_of_the_products_does_not_matter(into_tile):
    rng = np.random.default_rng(0)
    pairs = Pairs.among(rng.normal(size=(100, 5)), rng.integers(0, 3, 100))
    expected = BlockedEngine().rows(pairs, GAUSSIAN).finish()
    rows = BlockedEngine(into_tile=into_tile).rows(pairs, GAUSSIAN).finish()
    np.testing.assert_allclose(rows.log_mass, expected.log_mass, rtol=1e-13)


def test_float32_products_give_way_to_float64_where_they_would_lose_the_distance():
    rng = np.random.default_rng(0)
    near = rng.normal(size=(50, 3))
    clusters = np.vstack([near + 1000, near - 1000]).astype(np.float32)
    pairs = Pairs.among(clusters)
    rows = BlockedEngine().rows(pairs, GAUSSIAN).finish()
    exact = BlockedEngine().rows(Pairs.among(clusters.astype(float)), GAUSSIAN).finish()
    np.testing.assert_allclose(rows.log_mass, exact.log_mass, atol=1e-6)


def compiled_calls(monkeypatch, look):
    """Engine that asks `look` before every tile is handed to compiled code, and all answers."""
    engine, seen = BlockedEngine(2, tile=100), []
    kernels = engine._sweeps

    def rows_of_pieces(*given):
        seen.append(look())
        kernels.rows_of_pieces(*given)

    monkeypatch.setattr(engine, "_sweeps", SimpleNamespace(rows_of_pieces=rows_of_pieces))
    return engine, seen


def test_a_tile_goes_to_compiled_code_once_however_many_classes_it_has(monkeypatch):
    engine, seen = compiled_calls(monkeypatch, lambda: None)
    rng = np.random.default_rng(0)
    engine.rows(Pairs.among(rng.normal(size=(300, 5)), rng.integers(0, 20, 300)), GAUSSIAN)
    assert len(seen) == 3


def test_every_blas_has_one_thread_inside_a_tile(monkeypatch):
    # Compiled code calls SciPy's, which is not NumPy's.
    engine, seen = compiled_calls(monkeypatch, threadpoolctl.threadpool_info)
    engine.rows(Pairs.among(np.random.default_rng(0).normal(size=(2000, 5))), GAUSSIAN)
    libraries = [one for found in seen for one in found if one["user_api"] == "blas"]
    assert {one["num_threads"] for one in libraries} == {1}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_tiles_and_steps_in_python_agree(dtype):
    rng = np.random.default_rng(0)
    pairs = Pairs.among(rng.normal(size=(700, 30)).astype(dtype) / 8, rng.integers(0, 9, 700))
    at_once, in_steps = BlockedEngine(2), BlockedEngine(1, compiled=False)
    rows, expected = (engine.rows(pairs, GAUSSIAN).finish() for engine in (at_once, in_steps))
    close = {"rtol": 300 * np.finfo(dtype).eps, "atol": 300 * np.finfo(dtype).eps}
    np.testing.assert_allclose(rows.log_mass, expected.log_mass, **close)
    np.testing.assert_allclose(rows.centroid, expected.centroid, **close)
    given = pairs, GAUSSIAN, rows.log_slope, rng.normal(size=rows.log_slope.shape)
    columns, expected = (engine.columns(*given) for engine in (at_once, in_steps))
    np.testing.assert_allclose(columns.total, expected.total, **close)
    np.testing.assert_allclose(columns.moment, expected.moment, **close)
