"""``vicinal report``."""

from pathlib import Path
from typing import Annotated

import typer

from vicinal.cli import options
from vicinal.cli.columns import check_column
from vicinal.cli.models import SavedModel
from vicinal.cli.progress import progress_of_fits
from vicinal.cli.rows import Rows, prepare
from vicinal.cli.running import command_line, remark, running
from vicinal.cli.screens import size
from vicinal.cli.sources import STANDARD
from vicinal.cli.tables import Table, read_table
from vicinal.cli.wording import examples
from vicinal.files import check_target

__all__ = ["add_to"]

_EPILOG = examples(
    "vicinal report iris.skops iris.csv -o iris.html",
    'vicinal report iris.skops iris.csv --test new.csv --title "Flowers of June"',
)


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog=_EPILOG)(report)


def report(
    model: options.ModelFile,
    data: options.Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Page to write.")
    ] = Path("vicinal-report.html"),
    target: options.Target = None,
    test: Annotated[
        Path | None,
        typer.Option(
            "--test",
            metavar="TEST",
            help="Table of rows the model has not seen, to judge it by. By default it is fitted "
            "anew to parts of DATA.",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Of the page.")] = None,
    drop_missing: options.DropMissing = False,
    ignore_unknown: options.IgnoreUnknown = False,
    kind: options.Format = None,
    header: options.Header = None,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write a page about a model and rows.

    One HTML file, to be opened in a browser; it fetches nothing.
    """
    with running(debug, quiet) as interrupts:
        from vicinal.report import write_report

        check_target(output, "the page")
        saved = SavedModel.at(model)

        def rows_of(path: Path) -> Rows:
            table = read_table(path, kind, header=header)
            return _rows(saved, table, target, drop_missing, ignore_unknown)

        rows, held_out = rows_of(data), None if test is None else rows_of(test)
        with progress_of_fits(interrupts, "Writing the page", quiet=quiet):
            write_report(
                saved.model,
                rows.X,
                rows.y,
                output,
                X_test=None if held_out is None else held_out.X,
                y_test=None if held_out is None else held_out.y,
                feature_names=rows.columns.features,
                title=title,
                data_name="standard input" if data == STANDARD else data.name,
                command=_commands(saved),
            )
        remark(f"{output} ({size(output.stat().st_size)}): open it in a browser")


def _rows(
    saved: SavedModel, table: Table, target: str | None, drop_missing: bool, ignore_unknown: bool
) -> Rows:
    """With classes where there are any."""
    if target is not None:
        check_column(table, target, "--target")
    columns = saved.columns(target)
    return prepare(
        table,
        columns,
        with_target=columns.target_in(table) is not None,
        drop_missing=drop_missing,
        ignore_unknown=ignore_unknown,
    )


def _commands(saved: SavedModel) -> str:
    """What repeats the work: the fit, as far as it is known, and the report."""
    fitted = saved.header.metadata.get("command")
    return "\n".join(command for command in (fitted, command_line()) if command)
