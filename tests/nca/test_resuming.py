"""A fit over batches that is stopped, stored and continued ends where it would have ended."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from vicinal import NeighborhoodComponents
from vicinal.fitting import run
from vicinal.nca.preparation import prepare, training_set
from vicinal.nca.recipe import choose_recipe
from vicinal.neighborhood.blocked import BlockedEngine


def fitted(start=None, stop_at=None, seed=0, **parameters):
    """The outcome of a fit as the estimator makes it, from its start or from a state."""
    X, y = load_iris(return_X_y=True)
    model = NeighborhoodComponents(2, max_iter=12, batch_size=40, **parameters)
    model.classes_ = np.unique(y)
    recipe, rng = choose_recipe(model, len(X)), np.random.default_rng(seed)
    data, _ = training_set(model, X, y, None, recipe, np.random.default_rng(0))
    ready = prepare(model, data, 2, recipe, np.random.default_rng(0))
    problem = ready.problem(BlockedEngine(), 1e-3)
    return run(
        problem.solver(recipe, ready.start, None, rng),
        ready.start if start is None else start,
        max_iter=12,
        tol=None,
        scheduled=True,
        callbacks=[lambda update: update.iteration == stop_at],
    )


@pytest.mark.parametrize("batching", ["random", "farthest", "projection", "stochastic"])
def test_adam_goes_on_with_the_batches_it_would_have_seen(batching):
    whole = fitted(solver="adam", batching=batching)
    first = fitted(solver="adam", batching=batching, stop_at=5)  # in the middle of an epoch
    state = pickle.loads(pickle.dumps(first.state))
    rest = fitted(state, solver="adam", batching=batching, seed=1)
    assert_array_equal(rest.parameters, whole.parameters)
    assert_array_equal(rest.history["objective"], whole.history["objective"])


def test_ascent_goes_on_with_the_batches_it_would_have_seen():
    whole = fitted(solver="sgd", batching="random")
    first = fitted(solver="sgd", batching="random", stop_at=5)
    rest = fitted(pickle.loads(pickle.dumps(first.state)), solver="sgd", batching="random")
    assert_array_equal(rest.parameters, whole.parameters)
    assert_array_equal(rest.history["objective"], whole.history["objective"])
