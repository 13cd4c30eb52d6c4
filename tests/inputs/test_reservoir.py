import numpy as np
from numpy.testing import assert_array_equal

from vicinal.inputs.reservoir import Reservoir


def test_the_reservoir_is_a_uniform_sample():
    rng = np.random.default_rng(0)
    kept = np.zeros(60)
    for _ in range(2000):
        reservoir = Reservoir(10)
        for part in np.array_split(np.arange(60), [4, 5, 30]):
            reservoir.add((part[:, None].astype(float), part), rng)
        features, positions = reservoir.kept
        assert_array_equal(features[:, 0], positions)
        kept[positions] += 1
    assert kept.sum() == 20_000
    # 333 ± 17 expected for each; six standard deviations.
    assert np.abs(kept - 2000 / 6).max() < 6 * 17
