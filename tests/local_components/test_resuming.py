"""EM that is stopped, stored and continued ends where it would have ended."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from vicinal.fitting import run
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.equations import Form
from vicinal.local_components.frame import GlobalFrame
from vicinal.local_components.learning import Batching, LocalProblem, Penalty
from vicinal.neighborhood.blocked import BlockedEngine


def fitted(accelerate, batching, seed=0, start=None, stop_at=None):
    points, form = WeightedPoints(load_iris().data), Form()
    frame = GlobalFrame.of(points, form)
    problem = LocalProblem(points, frame, form, Penalty(), BlockedEngine())
    return run(
        problem.solver(accelerate, batching, np.random.default_rng(seed)),
        frame.start(form) if start is None else start,
        max_iter=12,
        tol=None,
        scheduled=True,
        callbacks=[lambda update: update.iteration == stop_at],
    )


@pytest.mark.parametrize("stop_at", [4, 5])
@pytest.mark.parametrize(
    ("accelerate", "batching"),
    [(False, None), (True, None), (False, Batching(40, 60, 0.6)), (False, Batching(40, 150, 0.6))],
    ids=["plain", "accelerated", "few keys", "all keys"],
)
def test_a_continued_fit_is_the_uninterrupted_one(accelerate, batching, stop_at):
    whole = fitted(accelerate, batching)
    first = fitted(accelerate, batching, stop_at=stop_at)
    state = pickle.loads(pickle.dumps(first.state))
    rest = fitted(accelerate, batching, seed=1, start=state)
    assert_array_equal(rest.parameters, whole.parameters)
    assert_array_equal(rest.history["objective"], whole.history["objective"])
