"""The table of divergences, and what each of them says about itself."""

import numpy as np
import pytest
from divergence.reference import NAMES

from vicinal import DivergenceNeighbors
from vicinal.divergence import paired
from vicinal.divergence.divergences import DIVERGENCES, divergence_named

X = np.random.default_rng(0).normal(size=(30, 3))


def test_the_names_are_those_of_the_reference():
    assert tuple(DIVERGENCES) == NAMES
    assert all(divergence_named(name).name == name for name in NAMES)


@pytest.mark.parametrize("name", ["kl", None, ["jeffreys"]])
def test_any_other_name_is_refused_with_the_list(name):
    message = r"divergence=.* is unknown: use one of 'jeffreys', 'bhattacharyya', "
    with pytest.raises(ValueError, match=message):
        DivergenceNeighbors(divergence=name).fit(X)
    with pytest.raises(ValueError, match=message):
        paired(X, [[0, 1]], divergence=name)


def test_roots_are_taken_of_squared_ones_only():
    for name, divergence in DIVERGENCES.items():
        D = DivergenceNeighbors(5, divergence=name).fit_transform(X)
        roots = DivergenceNeighbors(5, divergence=name, square_root=True).fit_transform(X)
        np.testing.assert_array_equal(roots, np.sqrt(D) if divergence.squared else D)
    assert [name for name in NAMES if DIVERGENCES[name].squared] == ["jeffreys", "bhattacharyya"]
