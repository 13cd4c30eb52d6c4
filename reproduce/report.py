"""docs/results/papers.md: every number and claim of every paper with its verdict, and counts."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from reproduce.experiment import MODES, Experiment, Paper, units
from reproduce.lines import Line, Lines, measured
from reproduce.means import means_of
from reproduce.pages import figure_lines, verdict_table, when_measured
from reproduce.running import results_folder
from reproduce.verdicts import Judged, Verdict, judge

PAGE = Path(__file__).parents[1] / "docs" / "results" / "papers.md"

INTRODUCTION = """\
Written by `python -m reproduce report` from the results in `reproduce/`, which tell machine,
versions and command. Rules of the verdicts: `reproduce/verdicts.py`. Why numbers differ: the README
of each paper. An item has its full settings where a run with these was begun, and says how much of
it was run; else the quick ones, whose verdicts say little about a paper's numbers.
"""


class Standing(NamedTuple):
    """How far an item has come: the full run where one was begun, else the quick one."""

    mode: str
    lines: Sequence[Line]
    n_units: int
    judged: list[Judged]

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
    return Standing(mode, lines, len(wanted), judge(paper.expected(experiment), ours))


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
        yield f"[What was run, and why it differs]({_link(paper.folder / 'README.md', folder)})\n"
        for experiment, one in zip(paper.experiments, standings, strict=True):
            yield from _item(paper, experiment, one, folder)


def _counts(found: dict[Paper, list[Standing]]) -> Iterator[str]:
    """Of items with full settings and of others apart: quick ones are not what a paper ran."""
    yield "| paper | settings | items | " + " | ".join(Verdict) + " |"
    yield "|---" * (3 + len(Verdict)) + "|"
    for paper, standings in found.items():
        for mode in MODES:
            items = [one for one in standings if one.mode == mode]
            counts = Counter(judged.verdict for one in items for judged in one.judged)
            numbers = " | ".join(str(counts[verdict]) for verdict in Verdict)
            yield f"| {paper.title} | {mode} | {len(items)} | {numbers} |"


def _item(paper: Paper, experiment: Experiment, one: Standing, folder: Path) -> Iterator[str]:
    yield f"### {experiment.what}\n"
    yield f"`python -m reproduce run {paper.name}/{experiment.name}`; {one.words}.\n"
    results = results_folder(paper, one.mode)
    yield from figure_lines(experiment, results, f"{_link(results, folder)}/")
    if one.judged:
        yield from verdict_table(one.judged)
        yield ""


def _link(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()
