import multiprocessing
import os
import subprocess
import sys

import numpy as np
from neighborhood.conformance import EngineConformance
from numpy.testing import assert_allclose, assert_array_equal

from vicinal.neighborhood import GAUSSIAN, Pairs
from vicinal.neighborhood.fused import FusedEngine
from vicinal.neighborhood.oracle import OracleEngine


class TestFused(EngineConformance):
    def make(self, n_jobs=1, tile=None):
        return FusedEngine(n_jobs, tile=tile)


def test_an_offset_costs_no_digits():
    """Distances are differences: where the points are does not matter."""
    rng = np.random.default_rng(0)
    points = rng.integers(-8, 9, size=(60, 3)) / 4.0
    here = FusedEngine().rows(Pairs.among(points), GAUSSIAN).finish()
    there = FusedEngine().rows(Pairs.among(points + 2.0**30), GAUSSIAN).finish()
    assert_allclose(there.log_mass, here.log_mass, rtol=1e-15)


def test_few_queries_against_many_keys_are_split_along_the_keys():
    rng = np.random.default_rng(0)
    pairs = Pairs(rng.normal(size=(3, 2)), rng.normal(size=(50_000, 2)))
    one, two = (FusedEngine(n).rows(pairs, GAUSSIAN) for n in (1, 2))
    assert_array_equal(one.mass, two.mass)
    expected = OracleEngine().rows(pairs, GAUSSIAN).finish()
    assert_allclose(one.finish().log_mass, expected.log_mass, rtol=1e-12)
    assert_allclose(one.finish().centroid, expected.centroid, atol=1e-12)


def _mass(points):
    return FusedEngine(2).rows(Pairs.among(points), GAUSSIAN).mass


def test_works_after_a_fork_with_threads_already_used():
    points = np.random.default_rng(0).normal(size=(1000, 2))
    expected = _mass(points)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert_array_equal(pool.apply(_mass, (points,)), expected)


PRINT_DIGEST = """
import hashlib
import numpy as np
from vicinal.neighborhood import GAUSSIAN, Pairs
from vicinal.neighborhood.fused import FusedEngine
rng = np.random.default_rng(0)
pairs = Pairs.among(rng.normal(size=(300, 5)), rng.integers(0, 4, 300))
sums = FusedEngine(1).rows(pairs, GAUSSIAN)
log_slope = sums.finish().log_slope
columns = FusedEngine(1).columns(pairs, GAUSSIAN, log_slope, np.ones_like(log_slope))
arrays = sums.peak, sums.mass, sums.moment, columns.total, columns.moment
print(hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest())
"""


def test_compiled_just_now_or_loaded_from_the_cache_gives_the_same_bits(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    fresh, cached = (
        subprocess.run(
            [sys.executable, "-c", PRINT_DIGEST],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    )
    assert any(tmp_path.rglob("*.nbc"))
    assert fresh == cached
