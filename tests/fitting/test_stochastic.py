import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from vicinal.fitting import (
    Adam,
    Validation,
    adam,
    cosine,
    gradient_ascent,
    lbfgs,
    run,
    search_offset,
)


def hill(x):
    return -float(np.square(x - 3.0).sum()), -2.0 * (x - 3.0)


def noisy_hill(seed):
    rng = np.random.default_rng(seed)

    def value_and_gradient(x):
        value, gradient = hill(x)
        return value + rng.normal(), gradient + rng.normal(size=x.shape)

    return value_and_gradient


def test_adam_takes_the_steps_of_its_paper():
    state, m, v, x = Adam((2,)), np.zeros(2), np.zeros(2), np.zeros(2)
    for t in range(1, 6):
        g = np.array([0.3 * t, -2.0])
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        expected = 0.05 * (m / (1 - 0.9**t)) / np.sqrt(v / (1 - 0.999**t))
        assert_allclose(state.step(g, 0.05), expected, rtol=1e-12)
        x += expected


def test_a_vanished_gradient_moves_nothing():
    assert_allclose(Adam((3,)).step(np.zeros(3), 0.1), 0.0)


def test_the_schedule_falls_from_the_first_rate_to_zero():
    rate = cosine(0.2, 10)
    assert rate(0) == pytest.approx(0.2)
    assert rate(5) == pytest.approx(0.1)
    assert rate(10) == pytest.approx(0.0)


def test_adam_finds_the_top_through_noise_and_its_schedule_is_its_end():
    method = adam(noisy_hill(0), cosine(0.3, 300))
    outcome = run(method, np.zeros(3), max_iter=300, tol=None, scheduled=True)
    assert outcome.converged
    assert outcome.n_iter == 300
    assert_allclose(outcome.parameters, 3.0, atol=0.3)
    assert len(outcome.history["objective"]) == 301
    assert_allclose(
        outcome.objective, outcome.history["objective"][-1]
    )  # the last, not the luckiest


def test_a_search_finds_an_offset_that_climbs():
    start = np.zeros(3)
    first, offset = search_offset(noisy_hill(0), start + 1.0, lambda x: hill(x)[0], 20)
    method = gradient_ascent(noisy_hill(1), first, offset)
    with pytest.warns(ConvergenceWarning, match="max_iter=300"):
        outcome = run(method, start, max_iter=300, tol=None)
    assert_allclose(outcome.parameters, 3.0, atol=0.3)


def test_a_search_leaves_runaways_alone():
    """A gradient that grows with the distance: large rates explode."""
    first, offset = search_offset(hill, np.full(3, 2.0), lambda x: hill(x)[0], 50)
    assert np.isfinite(first)
    assert offset >= 1.0


def test_validation_keeps_the_best_and_is_patient():
    method = adam(noisy_hill(0), lambda t: 0.1)
    validation = Validation(lambda x: -abs(float(x[0]) - 1.0), every=2, patience=4)
    outcome = run(method, np.zeros(1), max_iter=200, tol=None, validation=validation)
    assert outcome.converged
    assert "no better validation score in 4 checks" in outcome.message
    checked = outcome.history["validation"]
    assert np.isnan(checked[1::2]).all()
    assert np.nanargmax(checked) == len(checked) - 1 - 8
    assert outcome.validation == np.nanmax(checked)
    assert_allclose(outcome.parameters, 1.0, atol=0.2)


def test_the_last_update_is_always_checked():
    method = adam(hill, cosine(0.3, 10))
    validation = Validation(lambda x: hill(x)[0], every=7)
    outcome = run(method, np.zeros(1), max_iter=10, tol=None, scheduled=True, validation=validation)
    assert np.flatnonzero(~np.isnan(outcome.history["validation"])).tolist() == [0, 7, 10]


def test_convergence_by_step_and_by_gradient():
    def plateau(x):
        """Gains that never get small, steps that do."""
        plateau.value += 1.0
        return plateau.value, np.ones_like(x)

    plateau.value = 0.0

    def tiny_steps(start, report):
        x, step = start, 1.0
        while not report(x, plateau(x)[0]):
            x, step = x + step, step / 10
        return False, ""

    outcome = run(tiny_steps, np.full(2, 5.0), max_iter=50, tol=1e-3)
    assert outcome.converged
    assert "of their norm" in outcome.message

    def falling_gradient(start, report):
        x, gradient = start, np.ones(2)
        while not report(x, plateau(x)[0], gradient):
            x, gradient = x + 1.0, gradient / 10
        return False, ""

    outcome = run(falling_gradient, np.full(2, 5.0), max_iter=50, tol=1e-3)
    assert outcome.converged
    assert "the gradient is" in outcome.message


def test_exact_solvers_tell_the_loop_their_gradient():
    seen = []

    def spying(start, report):
        def tell(parameters, objective, gradient=None):
            seen.append((parameters.copy(), gradient))
            return report(parameters, objective, gradient)

        return lbfgs(hill)(start, tell)

    run(spying, np.zeros((1, 3)), max_iter=50, tol=1e-9)
    for parameters, gradient in seen:
        assert_allclose(-gradient, hill(parameters)[1].ravel())


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e-160])
def test_adam_takes_no_step_along_a_gradient_that_is_none(size):
    step = Adam((2,)).step(np.array([size, -size]), 1.0)
    assert np.abs(step).max() <= 1.0


def test_adam_steps_by_its_rate_however_small_the_gradient():
    assert_allclose(Adam((2,)).step(np.array([1e-140, -1.0]), 0.1), [0.1, -0.1])
