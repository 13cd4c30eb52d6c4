"""docs/extending.md, "A law": what it takes to add one."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import gammaln, kv
from sklearn.datasets import load_iris

from vicinal import NeighborhoodComponents
from vicinal.nca import objective
from vicinal.neighborhood import LAWS, Law


# The recipe, word for word.
@dataclass(frozen=True)
class Hyperbolic(Law):
    """exp(1 - √(1 + s)): round at the center, with tails that fall as exp(-|z|)."""

    name = "hyperbolic"

    def log_mass(self, s, d):
        return 1.0 - np.sqrt(1.0 + s)

    def decay(self, s, d):
        return 0.5 / np.sqrt(1.0 + s)

    def log_normalizer(self, d):
        return -1.0 - np.log(2.0 * kv((d + 1) / 2, 1.0)) - (d - 1) / 2 * np.log(2.0 * np.pi)


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(LAWS, "hyperbolic", Hyperbolic)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_normalizer_makes_it_a_density(d):
    law, log_sphere = Hyperbolic(), np.log(2) + 0.5 * d * np.log(np.pi) - gammaln(0.5 * d)

    def radial(r):
        return np.exp(log_sphere + law.log_normalizer(d) + law.log_mass(r * r, d)) * r ** (d - 1)

    assert_allclose(quad(radial, 0, 80)[0], 1.0, rtol=1e-7)


def test_models_learn_with_it():
    X, y = load_iris(return_X_y=True)
    model = NeighborhoodComponents(2, kernel="hyperbolic").fit(X, y)
    assert model.engine_ == "blocked"
    assert model.score(X, y) > 0.95
    Z = X @ model.components_.T
    k = np.exp(1 - np.sqrt(1 + np.square(Z[:, None] - Z).sum(axis=-1)))
    np.fill_diagonal(k, 0.0)
    p = (k * (y[:, None] == y)).sum(axis=1) / k.sum(axis=1)
    assert_allclose(objective(model.components_, X, y, kernel="hyperbolic")[0], p.sum())


def test_the_gradient_is_right():
    X, y = load_iris(return_X_y=True)
    A = np.random.default_rng(0).normal(size=(2, 4))
    step = 1e-6 * np.random.default_rng(1).normal(size=A.shape)
    _, gradient = objective(A, X, y, kernel="hyperbolic")
    above, below = (objective(A + h, X, y, kernel="hyperbolic")[0] for h in (step, -step))
    assert_allclose(above - below, 2 * np.sum(gradient * step), rtol=1e-5)


def test_compiled_engines_refuse_what_they_have_no_code_for():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match='engine="fused" has no compiled kernels for the hyperb'):
        NeighborhoodComponents(2, kernel="hyperbolic", engine="fused").fit(X, y)
