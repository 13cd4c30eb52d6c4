"""docs/extending.md, "An engine": what it takes to add one."""

from dataclasses import replace

import numpy as np
import pytest
from neighborhood.cases import key_subset
from neighborhood.conformance import EngineConformance
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from vicinal import NeighborhoodComponents
from vicinal.neighborhood import ENGINES, Abilities, ColumnSums
from vicinal.neighborhood.blocked import BlockedEngine


# The recipe, word for word.
class HalvesEngine:
    """Half of the keys at a time: sums over disjoint keys merge, columns stand side by side."""

    name = "halves"
    can = Abilities(takes=lambda law: True)

    def __init__(self, n_jobs=None):
        self.inner = BlockedEngine(n_jobs, compiled=False)

    def rows(self, pairs, law, *, moments=True):
        one, other = (self.inner.rows(half, law, moments=moments) for half in halves(pairs))
        return one.merge(other)

    def columns(self, pairs, law, log_slope, coefficients, *, moments=True):
        terms = law, log_slope, coefficients
        found = [self.inner.columns(half, *terms, moments=moments) for half in halves(pairs)]
        return ColumnSums(
            np.concatenate([sums.total for sums in found]),
            np.concatenate([sums.moment for sums in found]),
        )


def halves(pairs):
    m = len(pairs.keys)
    return [key_subset(pairs, np.arange(m // 2)), key_subset(pairs, np.arange(m // 2, m))]


class HalvesConformance(EngineConformance):
    def make(self, n_jobs=1, tile=None):
        return HalvesEngine(n_jobs)


@pytest.mark.parametrize(
    "promise",
    [
        "test_agrees_with_the_oracle",
        "test_shares_of_every_row_sum_to_one",
        "test_refuses_what_it_says_it_cannot_do",
        "test_duplicates_count_and_only_self_is_left_out",
        "test_a_point_alone_has_no_mass_and_no_nan",
    ],
)
def test_it_keeps_the_promises_of_every_engine(promise):
    """Some of them; an engine that stays has a test class of its own, which runs them all."""
    getattr(HalvesConformance(), promise)()


def test_models_are_fitted_with_it(monkeypatch):
    monkeypatch.setitem(ENGINES, "halves", lambda work, tolerance, n_jobs: HalvesEngine(n_jobs))
    X, y = load_iris(return_X_y=True)
    model = NeighborhoodComponents(2, engine="halves").fit(X, y)
    assert model.engine_ == "halves"
    expected = NeighborhoodComponents(2, engine="blocked").fit(X, y)
    assert_allclose(model.objective_, expected.objective_, rtol=1e-6)


def test_what_it_cannot_do_is_refused_before_the_fit(monkeypatch):
    class Small(HalvesEngine):
        can = replace(HalvesEngine.can, most_dims=1)

    monkeypatch.setitem(ENGINES, "halves", lambda work, tolerance, n_jobs: Small(n_jobs))
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match='engine="halves" takes at most 1 dimensions, not 2'):
        NeighborhoodComponents(2, engine="halves").fit(X, y)
