import numpy as np
import pytest
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
