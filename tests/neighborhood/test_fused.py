import multiprocessing

import numpy as np
from neighborhood.conformance import EngineConformance
from numpy.testing import assert_allclose, assert_array_equal

from vicinal.neighborhood import GAUSSIAN, Pairs
from vicinal.neighborhood.fused import FusedEngine
from vicinal.neighborhood.oracle import OracleEngine


class TestFused(EngineConformance):
    def make(self, n_jobs=1, tile=None):
        return FusedEngine(n_jobs, tile)


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
