"""Speed and results of two source trees, measured in turns in one run.

    python -m benchmarks.before_after BEFORE/src AFTER/src [--jobs fused-gaussian nca]
        [--sizes 2000 20000] [--dims 2 5 50] [--repeats 5]

Every job is measured in processes of its own, which import vicinal from the one tree, then from the
other, and so on: before, after, before, after. Seconds are the shortest of up to 15 runs in a
process, and the median of these over the processes; a ratio is the median of those of neighbors in
that order, with the least and the largest, which tell what is noise. Both are given by the clock on
the wall and by that of the processor, which other programs disturb less. Results are compared, too.
nca, em and divergences need usps and segment (set VICINAL_DATA).
"""

import argparse
import subprocess
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.before_after.cells import JOBS, measure
from benchmarks.common.arrays import read_array
from benchmarks.common.children import call_apart, last_line
from benchmarks.common.command import arguments
from benchmarks.common.pages import Page
from benchmarks.common.timing import in_turns

SIDES = ("before", "after")
COLUMNS = ("before, s", "after, s", "after / before")


class Trees:
    """Measures jobs in both trees; results lie in a folder for each."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options = options
        self.trees = {side: getattr(options, side) for side in SIDES}
        self.folders = {side: folder / side for side in SIDES}
        for path in self.folders.values():
            path.mkdir()

    def measured(self, job: str) -> dict[str, list[dict[str, list[float]]]]:
        """Wall and processor seconds of every cell, a list for each tree."""
        sides = {side: partial(self.once, job, side) for side in SIDES}
        return in_turns(sides, self.options.repeats)

    def once(self, job: str, side: str) -> dict[str, list[float]]:
        """In a process of its own."""
        tree, folder = self.trees[side], str(self.folders[side])
        sizes = (self.options.sizes, self.options.dims)
        return call_apart(measure, job, *sizes, tree, folder, environment={"PYTHONPATH": tree})

    def difference(self, cell: str) -> str:
        """Of the results, relative to the largest of them."""
        before, after = (read_array(self.folders[side], cell) for side in SIDES)
        if before.shape != after.shape:
            return f"shapes {before.shape} and {after.shape}"
        if np.array_equal(before, after, equal_nan=True):
            return "same bits"
        finite = np.isfinite(before) & np.isfinite(after)
        if not np.array_equal(before[~finite], after[~finite], equal_nan=True):
            return "not finite in one only"
        gap = np.abs(after[finite] - before[finite]).max() / np.abs(before[finite]).max()
        return f"{gap:.1e}"


def cells(before: Sequence[float], after: Sequence[float]) -> list[str]:
    """Medians, and the ratio of neighbors in time: median, least and largest."""
    ratios = [second / first for first, second in zip(before, after, strict=True)]
    seconds = (f"{median(times):.3g}" for times in (before, after))
    return [*seconds, f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"]


def commit_of(tree: str) -> str:
    """Which version a tree is, in words."""
    git = ["git", "-C", tree]
    commit = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    if commit.returncode:
        return "not under version control"
    changes = subprocess.run([*git, "status", "--short", "."], capture_output=True, text=True)
    return commit.stdout.strip() + " and changes" * bool(changes.stdout.strip())


def report(page: Page, trees: Trees) -> None:
    """A row for each cell, as soon as its job is done."""
    columns = [f"{kind}{name}" for kind in ("", "CPU ") for name in COLUMNS]
    row = page.table(["cell", *columns, "results differ by"])
    for job in trees.options.jobs:
        try:
            found = trees.measured(job)
        except RuntimeError as error:
            row(job, f"fails: {last_line(error)}", *[""] * len(columns))
            continue
        for cell in found["before"][0]:
            wall, cpu = (
                cells(*([run[cell][clock] for run in found[side]] for side in SIDES))
                for clock in (0, 1)
            )
            row(cell, *wall, *cpu, trees.difference(cell))


def source_tree(path: str) -> str:
    """A folder that holds the package."""
    if not (Path(path) / "vicinal" / "__init__.py").exists():
        raise argparse.ArgumentTypeError(
            f"{path!r} does not hold vicinal/__init__.py: give the src folder of a checkout"
        )
    return str(Path(path).absolute())


def parse() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("before", type=source_tree, help="src folder of one checkout")
    parser.add_argument("after", type=source_tree, help="src folder of the other")
    parser.add_argument("--jobs", nargs="+", choices=list(JOBS), default=list(JOBS))
    parser.add_argument("--sizes", type=int, nargs="+", default=[2000, 20_000], help="points")
    parser.add_argument("--dims", type=int, nargs="+", default=[2, 5, 50], help="dimensions")
    parser.add_argument("--repeats", type=int, default=5, help="processes for each tree")
    return parser.parse_args()


def main() -> None:
    options = parse()
    page = Page("Before and after")
    for side in SIDES:
        page.say(f"{side.capitalize()}: {commit_of(getattr(options, side))}.\n")
    with tempfile.TemporaryDirectory() as folder:
        report(page, Trees(options, Path(folder)))
    if options.save:
        page.save("before_after")


if __name__ == "__main__":
    main()
