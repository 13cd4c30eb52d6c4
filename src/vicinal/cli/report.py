"""``vicinal report``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicinal.cli import options
from vicinal.cli.columns import check_column
from vicinal.cli.labels import recognized
from vicinal.cli.models import SavedModel
from vicinal.cli.overwriting import check_file, refuse_overwriting, refuse_reading_twice
from vicinal.cli.progress import progress_of_fits
from vicinal.cli.rows import Rows, prepare
from vicinal.cli.running import command_line, remark, running
from vicinal.cli.screens import size
from vicinal.cli.sources import STANDARD
from vicinal.cli.tables import Table, read_table
from vicinal.cli.wording import examples, some

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

        check_file(output, "page")
        refuse_overwriting({"--output": output}, model, data, test)
        refuse_reading_twice([data, test])
        saved = SavedModel.at(model)
        saved.check_coordinates()

        def rows_of(path: Path) -> Rows:
            table = read_table(path, kind, header=header)
            return _rows(saved, table, target, drop_missing, ignore_unknown)

        rows, held_out = rows_of(data), None if test is None else rows_of(test)
        y, y_test = _labels(saved.model, rows, held_out)
        with progress_of_fits(interrupts, "Writing the page", quiet=quiet):
            write_report(
                saved.model,
                rows.X,
                y,
                output,
                X_test=None if held_out is None else held_out.X,
                y_test=y_test,
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


def _labels(model: Any, rows: Rows, held_out: Rows | None) -> "list[NDArray | None]":
    """Classes as the model knows them, or as the first table has them."""
    import numpy as np

    found = [rows.y, None if held_out is None else held_out.y]
    classes = getattr(model, "classes_", None)
    if classes is None and rows.y is not None:
        classes = np.unique(rows.y)
    if classes is None:
        return found
    known = [None if y is None else recognized(y, classes) for y in found]
    for y in known:
        if y is not None and y.dtype == object:  # numbers and words
            stray = next(label for label in y.tolist() if isinstance(label, str))
            raise ValueError(
                f"{stray!r} is none of the classes, which are {some(classes.tolist())}"
            )
    return known


def _commands(saved: SavedModel) -> str:
    """What repeats the work: the fit, as far as it is known, and the report."""
    fitted = saved.header.metadata.get("command")
    return "\n".join(one for one in (fitted, command_line()) if isinstance(one, str))
