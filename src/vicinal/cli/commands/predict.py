"""``vicinal predict``."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicinal.cli import options
from vicinal.cli.command import Command
from vicinal.cli.groups import Keeping, Matching, Reading, Speaking, Writing
from vicinal.cli.large import Sparing, sweep_for, write_answers
from vicinal.cli.model_files import SavedModel
from vicinal.cli.progress import progress_of_fits

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
    sparing: Sparing,
    writing: Writing,
    speaking: Speaking,
) -> None:
    """Write predicted classes of rows, or which are outliers.

    The most probable class goes into a column called predicted; for a density, that
    column has 1, or -1 for outliers. The model's target is copied where DATA has it.
    """
    with speaking.running() as interrupts:
        destination = writing.destination(output, model, data)
        saved = SavedModel.at(model)
        _check_predict(saved, probabilities)
        if sparing.is_for(data):
            with progress_of_fits(interrupts, "Reading", quiet=speaking.quiet):
                sweep = sweep_for(saved, sparing.table(data, reading), matching)
                answer = lambda X, _: _predictions(saved.model, X, probabilities)  # noqa: E731
                write_answers(destination, sweep, keeping, answer, is_matrix=False)
            return
        table = reading.table(data)
        rows = matching.rows(table, saved.columns())
        found = _predictions(saved.model, rows.X, probabilities)
        beside = keeping.beside(table, rows.columns)
        beside.write(destination, table, rows, found, is_matrix=False)


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
        metric = "vicinal score tells how well nearest neighbors do in its metric, "
        raise ValueError(
            f"a {saved.header.model} predicts no classes: "
            f"{metric if hasattr(saved.estimator, 'pair_distance') else ''}"
            "vicinal transform gives coordinates for any classifier; fit --model nca for a "
            "classifier"
        )
    if probabilities and not hasattr(saved.model, "predict_proba"):
        raise ValueError(
            f"a {saved.header.model} has no probabilities (--probabilities): vicinal score "
            "--per-row gives log-densities"
        )


def _predictions(model: "ClassifierMixin", X: Any, probabilities: bool) -> "pl.DataFrame":
    import numpy as np
    import polars as pl

    found = {"predicted": np.asarray(model.predict(X)).tolist()}
    if probabilities:
        shares = np.asarray(model.predict_proba(X))
        found |= {f"p_{name}": shares[:, i] for i, name in enumerate(model.classes_.tolist())}
    return pl.DataFrame(found)
