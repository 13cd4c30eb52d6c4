"""``vicinal demo``."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vicinal import __version__
from vicinal.cli.command import Command
from vicinal.cli.options import AsJson, Debug
from vicinal.cli.overwriting import check_file, refuse_overwriting
from vicinal.cli.running import command_line, running
from vicinal.cli.screens import show_bars, show_json, show_lines, show_paragraphs, show_table
from vicinal.interrupts import Interrupts

if TYPE_CHECKING:
    from rich.console import Console

    from vicinal.demo import Chapter, Story

__all__ = ["DEMO"]


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="File to write the page to.")
    ] = Path("vicinal-demo.html"),
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also save the pictures, as one .png, .pdf or .svg."),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Random seed of the split into training and test rows.")
    ] = 0,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Show what learning "near" gains, in five stories.

    The stories are about units, noise, pairs, a density and a map, on data that come
    with the package. The demo prints how well new rows are predicted before and after,
    compared with the usual methods, and writes a page of pictures to open in a
    browser. It needs no network and takes less than a minute.
    """
    with running(debug) as interrupts:
        _demo(output, picture, seed, as_json, interrupts)


DEMO = Command(demo, examples=("vicinal demo", "vicinal demo --seed 1 -o story.html"))


def _demo(
    output: Path, picture: Path | None, seed: int, as_json: bool, interrupts: Interrupts
) -> None:
    """Fit, write, then show: numbers on stdout, all else on stderr."""
    from rich.console import Console

    _check(output, picture)
    with _progress(Console(stderr=True), interrupts) as on_step:
        from vicinal import demo  # scikit-learn takes a second to import

        story = demo.tell_story(seed, on_step)
        interrupts.check()
        _write(story, output, picture)
    if as_json:
        about = {"version": __version__, "seed": seed, "report": str(output)}
        show_json(about | story.as_dict())
    else:
        _show(story, output, picture)


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


def _write(story: "Story", output: Path, picture: Path | None) -> None:
    from vicinal.demo import draw, write_page
    from vicinal.report.support import save_figure

    if picture is not None:
        save_figure(draw(story), picture)
    write_page(story, output, command_line())


def _show(story: "Story", output: Path, picture: Path | None) -> None:
    """Chapter by chapter, then the gains, and where the pictures are."""
    for number, chapter in enumerate(story.chapters, start=1):
        _show_chapter(number, chapter)
    _show_gains(story)
    also = f" and {picture}" if picture is not None else ""
    show_lines(
        f"Pictures, before and after: {output}{also}   (open it in a browser)\n"
        "Your own table:             vicinal compare --help"
    )


def _show_chapter(number: int, chapter: "Chapter") -> None:
    show_paragraphs(f"{number}  {chapter.title}", style="bold")
    show_paragraphs(f"   {chapter.data}", style="dim")
    show_paragraphs(f"   {chapter.trouble}", f"   {chapter.cure}")
    show_paragraphs(f"   {chapter.measure}:", style="dim")
    show_bars(
        [(one.method, _share(chapter, one.value), chapter.said(one)) for one in chapter.outcomes]
    )


def _share(chapter: "Chapter", value: float) -> float:
    """How much of a bar is full: a share, or the way from the least log-density to the largest."""
    if not chapter.is_likelihood:
        return value
    best = max(one.value for one in chapter.outcomes)
    worst = min(one.value for one in chapter.outcomes)
    return 1.0 if best == worst else 0.1 + 0.9 * (value - worst) / (best - worst)


def _show_gains(story: "Story") -> None:
    show_table(
        ["", "Measured on new rows", "Before", "After", "Gain"],
        [
            [
                chapter.title,
                chapter.measure,
                chapter.said(chapter.before).removesuffix(" nats"),
                chapter.said(chapter.after).removesuffix(" nats"),
                chapter.gain_said(),
            ]
            for chapter in story.chapters
        ],
        title=f"What learning gained, on rows that no method had seen (seed {story.seed})",
        caption="±: standard error of the gain over these rows. The data were picked to show "
        "where learning helps; benchmarks/results/ also has where it does not.",
        right=("Before", "After", "Gain"),
        tight=True,
    )


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
