"""What is chosen on rows held back."""

from dataclasses import replace

import numpy as np
import pytest

from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.mixture.selection import choose_recipe, numbers_of_parts
from vicinal.local_components.mixture.trials import Recipe, Trials
from vicinal.neighborhood.blocked import BlockedEngine

RECIPE = Recipe(2, 0.3, 1e-4, 1e-2, is_local=False)


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    X = np.vstack(
        [rng.normal(size=(30, 2)) * [0.1, 1.0], rng.normal(size=(30, 2)) * [1.0, 0.1] + 5]
    )
    return WeightedPoints(X)


def trials(points):
    return Trials(points, BlockedEngine(1), np.random.default_rng(0))


def test_rows_are_held_back_once(points):
    folds = trials(points).folds
    held = np.vstack([fold.held.X for fold in folds])
    assert len(np.unique(held, axis=0)) == len(held) == len(points)
    for fold in folds:
        both = np.vstack([fold.held.X, fold.learning.X])
        assert len(np.unique(both, axis=0)) == len(points)


def test_many_rows_are_held_back_a_single_time():
    X = np.random.default_rng(0).normal(size=(2500, 2))
    assert len(trials(WeightedPoints(X)).folds) == 1


def test_two_parts_are_found(points):
    told = []
    recipe = choose_recipe(
        points, (1, 2, 3), None, BlockedEngine(1), np.random.default_rng(0), told.append
    )
    assert recipe.n_parts == 2
    scores = trials(points)
    assert scores.score(recipe) > scores.score(replace(recipe, n_parts=1))
    assert sum(told) >= 4


def test_updates_that_gain_nothing_are_not_made(points, monkeypatch):
    monkeypatch.setattr(Trials, "_mean_score", lambda trials, starts: 0.0)
    assert trials(points).updated(RECIPE, (5, 10)).n_updates == 0


def test_a_part_needs_rows():
    assert numbers_of_parts(3) == (1,)
    assert max(numbers_of_parts(100)) == 9
    assert max(numbers_of_parts(10**6)) == 25
