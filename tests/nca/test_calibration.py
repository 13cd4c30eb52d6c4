import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from tests.effort import examples
from vicinal.nca.calibration import CERTAIN, Calibration, _HeldBack, calibrate


def shares(scores):
    return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)


LOG_P = arrays(np.float64, (7, 4), elements=st.floats(-50.0, 50.0)).map(shares)


@examples(100)
@given(LOG_P, st.floats(0.1, 50.0), st.just(0.0) | st.floats(1e-9, 0.5))
def test_probabilities_sum_to_one_and_keep_their_order(log_p, temperature, floor):
    calibrated = Calibration(temperature, floor).apply(log_p)
    assert_allclose(np.exp(calibrated).sum(axis=1), 1.0, rtol=1e-12)
    order = np.argsort(log_p, axis=1, kind="stable")
    assert (np.diff(np.take_along_axis(calibrated, order, axis=1), axis=1) >= -1e-12).all()
    best = np.take_along_axis(calibrated, log_p.argmax(axis=1)[:, None], axis=1)[:, 0]
    assert_allclose(best, calibrated.max(axis=1), rtol=1e-12)


def test_certain_changes_nothing():
    log_p = shares(np.random.default_rng(0).normal(size=(5, 3)))
    assert CERTAIN.apply(log_p) is log_p


def test_the_temperature_that_made_labels_is_found():
    rng = np.random.default_rng(0)
    truth = shares(rng.normal(size=(20_000, 3)))
    labels = (rng.random(len(truth))[:, None] > np.exp(truth).cumsum(axis=1)).sum(axis=1)
    found = calibrate(shares(4.0 * truth), labels, np.ones(len(labels)))
    assert_allclose(found.temperature, 4.0, rtol=0.05)


def test_a_class_without_any_mass_stays_possible():
    log_p = np.array([[0.0, -np.inf], [0.0, -np.inf]])
    found = calibrate(log_p, np.array([0, 1]), np.ones(2))
    assert np.isfinite(found.log_likelihood(log_p, np.array([0, 1]), np.ones(2)))
    assert_array_equal(found.apply(log_p).argmax(axis=1), [0, 0])


def test_weights_count_copies():
    rng = np.random.default_rng(0)
    log_p, labels = shares(rng.normal(size=(30, 3))), rng.integers(0, 3, 30)
    weights = rng.integers(1, 4, 30)
    copies = np.repeat(np.arange(30), weights)
    by_weight = calibrate(log_p, labels, weights.astype(float))
    by_copies = calibrate(log_p[copies], labels[copies], np.ones(len(copies)))
    assert_allclose(by_weight.temperature, by_copies.temperature, rtol=1e-6)
    assert by_weight.floor == by_copies.floor


def test_what_is_minimized_is_the_likelihood_of_the_calibration():
    rng = np.random.default_rng(3)
    log_p, labels = shares(rng.normal(scale=30.0, size=(40, 3))), rng.integers(0, 3, 40)
    weights = rng.uniform(0.5, 2.0, 40)
    loss = _HeldBack.of(log_p, labels, weights).loss(np.log(3.0), 0.01)
    likelihood = Calibration(3.0, 0.01).log_likelihood(log_p, labels, weights)
    assert_allclose(-loss, likelihood, rtol=1e-12)
