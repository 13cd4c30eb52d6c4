import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from vicinal.fitting import (
    Adam,
    AdamMoments,
    BoldDriver,
    GradientAscent,
    Reason,
    StepwiseSolver,
    Validation,
    conjugate_gradients,
    cosine,
    lbfgs,
    run,
    search_offset,
)
from vicinal.fitting.solver import ExactState


def hill(x):
    return -float(np.square(x - 3.0).sum()), -2.0 * (x - 3.0)


def noisy_hill(seed):
    rng = np.random.default_rng(seed)

    def value_and_gradient(x):
        value, gradient = hill(x)
        return value + rng.normal(), gradient + rng.normal(size=x.shape)

    return value_and_gradient


def test_adam_takes_the_steps_of_its_paper():
    moments, m, v = AdamMoments.none((2,)), np.zeros(2), np.zeros(2)
    for t in range(1, 6):
        g = np.array([0.3 * t, -2.0])
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        expected = 0.05 * (m / (1 - 0.9**t)) / np.sqrt(v / (1 - 0.999**t))
        moments = moments.after(g)
        assert moments.n_steps == t
        assert_allclose(moments.change(0.05), expected, rtol=1e-12)


def test_a_vanished_gradient_moves_nothing():
    assert_allclose(AdamMoments.none((3,)).after(np.zeros(3)).change(0.1), 0.0)


def test_the_schedule_falls_from_the_first_rate_to_zero():
    rate = cosine(0.2, 10)
    assert rate(0) == pytest.approx(0.2)
    assert rate(5) == pytest.approx(0.1)
    assert rate(10) == pytest.approx(0.0)


def test_adam_finds_the_top_through_noise_and_its_schedule_is_its_end():
    solver = Adam(noisy_hill(0), cosine(0.3, 300))
    outcome = run(solver, np.zeros(3), max_iter=300, tol=None, scheduled=True)
    assert outcome.converged
    assert outcome.ending.reason is Reason.SCHEDULE_DONE
    assert outcome.n_iter == 300
    assert_allclose(outcome.parameters, 3.0, atol=0.3)
    assert len(outcome.history["objective"]) == 301
    assert_allclose(
        outcome.objective, outcome.history["objective"][-1]
    )  # the last, not the luckiest


def test_a_search_finds_an_offset_that_climbs():
    start = np.zeros(3)
    first, offset = search_offset(noisy_hill(0), start + 1.0, lambda x: hill(x)[0], 20)
    solver = GradientAscent(noisy_hill(1), first, offset)
    with pytest.warns(ConvergenceWarning, match="max_iter=300"):
        outcome = run(solver, start, max_iter=300, tol=None)
    assert_allclose(outcome.parameters, 3.0, atol=0.3)


def test_a_search_leaves_runaways_alone():
    """A gradient that grows with the distance: large rates explode."""
    first, offset = search_offset(hill, np.full(3, 2.0), lambda x: hill(x)[0], 50)
    assert np.isfinite(first)
    assert offset >= 1.0


def test_validation_keeps_the_best_and_is_patient():
    solver = Adam(noisy_hill(0), lambda t: 0.1)
    validation = Validation(lambda x: -abs(float(x[0]) - 1.0), every=2, patience=4)
    outcome = run(solver, np.zeros(1), max_iter=200, tol=None, validation=validation)
    assert outcome.converged
    assert outcome.ending.reason is Reason.PATIENCE_LOST
    assert "no better validation score in 4 checks" in outcome.ending.message
    checked = outcome.history["validation"]
    assert np.isnan(checked[1::2]).all()
    assert np.nanargmax(checked) == len(checked) - 1 - 8
    assert outcome.validation == np.nanmax(checked)
    assert_allclose(outcome.parameters, 1.0, atol=0.2)


def test_the_last_update_is_always_checked():
    solver = Adam(hill, cosine(0.3, 10))
    validation = Validation(lambda x: hill(x)[0], every=7)
    outcome = run(solver, np.zeros(1), max_iter=10, tol=None, scheduled=True, validation=validation)
    assert np.flatnonzero(~np.isnan(outcome.history["validation"])).tolist() == [0, 7, 10]


class Plateau(StepwiseSolver):
    """Gains that never get small; steps, or gradients, that do."""

    def __init__(self, steps, gradients):
        self.steps, self.gradients = steps, gradients

    def start(self, parameters):
        return ExactState(parameters, 0.0, np.full(2, self.gradients[0]))

    def step(self, state):
        n = int(state.objective)
        gradient = np.full(2, self.gradients[n + 1])
        return ExactState(state.parameters + self.steps[n], n + 1.0, gradient)


FALLING = 0.1 ** np.arange(50)


def test_convergence_by_step():
    outcome = run(Plateau(FALLING, np.ones(50)), np.full(2, 5.0), max_iter=40, tol=1e-3)
    assert outcome.converged
    assert outcome.ending.reason is Reason.PARAMETERS_STILL
    assert "of their norm" in outcome.ending.message


def test_convergence_by_gradient():
    outcome = run(Plateau(np.ones(50), FALLING), np.full(2, 5.0), max_iter=40, tol=1e-3)
    assert outcome.converged
    assert outcome.ending.reason is Reason.GRADIENT_GONE
    assert "the gradient is" in outcome.ending.message


@pytest.mark.parametrize("solver", [lbfgs, conjugate_gradients, BoldDriver])
def test_exact_solvers_know_their_gradient(solver):
    seen = []
    solver = solver(hill)
    start = solver.start(np.zeros((1, 3)))
    solver.follow(start, lambda state: seen.append(state) or len(seen) == 3)
    for state in (start, *seen):
        value, gradient = hill(state.parameters)
        assert state.objective == value
        assert_array_equal(state.exact_gradient, gradient)


def test_the_gradient_of_a_batch_is_no_sign_of_convergence():
    for solver in (Adam(hill, lambda t: 0.1), GradientAscent(hill, 0.1, 1.0)):
        assert solver.start(np.zeros(3)).exact_gradient is None


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e-160])
def test_adam_takes_no_step_along_a_gradient_that_is_none(size):
    step = AdamMoments.none((2,)).after(np.array([size, -size])).change(1.0)
    assert np.abs(step).max() <= 1.0


def test_adam_steps_by_its_rate_however_small_the_gradient():
    moments = AdamMoments.none((2,)).after(np.array([1e-140, -1.0]))
    assert_allclose(moments.change(0.1), [0.1, -0.1])
