"""``vicinal transform``."""

from vicinal.cli import options
from vicinal.cli.command import Command
from vicinal.cli.groups import Keeping, Matching, Reading, Speaking, Writing
from vicinal.cli.model_files import SavedModel
from vicinal.cli.tables.beside import components_frame

__all__ = ["TRANSFORM"]


def transform(
    model: options.ModelFile,
    data: options.Data,
    output: options.Output = None,
    *,
    keeping: Keeping,
    matching: Matching,
    reading: Reading,
    writing: Writing,
    speaking: Speaking,
) -> None:
    """Write the coordinates that a model gives to rows.

    The columns are called component1, component2, ... The model's target is
    passed on, where DATA has it.
    """
    with speaking.running():
        destination = writing.destination(output, model, data)
        saved = SavedModel.at(model)
        saved.check_coordinates()
        table = reading.table(data)
        rows = matching.rows(table, saved.columns())
        beside = keeping.beside(table, rows)
        beside.write(destination, components_frame(saved.model.transform(rows.X)))


TRANSFORM = Command(
    transform,
    examples=(
        "vicinal transform iris.skops iris.csv -o coordinates.csv",
        "vicinal transform iris.skops new.parquet --keep id -o coordinates.parquet",
        "cat new.csv | vicinal transform iris.skops - | head -3",
    ),
)
