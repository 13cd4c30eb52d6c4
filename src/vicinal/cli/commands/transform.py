"""``vicinal transform``."""

from vicinal.cli import options
from vicinal.cli.command import Command
from vicinal.cli.groups import Keeping, Matching, Reading, Speaking, Writing
from vicinal.cli.large import Sparing, parts
from vicinal.cli.model_files import SavedModel
from vicinal.cli.progress import progress_of_fits
from vicinal.cli.tables.beside import components_frame
from vicinal.cli.tables.parts import write_parts

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

    The columns are called component1, component2, ... The model's target is
    passed on, where DATA has it and is not read in parts.
    """
    with speaking.running() as interrupts:
        destination = writing.destination(output, model, data)
        saved = SavedModel.at(model)
        saved.check_coordinates()
        if sparing.is_for(data):
            large = sparing.table(data, **keeping.asked, **matching.asked, **reading.asked)
            rows = large.for_model(saved, None, with_target=False)
            found = parts(rows, lambda X: components_frame(saved.model.transform(X)))
            with progress_of_fits(interrupts, "Reading", quiet=speaking.quiet):
                write_parts(destination, found, len(rows))
            return
        table = reading.table(data)
        rows = matching.rows(table, saved.columns())
        beside = keeping.beside(table, rows)
        beside.write(destination, components_frame(saved.model.transform(rows.X)))


TRANSFORM = Command(
    transform,
    examples=(
        "vicinal transform iris.skops iris.csv -o coordinates.csv",
        "vicinal transform iris.skops new.parquet --keep id -o coordinates.parquet",
        "vicinal transform large.skops large.parquet --memory-limit 1GB -o z.npy",
        "cat new.csv | vicinal transform iris.skops - | head -3",
    ),
)
