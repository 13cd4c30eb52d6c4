"""``vicinal compare``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicinal import __version__
from vicinal.cli import options
from vicinal.cli.command import Command
from vicinal.cli.fitting import chosen_rows
from vicinal.cli.groups import Choosing, Reading, Speaking, Writing
from vicinal.cli.overwriting import check_file, refuse_overwriting
from vicinal.cli.progress import progress_of_comparison
from vicinal.cli.running import WrongUsage, remark
from vicinal.cli.screens import show_json, show_paragraphs, show_table
from vicinal.cli.tables.kinds import Kind
from vicinal.cli.tables.sources import STANDARD
from vicinal.cli.tables.table import Table
from vicinal.cli.tables.writing import Destination
from vicinal.cli.wording import closest, some

if TYPE_CHECKING:
    from vicinal.report import Comparison

__all__ = ["COMPARE"]


_Components = Annotated[
    int,
    typer.Option(
        "--components",
        "-d",
        metavar="N",
        min=1,
        help="Also compare projections to this many dimensions.",
    ),
]
_Folds = Annotated[int, typer.Option(metavar="N", min=2, help="The number of folds.")]
_Repeats = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="How often to repeat with new folds. By default up to 3 times where rows are few.",
    ),
]
_Methods = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,...",
        help="Compare only these of raw, standardized, pca, lda, sklearn-nca, coincidence and "
        "nca; may be repeated.",
    ),
]
_MaxSamples = Annotated[
    int,
    typer.Option(
        "--max-samples",
        metavar="N",
        min=0,
        help="If there are more rows, take a sample; 0 takes all.",
    ),
]
_Seed = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, max=2**32 - 1, help="Choose the folds.")
]
_Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        allow_dash=True,
        help="Also write the numbers of all methods to this file, as a table; - is standard "
        "output.",
    ),
]
_Picture = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also save a picture, as .png, .pdf or .svg."),
]


def compare(
    data: options.Data,
    target: options.Target = None,
    components: _Components = 2,
    folds: _Folds = 5,
    repeats: _Repeats = None,
    methods: _Methods = None,
    max_samples: _MaxSamples = 2000,
    seed: _Seed = 0,
    jobs: options.Jobs = None,
    output: _Output = None,
    picture: _Picture = None,
    *,
    choosing: Choosing,
    drop_missing: options.DropMissing = False,
    reading: Reading,
    writing: Writing,
    as_json: options.AsJson = False,
    speaking: Speaking,
) -> None:
    """Tell whether learning a metric helps on a table.

    NeighborhoodComponents and LatentCoincidence, with default settings, are compared
    with nearest neighbors on raw and standardized features and after PCA and LDA, with
    LDA itself and with scikit-learn's NCA: on the same folds, by rows they have not seen.

    Ctrl-C ends it and shows what has been found by then.
    """
    with speaking.running() as interrupts:
        names = _names(methods or [])
        destination = _check(output, picture, data, writing, as_json)
        table = reading.table(data)
        _check_target(table, target)
        rows = chosen_rows(table, choosing.selection, target, True, drop_missing)
        assert rows.y is not None
        with progress_of_comparison(interrupts, quiet=speaking.quiet):
            from vicinal import report

            result = report.compare(
                rows.X,
                rows.y,
                n_components=components,
                cv=folds,
                n_repeats=repeats,
                methods=names,
                max_samples=max_samples or None,
                random_state=seed,
                n_jobs=jobs,
            )
        _write(result, destination, picture)
        _show(result, data, as_json, is_table=destination is not None and output == STANDARD)


COMPARE = Command(
    compare,
    examples=(
        "vicinal compare wine.csv --target cultivar",
        "vicinal compare wine.csv -t cultivar --picture wine.png -o wine-methods.csv",
        "vicinal compare big.parquet -t kind --max-samples 5000 --methods raw,lda,nca",
    ),
)


def _names(given: list[str]) -> list[str] | None:
    """Names of methods, as typed: one by one, or several with commas between them."""
    from vicinal.report.comparing.methods import NAMES

    names = [name.strip() for text in given for name in text.split(",")]
    for name in names:
        if name not in NAMES:
            raise WrongUsage(
                f"--methods {name!r} is unknown.{closest(name, NAMES)} There are {', '.join(NAMES)}"
            )
    return names or None


def _check(
    output: Path | None, picture: Path | None, data: Path, writing: Writing, as_json: bool
) -> Destination | None:
    """Whether all can be written, before the work is done."""
    from vicinal.report.support import check_picture_path, require_matplotlib

    refuse_overwriting({"--output": output, "--picture": picture}, data)
    if picture is not None:
        require_matplotlib("--picture")
        check_file(picture, "picture", "--picture")
        check_picture_path(picture)
    if output is None and any(writing):
        raise WrongUsage("--to and --defuse-formulas are for a table: use --output, too")
    if output == STANDARD and as_json:
        raise WrongUsage("--json and --output - both write to standard output: choose one")
    return None if output is None else _destination(writing, output, data)


def _destination(writing: Writing, output: Path, data: Path) -> Destination:
    """Where the numbers go: they stand beside names, for which NumPy's files have no room."""
    found = writing.destination(output, data)
    if found.kind in (Kind.npy, Kind.npz):
        raise WrongUsage(
            f"--output: {found.kind.value} holds numbers, and methods have names: write csv, tsv, "
            "parquet or arrow"
        )
    return found


def _check_target(table: Table, target: str | None) -> None:
    if target is None and table.target is None:
        raise WrongUsage(
            "vicinal compare judges by classes: name their column by --target, one of "
            f"{some(table.frame.columns)}"
        )


def _write(result: "Comparison", destination: Destination | None, picture: Path | None) -> None:
    """Files, and only whole results: an interrupted comparison is shown but not kept."""
    if result.interrupted:
        return
    if destination is not None:
        import polars as pl

        destination.write(pl.DataFrame(result.records()))
    if picture is not None:
        from matplotlib.figure import Figure

        from vicinal.report.support import save_figure

        figure = Figure(figsize=(7, 1.2 + 0.3 * len(result.methods)))
        result.plot(ax=figure.subplots())
        save_figure(figure, picture)


def _show(result: "Comparison", data: Path, as_json: bool, *, is_table: bool) -> None:
    """The verdict, with its numbers on standard output unless a table went there."""
    if is_table:
        for text in result.findings:
            remark(text)
    elif as_json:
        show_json(_facts(result, data))
    else:
        _show_screen(result, data)


def _show_screen(result: "Comparison", data: Path) -> None:
    from vicinal.report.comparing.words import HEADINGS, cells

    show_table(
        HEADINGS,
        [cells(one) for one in result.methods],
        title=f"{'standard input' if data == STANDARD else data.name}: {result.headline}",
        right=HEADINGS[1:],
        tight=True,
    )
    verdict, *others = result.findings
    show_paragraphs(verdict, style="bold")
    for sentence in others:
        show_paragraphs("", sentence)
    show_paragraphs("", *(f"- {one}" for one in result.remarks), style="dim")


def _facts(result: "Comparison", data: Path) -> dict[str, Any]:
    """What machines are told."""
    return {
        "version": __version__,
        "data": str(data),
        "rows": result.n_rows,
        "features": result.n_features,
        "classes": result.n_classes,
        "n_components": result.n_components,
        "folds": result.folds,
        "interrupted": result.interrupted,
        "methods": result.records(),
        "skipped": dict(result.skipped),
        "differences": result.differences(),
        "verdict": result.verdict,
        "findings": result.findings,
        "remarks": result.remarks,
    }
