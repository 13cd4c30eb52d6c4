"""``vicinal fit``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicinal import __version__
from vicinal.cli import options
from vicinal.cli.command import Command
from vicinal.cli.families import Family
from vicinal.cli.fitting import (
    FitPlan,
    Fitted,
    check_classes,
    check_target_given,
    checkpoint_of,
    fit_and_judge,
    rows_to_fit,
    save,
)
from vicinal.cli.groups import Choosing, Reading, Speaking
from vicinal.cli.judging import check_judged_in_parts
from vicinal.cli.large import Sparing, rows_to_learn_from
from vicinal.cli.overwriting import check_file, refuse_overwriting
from vicinal.cli.progress import progress_of_fits
from vicinal.cli.screens import show_facts, show_json, size
from vicinal.cli.settings import merge
from vicinal.cli.tables.columns import Selection
from vicinal.cli.tables.rows import Rows
from vicinal.cli.wording import counted

if TYPE_CHECKING:
    from vicinal.cli.tables.large.table import LargeTable

__all__ = ["FIT"]


_Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="File to write the model to.")
]
_Model = Annotated[
    Family,
    typer.Option(
        "--model",
        "-m",
        help="nca: a projection and a classifier. local: a metric, a density and outliers, without "
        "classes (--set n_mixture=auto for the best density). coincidence: a metric for nearest "
        "neighbors.",
    ),
]
_Components = Annotated[
    int | None,
    typer.Option("--components", "-d", metavar="N", help="Number of dimensions to project to."),
]
_Standardize = Annotated[
    bool | None,
    typer.Option(
        "--standardize/--no-standardize",
        help="Scale all features to mean 0 and variance 1 first; the default for nca and "
        "coincidence, which start from distances.",
        show_default=False,
    ),
]
_TestSize = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Share of rows to hold out and score, e.g. 0.2."),
]
_Engine = Annotated[
    str | None, typer.Option(help="How sums over pairs are computed.", metavar="NAME")
]


def fit(
    data: options.Data,
    output: _Output,
    model: _Model = Family.nca,
    target: options.Target = None,
    components: _Components = None,
    standardize: _Standardize = None,
    test_size: _TestSize = None,
    seed: options.Seed = None,
    engine: _Engine = None,
    checkpoint: options.Checkpoint = None,
    jobs: options.Jobs = None,
    settings: options.Settings = None,
    *,
    choosing: Choosing,
    drop_missing: options.DropMissing = False,
    reading: Reading,
    sparing: Sparing,
    as_json: options.AsJson = False,
    speaking: Speaking,
) -> None:
    """Fit a model to a table and save it.

    Numeric columns except the target are the features. The file holds a plain
    scikit-learn estimator or pipeline; load it with vicinal.load("model.skops").
    """
    with speaking.running() as interrupts:
        direct = {
            "n_components": ("--components", components),
            "random_state": ("--seed", seed),
            "engine": ("--engine", engine),
            "n_jobs": ("--jobs", jobs),
            "checkpoint": ("--checkpoint", None if checkpoint is None else str(checkpoint)),
            "memory_limit": ("--memory-limit", sparing.memory_limit),  # what the model may hold
        }
        parameters = merge(model.estimator, f"--model {model.value}", settings or [], direct)
        plan = FitPlan(model, parameters, standardize, test_size, seed)
        check_file(output, "model")
        written = {"--output": output, "--checkpoint": checkpoint_of(parameters)}
        refuse_overwriting(written, data)
        plan.check_repeatable()
        if sparing.is_for(data):
            if test_size is not None:
                check_judged_in_parts(model.estimator, "--test-size")
            table = sparing.table(data, reading)
            rows = _rows_in_parts(table, choosing.selection, target, model, drop_missing)
        else:
            rows = rows_to_fit(reading.table(data), choosing.selection, target, model, drop_missing)
        with progress_of_fits(interrupts, quiet=speaking.quiet):
            done = fit_and_judge(plan, rows)
        interrupts.check()
        save(done, output, data)
        if as_json:
            show_json(_facts(done, output, data))
        else:
            show_facts(_words(done, output), title=f"{type(done.estimator).__name__}, fitted")


FIT = Command(
    fit,
    examples=(
        "vicinal fit iris.csv --target species -d 2 -o iris.skops",
        "vicinal fit wine.csv -t cultivar --test-size 0.25 --seed 0 -o wine.skops",
        "vicinal fit wine.csv -t cultivar -m local --set n_mixture=auto -o w.skops",
        "vicinal fit wine.csv -t cultivar --checkpoint wine.checkpoint -o wine.skops",
        "vicinal fit large.parquet -t label --memory-limit 2GB -d 2 -o large.skops",
        "cat wine.csv | vicinal fit - -t cultivar -m coincidence -o wine.skops",
    ),
)


def _rows_in_parts(
    table: "LargeTable",
    selection: Selection,
    target: str | None,
    family: Family,
    drop_missing: bool,
) -> Rows:
    """What to fit a model to, of a table that is read in parts."""
    check_target_given(table.known, target, family)
    rows = rows_to_learn_from(table, selection, target, family.needs_classes, drop_missing)
    if rows.y is not None:
        check_classes(rows.y, str(target), table.name)
    return rows


def _facts(done: Fitted, output: Path, data: Path) -> dict[str, Any]:
    """What machines are told."""
    from vicinal.facts import fact_values

    rows = done.rows
    return {
        "version": __version__,
        "file": str(output),
        "bytes": output.stat().st_size,
        "data": str(data),
        "model": done.plan.family.value,
        "class": type(done.estimator).__name__,
        "rows": len(rows),
        "columns": list(rows.columns.sources),
        "features": rows.columns.features,
        "target": rows.columns.target,
        "classes": getattr(done.estimator, "classes_", None),
        "standardized": done.plan.is_standardized,
        "seconds": done.seconds,
        **fact_values(done.estimator),
        "test": done.test and done.test.facts,
    }


def _words(done: Fitted, output: Path) -> dict[str, str]:
    """What people are told."""
    from vicinal.facts import duration, facts_in_words

    columns, classes = done.rows.columns, getattr(done.estimator, "classes_", None)
    words = {
        "Rows": str(len(done.rows)),
        "Features": columns.told,
    }
    if classes is not None:
        words[f"Classes ({columns.target})"] = counted(classes.tolist())
    words["Standardized"] = "yes" if done.plan.is_standardized else "no"
    words |= facts_in_words(done.estimator, leave_out=("Classes", "Time of the updates"))
    words["Time"] = duration(done.seconds)
    if done.test is not None:
        words |= {f"{name}, held out": value for name, value in done.test.words.items()}
    words["Saved"] = f"{output} ({size(output.stat().st_size)})"
    return words
