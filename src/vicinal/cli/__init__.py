"""The command line.

typer, rich and polars come with an extra, so they are imported when a command
runs, not when this package is. Every command is a value with a file of its own, in
`commands`; `tables` reads files, makes numbers of them, and writes results; `running`
turns errors and Ctrl-C into a line and an exit code.
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from vicinal import __version__
from vicinal.cli.running import INTERRUPTED, run_app
from vicinal.cli.streams import prepare_streams
from vicinal.cli.wording import examples

if TYPE_CHECKING:
    import typer

__all__ = ["build_app", "main"]

_EXAMPLES = (
    "vicinal demo",
    "vicinal datasets iris -o iris.csv",
    "vicinal fit iris.csv --target species -d 2 -o iris.skops",
    "vicinal transform iris.skops iris.csv | head -3",
)
_MORE = """
Every command has its own --help, with examples. Tables are .csv, .tsv, .parquet, .arrow,
.feather, .npy and .npz files; - is standard input or output."""


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Parameters
    ----------
    args : sequence of str, optional
        Arguments. None: those of the process.
    """
    try:
        prepare_streams()
        sys.exit(_run(args))
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(INTERRUPTED)


def _run(args: Sequence[str] | None) -> int | str:
    """Exit code, or what to say instead of running."""
    try:
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError:
        return "vicinal's command line needs the extra 'cli': pip install 'vicinal[cli]'"
    return run_app(build_app(), args)


def build_app() -> "typer.Typer":
    """The commands, as a typer application.

    Returns
    -------
    typer.Typer

    Examples
    --------
    >>> from typer.testing import CliRunner
    >>> from vicinal.cli import build_app
    >>> print(CliRunner().invoke(build_app(), ["--version"]).stdout)
    vicinal ...
    """
    import typer

    from vicinal.cli import commands

    app = typer.Typer(
        help='Learn what "near" means for a data set.',
        epilog=f"{examples(*_EXAMPLES)}\n{_MORE}",
        rich_markup_mode=None,  # its boxes leave little room for words in 80 columns
        pretty_exceptions_enable=False,  # --debug shows Python's own traceback
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback(invoke_without_command=True)
    def vicinal(
        context: typer.Context,
        version: Annotated[
            bool, typer.Option("--version", is_eager=True, help="Show the version and exit.")
        ] = False,
    ) -> None:
        if version:
            typer.echo(f"vicinal {__version__}")
            raise typer.Exit
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    for command in commands.COMMANDS:
        command.add_to(app)
    return app
