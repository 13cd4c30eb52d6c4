import numpy as np
import pytest
from neighborhood.conformance import EngineConformance

from vicinal.neighborhood import COMPACT, GAUSSIAN, Pairs
from vicinal.neighborhood.radius import RadiusEngine
from vicinal.neighborhood.tree import TreeEngine


class ByLaw:
    """Compact support by range search; the suite's Gaussian cases are not its business."""

    def __init__(self, radius, tree):
        self.engines = {COMPACT: radius, GAUSSIAN: tree}

    def rows(self, pairs, law, **options):
        return self.engines[law].rows(pairs, law, **options)

    def columns(self, pairs, law, *terms, **options):
        return self.engines[law].columns(pairs, law, *terms, **options)


class TestRadius(EngineConformance):
    def make(self, n_jobs=1, tile=None):
        leaf = tile or 16
        return ByLaw(RadiusEngine(n_jobs, leaf), TreeEngine(0.0, n_jobs, leaf))


def test_only_what_is_near_is_looked_at():
    """Neighborhoods of about 20 of 20 000 points."""
    Z = np.random.default_rng(0).uniform(0, 60, size=(20_000, 2))
    assert RadiusEngine().share_visited(Pairs.among(Z), COMPACT) < 0.02


@pytest.mark.parametrize("columns", [False, True])
def test_gaussian_kernels_have_no_radius(columns):
    engine, pairs = RadiusEngine(), Pairs.among(np.zeros((3, 2)))
    terms = (np.zeros((1, 3)), np.ones((1, 3))) if columns else ()
    with pytest.raises(ValueError, match=r'engine="radius" .* use engine="tree"'):
        (engine.columns if columns else engine.rows)(pairs, GAUSSIAN, *terms)
