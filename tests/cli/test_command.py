from typing import Annotated, NamedTuple

import pytest
import typer
from typer.testing import CliRunner

from vicinal.cli.command import Command
from vicinal.cli.commands import COMMANDS


class Greeting(NamedTuple):
    """Two options that go together."""

    word: Annotated[str, typer.Option("--word", help="Say this word.")] = "hello"
    loud: Annotated[bool, typer.Option("--loud", help="Say it loudly.")] = False

    def said(self):
        return self.word.upper() if self.loud else self.word


def greet(
    name: str,
    times: Annotated[int, typer.Option(help="Say it so often.")] = 1,
    *,
    greeting: Greeting,
    mark: Annotated[str, typer.Option(help="End with this mark.")] = "!",
) -> None:
    """Greet somebody."""
    for _ in range(times):
        typer.echo(f"{greeting.said()}, {name}{mark}")


@pytest.fixture
def app():
    app = typer.Typer(rich_markup_mode=None)
    Command(greet, examples=("vicinal greet you",)).add_to(app)
    return app


def test_options_of_a_group_are_typed_one_by_one(app):
    run = CliRunner().invoke
    assert run(app, ["you"]).output == "hello, you!\n"
    assert run(app, ["you", "--loud", "--word", "hi", "--times", "2"]).output == "HI, you!\n" * 2
    assert run(app, ["you", "--mark", "?"]).output == "hello, you?\n"


def test_help_has_all_options_in_order_and_examples(app):
    out = CliRunner().invoke(app, ["--help"]).output
    places = [
        out.index(word) for word in ("Greet somebody", "--times", "--word", "--loud", "--mark")
    ]
    assert places == sorted(places)
    assert "vicinal greet you" in out.partition("Examples:")[2]


def test_commands_have_different_names_and_examples_of_themselves():
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)
    for command in COMMANDS:
        assert command.examples
        assert all(f"vicinal {command.name}" in example for example in command.examples)
