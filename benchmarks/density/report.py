"""A table for each set, then a summary."""

import numpy as np

from benchmarks.common.means import Mean
from benchmarks.common.pages import Page
from benchmarks.density.comparison import Comparison
from benchmarks.density.ours import HEADLINE


class Report:
    """A table for each set, then a summary."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.done: list[Comparison] = []

    def add(self, comparison: Comparison) -> None:
        """Say what came of a set."""
        self.done.append(comparison)
        one = comparison
        splits = "1 split" if one.n_splits == 1 else f"{one.n_splits} splits"
        sizes = f"{one.n_train} training rows, {one.n_test} test rows, d = {one.d}, {splits}"
        self.page.say(f"## {one.name}: {sizes}\n")
        row = self.page.table(["method", "log-likelihood", "less the best", "seconds"])
        for method in one.methods:
            if one.runs[method]:
                row(*self.cells(one, method))
        self.page.say()
        if absent := [name for name, runs in one.runs.items() if not runs]:
            self.page.say(f"Not run: {'; '.join(absent)}.\n")
        self.standing(one)
        self.choices(one)

    def cells(self, one: Comparison, method: str) -> tuple[str, ...]:
        """Of a row."""
        label = f"**{method}**" if method == HEADLINE else method
        if not one.works(method):
            return label, one.problem(method), "", ""
        best = one.best() or method
        above = "best" if method == best else one.above(method, best).words(3)
        seconds = np.mean([run.seconds for run in one.runs[method]])
        not_converged = sum(not run.converged for run in one.runs[method])
        label += f" (not converged: {not_converged} ×)" if not_converged else ""
        return label, Mean.of(one.scores(method)).words(3), above, f"{seconds:.2f}"

    def standing(self, one: Comparison) -> None:
        """Where the headline row is."""
        best, peer, verdict = one.best(), one.best_peer(), one.verdict()
        if best is None or verdict == "fails":
            self.page.say(f"The headline row ({HEADLINE}) fails.\n")
            return
        gap = "" if verdict == "best" else f" ({best}): {one.above(HEADLINE, best).words(3, '+')}"
        words = {"within one s.e.": "within one standard error of the best"}
        words["below by more than one s.e."] = "more than one standard error below the best"
        line = f"The headline row ({HEADLINE}) is {words.get(verdict, verdict)}{gap}."
        if peer is not None:
            line += f" Less the best peer ({peer}): {one.above(HEADLINE, peer).words(3, '+')}."
        self.page.say(line + "\n")

    def choices(self, one: Comparison) -> None:
        """What the methods that choose have chosen."""
        for name in one.methods:
            if words := one.choices(name):
                self.page.say(f"- {name}: {words}")
        self.page.say()

    def summary(self) -> None:
        """All sets."""
        self.page.say("## Summary\n")
        gaps = ("best of all", "less the best", "best peer", "less the best peer")
        row = self.page.table(["set", "d", "splits", HEADLINE, *gaps, "verdict"])
        for one in self.done:
            best, peer = one.best(), one.best_peer()
            works = one.works(HEADLINE)
            score = Mean.of(one.scores(HEADLINE)).words(3) if works else one.problem(HEADLINE)
            cells = []
            for other in (best, peer):
                above = one.above(HEADLINE, other).words(3, "+") if works and other else ""
                cells += [other or "none works", above]
            row(one.name, one.d, one.n_splits, score, *cells, one.verdict())
        self.page.say()
        good = sum(one.verdict() in ("best", "within one s.e.") for one in self.done)
        self.page.say(f"Best or within one standard error of the best: {good} of {len(self.done)}.")
