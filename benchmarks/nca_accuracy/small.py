"""Small sets: random splits, two dimensions and all."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.common.means import Mean
from benchmarks.common.pages import Page
from benchmarks.common.scaling import standardized
from benchmarks.common.splits import random_split
from benchmarks.nca_accuracy.comparison import Comparison, cell
from benchmarks.nca_accuracy.methods import METHODS
from benchmarks.nca_accuracy.published import SPEC, THESIS
from vicinal import datasets

SMALL = (
    "iris",
    "wine",
    "ionosphere",
    "glass",
    "balance-scale",
    "ecoli",
    "pima",
    "segment",
    "transfusion",
    "yeast",
)


def dimensions(X: np.ndarray) -> tuple[int, int]:
    """Two, and as many as there are columns that vary."""
    return 2, int((np.ptp(X, axis=0) > 0).sum())


class Averages(NamedTuple):
    """Over the splits, and how many of the fits were broken."""

    rule: Mean
    nearest: Mean
    n_broken: int

    def mark(self) -> str:
        """What a cell says beside the mean."""
        return f" ({self.n_broken} broken)" if self.n_broken else ""


def measure(name: str, d: int, method: str, n_splits: int) -> Averages:
    data = datasets.load(name, download=False)
    scores = []
    for seed in range(n_splits):
        part = standardized(random_split(data.data, data.target, seed))
        # A column that varies in the test part only leaves one dimension less.
        scores.append(METHODS[method](part, min(d, part.X.shape[1]), seed))
    rule, nearest, broken = zip(*scores, strict=True)
    return Averages(Mean.of_shares(rule), Mean.of_shares(nearest), sum(broken))


class SmallSets:
    """Tables of the small sets, each computed as it is printed."""

    def __init__(self, page: Page, names: list[str], n_splits: int) -> None:
        self.page, self.names, self.n_splits = page, names, n_splits
        self.spec, self.thesis = Comparison("the spec's number"), Comparison("the thesis's number")

    def report(self) -> None:
        """All tables, then what is below the published numbers."""
        self.page.say("## Default settings and scikit-learn\n")
        self.defaults()
        self.page.say("\n## Variants of the thesis: full batches and stochastic learning\n")
        self.published("classic", "stochastic")
        self.page.say("\n## Variants of the thesis: compact support\n")
        self.published("compact", "background")
        self.page.say("\n## Small sets, below what was published\n")
        self.spec.report(self.page)
        self.thesis.report(self.page)

    def defaults(self) -> None:
        """What a user gets who sets nothing but the dimension."""
        rule = ["default", "scikit-learn", "RCA only", "RCA only, spec"]
        row = self.page.table(["set", "d", *rule, "default, 1-NN", "scikit-learn, 1-NN"])
        n_broken = 0
        for name, d in self.cases():
            ours = measure(name, d, "default", self.n_splits)
            theirs = measure(name, d, "scikit-learn", self.n_splits)
            rca, spec, _ = self.beside(name, d, "RCA only")
            by_rule = (cell(ours.rule), cell(theirs.rule) + theirs.mark(), cell(rca), cell(spec))
            row(name, d, *by_rule, cell(ours.nearest), cell(theirs.nearest))
            n_broken += theirs.n_broken
        if n_broken:
            self.page.say(
                "\nBroken: fits of scikit-learn whose map has fewer dimensions than asked"
            )
            self.page.say("for, because its LDA start broke down. They are part of the mean, which")
            self.page.say("then says little about NCA.")

    def published(self, *variants: str) -> None:
        """Variants that the thesis has, too."""
        columns = [(v, f"{v}, spec", f"{v}, thesis") for v in variants]
        row = self.page.table(["set", "d", *sum(columns, ())])
        for name, d in self.cases():
            cells = [cell(mean) for v in variants for mean in self.beside(name, d, v)]
            row(name, d, *cells)

    def cases(self) -> Iterator[tuple[str, int]]:
        """Sets and dimensions."""
        for name in self.names:
            for d in dimensions(datasets.load(name, download=False).data):
                yield name, d

    def beside(self, name: str, d: int, method: str) -> tuple[Mean, float | None, Mean | None]:
        """Our mean, the spec's and the thesis's."""
        ours = measure(name, d, method, self.n_splits).rule
        where = f"{name}, d = {d}, {method}"
        spec, thesis = SPEC[method].get((name, d)), THESIS.get(method, {}).get((name, d))
        if spec is not None:
            self.spec.add(where, ours, spec, thesis and thesis.error)
        if thesis is not None:
            self.thesis.add(where, ours, thesis.value, thesis.error)
        return ours, spec, thesis
