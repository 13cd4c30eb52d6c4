"""The recipe "Add a command" of docs/extending.md, followed."""

import typer
from cli.helpers import assert_one_line, run, run_main

from vicinal.cli import commands, options
from vicinal.cli.command import Command
from vicinal.cli.groups import Reading, Speaking


def count(data: options.Data, *, reading: Reading, speaking: Speaking) -> None:
    """Count the rows and columns of a table."""
    with speaking.running():
        frame = reading.table(data).frame
        typer.echo(f"{frame.height} rows, {frame.width} columns")


COUNT = Command(count, examples=("vicinal count iris.csv",))


def test_a_new_command(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(commands, "COMMANDS", (*commands.COMMANDS, COUNT))
    table = tmp_path / "table.csv"
    table.write_text("a;b;c\n1;2;3\n4;5;6\n")
    assert run("count", table).stdout == "2 rows, 3 columns\n"
    assert run("count", table, "--no-header").stdout == "3 rows, 3 columns\n"
    code, out, err = run_main(capsys, "count", "nowhere.csv")
    assert (code, out) == (1, "")
    assert_one_line(err, "there is no file 'nowhere.csv'")


def test_help_knows_it(monkeypatch, capsys):
    monkeypatch.setattr(commands, "COMMANDS", (*commands.COMMANDS, COUNT))
    assert "count      Count the rows and columns of a table." in run_main(capsys, "--help")[1]
    out = run_main(capsys, "count", "--help")[1]
    assert "--header / --no-header" in out
    assert "vicinal count iris.csv" in out
