import io

import numpy as np
import pytest
from fitting.climbing import Climb

from vicinal.fitting.loop import run
from vicinal.fitting.progress import ProgressBar, display_of, say, shown_by, stage
from vicinal.fitting.update import Update


class Terminal(io.StringIO):
    def isatty(self):
        return True


def update(iteration, seconds=1.0, likely_last=None):
    return Update(iteration, np.zeros(1), 0.75, 0.1, seconds, likely_last=likely_last)


def test_a_terminal_line_is_rewritten_in_place():
    stream = Terminal()
    bar = ProgressBar("Fit", 4, stream)
    bar(update(0, 0.0))
    bar(update(2, 3.0, likely_last=3))
    bar.close("done")
    lines = stream.getvalue().split("\r")
    assert "░" * 20 + " 0/4  objective 0.75" in lines[1]
    assert "█" * 10 + "░" * 10 + " 2/4" in lines[2]
    assert "3.0 s, about 2 s left" in lines[2]
    assert "left" not in lines[1]
    assert stream.getvalue().endswith("\nFit: done\n")


def test_a_file_gets_a_line_now_and_then():
    stream = io.StringIO()
    bar = ProgressBar("Fit", 100, stream)
    for i in range(50):
        bar(update(i))
    bar.close("done")
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert "\r" not in stream.getvalue()


class Listener:
    def __init__(self, name, max_iter):
        self.heard = [(name, max_iter)]

    def __call__(self, update):
        self.heard.append(update.iteration)

    def close(self, message):
        self.heard.append(message)


def test_a_program_can_show_fits_its_own_way(capsys):
    made = []

    def make(name, max_iter):
        made.append(Listener(name, max_iter))
        return made[-1]

    with shown_by(make):
        for verbose in (0, 1):
            run(Climb(range(5)), np.ones(1), max_iter=10, tol=0.0, name="Climb", verbose=verbose)
    expected = [("Climb", 10), 0, 1, 2, 3, 4, "nothing more to gain"]
    assert [listener.heard for listener in made] == [expected, expected]
    assert capsys.readouterr().err == ""


def test_afterwards_fits_are_shown_as_before():
    with pytest.raises(ZeroDivisionError), shown_by(Listener):
        raise ZeroDivisionError
    assert display_of("Fit", 10, verbose=0) is None
    assert isinstance(display_of("Fit", 10, verbose=1), ProgressBar)


def test_a_stage_is_shown_once_it_takes_a_second(monkeypatch, capsys):
    seconds = iter([0.0, 0.5, 2.0, 4.0, 5.0, 5.0, 5.0])
    monkeypatch.setattr("vicinal.fitting.progress.time.perf_counter", lambda: next(seconds))
    with stage("Search", 100, verbose=1) as tell:
        tell(10)
        assert capsys.readouterr().err == ""
        tell(30.5)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Search ████████░░░░░░░░░░░░ 40/100  2.0 s, about 3 s left")
    assert lines[1].startswith("Search: done in")


def test_early_updates_say_nothing_about_the_end():
    stream = Terminal()
    bar = ProgressBar("Fit", 100, stream)
    bar(update(2, 9.0, likely_last=100))
    assert "left" not in stream.getvalue()


def test_words_for_whoever_watches(capsys):
    say("Fit", "learns from 5 of 10 rows", verbose=1)
    say("Fit", "nobody hears this", verbose=0)
    with shown_by(Listener):
        say("Fit", "nor this, on the screen of a program", verbose=1)
    assert capsys.readouterr().err == "Fit: learns from 5 of 10 rows\n"
