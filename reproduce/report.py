"""docs/results/papers.md: every number and claim of every paper with its verdict, and counts."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from reproduce.experiment import MODES, Experiment, Paper, units
from reproduce.lines import Line, Lines, measured
from reproduce.means import means_of
from reproduce.pages import figure_lines, refresh_page, verdict_table, when_measured
from reproduce.running import results_folder
from reproduce.verdicts import Judged, Verdict, judge

PAGE = Path(__file__).parents[1] / "docs" / "results" / "papers.md"

INTRODUCTION = """\
Written by `python -m reproduce report` from the results in `reproduce/`, which tell machine,
versions and command. Five documents are four papers: two of them are versions of one. The figures
alone, each with what its paper says: [figures](papers-figures.md). What the papers got wrong:
[errata](../errata.md).

Verdicts follow a rule (`reproduce/verdicts.py`). A number *agrees within noise* where it is no
farther from the printed one than twice the standard errors of both together, and the rounding of
the print, allow; errors of fewer than five runs count as 0. Where it does not, the *ordering holds*
if it has its place in every claim that names it; else it *differs*. A claim is an order of means:
it holds whatever their errors. Why numbers differ: the README of each paper.

Settings: *full*, run to the end; *full, in part*, where some units are still to be run; *quick*,
where no full run was begun, whose verdicts say little about a paper's numbers; *data*, where what
is printed describes the data and is no result.
"""

# Settings of an item by how far it has come, as they are counted.
EXTENTS = ("full", "full, in part", "quick", "data")


class Standing(NamedTuple):
    """How far an item has come: the full run where one was begun, else the quick one."""

    mode: str
    lines: Sequence[Line]
    n_units: int
    judged: list[Judged]
    is_data: bool

    @property
    def extent(self) -> str:
        """One of the `EXTENTS`."""
        if self.is_data or self.mode == "quick":
            return "data" if self.is_data else "quick"
        return "full" if len(self.lines) == self.n_units else "full, in part"

    @property
    def counts(self) -> Counter[Verdict]:
        """Of verdicts."""
        return Counter(one.verdict for one in self.judged)

    @property
    def words(self) -> str:
        """Of how much was run."""
        if not self.lines:
            return "not run"
        begun = "full settings" if self.mode == "full" else "quick settings only"
        return f"{begun}: {when_measured(self.lines, self.n_units)}"


def standing(paper: Paper, experiment: Experiment) -> Standing:
    """Of an item, from the files of its results."""
    for mode in MODES:
        settings = paper.settings(experiment, mode)
        wanted, folder = units(settings), results_folder(paper, mode)
        lines = Lines(folder / experiment.lines_file).of(wanted)
        # Another item may have left some lines for it: it was begun where it has a page.
        if lines and (folder / f"{experiment.name}.md").exists():
            break
    ours = means_of(experiment, settings, measured(lines))
    expected = paper.expected(experiment)
    is_data = expected.get("about") == "data"
    return Standing(mode, lines, len(wanted), judge(expected, ours), is_data)


def refresh_pages(papers: Sequence[Paper]) -> None:
    """Bring the pages of all items up to what the papers say, and to the rule, as they are now."""
    for paper in papers:
        for experiment in paper.experiments:
            for mode in MODES:
                folder = results_folder(paper, mode)
                if (folder / f"{experiment.name}.md").exists():
                    wanted = units(paper.settings(experiment, mode))
                    lines = Lines(folder / experiment.lines_file).of(wanted)
                    refresh_page(paper, experiment, mode, folder, lines, len(wanted))


def write_report(papers: Sequence[Paper], page: Path = PAGE) -> None:
    """Write the page."""
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text("\n".join(_page(papers, page.parent)).rstrip() + "\n", "utf-8")


def _page(papers: Sequence[Paper], folder: Path) -> Iterator[str]:
    found = {paper: [standing(paper, item) for item in paper.experiments] for paper in papers}
    yield "# The papers, measured again\n"
    yield INTRODUCTION
    yield from _counts(found)
    for paper, standings in found.items():
        yield f"\n## {paper.title}\n"
        yield f"[What was run, and why it differs]({link(paper.folder / 'README.md', folder)})\n"
        yield from _items(paper, standings)
        for experiment, one in zip(paper.experiments, standings, strict=True):
            yield from _item(paper, experiment, one, folder)


def _counts(found: dict[Paper, list[Standing]]) -> Iterator[str]:
    """Of items with full settings and of others apart: quick ones are not what a paper ran."""
    yield "| paper | settings | items | " + " | ".join(Verdict) + " |"
    yield "|---" * (3 + len(Verdict)) + "|"
    for paper, standings in found.items():
        for extent in EXTENTS:
            items = [one for one in standings if one.extent == extent]
            counts = sum((one.counts for one in items), Counter())
            if items:
                yield f"| {paper.title} | {extent} | {len(items)} | {_numbers(counts)} |"


def _items(paper: Paper, standings: Sequence[Standing]) -> Iterator[str]:
    """Counts of every item, and where on the page it is."""
    yield "| item | settings | units | " + " | ".join(Verdict) + " |"
    yield "|---" * (3 + len(Verdict)) + "|"
    for experiment, one in zip(paper.experiments, standings, strict=True):
        what = f"[{experiment.what}](#{anchor(experiment.what)})"
        extent = f"{len(one.lines)} of {one.n_units}"
        yield f"| {what} | {one.extent} | {extent} | {_numbers(one.counts)} |"
    yield ""


def _numbers(counts: Counter[Verdict]) -> str:
    return " | ".join(str(counts[verdict]) for verdict in Verdict)


def anchor(title: str) -> str:
    """Of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _item(paper: Paper, experiment: Experiment, one: Standing, folder: Path) -> Iterator[str]:
    yield f"### {experiment.what}\n"
    yield f"`python -m reproduce run {paper.name}/{experiment.name}`; {one.words}.\n"
    results = results_folder(paper, one.mode)
    yield from figure_lines(experiment, results, f"{link(results, folder)}/")
    if one.judged:
        yield from verdict_table(one.judged)
        yield ""


def link(path: Path, folder: Path) -> str:
    """To a file of the repository, from a page in a folder."""
    return Path(os.path.relpath(path, folder)).as_posix()
