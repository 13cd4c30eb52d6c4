"""What a method's setting came to, over the seeds."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.common.means import Mean
from benchmarks.peers.measuring import NEIGHBORS
from benchmarks.peers.methods import METHODS, Setting


class Point(NamedTuple):
    """A method's setting on a set in d dimensions, over the seeds."""

    method: str
    setting: Setting
    rows: list[dict]

    @property
    def measured(self) -> list[dict]:
        """Those of the seeds that have a number."""
        return [row for row in self.rows if not row.get("problem")]

    @property
    def problem(self) -> str:
        """Of the first seed that has one."""
        return next((row["problem"] for row in self.rows if row.get("problem")), "")

    @property
    def is_too_much(self) -> bool:
        """Whether it takes more time or memory than it may, with every seed."""
        return not self.measured and any(row.get("lasting") for row in self.rows)

    def mean(self, key: str) -> float:
        """Over the seeds that have a number."""
        return float(np.mean([row[key] for row in self.measured]))

    @property
    def accuracy(self) -> float:
        """In percent, of the rule that counts."""
        return 100 * self.mean(f"accuracy_{NEIGHBORS}")

    @property
    def name(self) -> str:
        """Method and setting in words."""
        method = METHODS[self.method]
        return f"{method.name} {method.words(self.setting)}".strip()

    def cells(self) -> list[str]:
        """Of a row of the table."""
        method, found = METHODS[self.method], self.measured
        cells = [method.name, method.words(self.setting)]
        if not found:
            return [*cells, "", self.problem, "", "", "", ""]
        updates = "" if found[0]["updates"] is None else f"{self.mean('updates'):.0f}"
        missing = f" ({len(self.rows) - len(found)} {self.problem})" if self.problem else ""
        fewer = (
            f" ({found[0]['dimension']} of {found[0]['d']} dimensions)"
            if self.lost_dimensions
            else ""
        )
        return [
            *cells,
            updates,
            seconds_in_words(self.mean("seconds")) + missing,
            percent([row[f"accuracy_{NEIGHBORS}"] for row in found]) + fewer,
            percent([row["accuracy_1"] for row in found]),
            seconds_in_words(self.mean("transform")),
            f"{self.mean('megabytes'):.0f}",
        ]

    @property
    def lost_dimensions(self) -> bool:
        """Whether the map has fewer than asked for."""
        return any(row["dimension"] < row["d"] for row in self.measured)


def seconds_in_words(seconds: float) -> str:
    if seconds < 0.01:
        return "< 0.01"
    return f"{seconds:.1f}" if seconds >= 1 else f"{seconds:.2f}"


def percent(shares: Sequence[float]) -> str:
    """Mean ± standard error, where there is one."""
    return Mean.of_shares(shares).words()


# By set and dimension.
Found = dict[tuple[str, int], list[Point]]


def in_a_sentence(point: Point) -> str:
    return f"{point.name}, {point.accuracy:.1f} % in {seconds_in_words(point.mean('seconds'))} s"
