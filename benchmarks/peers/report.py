"""Tables, each row printed as it is known."""

import argparse
import datetime
from collections.abc import Sequence

from benchmarks.common.pages import Page
from benchmarks.common.sets import available
from benchmarks.peers.measuring import NEIGHBORS, Laboratory, Task
from benchmarks.peers.methods import METHODS
from benchmarks.peers.points import Found, Point, in_a_sentence


class Report:
    """Tables, each row printed as it is known, and the figure."""

    def __init__(self, page: Page, options: argparse.Namespace, methods: Sequence[str]) -> None:
        self.page, self.options, self.methods = page, options, methods
        self.found: Found = {}

    def write(self, laboratory: Laboratory) -> None:
        """All sets and dimensions."""
        for name in available(self.page, self.options.sets):
            for d in self.options.dims:
                self.found[name, d] = self.one_table(name, d, laboratory)
        self.measured_when()

    def one_table(self, name: str, d: int, laboratory: Laboratory) -> list[Point]:
        """A heading, the rows and what they come to."""
        self.page.say(f"## {name}, d = {d}\n")
        columns = ["updates", "seconds", f"{NEIGHBORS}-NN", "1-NN", "transform, s", "MB"]
        row = self.page.table(["method", "setting", *columns])
        points: list[Point] = []
        for method in self.methods:
            tasks = [
                Task(name, d, method, None, seed, self.options.max_train)
                for seed in range(self.options.seeds)
            ]
            curves = [laboratory.curve(task) for task in tasks]
            for setting, *rows in zip(METHODS[method].settings, *curves, strict=True):
                points.append(Point(method, setting, rows))
                row(*points[-1].cells())
        self.page.say()
        self.summary(points)
        return points

    def summary(self, points: Sequence[Point]) -> None:
        """Size of the set, the best accuracy, and who comes near it first."""
        done = [point for point in points if point.measured]
        if not done:
            return
        row, best = done[0].measured[0], max(done, key=lambda point: point.accuracy)
        near = [point for point in done if point.accuracy >= best.accuracy - 1]
        first = min(near, key=lambda point: point.mean("seconds"))
        size = f"{row['n_train']} training rows of {row['n_features']} features, {row['n_test']}"
        self.page.say(f"{size} test rows. Best on them: {in_a_sentence(best)}.")
        self.page.say(f"Soonest within one point of that: {in_a_sentence(first)}.\n")

    def measured_when(self) -> None:
        """Days of the measurements: some may be older than the page."""
        points = [point for points in self.found.values() for point in points]
        days = sorted({row["date"] for point in points for row in point.rows if "date" in row})
        if days and days != [datetime.date.today().isoformat()]:
            self.page.say(f"Measured from {days[0]} to {days[-1]}.\n")
