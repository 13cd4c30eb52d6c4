import numpy as np
import pytest
from fitting.climbing import Climb
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from vicinal.fitting import (
    BoldDriver,
    Ending,
    Reason,
    conjugate_gradients,
    lbfgs,
    run,
)


def test_stops_when_an_update_gains_too_little():
    outcome = run(Climb([0.0, 1.0, 1.5, 1.5 + 1e-7, 9.0]), np.zeros(2), max_iter=100, tol=1e-6)
    assert outcome.converged
    assert outcome.ending.reason is Reason.OBJECTIVE_STILL
    assert outcome.n_iter == 3
    assert "within tol=1e-06" in outcome.ending.message
    assert_array_equal(outcome.history["objective"], [0.0, 1.0, 1.5, 1.5 + 1e-7])
    assert_allclose(outcome.history["step"], [0.0, *[np.sqrt(2)] * 3])


def test_keeps_the_best_not_the_last():
    outcome = run(Climb([0.0, 5.0, 2.0, 3.0]), np.zeros(1), max_iter=100, tol=0.0)
    assert outcome.objective == 5.0
    assert_array_equal(outcome.parameters, [1.0])
    assert outcome.n_iter == 3
    assert outcome.ending == Ending(Reason.SOLVER_DONE, "nothing more to gain")


def test_running_out_of_updates_warns():
    with pytest.warns(ConvergenceWarning, match="Climbing stopped before.* 2 updates: max_iter=2"):
        outcome = run(Climb(range(100)), np.zeros(1), max_iter=2, tol=0.0, name="Climbing")
    assert not outcome.converged
    assert outcome.ending.reason is Reason.MAX_ITER
    assert outcome.n_iter == 2


def test_every_callback_is_told_and_any_can_stop():
    first, second = [], []

    def stop_at_three(update):
        first.append(update.iteration)
        return update.iteration == 3

    outcome = run(
        Climb(range(100)),
        np.zeros(1),
        max_iter=50,
        tol=0.0,
        callbacks=[stop_at_three, lambda update: second.append(update.objective)],
    )
    assert first == [0, 1, 2, 3]
    assert second == [0, 1, 2, 3]
    assert outcome.ending == Ending(Reason.CALLBACK, "a callback asked to stop")
    assert not outcome.converged


def test_an_interrupt_keeps_the_best():
    with pytest.warns(ConvergenceWarning, match="2 updates: interrupted"):
        outcome = run(Climb([1.0, 4.0, 3.0, KeyboardInterrupt]), np.zeros(1), max_iter=9, tol=0.0)
    assert outcome.ending.reason is Reason.INTERRUPTED
    assert outcome.objective == 4.0


def test_an_interrupt_before_anything_happened_goes_through():
    with pytest.raises(KeyboardInterrupt):
        run(Climb([KeyboardInterrupt]), np.zeros(1), max_iter=9, tol=0.0)


def hill(x):
    """-(x - 3)ᵀ H (x - 3), with a maximum of 0 at 3."""
    H = np.diag([1.0, 10.0, 100.0]).reshape(3, 3)
    gap = x.ravel() - 3
    return -gap @ H @ gap, (-2 * H @ gap).reshape(x.shape)


@pytest.mark.parametrize("solver", [lbfgs, conjugate_gradients])
def test_solvers_find_the_top_and_stay_in_the_parameters_shape(solver):
    shapes = set()

    def watched(x):
        shapes.add(x.shape)
        return hill(x)

    outcome = run(solver(watched), np.zeros((1, 3)), max_iter=100, tol=1e-14)
    assert outcome.converged
    assert shapes == {(1, 3)}
    assert outcome.parameters.shape == (1, 3)
    assert_allclose(outcome.parameters, 3.0, atol=1e-5)
    assert outcome.history["objective"][0] == hill(np.zeros(3))[0]


@pytest.mark.parametrize("solver", [lbfgs, conjugate_gradients])
def test_solvers_obey_max_iter_and_count_updates(solver):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        outcome = run(solver(hill), np.zeros(3), max_iter=2, tol=0.0)
    assert outcome.n_iter == 2
    assert len(outcome.history["time"]) == 3


@pytest.mark.parametrize("solver", [lbfgs, conjugate_gradients])
def test_starting_at_the_top_needs_no_update(solver):
    outcome = run(solver(hill), np.full(3, 3.0), max_iter=5, tol=1e-9)
    assert outcome.converged
    assert outcome.n_iter == 0


def test_bold_driver_never_falls_and_finds_the_top():
    outcome = run(BoldDriver(hill), np.zeros((1, 3)), max_iter=5000, tol=1e-13)
    assert outcome.converged
    assert (np.diff(outcome.history["objective"]) > 0).all()
    assert_allclose(outcome.parameters, 3.0, atol=1e-3)
    assert_allclose(outcome.history["step"][1], 1.0)  # the first step has norm 1


def test_bold_driver_stops_where_nothing_is_to_be_gained():
    outcome = run(BoldDriver(hill), np.full(3, 3.0), max_iter=5, tol=1e-9)
    assert outcome.converged
    assert outcome.n_iter == 0
    assert outcome.ending.reason is Reason.SOLVER_DONE
    assert "no step along the gradient" in outcome.ending.message


def test_bold_driver_obeys_max_iter():
    with pytest.warns(ConvergenceWarning, match="max_iter=4"):
        outcome = run(BoldDriver(hill), np.zeros(3), max_iter=4, tol=0.0)
    assert outcome.n_iter == 4


def test_the_start_is_evaluated_once():
    calls = []

    def counted(x):
        calls.append(x.copy())
        return hill(x)

    run(lbfgs(counted), np.zeros(3), max_iter=100, tol=1e-9)
    assert sum(np.array_equal(x, np.zeros(3)) for x in calls) == 1
