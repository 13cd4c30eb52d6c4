import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from vicinal.report.comparing.intervals import (
    corrected_error,
    difference_interval,
    share_interval,
)
from vicinal.report.numbers.calibration import wilson_interval

shares = st.lists(st.floats(0, 1), min_size=2, max_size=20).map(np.array)
NO_ROWS = np.zeros(50)


def naive_error(values, n_train, n_test):
    """Nadeau & Bengio, "Inference for the generalization error", section 3.5."""
    J = len(values)
    mean = sum(values) / J
    variance = sum((value - mean) ** 2 for value in values) / (J - 1)
    return math.sqrt((1 / J + n_test / n_train) * variance)


@given(shares)
def test_the_error_is_that_of_the_paper(values):
    assert corrected_error(values, 20 / 80) == pytest.approx(naive_error(values, 80, 20), abs=1e-15)


def test_one_fold_tells_no_error():
    assert math.isnan(corrected_error(np.array([0.5]), 0.25))


def test_interval_of_a_difference_is_students():
    gains = np.array([0.01, 0.05, 0.02, 0.04, 0.0, 0.03])
    low, high = difference_interval(gains, NO_ROWS, 0.2)
    reach = t.ppf(0.975, 5) * naive_error(gains, 5, 1)
    assert (low, high) == pytest.approx((gains.mean() - reach, gains.mean() + reach))


def test_the_upper_end_allows_for_the_choice_of_the_best():
    gains = np.array([0.01, 0.05, 0.02, 0.04, 0.0, 0.03])
    alone, chosen = (difference_interval(gains, NO_ROWS, 0.2, n) for n in (1, 5))
    assert chosen[0] == alone[0]
    reach = t.ppf(1 - 0.025 / 5, 5) * naive_error(gains, 5, 1)
    assert chosen[1] == pytest.approx(gains.mean() + reach)


def test_folds_that_agree_by_accident_are_not_believed():
    """One row more in each of five folds of 30: five of 150, by which nobody would swear."""
    rows = np.zeros(150)
    rows[::30] = 1.0
    folds = rows.reshape(5, 30).mean(axis=1)
    low, high = difference_interval(folds, rows, 0.25)
    assert corrected_error(folds, 0.25) == pytest.approx(0.0)
    assert low < 0 < high
    reach = t.ppf(0.975, 4) * rows.std(ddof=1) / math.sqrt(150)
    assert high - low == pytest.approx(2 * reach)


def test_one_fold_leaves_a_difference_open():
    assert np.isnan(difference_interval(np.array([0.1]), NO_ROWS, 0.25)).all()


@given(shares, st.integers(2, 500))
def test_an_interval_holds_the_mean_and_stays_among_shares(values, n_rows):
    low, high = share_interval(values, 0.25, n_rows)
    assert 0 <= low <= values.mean() + 1e-12
    assert values.mean() - 1e-12 <= high <= 1
    by_rows = wilson_interval(values.mean(), n_rows)
    assert low <= by_rows[0]
    assert high >= by_rows[1]


def test_all_right_is_not_certain():
    low, high = share_interval(np.ones(5), 0.25, 100)
    assert (low, high) == pytest.approx((float(wilson_interval(1.0, 100)[0]), 1.0))


def test_the_interval_of_folds_that_differ():
    values = np.array([0.9, 0.8, 0.7, 0.8, 0.8])
    reach = t.ppf(0.975, 4) * naive_error(values, 4, 1)
    assert share_interval(values, 0.25, 10_000) == pytest.approx((0.8 - reach, 0.8 + reach))


def test_one_fold_has_the_interval_of_its_rows():
    low, high = share_interval(np.array([0.8]), 0.25, 50)
    assert (low, high) == pytest.approx(tuple(map(float, wilson_interval(0.8, 50))))
