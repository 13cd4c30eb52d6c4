"""Solvers whose parameters are tensors: the same steps, and no number is waited for."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

torch = pytest.importorskip("torch")

from elsewhere import counted_waits  # noqa: E402

from vicinal.fitting import (  # noqa: E402
    EM,
    SQUAREM,
    Adam,
    BoldDriver,
    Draws,
    GradientAscent,
    Validation,
    conjugate_gradients,
    cosine,
    lbfgs,
    rescue,
    run,
    search_offset,
    split,
)
from vicinal.fitting.numbers import numbers  # noqa: E402
from vicinal.neighborhood.arrays import namespace, placed_like  # noqa: E402

N_UPDATES = 12
# An array that comes to the host.
AT_ONCE = ["cpu", "__array__"]

# All numbers so far, and the best parameters.
COPY = AT_ONCE * 2

START = np.array([[-1.2, 1.0, 0.5]])
POINTS = np.random.default_rng(0).normal(2.0, 1.0, (20, 3))


def distances(apart):
    xp = namespace(apart)
    return -xp.mean(xp.sum(apart**2, axis=1)), 2.0 * xp.mean(apart, axis=0, keepdims=True)


def of_a_batch(draws, like):
    points = placed_like(POINTS, like)

    def value_and_gradient(x):
        chosen = draws.next_of(lambda: split(draws.rng.permutation(len(POINTS)), 6))
        return distances(points[placed_like(chosen, like)] - x)

    return value_and_gradient


def of_all(like):
    points = placed_like(POINTS, like)
    return lambda x: distances(points - x)


def em_step(like):
    value_and_gradient = of_all(like)

    def step(x):
        value, gradient = value_and_gradient(x)
        return value, x + 0.1 * gradient

    return step


def adam(like):
    draws = Draws(np.random.default_rng(0))
    return Adam(of_a_batch(draws, like), cosine(0.3, N_UPDATES), draws)


def ascent(like):
    draws = Draws(np.random.default_rng(0))
    return GradientAscent(of_a_batch(draws, like), 2.0, 3.0, draws)


SOLVERS = {
    "adam": adam,
    "sgd": ascent,
    "bold driver": lambda like: BoldDriver(of_all(like)),
    "em": lambda like: EM(em_step(like)),
    "squarem": lambda like: SQUAREM(em_step(like), lambda x: x, lambda x: x),
}


def made(name, start, **options):
    options = {"max_iter": N_UPDATES, "tol": None, "scheduled": True, **options}
    like = start if isinstance(start, np.ndarray | torch.Tensor) else torch.zeros(1)
    return run(SOLVERS[name](like), start, **options)


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("tol", [None, 1e-3])
def test_tensors_go_where_arrays_go(name, tol):
    expected, found = (made(name, start, tol=tol) for start in (START, torch.tensor(START)))
    assert isinstance(found.parameters, torch.Tensor)
    assert_allclose(found.parameters.numpy(), expected.parameters, rtol=1e-10)
    assert found.ending.reason == expected.ending.reason
    for column in ("objective", "step"):
        assert found.history[column].dtype == np.float64
        assert_allclose(found.history[column], expected.history[column], rtol=1e-7, atol=1e-12)
    numbers_kept = (found.objective, found.best.step, found.state.updates[3].objective)
    assert {type(value) for value in numbers_kept} == {float}


@pytest.mark.parametrize("name", ["adam", "sgd", "em"])
def test_nobody_waits_for_a_number_before_the_end(name, monkeypatch):
    """But for the start, of which a copy is kept."""
    seen = []
    monkeypatch.setattr(rescue, "UNSAFE", np.inf)
    with counted_waits(monkeypatch) as waits:
        made(name, torch.tensor(START), callbacks=[lambda update: seen.append(len(waits))])
    assert seen == [len(COPY)] * (N_UPDATES + 1)
    assert waits.readings == COPY + AT_ONCE  # all of the history


def test_a_check_of_held_back_points_is_one_number_and_a_copy(monkeypatch):
    monkeypatch.setattr(rescue, "UNSAFE", np.inf)
    with counted_waits(monkeypatch) as waits:
        validation = Validation(lambda x: distances(x - 1.0)[0], every=4)
        found = made("adam", torch.tensor(START), validation=validation)
    assert waits.readings == ["__float__", *COPY] * 4 + AT_ONCE
    assert np.isnan(found.history["validation"]).sum() == N_UPDATES + 1 - 4


@pytest.mark.parametrize("name", SOLVERS)
def test_a_continued_fit_is_the_uninterrupted_one(name):
    whole = made(name, torch.tensor(START))
    first = made(name, torch.tensor(START), callbacks=[lambda update: update.iteration == 5])
    rest = made(name, pickle.loads(pickle.dumps(first.state)))
    assert_array_equal(rest.parameters.numpy(), whole.parameters.numpy())
    assert_array_equal(rest.history["objective"], whole.history["objective"])


@pytest.mark.parametrize("solver", [lbfgs, conjugate_gradients])
def test_scipy_has_parameters_of_its_own_and_is_sent_gradients(solver):
    objective = of_all(torch.zeros(1))
    options = {"max_iter": 30, "tol": 1e-9}
    found = run(solver(lambda x: objective(torch.tensor(x))), START, **options)
    expected = run(solver(of_all(START)), START, **options)
    assert_allclose(found.parameters, expected.parameters, rtol=1e-12)
    assert isinstance(found.parameters, np.ndarray)


def test_a_search_for_an_offset_finds_that_of_arrays():
    found = []
    for start in (START, torch.tensor(START)):
        objective = of_a_batch(Draws(np.random.default_rng(0)), start)
        found.append(search_offset(objective, start, lambda x: float(distances(x - 2)[0]), 10))
    assert_allclose(*found)


def test_numbers_of_both_kinds_keep_their_order():
    values = [1.0, torch.tensor(2.0), np.float64(3.0), torch.tensor(4.0, dtype=torch.float64)]
    assert numbers(values) == [1.0, 2.0, 3.0, 4.0]
    assert numbers([]) == []
