"""``vicinal demo``."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import groupby
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vicinal import __version__
from vicinal.cli.command import Command
from vicinal.cli.options import AsJson, Debug
from vicinal.cli.overwriting import check_file, refuse_overwriting
from vicinal.cli.running import command_line, running
from vicinal.cli.screens import show_json, show_lines, show_table
from vicinal.interrupts import Interrupts

if TYPE_CHECKING:
    from rich.console import Console

    from vicinal.demo import Comparison

__all__ = ["DEMO"]


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Write the page to this file.")
    ] = Path("vicinal-demo.html"),
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save the projections, too, as .png, .pdf or .svg."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Choose the split into training and test.")] = 0,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Fit all four families to images of digits and compare them with others.

    It prints how well nearest neighbors name new images, and how likely densities
    find them, against the raw pixels, PCA and more; it writes a page to be opened in
    a browser. It needs no network and takes less than a minute.
    """
    with running(debug) as interrupts:
        _demo(output, picture, seed, as_json, interrupts)


DEMO = Command(demo, examples=("vicinal demo", "vicinal demo --seed 1 -o digits.html"))


def _demo(
    output: Path, picture: Path | None, seed: int, as_json: bool, interrupts: Interrupts
) -> None:
    """Compare, write, then show: numbers on stdout, all else on stderr."""
    from rich.console import Console

    _check(output, picture)
    with _progress(Console(stderr=True), interrupts) as on_step:
        from vicinal import demo  # scikit-learn takes a second to import

        result = demo.compare(demo.load_split(seed=seed), on_step)
        interrupts.check()
        _write(result, output, picture)
    if as_json:
        about = {"version": __version__, "seed": seed, "report": str(output)}
        show_json(about | result.as_dict())
    else:
        _show(result, seed, output)


def _check(output: Path, picture: Path | None) -> None:
    """Whether all can be written, before the work is done."""
    from vicinal.report.page.rendering import require_page_libraries
    from vicinal.report.support import check_picture_path

    require_page_libraries("vicinal demo")
    check_file(output, "page")
    refuse_overwriting({"--output": output, "--picture": picture})
    if picture is not None:
        check_file(picture, "picture", "--picture")
        check_picture_path(picture)


def _write(result: "Comparison", output: Path, picture: Path | None) -> None:
    from vicinal.demo import draw, write_page
    from vicinal.report.support import save_figure

    if picture is not None:
        save_figure(draw(result.projections), picture)
    write_page(result, output, command_line())


def _show(result: "Comparison", seed: int, output: Path) -> None:
    """Tables, and where the page is."""
    _show_scores(result, seed)
    print()
    _show_densities(result)
    show_lines(
        f"Report: {output}   (open it in a browser)\nNext:   vicinal fit --help, for your own data"
    )


def _show_scores(result: "Comparison", seed: int) -> None:
    from vicinal.facts import duration

    n_train, n_test = len(result.split.y_train), len(result.split.y_test)
    error = max(sqrt(s.accuracy * (1 - s.accuracy) / n_test) for s in result.scores)
    rows: list[list[str]] = []
    for _, group in groupby(result.scores, key=lambda score: score.n_components):
        rows += [[""] * 5] if rows else []
        rows += [
            [
                _marked(score.method, score.is_ours),
                score.learns_from,
                str(score.n_components),
                f"{score.accuracy:.1%}",
                "-" if score.fit_seconds is None else duration(score.fit_seconds),
            ]
            for score in group
        ]
    show_table(
        ["Method", "Learns from", "Dim.", "Accuracy", "Fit"],
        rows,
        title=f"Digits: {n_train} training and {n_test} test images, seed {seed}",
        caption="Accuracy: how often 5 nearest neighbors name a test image right; standard error "
        f"up to {error:.1%}. *: vicinal",
        right=("Dim.", "Accuracy", "Fit"),
    )


def _show_densities(result: "Comparison") -> None:
    from vicinal.demo import N_DENSITY_COMPONENTS
    from vicinal.facts import duration

    show_table(
        ["Density", "Mean log-density", "Fit"],
        [
            [
                _marked(one.method, one.is_ours),
                f"{one.log_density:.2f}",
                duration(one.fit_seconds),
            ]
            for one in result.densities
        ],
        title=f"How likely the test images are, in {N_DENSITY_COMPONENTS} principal components",
        right=("Mean log-density", "Fit"),
    )


def _marked(name: str, is_ours: bool) -> str:
    return f"{name} *" if is_ours else name


@contextmanager
def _progress(
    console: "Console", interrupts: Interrupts
) -> Iterator[Callable[[str, int, int], None]]:
    """A line on the terminal that says what is being done; silent elsewhere."""
    with console.status("Starting", spinner="line") as status:

        def on_step(text: str, step: int, n_steps: int) -> None:
            interrupts.check()
            status.update(f"{text} ({step} of {n_steps})")

        yield on_step
