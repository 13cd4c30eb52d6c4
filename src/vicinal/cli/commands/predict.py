"""``vicinal predict``."""

from typing import TYPE_CHECKING, Annotated

import typer

from vicinal.cli import options
from vicinal.cli.command import Command
from vicinal.cli.groups import Keeping, Matching, Reading, Speaking, Writing
from vicinal.cli.model_files import SavedModel
from vicinal.cli.tables.rows import Rows

if TYPE_CHECKING:
    import polars as pl
    from sklearn.base import ClassifierMixin

__all__ = ["PREDICT"]


def predict(
    model: options.ModelFile,
    data: options.Data,
    output: options.Output = None,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities", "-p", help="Add a column with the probability of each class."
        ),
    ] = False,
    *,
    keeping: Keeping,
    matching: Matching,
    reading: Reading,
    writing: Writing,
    speaking: Speaking,
) -> None:
    """Write the classes that a model predicts for rows, or which rows are outliers.

    The most probable class is in a column called predicted; of a density there
    is 1, or -1 for outliers. The model's target is passed on, where DATA has it.
    """
    with speaking.running():
        destination = writing.destination(output, model, data)
        saved = SavedModel.at(model)
        _check_predict(saved, probabilities)
        table = reading.table(data)
        rows = matching.rows(table, saved.columns())
        beside = keeping.beside(table, rows)
        beside.write(destination, _predictions(saved.model, rows, probabilities), is_matrix=False)


PREDICT = Command(
    predict,
    examples=(
        "vicinal predict iris.skops new.csv",
        "vicinal predict iris.skops new.csv -p --keep id -o predicted.csv",
        "vicinal predict density.skops new.csv | grep -- -1",
    ),
)


def _check_predict(saved: SavedModel, probabilities: bool) -> None:
    """Raise an error where the model does not name classes, or has no probabilities of them."""
    if not hasattr(saved.model, "predict"):
        raise ValueError(
            f"a {saved.header.model} predicts no classes: vicinal score tells how well nearest "
            "neighbors do in its metric, vicinal transform gives coordinates for any classifier; "
            "fit --model nca for a classifier"
        )
    if probabilities and not hasattr(saved.model, "predict_proba"):
        raise ValueError(
            f"a {saved.header.model} has no probabilities (--probabilities): vicinal score "
            "--per-row gives log-densities"
        )


def _predictions(model: "ClassifierMixin", rows: Rows, probabilities: bool) -> "pl.DataFrame":
    import numpy as np
    import polars as pl

    found = {"predicted": np.asarray(model.predict(rows.X)).tolist()}
    if probabilities:
        shares = np.asarray(model.predict_proba(rows.X))
        found |= {f"p_{name}": shares[:, i] for i, name in enumerate(model.classes_.tolist())}
    return pl.DataFrame(found)
