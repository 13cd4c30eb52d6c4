import io
import sys

import pytest

from vicinal.interrupts import Interrupts
from vicinal.report.comparing import progress as module
from vicinal.report.comparing.progress import Progress, audience, watched_by


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    now = [100.0]
    monkeypatch.setattr(module.time, "perf_counter", lambda: now[0])
    return now


def step(progress, clock, fold, label, seconds):
    progress.begin(fold, label)
    clock[0] += seconds
    progress.end(0.9)


def test_time_left_is_at_least_that_of_what_has_been_seen(clock):
    progress = Progress(["a", "b"], 3)
    assert str(progress) == "0 s"
    step(progress, clock, 0, "a", 2.0)
    assert progress.left == (4.0, False)
    assert str(progress) == "2 s, at least 4 s left"
    step(progress, clock, 0, "b", 10.0)
    assert progress.left == (24.0, True)
    assert str(progress) == "12 s, about 24 s left"


def test_what_is_being_done_is_counted_down(clock):
    progress = Progress(["a"], 3)
    step(progress, clock, 0, "a", 2.0)
    progress.begin(1, "a")
    clock[0] += 1.5
    assert progress.left == (2.5, True)
    clock[0] += 5.0  # longer than expected: the other fold is still to come
    assert progress.left == (2.0, True)


def test_what_cannot_be_done_takes_no_time(clock):
    progress = Progress(["a", "b"], 2)
    step(progress, clock, 0, "a", 1.0)
    progress.begin(0, "b")
    progress.give_up()
    assert progress.left == (1.0, True)


def test_a_line_for_people(clock, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    progress = Progress(["LDA"], 2)
    step(progress, clock, 0, "LDA", 3.0)
    with audience(verbose=1) as (watch, interrupts):
        progress.begin(1, "LDA")
        watch(progress)
    assert interrupts is None
    assert stream.getvalue() == ("compare: fold 2 of 2, LDA  3 s, about 3 s left\ncompare: done\n")


def test_programs_with_a_screen_of_their_own(capsys):
    seen, interrupts = [], Interrupts()
    with watched_by(seen.append, interrupts), audience(verbose=1) as (watch, heard):
        watch("progress")
    assert (seen, heard) == (["progress"], interrupts)
    with audience(verbose=0) as nobody:
        nobody[0](Progress([], 1))
    assert capsys.readouterr().err == ""
