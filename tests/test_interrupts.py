import os
import signal
import threading
from contextlib import suppress

import pytest

from vicinal.interrupts import Interrupted, Interrupts

pytestmark = pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(),
    reason="signals reach the main thread only",
)


@pytest.fixture(autouse=True)
def usual_interrupts():
    """A job in the background of a script has Ctrl-C switched off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press():
    os.kill(os.getpid(), signal.SIGINT)


def test_no_fit_takes_it_for_a_wish_to_keep_the_best_so_far():
    def fit():
        with Interrupts(), suppress(KeyboardInterrupt):
            press()
        raise AssertionError("it was taken for an end of the fit")

    with pytest.raises(Interrupted):
        fit()


def test_what_was_lost_is_remembered():
    def lose(interrupts):
        with suppress(Interrupted):  # as in a callback from C
            press()
        interrupts.check()
        raise AssertionError("it was forgotten")

    with pytest.raises(Interrupted), Interrupts() as interrupts:
        lose(interrupts)


def test_afterwards_all_is_as_before():
    with Interrupts():
        pass
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        press()


def test_another_handler_is_left_alone():
    heard = []
    signal.signal(signal.SIGINT, lambda *args: heard.append(args))
    with Interrupts() as interrupts:
        press()
    assert len(heard) == 1
    assert not interrupts.happened
