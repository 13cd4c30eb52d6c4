"""``vicinal datasets``."""

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicinal.cli import options
from vicinal.cli.command import Command
from vicinal.cli.groups import Speaking
from vicinal.cli.running import WrongUsage, remark
from vicinal.cli.screens import show_json, show_table
from vicinal.cli.tables.table import unnamed_columns
from vicinal.cli.tables.writing import Destination

if TYPE_CHECKING:
    import polars as pl

__all__ = ["DATASETS"]


# What the classes of sets with names of columns are; "class" elsewhere.
_TARGETS = {"iris": "species", "wine": "cultivar", "wdbc": "diagnosis"}


class Part(str, Enum):  # noqa: UP042  (typer shows the values of these)
    """Rows of a set with a customary split."""

    all = "all"
    train = "train"
    test = "test"


def _complete(incomplete: str) -> list[str]:
    """Names of data sets, for the shell."""
    from vicinal.datasets.registry import REGISTRY

    return [name for name in sorted(REGISTRY) if name.startswith(incomplete)]


_Name = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        help="The data set to write.",
        autocompletion=_complete,
        show_default=False,
    ),
]
_Part = Annotated[Part, typer.Option(help="Which rows to write, where there is a customary split.")]
_Download = Annotated[
    bool, typer.Option("--download/--no-download", help="Whether data may be fetched from OpenML.")
]


def datasets(
    name: _Name = None,
    output: options.Output = None,
    part: _Part = Part.all,
    download: _Download = True,
    to: options.To = None,
    as_json: options.AsJson = False,
    *,
    speaking: Speaking,
) -> None:
    """List data sets, or write one as a table.

    Some come with scikit-learn, others are in the folder named by the environment
    variable VICINAL_DATA, in the cache of earlier downloads, or on OpenML.
    """
    with speaking.running():
        if name is None:
            if output is not None or to is not None or part is not Part.all:
                raise WrongUsage("--output, --to and --part need the name of a data set")
            _list(as_json)
            return
        if as_json:
            raise WrongUsage("--json is for the list: a data set is a table, see --to")
        destination = Destination.of(output, to, *_files(name))
        frame, target = _table(name, part, download)
        n_features = frame.width - 1
        remark(f"{name}: {frame.height} rows, {n_features} features, classes in {target!r}")
        destination.write(frame, target=target)


DATASETS = Command(
    datasets,
    examples=(
        "vicinal datasets",
        "vicinal datasets iris -o iris.csv",
        "vicinal datasets usps --part train -o usps.parquet",
    ),
)


def _list(as_json: bool) -> None:
    sets = [_facts(name) for name in _complete("")]
    if as_json:
        show_json({"datasets": sets})
        return
    keys = ("name", "rows", "features", "classes", "where")
    show_table(
        ["Name", "Rows", "Features", "Classes", "Where"],
        [[str(one[key]) for key in keys] for one in sets],
        title="Data sets",
        caption="vicinal datasets NAME -o FILE writes one.",
        right=["Rows", "Features", "Classes"],
    )


def _facts(name: str) -> dict[str, Any]:
    from vicinal.datasets.registry import REGISTRY

    spec = REGISTRY[name]
    return {
        "name": name,
        "title": spec.title,
        "rows": spec.n_samples,
        "features": spec.n_features,
        "classes": len(spec.class_counts),
        "train_rows": spec.n_train,
        "where": _where(name),
        "license": spec.license,
        "source": spec.source,
    }


def _where(name: str) -> str:
    """The place that a set would be taken from, in the order that `load` tries them."""
    from vicinal.datasets.registry import REGISTRY
    from vicinal.datasets.storage import data_folder

    spec, files = REGISTRY[name], _files(name)
    if files and files[0].parent == data_folder(None):
        return "VICINAL_DATA"
    if spec.embedded is not None:
        return "scikit-learn"
    if files:
        return "cache"
    return "OpenML" if spec.openml_id is not None else "not available"


def _files(name: str) -> list[Path]:
    """Where the set lies on this machine."""
    from vicinal.datasets.storage import cache_folder, data_folder

    folders = [data_folder(None), cache_folder()]
    files = [folder / f"{name}.npz" for folder in folders if folder is not None]
    return [file for file in files if file.is_file()]


def _table(name: str, part: Part, download: bool) -> "tuple[pl.DataFrame, str]":
    """A data set as a table, and the name of its column of classes."""
    import numpy as np
    import polars as pl

    from vicinal.datasets import load

    bunch = load(name, download=download)
    rows = np.ones(len(bunch.target), dtype=bool)
    if part is not Part.all:
        if bunch.train is None:
            raise ValueError(f"--part {part.value}: the data set {name!r} has no customary split")
        rows = bunch.train if part is Part.train else ~bunch.train
    names = _column_names(name, bunch.data.shape[1])
    frame = pl.DataFrame({column: bunch.data[rows, i] for i, column in enumerate(names)})
    target = _TARGETS.get(name, "class")
    labels = np.asarray(bunch.target_names)[bunch.target[rows]]
    return frame.with_columns(pl.Series(target, labels.tolist())), target


def _column_names(name: str, n_features: int) -> list[str]:
    """Names of columns: those of scikit-learn, where the set comes from there."""
    from vicinal.datasets.registry import REGISTRY

    loader = REGISTRY[name].embedded
    if loader is None:
        return unnamed_columns(n_features)
    import sklearn.datasets

    found: list[str] = list(getattr(sklearn.datasets, loader)().feature_names)
    return found
