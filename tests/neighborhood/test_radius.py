import numpy as np
import pytest
from neighborhood.conformance import EngineConformance

from vicinal.neighborhood import COMPACT, GAUSSIAN, Pairs
from vicinal.neighborhood.radius import RadiusEngine


class TestRadius(EngineConformance):
    def make(self, n_jobs=1, tile=None):
        return RadiusEngine(n_jobs, leaf=tile or 16)


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
