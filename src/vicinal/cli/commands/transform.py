"""``vicinal transform``."""

from typing import TYPE_CHECKING, Any

from vicinal.cli import options
from vicinal.cli.command import Command
from vicinal.cli.groups import Keeping, Matching, Reading, Speaking, Writing
from vicinal.cli.large import Sparing, sweep_for, write_answers
from vicinal.cli.model_files import SavedModel
from vicinal.cli.progress import progress_of_fits
from vicinal.cli.tables.beside import components_frame

if TYPE_CHECKING:
    import polars as pl

__all__ = ["TRANSFORM"]


def transform(
    model: options.ModelFile,
    data: options.Data,
    output: options.Output = None,
    *,
    keeping: Keeping,
    matching: Matching,
    reading: Reading,
    sparing: Sparing,
    writing: Writing,
    speaking: Speaking,
) -> None:
    """Write the coordinates that a model gives to rows.

    The columns are called component1, component2, ... The model's target is copied
    where DATA has it.
    """
    with speaking.running() as interrupts:
        destination = writing.destination(output, model, data)
        saved = SavedModel.at(model)
        saved.check_coordinates()

        def coordinates(X: Any) -> "pl.DataFrame":
            return components_frame(saved.model.transform(X))

        if sparing.is_for(data):
            with progress_of_fits(interrupts, "Reading", quiet=speaking.quiet):
                sweep = sweep_for(saved, sparing.table(data, reading), matching)
                write_answers(destination, sweep, keeping, lambda X, _: coordinates(X))
            return
        table = reading.table(data)
        rows = matching.rows(table, saved.columns())
        keeping.beside(table, rows.columns).write(destination, table, rows, coordinates(rows.X))


TRANSFORM = Command(
    transform,
    examples=(
        "vicinal transform iris.skops iris.csv -o coordinates.csv",
        "vicinal transform iris.skops new.parquet --keep id -o coordinates.parquet",
        "vicinal transform large.skops large.parquet --memory-limit 1GB -o z.npy",
        "cat new.csv | vicinal transform iris.skops - | head -3",
    ),
)
