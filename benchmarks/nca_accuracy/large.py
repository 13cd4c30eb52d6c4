"""Large sets: default settings in five dimensions, each fit in a fresh process."""

import argparse
import tempfile
from collections.abc import Iterator

import numpy as np

from benchmarks.common.arrays import write_arrays
from benchmarks.common.children import OverLimit, in_fresh_process
from benchmarks.common.means import Mean
from benchmarks.common.pages import Page
from benchmarks.common.scaling import standardized
from benchmarks.common.splits import Split, random_split, split_at
from benchmarks.nca_accuracy.comparison import Comparison, cell
from benchmarks.nca_accuracy.published import LARGE_SPEC, LARGE_THESIS, Large
from vicinal import datasets

LARGE = ("landsat", "usps_roweis", "magic", "mnist")
WITH_PEER = ("landsat", "usps_roweis", "magic")  # 60 000² distances of mnist alone are 29 GB
PEER_GIGABYTES = 16
MNIST_SEEDS = 3

# Prints what a fit takes and what comes of it. Loading the data counts as memory.
LARGE_FIT = """
import json, time
import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from benchmarks.common.arrays import read_array
from benchmarks.common.judging import nca_rule_accuracy, neighbor_accuracy
from benchmarks.common.memory import MemoryWatch, memory_now
{import_model}
def read(name):
    return read_array("{folder}", name)
with MemoryWatch() as memory:
    X, y = read("X"), read("y")
    start = time.perf_counter()
    model = Model(5, random_state={seed}).fit(X, y)
    seconds = time.perf_counter() - start
process = memory_now("VmHWM")
X_test, y_test = read("X_test"), read("y_test")
Z, Z_test = model.transform(X), model.transform(X_test)
def neighbors(k):
    return neighbor_accuracy(k, Z, y, Z_test, y_test)
rule = model.score(X_test, y_test) if {ours} else nca_rule_accuracy(Z, y, Z_test, y_test)
print(json.dumps(dict(seconds=seconds, memory=memory.above, process=process, rule=rule,
                      nearest=neighbors(1), fifteen=neighbors(15))))
"""
PROTOCOL = """
## Large sets, d = 5, default settings

Memory: peak during loading and fit above what the process held before, the
compiler included. Process: its largest resident memory until the end of the
fit. Both and the seconds of the fit are means. mnist: customary split, other
seeds. In parentheses: table or section of the thesis. scikit-learn may take
{seconds:g} s and {gigabytes} GB.
"""
OURS = "from vicinal import NeighborhoodComponents as Model"
THEIRS = "from sklearn.neighbors import NeighborhoodComponentsAnalysis as Model"


class LargeSets:
    """Table of the large sets: ours, scikit-learn's and what was published."""

    def __init__(self, page: Page, names: list[str], options: argparse.Namespace) -> None:
        self.page, self.names, self.options = page, names, options
        self.spec = Comparison("the spec's number")

    def report(self) -> None:
        """The table, then what is below the spec's numbers."""
        limits = {"seconds": self.options.peer_seconds, "gigabytes": PEER_GIGABYTES}
        self.page.say(PROTOCOL.lstrip().format(**limits))
        columns = ["NCA rule", "1-NN", "15-NN", "seconds", "memory, MB", "process, MB"]
        self.row = self.page.table(["set", "method", *columns])
        for name in self.names:
            self.one_set(name)
        self.page.say("\n## Large sets, below what was published\n")
        self.spec.report(self.page)

    def one_set(self, name: str) -> None:
        """Rows of a set."""
        ours, theirs, failure = self.fits(name)
        unit = "seeds" if name == "mnist" else "splits"
        self.measured(name, f"vicinal, {len(ours)} {unit}", ours)
        if len(theirs) not in (0, len(ours)):
            self.measured(name, f"vicinal, {first(theirs)}", ours[: len(theirs)])
        if theirs:
            self.measured(name, f"scikit-learn, {first(theirs)}", theirs)
        if failure is not None:
            self.row(name, f"scikit-learn, split {len(theirs)}", "", "", "", failure, "", "")
        self.published(name)
        self.compare(name, ours)

    def fits(self, name: str) -> tuple[list[dict], list[dict], str | None]:
        """Ours, scikit-learn's, and why it was given up, if so."""
        ours, theirs, failure = [], [], None
        n_peers = self.options.peer_splits if name in WITH_PEER else 0
        for seed, part in enumerate(self.splits(name)):
            with tempfile.TemporaryDirectory() as folder:
                write_arrays(folder, **part._asdict())
                ours.append(fit_large(OURS, folder, seed))
                if seed < n_peers and failure is None:
                    try:
                        theirs.append(self.fit_peer(folder, seed))
                    except OverLimit as limit:
                        failure = str(limit)
        return ours, theirs, failure

    def splits(self, name: str) -> Iterator[Split]:
        """Parts to fit with seeds 0, 1, ..."""
        data = datasets.load(name, download=False)
        X, y = data.data, data.target
        if name == "mnist":
            part = split_at(X, y, data.train, ~data.train)
            yield from [part] * min(MNIST_SEEDS, self.options.splits)
            return
        for seed in range(self.options.splits):
            if name == "usps_roweis":
                yield random_split(X / 255.0, y, seed)
            else:
                yield standardized(random_split(X, y, seed))

    def fit_peer(self, folder: str, seed: int) -> dict:
        """scikit-learn's, within its limits."""
        return fit_large(
            THEIRS, folder, seed, seconds=self.options.peer_seconds, gigabytes=PEER_GIGABYTES
        )

    def measured(self, name: str, label: str, results: list[dict]) -> None:
        """A row of means."""
        accuracies = [Mean.of_shares([r[key] for r in results]) for key in Large._fields[1:]]
        costs = [np.mean([r[key] for r in results]) for key in ("seconds", "memory", "process")]
        seconds, memory, process = costs
        cells = (mean.words(2) for mean in accuracies)
        self.row(name, label, *cells, f"{seconds:.1f}", f"{memory:.0f}", f"{process:.0f}")

    def published(self, name: str) -> None:
        """Rows of the thesis and the spec."""
        lines = [("thesis", line) for line in LARGE_THESIS[name]]
        lines += [("spec", LARGE_SPEC[name])] if name in LARGE_SPEC else []
        for source, line in lines:
            means = (cell(mean, 2) for mean in line[1:])
            self.row(name, f"{source}: {line.method}", *means, "", "", "")

    def compare(self, name: str, results: list[dict]) -> None:
        """Ours with the spec's numbers."""
        if name not in LARGE_SPEC:
            return
        stochastic = next(x for x in LARGE_THESIS[name] if x.method.startswith("stochastic"))
        for key, words in (("rule", "NCA rule"), ("nearest", "1-NN"), ("fifteen", "15-NN")):
            published = getattr(LARGE_SPEC[name], key)
            if published is not None:
                ours = Mean.of_shares([r[key] for r in results])
                # One run has no error of its own: the thesis's for stochastic learning.
                error = published.error or getattr(stochastic, key).error
                self.spec.add(f"{name}, {words}", ours, published.value, error)


def fit_large(import_model: str, folder: str, seed: int, **limits: float) -> dict:
    code = LARGE_FIT.format(
        import_model=import_model, folder=folder, seed=seed, ours=import_model == OURS
    )
    return in_fresh_process(code, **limits)


def first(results: list[dict]) -> str:
    return "split 0" if len(results) == 1 else f"splits 0 to {len(results) - 1}"
