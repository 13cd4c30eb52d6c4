"""``vicinal report``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vicinal.cli import options
from vicinal.cli.command import Command
from vicinal.cli.groups import Matching, Reading, Speaking
from vicinal.cli.model_files import SavedModel
from vicinal.cli.overwriting import check_file, refuse_overwriting, refuse_reading_twice
from vicinal.cli.progress import progress_of_fits
from vicinal.cli.running import command_line, remark
from vicinal.cli.screens import size
from vicinal.cli.tables.columns import check_column
from vicinal.cli.tables.labels import recognized
from vicinal.cli.tables.rows import Rows
from vicinal.cli.tables.sources import STANDARD
from vicinal.cli.tables.table import Table
from vicinal.cli.wording import some

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator

__all__ = ["REPORT"]


_Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="Write the page to this file.")
]
_Test = Annotated[
    Path | None,
    typer.Option(
        "--test",
        metavar="TEST",
        help="Judge the model by this table of rows it has not seen. By default it is refitted "
        "to parts of DATA and judged by the rest.",
    ),
]
_Title = Annotated[str | None, typer.Option(metavar="TEXT", help="The title of the page.")]


def report(
    model: options.ModelFile,
    data: options.Data,
    output: _Output = Path("vicinal-report.html"),
    target: options.Target = None,
    test: _Test = None,
    title: _Title = None,
    *,
    matching: Matching,
    reading: Reading,
    speaking: Speaking,
) -> None:
    """Write a page about a model and rows.

    It is a single HTML file to open in a browser, and fetches nothing.
    """
    with speaking.running() as interrupts:
        from vicinal.report import write_report

        check_file(output, "page")
        refuse_overwriting({"--output": output}, model, data, test)
        refuse_reading_twice([data, test])
        saved = SavedModel.at(model)
        saved.check_coordinates()

        def rows_of(path: Path) -> Rows:
            return _rows(saved, reading.table(path), target, matching)

        rows, held_out = rows_of(data), None if test is None else rows_of(test)
        y, y_test = _labels(saved.model, rows, held_out)
        with progress_of_fits(interrupts, "Writing the page", quiet=speaking.quiet):
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


REPORT = Command(
    report,
    examples=(
        "vicinal report iris.skops iris.csv -o iris.html",
        'vicinal report iris.skops iris.csv --test new.csv --title "Flowers of June"',
    ),
)


def _rows(saved: SavedModel, table: Table, target: str | None, matching: Matching) -> Rows:
    """Rows for the model, with classes where there are any."""
    if target is not None:
        check_column(table, target, "--target")
    columns = saved.columns(target)
    return matching.rows(table, columns, with_target=columns.target_in(table) is not None)


def _labels(model: "BaseEstimator", rows: Rows, held_out: Rows | None) -> "list[NDArray | None]":
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
