"""docs/results/papers-figures.md: every figure of ours, and what its paper says of it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from reproduce.experiment import Experiment, Paper
from reproduce.pages import figure_lines
from reproduce.report import PAGE, Standing, anchor, link, standing
from reproduce.running import results_folder
from reproduce.verdicts import Judged

GALLERY = PAGE.with_name("papers-figures.md")

INTRODUCTION = """\
# The papers' figures, measured again

Written by `python -m reproduce report`. Below each figure, which is ours: what it shows, what the
paper says of its own, and what we found, by the rule of [the page of all verdicts](papers.md).
"""


def write_gallery(papers: Sequence[Paper], page: Path = GALLERY) -> None:
    """Write the page."""
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(_page(papers, page.parent)).rstrip() + "\n", "utf-8")


def _page(papers: Sequence[Paper], folder: Path) -> Iterator[str]:
    yield INTRODUCTION
    for paper in papers:
        yield f"## {paper.title}\n"
        for experiment in paper.experiments:
            yield from _figure(paper, experiment, folder)


def _figure(paper: Paper, experiment: Experiment, folder: Path) -> Iterator[str]:
    """Nothing where nothing was drawn."""
    one = standing(paper, experiment)
    results = results_folder(paper, one.mode)
    lines = list(figure_lines(experiment, results, f"{link(results, folder)}/"))
    if not lines:
        return
    yield f"### {experiment.what}\n"
    yield from lines
    n_numbers = len(paper.expected(experiment).get("numbers", {}))
    yield from _claims(one.judged[n_numbers:])
    yield f"{_standing_words(one, n_numbers)} [All of it](papers.md#{anchor(experiment.what)}).\n"


def _claims(judged: Sequence[Judged]) -> Iterator[str]:
    if judged:
        yield "| the paper says | here | |"
        yield "|---|---|---|"
        yield from (f"| {one.paper} | `{one.name}`: {one.ours} | {one.verdict} |" for one in judged)
        yield ""


def _standing_words(one: Standing, n_numbers: int) -> str:
    """How much was run, and of how many printed numbers there are verdicts."""
    printed = f" {n_numbers} printed numbers are judged, too." if n_numbers else ""
    return f"Run: {one.words}.{printed}"
