"""Local components by trees: EM, densities and modes within the tolerance."""

import numpy as np
import pytest
from local_components.paper import Paper
from numpy.testing import assert_allclose
from sklearn.datasets import make_moons

from vicinal.local_components import log_density


@pytest.fixture(scope="module")
def moons():
    return make_moons(1500, noise=0.1, random_state=0)[0]


def test_em_reaches_the_exact_likelihood(moons):
    exact = Paper(engine="fused").fit(moons)
    for tolerance in (0.0, 1e-3):
        found = Paper(engine="tree", tolerance=tolerance).fit(moons)
        assert found.engine_ == "tree"
        gap = max(tolerance, 1e-9)
        assert found.loo_log_likelihood_ == pytest.approx(exact.loo_log_likelihood_, abs=gap)
        assert_allclose(
            found.covariance_, exact.covariance_, atol=10 * gap * np.abs(exact.covariance_).max()
        )


def test_densities_and_modes(moons):
    model = Paper(engine="fused").fit(moons)
    queries = np.random.default_rng(0).uniform(-3, 3, size=(500, 2))
    scores, (modes, labels) = model.score_samples(queries), model.modes(moons[:200])
    model.set_params(engine="tree", tolerance=1e-3)
    assert_allclose(model.score_samples(queries), scores, atol=1e-3)
    found, found_labels = model.modes(moons[:200])
    assert len(found) == len(modes)
    assert_allclose(found[found_labels], modes[labels], atol=0.05)


@pytest.mark.parametrize("tolerance", [0.0, 1e-8, 1e-4, 1e-2])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_log_density_keeps_what_it_promises(d, tolerance):
    rng = np.random.default_rng(d)
    X, Q = rng.standard_t(3, size=(3000, d)), rng.standard_t(3, size=(300, d))
    for variance in (1e-3, 0.05, 2.0):
        exact = log_density(Q, X, covariance=variance, engine="blocked")
        found = log_density(Q, X, covariance=variance, engine="tree", tolerance=tolerance)
        assert (np.abs(np.expm1(found - exact)) <= tolerance + 1e-9 * (1 + np.abs(exact))).all()
