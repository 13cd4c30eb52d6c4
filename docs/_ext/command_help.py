"""The page that shows what ``vicinal COMMAND --help`` prints, written anew at every build."""

from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

PAGE = Path(__file__).parents[1] / "reference" / "generated" / "command-line-help.md"
OPENING = """# Options of the command line

What `--help` prints, command by command. The [guide](../../command-line.md) shows them at work.
"""


def helps() -> dict[str, str]:
    """What --help prints, by the command before it."""
    from typer.testing import CliRunner

    from vicinal.cli import build_app
    from vicinal.cli.commands import COMMANDS

    runner, app = CliRunner(), build_app()
    calls = [[], *([command.name] for command in COMMANDS)]
    plain = {"TERM": "dumb", "NO_COLOR": "1"}
    return {
        " ".join(["vicinal", *call]): runner.invoke(
            app,
            [*call, "--help"],
            prog_name="vicinal",
            env=plain,
            terminal_width=74,  # the runner knows no other way: it ignores COLUMNS
            catch_exceptions=False,
        ).stdout
        for call in calls
    }


def write_page(app: Sphinx) -> None:
    """Write it, unless it stands there already."""
    sections = [f"## {call}\n\n```text\n{text.rstrip()}\n```\n" for call, text in helps().items()]
    page = "\n".join([OPENING, *sections])
    if not PAGE.exists() or PAGE.read_text("utf-8") != page:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(page, "utf-8")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Write the page before pages are looked for."""
    app.connect("builder-inited", write_page, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
