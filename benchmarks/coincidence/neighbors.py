"""Test error of 3 nearest neighbors by the maps of all methods, beside the reference."""

import argparse
from collections.abc import Sequence

import numpy as np

from benchmarks.coincidence.cases import CASES, LARGE_SPLITS, Case, splits_of
from benchmarks.coincidence.fits import LEARN_RATES, LMNN_UPDATES, Lmnn, neighbor_error
from benchmarks.coincidence.maps import LARGE_NCA_UPDATES, methods
from benchmarks.coincidence.scores import Scores
from benchmarks.common.pages import Page
from benchmarks.common.sets import available

# The project's spec of latent coincidence analysis: test error in %, iterations chosen by
# validation.
REFERENCE = {
    "shared": {"balance-scale": 6.7, "segment": 4.6, "letter": 5.4, "usps": 5.8, "mnist": 5.5},
    "local": {"balance-scale": 7.3, "segment": 3.8, "letter": 4.9, "usps": 5.5, "mnist": 5.2},
    "Euclid": {"balance-scale": 18.8, "segment": 5.3, "letter": 10.6, "usps": 5.9, "mnist": 6.0},
    "scikit-learn NCA": {"balance-scale": 5.7, "segment": 3.8, "letter": 5.6, "usps": 6.1},
}

PROTOCOL = """
## 3-NN test error in %

Mean ± standard error over {splits} random stratified splits (large sets: at
most {large_splits}), the same for every method. 70/30, letter 6000 rows and 4000 to
test, standardized by the training part. usps, mnist (divided by 255), isolet: 4000
rows, principal components of the training part, not standardized. mnist: 4000 rows to
test; usps, isolet: training rows drawn from the customary ones, all customary test
rows tested, so that their standard error is that of the training rows only.
D: dimension of the input, d: of the maps.

default: LatentCoincidence by default. shared, local, all and all, local: with `scale` and
`pairs` so set, "shared" and "impostors" else, from PCA. PCA: – where d = D. LDA: at most
as many directions as there are classes, less one. scikit-learn NCA: its default
number of updates, on the large sets {nca_updates}. LMNN (metric-learn):
learn_rate of {rates} chosen on 20 % of the training rows, {lmnn_updates}
updates at most, {lmnn_seconds:g} s for each fit; a rate over that is out,
and where all are, no further split is tried.
"""
NOISE = """
Noise: our standard error over splits and the binomial one of a test part of
this size, which the reference's numbers have, too, together. Worse: by more
than two of these.
"""


class Neighbors:
    """Test error of 3-NN by the maps of all methods."""

    def __init__(self, page: Page, options: argparse.Namespace) -> None:
        self.page, self.options = page, options
        self.found: dict[str, dict[str, Scores]] = {}
        self.n_tested: dict[str, int] = {}

    def report(self) -> None:
        """The table, the reference beside it, and what is worse."""
        self.page.say(self.protocol())
        lmnn = Lmnn(self.options.metric_learn, self.options.lmnn_seconds)
        names = available(self.page, CASES, self.options.sets)
        row = self.page.table(["set", "rows", "D", "d", *methods(Case(), lmnn)])
        for name in names:
            shape, scores = self.one_set(name, lmnn)
            row(name, *shape, *(score.words() for score in scores.values()))
            self.found[name] = scores
        if lmnn.chosen:
            counts = ", ".join(f"{rate:g}: {lmnn.chosen.count(rate)}" for rate in LEARN_RATES)
            self.page.say(f"\nRates chosen for LMNN: {counts} times.")
        self.page.say("\n### Beside the reference\n")
        self.beside_reference()

    def protocol(self) -> str:
        """What the columns are."""
        return PROTOCOL.lstrip().format(
            splits=self.options.splits,
            large_splits=LARGE_SPLITS,
            nca_updates=LARGE_NCA_UPDATES,
            rates=", ".join(f"{rate:g}" for rate in LEARN_RATES),
            lmnn_updates=LMNN_UPDATES,
            lmnn_seconds=self.options.lmnn_seconds,
        )

    def one_set(self, name: str, lmnn: Lmnn) -> tuple[tuple[int, int, int], dict[str, Scores]]:
        """Training rows, D and d, and errors of every method."""
        case, shape = CASES[name], (0, 0, 0)
        learners = methods(case, lmnn)
        scores = {method: Scores() for method in learners}
        for seed, part in splits_of(name, case, self.options.splits):
            d = case.dimension or part.X.shape[1]
            shape, self.n_tested[name] = (*part.X.shape, d), len(part.X_test)
            for method, learn in learners.items():
                scores[method].add(lambda: neighbor_error(part, learn(part, d, seed)))  # noqa: B023
        return shape, scores

    def beside_reference(self) -> None:
        """Our numbers and the reference's."""
        columns = [f"{method}{which}" for method in REFERENCE for which in ("", ", reference")]
        row = self.page.table(["set", *columns])
        names = [name for name in self.found if name in REFERENCE["shared"]]
        for name in names:
            cells = []
            for method, known in REFERENCE.items():
                cells += [self.found[name][method].words(), known.get(name, "–")]
            row(name, *cells)
        self.page.say(NOISE)
        for method in ("shared", "local"):
            self.page.say(f"- {method}: {self.worse(method, names)}")
        self.page.say()

    def worse(self, method: str, names: Sequence[str]) -> str:
        """Sets with an error above the reference by more than twice the noise, and all gaps."""
        gaps, noise = {}, {}
        for name in names:
            score, share = self.found[name][method], REFERENCE[method][name] / 100
            gaps[name] = score.mean.value - 100 * share
            binomial = 100 * np.sqrt(share * (1 - share) / self.n_tested[name])
            noise[name] = float(np.hypot(score.mean.error or 0.0, binomial))
        worse = [name for name, gap in gaps.items() if gap > 2 * noise[name]]
        listed = ", ".join(
            f"{name} {gap:+.1f} (noise {noise[name]:.1f})" for name, gap in gaps.items()
        )
        return f"worse on {len(worse)} of {len(names)} sets. {listed}."
