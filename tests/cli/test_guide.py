"""The guide says what happens: its commands are run, one after the other."""

import re
import shlex
from pathlib import Path

import pytest
from cli.helpers import run_main

GUIDE = Path(__file__).parents[2] / "docs" / "command-line.md"
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def steps():
    """Commands and what they are said to print."""
    text = "".join(BLOCK.findall(GUIDE.read_text()))
    for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = step.partition("\n")
        yield shlex.split(command), output


def spaced(text):
    """Words between single blanks, to be compared across line breaks."""
    return " ".join(text.split())


@pytest.mark.filterwarnings("default")
def test_the_commands_of_the_guide(capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("VICINAL_DATA", raising=False)
    for (program, *args), told in steps():
        if program == "cat":
            Path(args[0]).write_text(told)
            continue
        assert program == "vicinal"
        code, out, err = run_main(capsys, *args)
        assert code == 0 or (code == 1 and told), err  # an error must be part of the guide
        for part in told.split("..."):
            assert spaced(part) in spaced(err + out), args
    assert {path.name for path in tmp_path.iterdir()} >= {"iris.html", "outliers.csv"}
