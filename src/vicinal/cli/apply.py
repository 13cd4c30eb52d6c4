"""``vicinal transform`` and ``vicinal predict``."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicinal.cli import options
from vicinal.cli.beside import Beside, components_frame
from vicinal.cli.models import SavedModel
from vicinal.cli.output import Destination
from vicinal.cli.rows import Rows, prepare
from vicinal.cli.running import running
from vicinal.cli.tables import read_table

if TYPE_CHECKING:
    import polars as pl
from vicinal.cli.wording import examples

__all__ = ["add_to"]

_TRANSFORM = examples(
    "vicinal transform iris.skops iris.csv -o coordinates.csv",
    "vicinal transform iris.skops new.parquet --keep id -o coordinates.parquet",
    "cat new.csv | vicinal transform iris.skops - | head -3",
)

_PREDICT = examples(
    "vicinal predict iris.skops new.csv",
    "vicinal predict iris.skops new.csv -p --keep id -o predicted.csv",
)


def add_to(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command(epilog=_TRANSFORM)(transform)
    app.command(epilog=_PREDICT)(predict)


def transform(
    model: options.ModelFile,
    data: options.Data,
    output: options.Output = None,
    keep: options.Keep = None,
    keep_all: options.KeepAll = False,
    drop_missing: options.DropMissing = False,
    ignore_unknown: options.IgnoreUnknown = False,
    kind: options.Format = None,
    header: options.Header = None,
    to: options.To = None,
    defuse: options.Defuse = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write the coordinates that a model gives to rows.

    The columns are called component1, component2, ... The model's target is
    passed on, where DATA has it.
    """
    with running(debug, quiet):
        destination = Destination.of(output, to, model, data, defuse=defuse)
        saved = SavedModel.at(model)
        saved.check_coordinates()
        table = read_table(data, kind, header=header)
        rows = prepare(
            table,
            saved.columns(),
            drop_missing=drop_missing,
            ignore_unknown=ignore_unknown,
        )
        beside = Beside(table, rows, keep or (), keep_all)
        beside.write(destination, components_frame(saved.model.transform(rows.X)))


def predict(
    model: options.ModelFile,
    data: options.Data,
    output: options.Output = None,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", "-p", help="Add a column for each class.")
    ] = False,
    keep: options.Keep = None,
    keep_all: options.KeepAll = False,
    drop_missing: options.DropMissing = False,
    ignore_unknown: options.IgnoreUnknown = False,
    kind: options.Format = None,
    header: options.Header = None,
    to: options.To = None,
    defuse: options.Defuse = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write the classes that a model predicts for rows.

    The most probable class is in a column called predicted. The model's target
    is passed on, where DATA has it.
    """
    with running(debug, quiet):
        destination = Destination.of(output, to, model, data, defuse=defuse)
        saved = SavedModel.at(model)
        _check_predict(saved)
        table = read_table(data, kind, header=header)
        rows = prepare(
            table,
            saved.columns(),
            drop_missing=drop_missing,
            ignore_unknown=ignore_unknown,
        )
        beside = Beside(table, rows, keep or (), keep_all)
        beside.write(destination, _predictions(saved.model, rows, probabilities), is_matrix=False)


def _check_predict(saved: SavedModel) -> None:
    if hasattr(saved.model, "predict"):
        return
    advice = "fit --model nca for a classifier"
    if hasattr(saved.model, "score_samples"):
        advice = f"vicinal score --per-row gives log-densities; {advice}"
    elif hasattr(saved.model, "transform"):
        advice = (
            "vicinal score tells how well nearest neighbors do in its metric, vicinal transform "
            f"gives coordinates for any classifier; {advice}"
        )
    raise ValueError(f"a {saved.header.model} predicts no classes: {advice}")


def _predictions(model: Any, rows: Rows, probabilities: bool) -> "pl.DataFrame":
    import numpy as np
    import polars as pl

    found = {"predicted": np.asarray(model.predict(rows.X)).tolist()}
    if probabilities:
        shares = np.asarray(model.predict_proba(rows.X))
        found |= {f"p_{name}": shares[:, i] for i, name in enumerate(model.classes_.tolist())}
    return pl.DataFrame(found)
