import numpy as np
import pytest
from fitting.climbing import Climb

from vicinal.fitting import run
from vicinal.fitting.forecast import likely_last


@pytest.mark.parametrize("rate", [0.7, 0.9])
def test_gains_that_shrink_at_a_constant_rate_are_foreseen(rate):
    gains = rate ** np.arange(30.0)
    objectives, least = np.cumsum(gains), 1e-9
    truth = np.log(least) / np.log(rate)
    # The rate is told from means of ten gains each, which are those of the middle.
    assert likely_last(29, objectives, least, 1000) == pytest.approx(truth, abs=8)


def test_nobody_knows_before_there_are_gains_to_look_at():
    assert likely_last(5, np.arange(6.0), 1e-6, 100) is None
    assert likely_last(40, np.arange(41.0), 1e-6, 100) is None


def test_there_are_no_more_updates_than_allowed():
    objectives = np.cumsum(0.99 ** np.arange(40.0))
    assert likely_last(39, objectives, 1e-12, 100) == 100
    assert likely_last(39, objectives, 0.0, 100) == 100
    assert likely_last(39, objectives, 1e3, 100) == 40


def test_the_loop_tells_of_the_end_of_a_schedule():
    ends = []

    def listen(update):
        ends.append(update.likely_last)

    values = np.arange(5.0)
    run(Climb(values), np.ones(1), max_iter=4, tol=None, scheduled=True, callbacks=[listen])
    assert ends == [4] * 5
