"""``vicinal score``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicinal import __version__
from vicinal.cli import options
from vicinal.cli.command import Command
from vicinal.cli.groups import Keeping, Matching, Reading, Speaking, Writing
from vicinal.cli.judging import Judgment, check_judged_in_parts, judge, needs_classes
from vicinal.cli.large import Sparing, sweep_for, write_answers
from vicinal.cli.model_files import SavedModel
from vicinal.cli.running import WrongUsage, remark, warn
from vicinal.cli.screens import show_facts, show_json
from vicinal.cli.tables.columns import check_column
from vicinal.cli.tables.rows import Rows
from vicinal.cli.tables.table import Table
from vicinal.cli.wording import some

if TYPE_CHECKING:
    from vicinal.cli.tables.large.rows import Sweep
    from vicinal.cli.tables.large.table import LargeTable

__all__ = ["SCORE"]


_Neighbors = Annotated[
    int | None,
    typer.Option(
        "--neighbors",
        "-k",
        metavar="K",
        min=1,
        help="How many nearest neighbors judge a metric.",
    ),
]
_PerRow = Annotated[
    bool, typer.Option("--per-row", help="Write a table with the score of every row.")
]


def score(
    model: options.ModelFile,
    data: options.Data,
    target: options.Target = None,
    neighbors: _Neighbors = None,
    per_row: _PerRow = False,
    output: options.Output = None,
    *,
    keeping: Keeping,
    matching: Matching,
    reading: Reading,
    sparing: Sparing,
    writing: Writing,
    as_json: options.AsJson = False,
    speaking: Speaking,
) -> None:
    """Tell how well a model does on rows.

    The rows should not be those that it was fitted to.

    For nca, the score is the share of rows whose class is predicted correctly. For
    local, it is the mean log-density; --per-row gives that of every row, and the least
    likely are outliers. For coincidence, it is the share of rows that most of their
    nearest neighbors label correctly, each row left out in turn, in the learned metric
    and without it.
    """
    with speaking.running():
        _check_usage(per_row, as_json, output, *writing, *keeping)
        destination = writing.destination(output, model, data) if per_row else None
        saved = SavedModel.at(model)
        _check_neighbors(saved, neighbors)
        rows: Rows
        if sparing.is_for(data):
            sweep = _sweep(saved, sparing.table(data, reading), target, matching)
            rows = sweep.rows()
        else:
            table = reading.table(data)
            rows = _rows(saved, table, target, matching)
        judgment = judge(saved.model, rows, k=neighbors)
        if destination is not None:
            found = judgment.of_rows()
            if sparing.is_for(data):
                write_answers(destination, sweep, keeping, lambda _, some: found[some], False)
            else:
                beside = keeping.beside(table, rows.columns)
                beside.write(destination, table, rows, found, is_matrix=False)
            remark(", ".join(f"{name}: {value}" for name, value in judgment.words.items()))
        elif as_json:
            show_json(_facts(saved, judgment, data))
        else:
            words = {"Rows": str(len(rows)), **judgment.words}
            show_facts(words, title=f"{saved.header.model} of {model} on {data}")


SCORE = Command(
    score,
    examples=(
        "vicinal score iris.skops test.csv",
        "vicinal score iris.skops test.csv --json",
        "vicinal score density.skops new.csv --per-row --keep id -o outliers.csv",
    ),
)


def _sweep(
    saved: SavedModel, table: "LargeTable", target: str | None, matching: Matching
) -> "Sweep":
    """Of a table that is read in parts."""
    check_judged_in_parts(saved.model, "--memory-limit")
    labeled = needs_classes(saved.model)
    if labeled:
        columns = saved.columns(target)
        _check_target(table.known, columns.target_in(table.known) or columns.target)
    return sweep_for(saved, table, matching, target, with_target=labeled)


def _check_usage(per_row: bool, as_json: bool, *about_rows: Any) -> None:
    if per_row and as_json:
        raise WrongUsage("--json is for the score of all rows: choose it or --per-row")
    if not per_row and any(about_rows):
        raise WrongUsage(
            "--output, --to, --keep, --keep-all and --defuse-formulas are for a table: use "
            "--per-row, too"
        )


def _check_neighbors(saved: SavedModel, neighbors: int | None) -> None:
    if neighbors is None or not (
        hasattr(saved.model, "predict") or hasattr(saved.model, "score_samples")
    ):
        return
    raise WrongUsage(f"--neighbors has no meaning for a {saved.header.model}")


def _check_target(table: Table, target: str | None) -> None:
    if target is None:
        raise WrongUsage(
            "the model does not say which column holds the classes: name it by --target, one of "
            f"{some(table.frame.columns)}"
        )
    check_column(table, target, "--target")


def _facts(saved: SavedModel, judgment: Judgment, data: Path) -> dict[str, Any]:
    """What machines are told."""
    about = {"version": __version__, "model": str(saved.path), "class": saved.header.model}
    return {**about, "data": str(data), **judgment.facts}


def _rows(saved: SavedModel, table: Table, target: str | None, matching: Matching) -> Rows:
    columns = saved.columns(target)
    labeled = needs_classes(saved.model)
    if labeled:
        _check_target(table, columns.target_in(table) or columns.target)
    rows = matching.rows(table, columns, with_target=labeled)
    if saved.was_fitted_to(rows):
        warn("warning: the model was fitted to these very rows, so that the score flatters it")
    return rows
