"""A fit that is stopped, stored and continued ends where it would have ended, to the bit."""

import pickle
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from vicinal.fitting import (
    EM,
    SQUAREM,
    Adam,
    BoldDriver,
    CollapseError,
    Draws,
    GradientAscent,
    Reason,
    Validation,
    conjugate_gradients,
    cosine,
    few_updates,
    lbfgs,
    run,
    split,
)

N_UPDATES = 10
START = np.array([[-1.2, 1.0, 0.5]])
POINTS = np.random.default_rng(0).normal(2.0, 1.0, (20, 3))


def valley(x):
    """Rosenbrock's, turned over: L-BFGS and CG need many updates."""
    a, b, c = x.ravel()
    value = -((1 - a) ** 2 + 10 * (b - a**2) ** 2 + 10 * (c - b**2) ** 2)
    gradient = [
        2 * (1 - a) + 40 * a * (b - a**2),
        -20 * (b - a**2) + 40 * b * (c - b**2),
        -20 * (c - b**2),
    ]
    return value, np.reshape(gradient, x.shape)


def mean_of_a_batch(draws):
    """Minus the mean squared distance to some points, and its gradient."""

    def value_and_gradient(x):
        chosen = draws.next_of(lambda: split(draws.rng.permutation(len(POINTS)), 6))
        apart = POINTS[chosen] - x
        return -float(np.square(apart).sum(axis=1).mean()), 2.0 * apart.mean(axis=0, keepdims=True)

    return value_and_gradient


def slowly(x):
    """A step of something like EM, towards 3; none where there are no positive numbers."""
    if (x <= 0).any():
        raise CollapseError("gone")
    rates = np.array([[0.5, 0.8, 0.9]])
    return -float(np.square(np.log(x / 3.0)).sum()), x * (3.0 / x) ** (1 - rates)


def stochastic_em(seed):
    draws = Draws(np.random.default_rng(seed))
    value_and_gradient = mean_of_a_batch(draws)

    def step(x):
        value, gradient = value_and_gradient(x)
        return value, x + 0.5 * gradient

    return EM(step, 0.7, draws)


def adam(seed):
    draws = Draws(np.random.default_rng(seed))
    return Adam(mean_of_a_batch(draws), cosine(0.3, N_UPDATES), draws)


def ascent(seed):
    draws = Draws(np.random.default_rng(seed))
    return GradientAscent(mean_of_a_batch(draws), 2.0, 3.0, draws)


SOLVERS = {
    "em": lambda seed: EM(slowly),
    "stochastic em": stochastic_em,
    "squarem": lambda seed: SQUAREM(slowly, np.log, np.exp),
    "squarem, collapsing": lambda seed: SQUAREM(slowly, lambda x: x, lambda x: x - 0.1),
    "bold driver": lambda seed: BoldDriver(valley),
    "sgd": ascent,
    "adam": adam,
    "lbfgs": lambda seed: lbfgs(valley, records=True),
    "cg": lambda seed: conjugate_gradients(valley, records=True),
}

START_OF = {"em": np.ones((1, 3)), "squarem": np.ones((1, 3))}
START_OF["squarem, collapsing"] = np.array([[0.2, 1.0, 0.05]])


def made(name, seed, start=None, stop_at=None, validation=None, tol=None):
    return run(
        SOLVERS[name](seed),
        START_OF.get(name, START) if start is None else start,
        max_iter=N_UPDATES,
        tol=tol,
        scheduled=True,
        validation=validation,
        callbacks=[lambda update: update.iteration == stop_at],
    )


def assert_same(one, other):
    """Bit for bit, but for the time it took."""
    assert_array_equal(one.parameters, other.parameters)
    assert (one.objective, one.n_iter, one.ending) == (other.objective, other.n_iter, other.ending)
    assert one.history.keys() == other.history.keys()
    for name in one.history.keys() - {"time"}:
        assert_array_equal(one.history[name], other.history[name])


def stored(state):
    return pickle.loads(pickle.dumps(state))


@pytest.mark.parametrize("name", SOLVERS)
def test_a_continued_fit_is_the_uninterrupted_one(name):
    whole = made(name, 0)
    first = made(name, 0, stop_at=4)
    assert (first.n_iter, first.ending.reason) == (4, Reason.CALLBACK)
    assert_same(made(name, 1, stored(first.state)), whole)  # another seed: the state has the draws


@settings(deadline=None)
@given(
    name=st.sampled_from(sorted(SOLVERS)),
    seed=st.integers(0, 99),
    stops=st.lists(st.integers(0, N_UPDATES - 1), max_size=3),
    every=st.none() | st.integers(1, 4),
    tol=st.sampled_from([None, 0.0, 1e-2]),
)
def test_wherever_it_is_stopped_and_however_often(name, seed, stops, every, tol):
    validation = None if every is None else Validation(lambda x: -abs(float(x[0, 0]) - 1), every, 3)
    whole = made(name, seed, validation=validation, tol=tol)
    state = None
    for stop in sorted(set(stops)):
        outcome = made(name, seed, state, stop, validation, tol)
        state = stored(outcome.state)
    assert_same(made(name, seed, state, None, validation, tol), whole)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_state_is_made_of_arrays_and_numbers(name):
    def parts(value):
        if is_dataclass(value):
            value = tuple(getattr(value, field.name) for field in fields(value))
        if isinstance(value, dict):
            value = tuple(value.values())
        if isinstance(value, tuple):
            return [leaf for part in value for leaf in parts(part)]
        return [value]

    leaves = parts(made(name, 0, stop_at=4).state)
    assert {type(leaf) for leaf in leaves} <= {
        np.ndarray, float, np.float64, int, type(None), str,
    }  # fmt: skip


@pytest.mark.parametrize("name", SOLVERS)
def test_a_state_stays_as_it_was_when_others_follow(name):
    kept = []
    solver = SOLVERS[name](0)
    start = solver.start(START_OF.get(name, START))

    def tell(state):
        kept.append((state, stored(state)))
        return len(kept) == 6

    solver.follow(start, tell)
    assert len(kept) > 1
    for state, copy in kept:
        assert pickle.dumps(stored(state)) == pickle.dumps(copy)


@pytest.mark.parametrize("name", SOLVERS)
def test_the_time_of_an_earlier_run_counts(name):
    first = made(name, 0, stop_at=4)
    rest = made(name, 0, first.state)
    assert_array_equal(rest.history["time"][:5], first.history["time"])
    assert (np.diff(rest.history["time"]) >= 0).all()


def test_nothing_is_left_to_do_after_the_end():
    whole = made("adam", 0)
    assert_same(made("adam", 0, stored(whole.state)), whole)


def test_an_interrupted_fit_goes_on_from_the_last_update():
    """The draws of the update that was cut short do not count."""
    calls = []

    def interrupting(seed):
        draws = Draws(np.random.default_rng(seed))
        objective = mean_of_a_batch(draws)

        def value_and_gradient(x):
            found = objective(x)
            calls.append(x)
            if len(calls) == 6:
                raise KeyboardInterrupt
            return found

        return Adam(value_and_gradient, cosine(0.3, N_UPDATES), draws)

    with pytest.warns(UserWarning, match="4 updates: interrupted"):
        first = run(interrupting(0), START, max_iter=N_UPDATES, tol=None, scheduled=True)
    assert_same(made("adam", 1, stored(first.state)), made("adam", 0))


@pytest.mark.parametrize("solver", [lbfgs, conjugate_gradients])
def test_what_is_known_is_not_evaluated_again(solver):
    asked = []

    def counted(x):
        asked.append(x.copy())
        return valley(x)

    def stopping(at):
        return [lambda update: update.iteration == at]

    options = {"max_iter": 10, "tol": None, "scheduled": True}
    first = run(solver(counted, records=True), START, **options, callbacks=stopping(4))
    n_first = len(asked)
    assert n_first == len(first.state.solver.evaluations) > 4
    run(solver(counted, records=True), stored(first.state), **options)
    assert len(np.unique(np.vstack(asked), axis=0)) == len(asked)


@pytest.mark.parametrize("solver", [lbfgs, conjugate_gradients])
def test_states_without_a_record_are_small_and_refused(solver):
    stopped = run(
        solver(valley), START, max_iter=9, tol=0.0, callbacks=[lambda update: update.iteration == 3]
    )
    assert stopped.state.solver.evaluations == ()
    with pytest.raises(ValueError, match=r"can go on from its start, .* records=True"):
        run(solver(valley), stopped.state, max_iter=9, tol=0.0)


def test_a_record_of_another_solver_is_refused():
    first = made("lbfgs", 0, stop_at=4)
    with pytest.raises(ValueError, match="another solver"):
        run(conjugate_gradients(valley, records=True), first.state, max_iter=10, tol=0.0)


@pytest.mark.parametrize("name", ["lbfgs", "cg"])
def test_a_record_from_another_machine_is_gone_on_from(name):
    """Where scipy's steps differ in their last bits."""
    whole, state = made(name, 0), made(name, 0, stop_at=4).state
    known = [
        e._replace(parameters=e.parameters * (1 + 1e-13)) for e in state.solver.evaluations[1:]
    ]
    solver = replace(state.solver, evaluations=(state.solver.evaluations[0], *known))
    found = made(name, 0, replace(state, solver=solver))
    assert_allclose(found.parameters, whole.parameters, rtol=1e-9)
    assert found.n_iter == whole.n_iter


def test_few_updates_are_those_of_the_loop():
    for name in SOLVERS:
        reached, value = few_updates(SOLVERS[name](0), START_OF.get(name, START), 4)
        state = made(name, 0, stop_at=4).state
        assert_array_equal(reached, state.solver.parameters)
        assert value == state.solver.objective
