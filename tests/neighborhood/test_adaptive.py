import numpy as np
import pytest
from neighborhood.conformance import EngineConformance

from vicinal.neighborhood import COMPACT, GAUSSIAN, Pairs
from vicinal.neighborhood.adaptive import AdaptiveEngine


class TestAdaptive(EngineConformance):
    def make(self, n_jobs=1, tile=None):
        return AdaptiveEngine(n_jobs)


@pytest.mark.parametrize("law", [GAUSSIAN, COMPACT])
@pytest.mark.parametrize(("scale", "name"), [(0.1, "fused"), (30.0, "tree")])
def test_trees_where_neighborhoods_are_small(law, scale, name):
    Z = scale * np.random.default_rng(0).normal(size=(20_000, 2))
    assert AdaptiveEngine().choice(Pairs.among(Z), law).name == name


def test_every_set_of_points_is_looked_at_anew():
    Z = np.random.default_rng(0).normal(size=(20_000, 2))
    engine = AdaptiveEngine()
    names = [engine.choice(Pairs.among(s * Z), GAUSSIAN).name for s in (0.1, 30.0, 0.1)]
    assert names == ["fused", "tree", "fused"]
