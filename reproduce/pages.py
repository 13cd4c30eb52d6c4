"""Results of one item: a table of numbers (CSV), a page (Markdown), a figure (PNG and SVG)."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.common.means import Mean
from benchmarks.common.pages import header
from reproduce.experiment import Experiment, Measured, NothingToDraw, Paper
from reproduce.lines import Line, measured
from reproduce.means import means_of, whole_grids
from reproduce.verdicts import Judged, judge, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_results(
    paper: Paper,
    experiment: Experiment,
    mode: str,
    folder: Path,
    lines: Sequence[Line],
    n_units: int,
) -> None:
    """Write all files of an item into a folder."""
    settings = paper.settings(experiment, mode)
    ours = means_of(experiment, settings, measured(lines))
    _write_csv(folder / f"{experiment.name}.csv", ours)
    save_figure(experiment, whole_grids(experiment, settings, measured(lines)), folder)
    of_run = [f"- {name}: {value}" for name, value in header(("matplotlib",)).items()]
    _write_page(paper, experiment, mode, folder, lines, n_units, of_run, ours)


def refresh_page(
    paper: Paper,
    experiment: Experiment,
    mode: str,
    folder: Path,
    lines: Sequence[Line],
    n_units: int,
) -> None:
    """Write the page of an item anew, but for what it tells of its last run: for other verdicts."""
    ours = means_of(experiment, paper.settings(experiment, mode), measured(lines))
    page = (folder / f"{experiment.name}.md").read_text("utf-8")
    *of_run, _ = [line for line in page.splitlines() if line.startswith("- ")]
    _write_page(paper, experiment, mode, folder, lines, n_units, of_run, ours)


def save_figure(experiment: Experiment, all_measured: Sequence[Measured], folder: Path) -> None:
    """PNG to look at, SVG to print; the same bytes for the same numbers.

    Where there is nothing to draw yet, an older figure goes.
    """
    import matplotlib

    png, svg = (folder / f"{experiment.name}.{kind}" for kind in ("png", "svg"))
    try:
        figure = _drawn(experiment, all_measured)
    except NothingToDraw:
        png.unlink(missing_ok=True)
        svg.unlink(missing_ok=True)
        return
    with matplotlib.rc_context({"svg.hashsalt": experiment.name}):
        figure.savefig(png, dpi=120, metadata={"Software": None})
        figure.savefig(svg, metadata={"Date": None})


def _drawn(experiment: Experiment, all_measured: Sequence[Measured]) -> "Figure":
    if experiment.draw is None or not all_measured:
        raise NothingToDraw(experiment.name)
    return experiment.draw(all_measured)


def figure_lines(experiment: Experiment, folder: Path, link: str) -> Iterator[str]:
    """Lines of Markdown: the picture in a folder, where there is one, and what it shows."""
    if (folder / f"{experiment.name}.png").exists():
        yield f"![{experiment.name}]({link}{experiment.name}.png)\n"
        yield f"{experiment.caption}\n"


def verdict_table(judged: Iterable[Judged]) -> Iterator[str]:
    """Lines of Markdown."""
    yield "| number or claim | paper | ours | verdict |"
    yield "|---|---|---|---|"
    for one in judged:
        yield f"| `{one.name}` | {one.paper} | {one.ours} | {one.verdict} |"


def when_measured(lines: Sequence[Line], n_units: int) -> str:
    """How much of an item was measured, when, and in how much time."""
    dates = sorted({line.date for line in lines})
    days = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    minutes = sum(line.seconds for line in lines) / 60
    return f"{len(lines)} of {n_units} units, measured {days}, {minutes:.1f} minutes"


def _write_page(
    paper: Paper,
    experiment: Experiment,
    mode: str,
    folder: Path,
    lines: Sequence[Line],
    n_units: int,
    of_run: Sequence[str],
    ours: Mapping[str, Mean],
) -> None:
    page = _page(paper, experiment, mode, folder, lines, n_units, of_run, ours)
    (folder / f"{experiment.name}.md").write_text("\n".join(page) + "\n", "utf-8")


def _page(
    paper: Paper,
    experiment: Experiment,
    mode: str,
    folder: Path,
    lines: Sequence[Line],
    n_units: int,
    of_run: Sequence[str],
    ours: Mapping[str, Mean],
) -> Iterator[str]:
    yield f"# {paper.title}: {experiment.what}\n"
    yield from of_run
    # Units may have been measured by several commands, and elsewhere.
    extent = when_measured(lines, n_units)
    yield f"- {mode} settings; {extent}; the lines above are of the last run\n"
    yield from figure_lines(experiment, folder, "")
    judged = judge(paper.expected(experiment), ours)
    if judged:
        yield from verdict_table(judged)
        yield ""
    yield "| number | mean ± standard error |"
    yield "|---|---|"
    for name, mean in ours.items():
        yield f"| `{name}` | {shown(mean)} |"


def _write_csv(path: Path, ours: Mapping[str, Mean]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["number", "mean", "standard_error"])
        for name, mean in ours.items():
            writer.writerow([name, mean.value, mean.error])
