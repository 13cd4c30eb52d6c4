"""What tests of the command line share."""

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from vicinal.cli import build_app, main
from vicinal.cli.running import _arguments


def run(*args, stdin=None):
    """Result of a command."""
    try:
        runner = CliRunner(mix_stderr=False)
    except TypeError:  # newer ones never mix
        runner = CliRunner()
    words = [str(arg) for arg in args]
    token = _arguments.set(words)  # what was typed, for the commands that remember it
    try:
        return runner.invoke(build_app(), words, input=stdin)
    finally:
        _arguments.reset(token)


def done(*args, stdin=None):
    """Result of a command that must succeed."""
    result = run(*args, stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return result


def refused(*parts, args, stdin=None, code=1):
    """One line on stderr, with these parts in it, and an exit code."""
    result = run(*args, stdin=stdin)
    assert (result.exit_code, result.stdout) == (code, ""), result.stderr or result.exception
    assert_one_line(result.stderr, *parts)
    return result.stderr


def run_main(capsys, *args):
    """Exit code, stdout and stderr of the entry point."""
    with pytest.raises(SystemExit) as ended:
        main(args)
    if isinstance(ended.value.code, str):  # as the interpreter does with it
        return 1, capsys.readouterr().out, ended.value.code + "\n"
    return ended.value.code, *capsys.readouterr()


def assert_one_line(text, *parts):
    assert text.count("\n") == 1, text
    assert text.endswith("\n")
    assert "Traceback" not in text
    for part in parts:
        assert part in text


def flowers(n, seed):
    """Three kinds that differ in two of three numbers, the third being large and noisy."""
    rng = np.random.default_rng(seed)
    kinds = np.arange(n) % 3
    X = rng.normal(size=(n, 3)) + np.eye(3)[kinds] * 3
    return pl.DataFrame(
        {
            "id": [f"f{i}" for i in range(n)],
            "length": X[:, 0],
            "width": X[:, 1],
            "height": 100 * rng.normal(size=n),
            "kind": np.array(["aster", "rose", "tulip"])[kinds],
        }
    )
