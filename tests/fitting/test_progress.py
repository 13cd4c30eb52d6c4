import io

import numpy as np

from vicinal.fitting.progress import ProgressBar
from vicinal.fitting.update import Update


class Terminal(io.StringIO):
    def isatty(self):
        return True


def update(iteration, seconds=1.0):
    return Update(iteration, np.zeros(1), 0.75, 0.1, seconds)


def test_a_terminal_line_is_rewritten_in_place():
    stream = Terminal()
    bar = ProgressBar("Fit", 4, stream)
    bar(update(0, 0.0))
    bar(update(2, 3.0))
    bar.close("done")
    lines = stream.getvalue().split("\r")
    assert "░" * 20 + " 0/4  objective 0.75" in lines[1]
    assert "█" * 10 + "░" * 10 + " 2/4" in lines[2]
    assert "at most 3 s left" in lines[2]
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
