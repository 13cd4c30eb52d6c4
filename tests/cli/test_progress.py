import io
import os
import re
import signal
import threading
from contextlib import suppress

import numpy as np
import pytest
from rich.console import Console

from vicinal.cli.progress import progress_of_comparison, progress_of_fits
from vicinal.fitting.progress import display_of
from vicinal.fitting.update import Update
from vicinal.interrupts import Interrupted, Interrupts
from vicinal.report.comparing.progress import Progress, audience


def terminal(**options):
    return Console(file=io.StringIO(), force_terminal=True, width=80, **options)


def update(iteration, seconds=1.0):
    return Update(iteration, np.zeros(1), 0.987654321, 0.1, seconds, likely_last=100)


def fit(n, max_iter=100):
    display = display_of("Fit", max_iter, verbose=0)
    for i in range(n):
        display(update(i, i / 2))
    return display


def test_a_terminal_sees_objective_and_time_left():
    console = terminal()
    with progress_of_fits(Interrupts(), console=console):
        fit(41)
    text = shown(console)
    assert "Fitting" in text
    assert "40/100  objective 0.98765  20 s, about 30 s left" in text
    assert all(len(line) <= 80 for line in text.splitlines())


def shown(console):
    """All that was written, without the codes of colors and of the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", console.file.getvalue()).replace("\r", "\n")


def test_long_numbers_fit_80_columns():
    console = terminal()
    with progress_of_fits(Interrupts(), console=console):
        display = display_of("NeighborhoodComponents", 4000, verbose=0)
        display(Update(2001, np.zeros(1), -1.23456e-5, 0.1, 2234.5, likely_last=4000))
    facts = "2001/4000  objective -1.2346e-05  2234 s, about 2233 s left"
    assert facts in shown(console)


@pytest.mark.parametrize("quiet", [True, False])
def test_nobody_else_sees_anything(quiet):
    console = terminal() if quiet else Console(file=io.StringIO())
    with progress_of_fits(Interrupts(), quiet=quiet, console=console):
        fit(3).close("done")
    assert console.file.getvalue().strip() == ""


def test_nothing_is_left_on_the_screen():
    console = terminal()
    with progress_of_fits(Interrupts(), console=console):
        fit(3).close("done")
        fit(2)  # another one
    assert display_of("Fit", 10, verbose=0) is None
    assert console.file.getvalue().endswith("\x1b[2K")  # the line is erased


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(),
    reason="signals reach the main thread only",
)
def test_ctrl_c_that_was_lost_ends_the_fit_at_the_next_update():
    def fit_on():
        with Interrupts() as interrupts, progress_of_fits(interrupts, quiet=True):
            display = fit(2)
            with suppress(Interrupted):  # as in a callback from C
                os.kill(os.getpid(), signal.SIGINT)
            display(update(2))
            raise AssertionError("the fit went on")

    with pytest.raises(Interrupted):
        fit_on()


def compare_a_little():
    with audience(verbose=0) as (watch, _):
        tell(watch)


def tell(watch):
    progress = Progress(["LDA", "raw", "NCA"], 5)
    for label in ("LDA", "raw"):
        progress.begin(0, label)
        watch(progress)
        progress.end(0.975)
    progress.begin(0, "NCA")
    watch(progress)
    progress.give_up()
    progress.begin(1, "LDA")
    watch(progress)


def test_a_comparison_has_a_line_for_each_method():
    console = terminal()
    with progress_of_comparison(Interrupts(), console=console):
        compare_a_little()
    text = shown(console)
    for part in ("1/5   97.5%", "fitting", "left out", "All", "0 s, about 1 s left"):
        assert part in text
    assert all(len(line) <= 80 for line in text.splitlines())


@pytest.mark.parametrize("quiet", [True, False])
def test_nobody_else_sees_a_comparison(quiet):
    console = terminal() if quiet else Console(file=io.StringIO())
    with progress_of_comparison(Interrupts(), quiet=quiet, console=console):
        compare_a_little()
    assert console.file.getvalue() == ""
