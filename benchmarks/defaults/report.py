"""Accuracy, log-loss and time in all cells, and in how many the default is as good as the best."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.common.means import Mean
from benchmarks.common.pages import Page
from benchmarks.common.records import Records
from benchmarks.defaults.methods import METHODS, Method

# Splits below which a mean says too little to be counted.
LEAST_SPLITS = 3

# Not a rule of neighbors: its log-loss is shown, but is no yardstick for theirs.
OTHER_RULES = ("LDA",)


class Cell(NamedTuple):
    """Scores of all methods by split, of a set at full rank or in two dimensions."""

    name: str
    d: str
    accuracy: dict[str, np.ndarray]
    log_loss: dict[str, np.ndarray]
    seconds: dict[str, np.ndarray]
    failures: dict[str, str]

    @property
    def counted(self) -> list[str]:
        """Methods with enough splits."""
        return [name for name, values in self.accuracy.items() if len(values) >= LEAST_SPLITS]

    def lead(self, name: str) -> Mean:
        """How much more accurate another method is, on the splits that it has."""
        theirs = self.accuracy[name]
        return Mean.of_shares(theirs - self.accuracy["default"][: len(theirs)])

    @property
    def best(self) -> str:
        """The most accurate of the others."""
        others = [name for name in self.counted if name != "default"]
        return max(others, key=lambda name: self.lead(name).value)

    @property
    def is_as_good(self) -> bool:
        """Whether the default is within one standard error of the difference, or above."""
        lead = self.lead(self.best)
        return lead.value <= (lead.error or 0.0)

    @property
    def is_within_error(self) -> bool:
        """Whether the default is within one standard error of the best method's mean, or above."""
        return self.lead(self.best).value <= (Mean.of_shares(self.accuracy[self.best]).error or 0.0)

    @property
    def is_surest(self) -> bool:
        """Whether its log-loss is the lowest of all rules of neighbors."""
        rules = [name for name in self.counted if name not in OTHER_RULES]
        return min(rules, key=lambda name: self.log_loss[name].mean()) == "default"


def cell_of(records: Records, name: str, d: str, splits: int) -> Cell:
    accuracy, log_loss, seconds, failures = {}, {}, {}, {}
    for method in METHODS:
        rows = [records.get((name, d, seed, method.name)) for seed in range(splits)]
        known = [row for row in rows if row is not None and "accuracy" in row]
        if known:
            accuracy[method.name] = np.array([row["accuracy"] for row in known])
            log_loss[method.name] = np.array([row["log_loss"] for row in known])
            seconds[method.name] = np.array([row["seconds"] for row in known])
        elif any(row is not None for row in rows):
            failures[method.name] = next(row["failure"] for row in rows if row is not None)
    return Cell(name, d, accuracy, log_loss, seconds, failures)


def report(page: Page, records: Records, names: Sequence[str], splits: int) -> None:
    """Accuracies, log-losses, and the count."""
    cells = [cell_of(records, name, d, splits) for d in ("full", "2") for name in names]
    cells = [cell for cell in cells if "default" in cell.accuracy and len(cell.accuracy) > 1]
    for d, what in (("full", "full rank"), ("2", "two dimensions")):
        methods = [method for method in METHODS if d in method.cells]
        mine = [cell for cell in cells if cell.d == d]
        page.say(f"\n## Accuracy, {what}\n")
        _table(page, mine, methods, "accuracy", splits)
        page.say(f"\n## Log-loss, {what}\n")
        _table(page, mine, methods, "log_loss", splits)
        page.say(f"\n## Seconds to fit, choose and predict, {what}\n")
        _table(page, mine, methods, "seconds", splits)
    _count(page, [cell for cell in cells if len(cell.accuracy["default"]) >= LEAST_SPLITS])


def _count(page: Page, cells: Sequence[Cell]) -> None:
    within, paired = sum(c.is_within_error for c in cells), sum(c.is_as_good for c in cells)
    page.say(
        f"\n**Of {len(cells)} cells, the default is within one standard error of the mean of the "
        f"most accurate other method, or above it, in {within}, within one standard error of their "
        f"difference in {paired}; its log-loss is the lowest of all rules of neighbors in "
        f"{sum(c.is_surest for c in cells)}.** Which other method is the best in a cell is known "
        "only afterwards: the default is held against the luckiest of all."
    )
    for cell in cells:
        if not (cell.is_as_good and cell.is_within_error):
            lead = cell.lead(cell.best).words()
            page.say(f"\nBehind: {cell.name}, d = {cell.d}, by {lead} points ({cell.best}).")


def _table(
    page: Page, cells: Sequence[Cell], methods: Sequence[Method], which: str, splits: int
) -> None:
    row = page.table(["set", *(method.name for method in methods)])
    for cell in cells:
        n = len(cell.accuracy["default"])
        name = cell.name if n == splits else f"{cell.name} ({n} split{'s' if n > 1 else ''})"
        row(name, *(_words(cell, method.name, which) for method in methods))


def _words(cell: Cell, name: str, which: str) -> str:
    values = getattr(cell, which).get(name)
    if values is None:
        return cell.failures.get(name, "")
    if which == "seconds":
        return f"{np.median(values):.2g}"
    return Mean.of_shares(values).words() if which == "accuracy" else Mean.of(values).words(2)
