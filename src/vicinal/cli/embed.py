"""``vicinal embed``."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

import vicinal
from vicinal.cli import options
from vicinal.cli.beside import Beside, components_frame
from vicinal.cli.columns import Columns, Selection
from vicinal.cli.fitting import fit_model
from vicinal.cli.models import estimator_of, metadata_of
from vicinal.cli.output import Destination
from vicinal.cli.overwriting import check_file, refuse_overwriting
from vicinal.cli.progress import progress_of_fits
from vicinal.cli.rows import prepare
from vicinal.cli.running import running
from vicinal.cli.settings import merge
from vicinal.cli.tables import read_table
from vicinal.cli.wording import examples

__all__ = ["add_to"]

_EPILOG = examples(
    "vicinal embed wine.csv --target cultivar -o coordinates.csv",
    "vicinal embed wine.csv -t cultivar --method laplacian --set gamma=0.1",
)


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


def add_to(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(epilog=_EPILOG)(embed)


def embed(
    data: options.Data,
    output: options.Output = None,
    method: Annotated[Method, typer.Option(help="How coordinates are found.")] = Method.isomap,
    divergence: Annotated[
        Divergence,
        typer.Option(metavar="NAME", help=f"One of {', '.join(d.value for d in Divergence)}."),
    ] = Divergence.jeffreys,
    components: Annotated[
        int, typer.Option("--components", "-d", metavar="N", help="Number of coordinates.")
    ] = 2,
    neighbors: Annotated[
        int | None,
        typer.Option("--neighbors", "-k", metavar="M", help="Size of the neighborhoods."),
    ] = None,
    target: options.Target = None,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL", help="Save the model, too, for vicinal transform of new rows."
        ),
    ] = None,
    standardize: Annotated[
        bool,
        typer.Option(
            "--standardize/--no-standardize", help="Give all features mean 0 and variance 1 first."
        ),
    ] = True,
    seed: options.Seed = None,
    jobs: options.Jobs = None,
    settings: options.Settings = None,
    columns: options.Columns = None,
    drop: options.Drop = None,
    one_hot: options.OneHot = None,
    keep: options.Keep = None,
    keep_all: options.KeepAll = False,
    drop_missing: options.DropMissing = False,
    kind: options.Format = None,
    header: options.Header = None,
    to: options.To = None,
    defuse: options.Defuse = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Write coordinates that respect the data's shape.

    Divergences between Gaussians around the rows take the place of distances.
    A target is not learned from, only passed on.
    """
    with running(debug, quiet) as interrupts:
        from vicinal.divergence import DivergenceEmbedding

        direct = {
            "n_components": ("--components", components),
            "method": ("--method", method.value),
            "divergence": ("--divergence", divergence.value),
            "n_neighbors": ("--neighbors", neighbors),
            "random_state": ("--seed", seed),
            "n_jobs": ("--jobs", jobs),
        }
        parameters = merge(DivergenceEmbedding, "vicinal embed", settings or [], direct)
        destination = Destination.of(output, to, data, defuse=defuse)
        refuse_overwriting({"--output": output, "--save": save}, data)
        if save is not None:
            check_file(save, "model", "--save")
        table = read_table(data, kind, header=header)
        selection = Selection(columns or (), drop or (), one_hot or ())
        chosen = Columns.chosen(table, selection, target)
        rows = prepare(table, chosen, drop_missing=drop_missing, can_choose=True)
        with progress_of_fits(interrupts, "Embedding", quiet=quiet):
            model = fit_model(_model(parameters, standardize), rows, parameters)
        interrupts.check()
        if save is not None:
            vicinal.save(model, save, metadata=metadata_of(rows, data))
        coordinates = components_frame(estimator_of(model).embedding_)
        Beside(table, rows, keep or (), keep_all).write(destination, coordinates)


def _model(parameters: dict[str, Any], standardize: bool) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from vicinal.divergence import DivergenceEmbedding

    estimator = DivergenceEmbedding(**parameters)
    return make_pipeline(StandardScaler(), estimator) if standardize else estimator
