"""``vicinal embed``."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

import vicinal
from vicinal.cli import options
from vicinal.cli.command import Command
from vicinal.cli.fitting import after_scaling, checkpoint_of, fit_model
from vicinal.cli.groups import Choosing, Keeping, Reading, Speaking, Writing
from vicinal.cli.model_files import metadata_of
from vicinal.cli.overwriting import check_file, refuse_overwriting
from vicinal.cli.progress import progress_of_fits
from vicinal.cli.settings import merge
from vicinal.cli.tables.beside import components_frame
from vicinal.cli.tables.columns import Columns
from vicinal.cli.tables.rows import prepare

__all__ = ["EMBED"]


class Method(str, Enum):  # noqa: UP042  (typer shows the values of these)
    """Manifold learners."""

    isomap = "isomap"
    laplacian = "laplacian"
    lle = "lle"
    mds = "mds"
    tsne = "tsne"
    umap = "umap"


class Divergence(str, Enum):  # noqa: UP042
    """Divergences between Gaussians."""

    jeffreys = "jeffreys"
    bhattacharyya = "bhattacharyya"
    hellinger = "hellinger"
    jeffreys_riemann = "jeffreys-riemann"
    bhattacharyya_riemann = "bhattacharyya-riemann"
    riemann = "riemann"
    euclidean = "euclidean"


_Method = Annotated[Method, typer.Option(help="How coordinates are found.")]
_Divergence = Annotated[
    Divergence,
    typer.Option(metavar="NAME", help=f"One of {', '.join(d.value for d in Divergence)}."),
]
_Components = Annotated[
    int, typer.Option("--components", "-d", metavar="N", help="The number of coordinates.")
]
_Neighbors = Annotated[
    int | None,
    typer.Option("--neighbors", "-k", metavar="M", help="The number of rows in a neighborhood."),
]
_Save = Annotated[
    Path | None,
    typer.Option(metavar="MODEL", help="Also save the model, for vicinal transform of new rows."),
]
_Standardize = Annotated[
    bool,
    typer.Option(
        "--standardize/--no-standardize", help="First give all features mean 0 and variance 1."
    ),
]


def embed(
    data: options.Data,
    output: options.Output = None,
    method: _Method = Method.isomap,
    divergence: _Divergence = Divergence.jeffreys,
    components: _Components = 2,
    neighbors: _Neighbors = None,
    target: options.Target = None,
    save: _Save = None,
    standardize: _Standardize = True,
    seed: options.Seed = None,
    checkpoint: options.Checkpoint = None,
    jobs: options.Jobs = None,
    settings: options.Settings = None,
    *,
    choosing: Choosing,
    keeping: Keeping,
    drop_missing: options.DropMissing = False,
    reading: Reading,
    writing: Writing,
    speaking: Speaking,
) -> None:
    """Write coordinates that respect the data's shape.

    Divergences between Gaussians around the rows take the place of distances.
    A target is not learned from, only copied.
    """
    with speaking.running() as interrupts:
        from vicinal.divergence import DivergenceEmbedding

        direct = {
            "n_components": ("--components", components),
            "method": ("--method", method.value),
            "divergence": ("--divergence", divergence.value),
            "n_neighbors": ("--neighbors", neighbors),
            "random_state": ("--seed", seed),
            "n_jobs": ("--jobs", jobs),
            "checkpoint": ("--checkpoint", None if checkpoint is None else str(checkpoint)),
        }
        parameters = merge(DivergenceEmbedding, "vicinal embed", settings or [], direct)
        destination = writing.destination(output, data)
        written = {"--output": output, "--save": save, "--checkpoint": checkpoint_of(parameters)}
        refuse_overwriting(written, data)
        if save is not None:
            check_file(save, "model", "--save")
        table = reading.table(data)
        chosen = Columns.chosen(table, choosing.selection, target)
        rows = prepare(table, chosen, drop_missing=drop_missing, can_choose=True)
        with progress_of_fits(interrupts, "Embedding", quiet=speaking.quiet):
            estimator = DivergenceEmbedding(**parameters)
            model = after_scaling(estimator) if standardize else estimator
            fit_model(model, rows, parameters)
        interrupts.check()
        if save is not None:
            vicinal.save(model, save, metadata=metadata_of(rows, data))
        coordinates = components_frame(estimator.embedding_)
        keeping.beside(table, chosen).write(destination, table, rows, coordinates)


EMBED = Command(
    embed,
    examples=(
        "vicinal embed wine.csv --target cultivar -o coordinates.csv",
        "vicinal embed wine.csv --method laplacian --set disconnected=separate",
    ),
)
