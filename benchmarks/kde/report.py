"""A table for each size and dimension, then summaries."""

import itertools

from benchmarks.common.pages import Page
from benchmarks.kde.contenders import CONTENDERS, OURS, OURS_ALONE
from benchmarks.kde.measuring import Bench
from benchmarks.kde.problems import Problem
from benchmarks.kde.ratios import (
    NEARLY,
    Ratio,
    best_peer,
    contender_cells,
    estimate_mark,
    meets,
    summary_cells,
    wanted,
)

ABOUT_CONTENDERS = """
Missed: measurements with an error above the wanted one. Worst: the largest
error by the wanted one (exact: by 1e-10). Threads: time on all cores by time
on the clock, of what takes a second or more; below 1, others were at work.
"""


class Report:
    """A table for each size and dimension, then summaries."""

    def __init__(self, page: Page, bench: Bench) -> None:
        self.page, self.bench = page, bench
        self.options = bench.options
        self.ratios: dict[str, list[Ratio]] = {OURS: [], OURS_ALONE: []}
        self.seen: dict[str, list[dict]] = {name: [] for name in bench.contenders}
        self.no_peer = 0

    @property
    def ours(self) -> list[str]:
        """Ours among the contenders."""
        return [name for name in self.bench.contenders if CONTENDERS[name].is_ours]

    def add(self, problem: Problem) -> None:
        """One table."""
        tables = {name: self.measure(problem, name) for name in self.options.bandwidths}
        self.page.say(f"## n = {problem.n:,}, d = {problem.d}\n")
        ratios = [f"best peer / {name}" for name in self.ours]
        row = self.page.table(["bandwidth", "wanted", *self.bench.contenders, *ratios])
        for bandwidth, cells in tables.items():
            scale = self.bench.scale(problem, bandwidth)
            words = f"{bandwidth}, {scale['value']:.3g} ({scale['neighbors']:.3g})"
            for error in self.options.errors:
                where = f"n = {problem.n:,}, d = {problem.d}, {bandwidth}"
                times = [self.cell(name, cells, error) for name in self.bench.contenders]
                against = [self.ratio(name, cells, error, where) for name in self.ours]
                row(words, wanted(error), *times, *against)
        self.page.say()

    def measure(self, problem: Problem, bandwidth: str) -> dict[tuple[str, float], dict]:
        """Rows of a bandwidth by contender and error, those that have one."""
        found = {}
        for error, name in itertools.product(self.options.errors, self.bench.contenders):
            row = self.bench.row(name, problem, bandwidth, error)
            if row is not None:
                found[name, error] = row
                self.seen[name].append(row)
        return found

    def cell(self, name: str, cells: dict[tuple[str, float], dict], error: float) -> str:
        """Seconds and the largest error."""
        row = cells.get((name, error))
        if row is None:
            return "–"
        if row["problem"]:
            return row["problem"]
        words = f"{row['max_error']:.0e}"
        if not meets(row, error):
            words = f"{row['max_error']:.1e} ✗, median {row['median_error']:.0e}"
        return f"{estimate_mark(row)}{row['seconds']:.3g} ({words})"

    def ratio(
        self, name: str, cells: dict[tuple[str, float], dict], error: float, where: str
    ) -> str:
        """Of the best peer to ours; a peer may do more than is wanted."""
        mine = cells.get((name, error))
        if mine is None or not meets(mine, error):
            return "ours missed"
        best, lenient = (best_peer(cells, error, slack) for slack in (1.0, NEARLY))
        if best is None or lenient is None:
            self.no_peer += name == OURS
            return "no peer met it"
        value, least = best["seconds"] / mine["seconds"], lenient["seconds"] / mine["seconds"]
        self.ratios[name].append(Ratio(where, error, value, best["contender"], least))
        setting = "" if best["error"] == error else f" at {wanted(best['error'])}"
        return f"{estimate_mark(best)}{value:.2g} × {best['contender']}{setting}"

    def summary(self) -> None:
        """How often ours is fastest."""
        self.page.say("## Summary: seconds of the best peer by ours\n")
        self.page.say("Lenient: ours faster where peers count that miss the wanted error by up to")
        self.page.say(f"{NEARLY:g} times; ours may not.\n")
        columns = ["cells", "ours faster", "lenient", "median", "least", "where", "most", "where"]
        row = self.page.table(["", "wanted", *columns])
        for name in self.ours:
            for error in self.options.errors:
                some = [ratio for ratio in self.ratios[name] if ratio.error == error]
                if some:
                    row(name, wanted(error), *summary_cells(some))
        self.page.say()
        if self.no_peer:
            self.page.say(f"In {self.no_peer} cells no peer met what was wanted.\n")

    def contenders(self) -> None:
        """Who kept to the error, and how many threads worked."""
        self.page.say("## Errors and threads\n")
        self.page.say(ABOUT_CONTENDERS.lstrip())
        row = self.page.table(["contender", "measured", "estimated", "missed", "worst", "threads"])
        for name, rows in self.seen.items():
            row(name, *contender_cells([one for one in rows if not one["problem"]]))
        self.page.say()

    def save(self) -> None:
        """Where it was asked for."""
        if self.options.save:
            self.page.save("kde")
