import subprocess
import sys

import pytest
from cli.helpers import assert_one_line, run_main

import vicinal
from vicinal.cli.running import _with_help


def test_no_arguments_show_help(capsys):
    code, out, err = run_main(capsys)
    assert (code, err) == (0, "")
    assert "Usage: vicinal" in out
    assert "demo" in out


def test_no_line_of_the_list_of_commands_is_cut(capsys):
    assert "..." not in run_main(capsys, "--help")[1].partition("Commands:")[2]


COMMANDS = (
    "demo",
    "compare",
    "fit",
    "transform",
    "predict",
    "score",
    "info",
    "embed",
    "report",
    "datasets",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_and_fits_80_columns(capsys, command):
    code, out, err = run_main(capsys, command, "--help")
    assert (code, err) == (0, "")
    assert f"Usage: vicinal {command}" in out
    assert f"\n    vicinal {command} " in out.partition("Examples:")[2] + " "
    assert max(map(len, out.splitlines())) <= 80


def test_version(capsys):
    assert run_main(capsys, "--version") == (0, f"vicinal {vicinal.__version__}\n", "")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["demo", "--sead", "1"], "--sead"),
        (["demo", "--seed", "one"], "--seed"),
        (["dance"], "dance"),
    ],
)
def test_wrong_arguments(capsys, args, said):
    code, out, err = run_main(capsys, *args)
    assert (code, out) == (2, "")
    assert_one_line(err, said, "--help'")


def test_what_is_wrong_and_where_to_read_about_it_are_two_sentences():
    told = [_with_help(f"No{end}", "vicinal fit") for end in ("", ".", " 'a'. Did you mean 'b'?")]
    assert told[0] == told[1] == "No. See 'vicinal fit --help'."
    assert told[2] == "No 'a'. Did you mean 'b'? See 'vicinal fit --help'."


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_for_the_command_line(capsys, monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    code, out, err = run_main(capsys, "demo")
    assert (code, out) == (1, "")
    assert_one_line(err, "needs the extra 'cli': pip install 'vicinal[cli]'")


HEAVY = ("numpy", "sklearn", "matplotlib", "polars", "rich")


@pytest.mark.parametrize(
    ("work", "heavy"), [("", ("typer", *HEAVY)), ("vicinal.cli.build_app()", HEAVY)]
)
def test_importing_the_command_line_is_light(work, heavy):
    code = f"import sys, vicinal.cli\n{work}\nprint([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("module", ["vicinal", "vicinal.cli"])
def test_as_a_module(module):
    command = [sys.executable, "-m", module, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"vicinal {vicinal.__version__}\n"
