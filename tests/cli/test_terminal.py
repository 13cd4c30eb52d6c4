"""Contents of files and names of them do nothing to a terminal but stand there."""

import os
import re
import sys
from pathlib import Path

import polars as pl
import pytest
from cli.helpers import done, run_main

NASTY = "\x1b]0;owned\x07\x1b[31m\x9b2J\x7f\u202e[red][link http:x]"
SHOWN = r"\x1b]0;owned\x07\x1b[31m\x9b2J\x7f\u202e[red][link http:x]"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
# What rich sends by itself: colors, bold, moves of the cursor for progress.
OWN = re.compile("\x1b\\[[0-9;?]*[a-zA-Z]|\r")
OPTIONS = ("--target", f"ki{NASTY}", "--drop", "id")


@pytest.fixture
def nasty(garden):
    """A table with such names and words, in a file of such a name."""
    frame = pl.read_csv(garden / "train.csv")
    frame = frame.rename({"length": f"le{NASTY}", "kind": f"ki{NASTY}"})
    frame = frame.with_columns(pl.col(f"ki{NASTY}") + NASTY, pl.col("id") + NASTY)
    frame.write_csv(f"da{NASTY}.csv")
    return f"da{NASTY}.csv"


def on_terminal(*args):
    """What a terminal is sent."""
    pty = pytest.importorskip("pty")
    sent = b""
    pid, terminal = pty.fork()
    if pid == 0:  # pragma: no cover  (the child)
        os.environ.update(TERM="xterm", COLUMNS="200")
        os.execv(sys.executable, [sys.executable, "-m", "vicinal", *args])
    try:
        while part := os.read(terminal, 65536):
            sent += part
    except OSError:  # the child has closed it
        pass
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, sent
    return sent.decode()


@pytest.mark.parametrize(
    "args",
    [["fit", *OPTIONS, "-o", "again.skops"], ["transform", "m.skops", "--keep", "id"]],
)
def test_what_a_terminal_is_sent(nasty, args):
    done("fit", nasty, *OPTIONS, "-q", "-o", "m.skops")
    sent = on_terminal(*args, nasty)
    assert "\x1b[31m" not in sent
    assert not RAW.search(OWN.sub("", sent))
    assert SHOWN in OWN.sub("", sent)


def test_screens(nasty, monkeypatch):
    monkeypatch.setenv("COLUMNS", "1000")
    for args in (
        ["fit", nasty, *OPTIONS, "-q", "-o", f"{NASTY}.skops"],
        ["info", f"{NASTY}.skops"],
        ["score", f"{NASTY}.skops", nasty],
    ):
        out = done(*args).stdout
        assert not RAW.search(out)
        assert SHOWN.replace(" ", "") in "".join(out.split())  # a title may be folded


@pytest.mark.parametrize("debug", [[], ["--debug"]])
def test_messages(nasty, capsys, debug):
    for args in (
        ["fit", nasty, "-o", f"{NASTY}/m.skops"],
        ["fit", nasty, "-t", "none", "-o", "m.skops"],
        ["fit", nasty, *OPTIONS[:2], "-o", "m.skops"],  # the identifiers are text
        ["info", f"{NASTY}.skops"],
        ["fit", nasty, "--set", f"{NASTY}=1", "-o", "m.skops"],
        ["fit", nasty, *OPTIONS, "--engine", f"x{NASTY}", "-o", "m.skops"],
        ["fit", f"--{NASTY}"],
    ):
        code, out, err = run_main(capsys, *args, *debug)
        assert (code in (1, 2), out) == (True, "")
        assert not RAW.search(err)
        assert SHOWN in err
        assert debug or err.count("\n") == 1


def test_files_and_pipes_get_contents_as_they_are(nasty):
    done("fit", nasty, *OPTIONS, "-q", "-o", "m.skops")
    out = done("transform", "m.skops", nasty).stdout
    assert f"aster{NASTY}" in out
    done("transform", "m.skops", nasty, "-o", "out.csv")
    assert Path("out.csv").read_text() == out


def test_json_has_no_control_characters(nasty):
    out = done("fit", nasty, *OPTIONS, "-q", "-o", "m.skops", "--json").stdout
    assert not RAW.search(out)
    assert r"\u001b" in out
