"""Whether two points are of the same class, and whether the probability of that is calibrated."""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.metrics import brier_score_loss, roc_auc_score

from benchmarks.coincidence.cases import PAIR_CASES, prepared, raw_split
from benchmarks.coincidence.pairs import N_BINS, N_PAIRS, Pairs, binned, near_pairs, random_pairs
from benchmarks.coincidence.reliability import reliability_diagram
from benchmarks.coincidence.trials import KINDS, MEASURES, Kind, Trial
from benchmarks.common.pages import Page
from benchmarks.common.sets import available
from benchmarks.common.splits import Split
from vicinal import LatentCoincidence, NeighborhoodComponents

PROTOCOL = """
## Verification: do two points belong together?

LatentCoincidence learns from the training rows of half of the classes (rounded
down, drawn at random): by `fit_pairs` from {n_pairs} random pairs, half of them of
the same class; or by `fit` with pairs="all" from near pairs, a row and its 3 nearest
of its own class and of others. It is asked about {n_pairs} pairs of test rows, of
the one or the other kind, half of the same class, of the classes learned from or of
the others. Principal components (usps, 50) and standard units are those of the rows
learned from. All components kept. Mean ± standard error over {n_seeds}
seeds. ECE: expected calibration error, {n_bins} bins of equal mass. Always saying
1/2 has an ECE of 0 and a Brier score of 0.25.
"""


class Verifiers(NamedTuple):
    """Models that tell whether two points are of the same class, by what they learned from."""

    near: LatentCoincidence
    random: LatentCoincidence
    nca: NeighborhoodComponents

    @classmethod
    def learned(cls, part: Split, seed: int) -> "Verifiers":
        """From the training part."""
        pairs = random_pairs(part.y, np.random.default_rng(seed))
        paired = LatentCoincidence(random_state=seed)
        return cls(
            LatentCoincidence(pairs="all", random_state=seed).fit(part.X, part.y),
            paired.fit_pairs(pairs.positions, pairs.same.astype(int), X=part.X),
            NeighborhoodComponents(random_state=seed).fit(part.X, part.y),
        )

    def measure(self, learned: str, X: np.ndarray, pairs: Pairs) -> tuple[np.ndarray, list[float]]:
        """Probabilities, and numbers in the order of `MEASURES`."""
        positions, same = pairs
        said = getattr(self, learned).pair_probability(positions, X=X)
        distance = np.linalg.norm(X[positions[:, 0]] - X[positions[:, 1]], axis=1)
        ranked = (said, -distance, self.nca.pair_score(positions, X))
        scores = [roc_auc_score(same, score) for score in ranked]
        return said, [*scores, binned(said, same).error, brier_score_loss(same, said)]


def of_classes(part: Split, learned: np.ndarray) -> Split:
    """Training rows of some classes only."""
    known = np.isin(part.y, learned)
    return part._replace(X=part.X[known], y=part.y[known])


class Verification:
    """Whether two points are of the same class, one seen in training or not."""

    def __init__(self, page: Page, options: argparse.Namespace) -> None:
        self.page, self.options = page, options
        self.trials: dict[str, dict[Kind, Trial]] = {}

    def report(self) -> None:
        """Table, and the diagram where asked for."""
        numbers = {"n_pairs": N_PAIRS, "n_seeds": self.options.splits, "n_bins": N_BINS}
        self.page.say(PROTOCOL.lstrip().format(**numbers))
        names = available(self.page, PAIR_CASES, self.options.sets)
        row = self.page.table(["set", "learned from", "asked about", "classes", *MEASURES])
        for name in names:
            self.trials[name] = self.one_set(name)
            for kind, trial in self.trials[name].items():
                row(name, *kind.cells, *(score.words(3) for score in trial.scores))
        self.page.say()
        if self.options.plot and self.trials:
            path = Path(self.options.plot)
            reliability_diagram(self.trials).savefig(path, dpi=150, bbox_inches="tight")
            self.page.say(f"Reliability diagram (all seeds together): `{path.name}`.\n")

    def one_set(self, name: str) -> dict[Kind, Trial]:
        """Numbers of every kind of pairs."""
        trials = {kind: Trial() for kind in KINDS}
        for seed in range(self.options.splits):
            raw, rng = raw_split(name, PAIR_CASES[name], seed), np.random.default_rng(seed)
            classes = rng.permutation(np.unique(raw.y))
            seen, others = np.split(classes, [len(classes) // 2])
            part = prepared(of_classes(raw, seen), PAIR_CASES[name])
            models = Verifiers.learned(part, seed)
            for kind, trial in trials.items():
                X, pairs = asked_about(part, kind, seen if kind.seen else others, rng)
                said, values = models.measure(kind.learned, X, pairs)
                trial.add(said, pairs.same, values)
        return trials


def asked_about(
    part: Split, kind: Kind, classes: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, Pairs]:
    """Test rows of some classes, and pairs of them."""
    rows = np.isin(part.y_test, classes)
    X, labels = part.X_test[rows], part.y_test[rows]
    near = kind.asked == "near"
    return X, near_pairs(X, labels, rng) if near else random_pairs(labels, rng)
