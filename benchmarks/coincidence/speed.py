"""One fit each of many rows, ours and the others'."""

import argparse
import sys
from typing import NamedTuple

from sklearn.neighbors import NeighborhoodComponentsAnalysis

from benchmarks.coincidence.cases import SPEED_CASES, prepared, raw_split
from benchmarks.coincidence.fits import (
    LMNN_UPDATES,
    OURS,
    SCIKIT_LEARN,
    Fit,
    fit_apart,
    lmnn_code,
    neighbor_error,
)
from benchmarks.coincidence.scores import Failure
from benchmarks.common.pages import Page
from benchmarks.common.sets import available
from benchmarks.common.splits import Split

SPEED_LEARN_RATE = 1e-6
PEER_GIGABYTES = 16
PROTOCOL = """
## Speed: one fit

Customary training rows; letter standardized, usps and mnist their first 50 and 60
principal components, of which maps keep 30. Seconds of the fit, each in a fresh
process, all in this run; MB: its largest memory above that before. The others may
take {seconds:g} s and {gigabytes} GB. Times ours: their seconds by
ours. 3-NN: test error in % on the customary test rows.
"""


class Peer(NamedTuple):
    """Somebody else's method: the code that makes the model, and where it runs."""

    name: str
    model: str
    python: str | None = sys.executable


def peers_for(d: int, options: argparse.Namespace) -> list[Peer]:
    """Each with its own default number of updates, LMNN with fewer."""
    updates = NeighborhoodComponentsAnalysis().max_iter
    nca = SCIKIT_LEARN.format(dimension=d, updates=updates)
    lmnn = lmnn_code(d, SPEED_LEARN_RATE, 0)
    return [
        Peer(f"scikit-learn NCA, max_iter={updates}", nca),
        Peer(
            f"LMNN, learn_rate={SPEED_LEARN_RATE:g}, max_iter={LMNN_UPDATES}",
            lmnn,
            options.metric_learn,
        ),
    ]


class Speed:
    """One fit each of many rows, ours and the others'."""

    def __init__(self, page: Page, options: argparse.Namespace) -> None:
        self.page, self.options = page, options

    def report(self) -> None:
        """The table."""
        limits = {"seconds": self.options.limit, "gigabytes": PEER_GIGABYTES}
        self.page.say(PROTOCOL.lstrip().format(**limits))
        names = available(self.page, SPEED_CASES, self.options.sets)
        self.row = self.page.table(
            ["set", "rows", "D", "d", "model", "seconds", "times ours", "MB", "3-NN"]
        )
        for name in names:
            self.one_set(name)
        self.page.say()

    def one_set(self, name: str) -> None:
        """Ours, then the others."""
        case = SPEED_CASES[name]
        part = prepared(raw_split(name, case, 0), case)
        d = case.dimension or part.X.shape[1]
        about = (name, *part.X.shape, d)
        ours = fit_apart(OURS.format(dimension=d), part.X, part.y)
        self.row(*about, "LatentCoincidence", *self.measured(ours, part, ours.seconds))
        for peer in peers_for(d, self.options):
            self.row(*about, peer.name, *self.cells(peer, part, ours.seconds))

    def cells(self, peer: Peer, part: Split, ours: float) -> tuple[str, ...]:
        """Seconds, their ratio to ours, memory and test error."""
        if peer.python is None:
            return "not asked for", "–", "–", "–"
        limits = {"seconds": self.options.limit, "gigabytes": PEER_GIGABYTES}
        try:
            fit = fit_apart(peer.model, part.X, part.y, python=peer.python, **limits)
        except Failure as failure:
            over = str(failure).startswith("over")
            return str(failure), f"> {self.options.limit / ours:.1f}" if over else "–", "–", "–"
        return self.measured(fit, part, ours)

    def measured(self, fit: Fit, part: Split, ours: float) -> tuple[str, ...]:
        """Cells of a fit that ended."""
        ratio, error = fit.seconds / ours, neighbor_error(part, fit.components)
        return f"{fit.seconds:.1f}", f"{ratio:.1f}", f"{fit.megabytes:.0f}", f"{error:.1f}"
