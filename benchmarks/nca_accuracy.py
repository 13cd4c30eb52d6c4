"""Test accuracy of NCA and its variants, next to the thesis, the spec and scikit-learn.

    python benchmarks/nca_accuracy.py [--splits 10] [--sets iris wine] [--no-large] [--save]

Small sets: random splits 70/30, features standardized by the training part, two dimensions and
all. Large sets: default settings in five dimensions, each fit in a fresh process, with its time
and memory. Needs the data sets (set VICINAL_DATA); one that is not here is skipped.
"""

import argparse
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from common import OverLimit, Page, arguments, in_fresh_process, nca_rule_accuracy
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.preprocessing import StandardScaler

from vicinal import NeighborhoodComponents, datasets
from vicinal.inputs.features import moments, standard_units
from vicinal.inputs.starts import starting_map

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
LARGE = ("landsat", "usps_roweis", "magic", "mnist")
WITH_PEER = ("landsat", "usps_roweis", "magic")  # 60 000² distances of mnist alone are 29 GB

VARIANTS = {
    "default": {},
    "classic": {"solver": "lbfgs"},
    "stochastic": {
        "solver": "adam",
        "batching": "stochastic",
        "batch_size": 50,
        "early_stopping": True,
        "max_iter": 1000,
    },
    "compact": {"kernel": "compact", "solver": "lbfgs"},
    "background": {"kernel": "compact", "background": True, "solver": "lbfgs"},
}

PEER_GIGABYTES = 16
MNIST_SEEDS = 3


class Mean(NamedTuple):
    """A mean accuracy in percent and its standard error, where there is one."""

    value: float
    error: float | None = None

    @classmethod
    def of(cls, shares: Sequence[float]) -> "Mean":
        """Of shares between 0 and 1."""
        percent = 100 * np.array(shares)
        error = percent.std(ddof=1) / np.sqrt(len(percent)) if len(percent) > 1 else None
        return cls(float(percent.mean()), error)

    def words(self, digits: int = 1) -> str:
        """Mean ± error."""
        error = "" if self.error is None else f" ± {self.error:.{digits}f}"
        return f"{self.value:.{digits}f}{error}"


# Thesis (D.-T. Oneață, "Fast low-rank metric learning", 2011): test accuracy by the NCA rule.
THESIS = {
    # Tables B.3 and B.4: conjugate gradients.
    "classic": {
        ("balance-scale", 2): Mean(92.29, 0.56),
        ("balance-scale", 4): Mean(95.32, 0.33),
        ("glass", 2): Mean(54.2, 1.5),
        ("glass", 9): Mean(65.5, 1.8),
        ("ionosphere", 2): Mean(86.18, 0.75),
        ("ionosphere", 33): Mean(87.97, 0.68),
        ("iris", 2): Mean(94.11, 0.48),
        ("iris", 4): Mean(96.44, 0.46),
        ("wine", 2): Mean(96.57, 0.38),
        ("wine", 13): Mean(96.20, 0.48),
        ("yeast", 2): Mean(43.20, 0.84),
        ("yeast", 8): Mean(50.70, 0.52),
    },
    # Tables B.1 and B.2: stochastic learning.
    "stochastic": {
        ("balance-scale", 2): Mean(90.45, 0.38),
        ("balance-scale", 4): Mean(96.14, 0.29),
        ("glass", 2): Mean(59.0, 1.7),
        ("glass", 9): Mean(69.7, 1.6),
        ("ionosphere", 2): Mean(87.08, 0.95),
        ("ionosphere", 33): Mean(84.34, 0.59),
        ("iris", 2): Mean(97.00, 0.46),
        ("iris", 4): Mean(96.11, 0.66),
        ("wine", 2): Mean(97.50, 0.49),
        ("wine", 13): Mean(96.85, 0.41),
        ("yeast", 2): Mean(53.90, 0.47),
        ("yeast", 8): Mean(55.44, 0.56),
        ("ecoli", 2): Mean(81.98, 0.96),
        ("ecoli", 7): Mean(84.85, 0.48),
        ("pima", 2): Mean(76.65, 0.44),
        ("pima", 8): Mean(70.48, 0.81),
        ("segment", 2): Mean(88.80, 0.33),
        ("segment", 18): Mean(96.68, 0.30),
        ("transfusion", 2): Mean(78.78, 0.42),
        ("transfusion", 4): Mean(75.4, 2.9),
    },
    # Tables B.5 and B.6: NCA CS.
    "compact": {
        ("balance-scale", 2): Mean(89.04, 0.52),
        ("balance-scale", 4): Mean(92.07, 0.54),
        ("glass", 2): Mean(57.2, 1.7),
        ("glass", 9): Mean(57.8, 1.5),
        ("ionosphere", 2): Mean(85.33, 0.93),
        ("ionosphere", 33): Mean(66.09, 0.95),
        ("iris", 2): Mean(94.78, 0.72),
        ("iris", 4): Mean(95.67, 0.53),
        ("wine", 2): Mean(96.94, 0.44),
        ("wine", 13): Mean(92.59, 0.92),
        ("yeast", 2): Mean(48.31, 0.90),
        ("yeast", 8): Mean(54.89, 0.43),
    },
    # Tables B.5 and B.6: NCA CS BACK.
    "background": {
        ("balance-scale", 2): Mean(91.04, 0.94),
        ("balance-scale", 4): Mean(86.91, 0.30),
        ("glass", 2): Mean(59.4, 1.5),
        ("glass", 9): Mean(64.1, 1.3),
        ("ionosphere", 2): Mean(84.20, 0.74),
        ("ionosphere", 33): Mean(84.76, 0.83),
        ("iris", 2): Mean(95.11, 0.60),
        ("iris", 4): Mean(93.11, 0.95),
        ("wine", 2): Mean(97.59, 0.46),
        ("wine", 13): Mean(98.43, 0.30),
        ("yeast", 2): Mean(48.24, 0.79),
        ("yeast", 8): Mean(56.93, 0.62),
    },
}

# The project's spec of NCA, table "Accuracy to expect": its prototype ("here").
SPEC = {
    "classic": {
        ("iris", 2): 94.7,
        ("wine", 2): 98.3,
        ("ionosphere", 2): 85.6,
        ("glass", 9): 71.3,
        ("balance-scale", 2): 92.1,
        ("balance-scale", 4): 95.7,
        ("yeast", 8): 50.3,
        ("segment", 2): 88.5,
    },
    "stochastic": {
        ("iris", 2): 95.8,
        ("wine", 2): 98.9,
        ("ionosphere", 2): 85.0,
        ("glass", 9): 68.6,
        ("balance-scale", 2): 89.0,
        ("balance-scale", 4): 95.1,
        ("yeast", 8): 58.3,
        ("segment", 2): 90.3,
    },
    "RCA only": {
        ("iris", 2): 96.2,
        ("wine", 2): 98.9,
        ("ionosphere", 2): 85.0,
        ("glass", 9): 68.6,
        ("balance-scale", 2): 88.0,
        ("balance-scale", 4): 90.5,
        ("yeast", 8): 59.0,
        ("segment", 2): 78.6,
    },
    "compact": {
        ("iris", 2): 95.1,
        ("wine", 2): 99.1,
        ("ionosphere", 2): 87.3,
        ("glass", 9): 71.1,
        ("balance-scale", 2): 91.2,
        ("balance-scale", 4): 95.9,
    },
    "background": {
        ("iris", 2): 95.1,
        ("wine", 2): 98.7,
        ("ionosphere", 2): 86.0,
        ("glass", 9): 67.0,
        ("balance-scale", 2): 92.8,
        ("balance-scale", 4): 95.1,
    },
}


class Large(NamedTuple):
    """Published accuracies on a large set in five dimensions."""

    method: str
    rule: Mean | None
    nearest: Mean | None
    fifteen: Mean | None = None


LARGE_THESIS = {
    "landsat": [
        Large(
            "stochastic + k-d trees, ε = 0, customary split (5.8)",
            Mean(87.87, 0.24),
            Mean(86.30, 0.32),
        ),
        Large("the same, ε = 0.1 (5.8)", Mean(88.09, 0.19), Mean(86.12, 0.29)),
    ],
    "usps_roweis": [
        Large("3000 points (5.4)", Mean(89.41, 0.16), Mean(89.30, 0.18)),
        Large("mini-batches (5.5)", Mean(92.37, 0.17), Mean(91.26, 0.17)),
        Large("stochastic (5.7)", Mean(92.64, 0.17), Mean(90.68, 0.22)),
        Large("+ k-d trees (5.9)", Mean(92.67, 0.15), Mean(90.57, 0.20)),
        Large("+ compact support (5.10)", Mean(89.85, 0.30), Mean(87.02, 0.44)),
    ],
    "magic": [
        Large("3000 points (5.4)", Mean(80.22, 0.72), Mean(79.25, 0.45)),
        Large("mini-batches (5.5)", Mean(79.8, 1.1), Mean(79.14, 0.52)),
        Large("stochastic (5.7)", Mean(84.49, 0.12), Mean(79.76, 0.13)),
        Large("+ k-d trees (5.9)", Mean(84.50, 0.21), Mean(79.68, 0.30)),
        Large("+ compact support (5.10)", Mean(82.92, 0.36), Mean(79.09, 0.42)),
    ],
    "mnist": [
        Large("3000 points (5.4)", Mean(82.47), Mean(82.13)),
        Large("mini-batches (5.5)", Mean(89.88, 0.25), Mean(87.52, 0.36)),
        Large("stochastic (5.7)", Mean(89.35, 0.39), Mean(86.07, 0.43)),
        Large("+ k-d trees (5.9)", Mean(88.98, 0.75), Mean(85.5, 1.0)),
        Large("+ compact support (5.10)", Mean(86.36, 0.18), Mean(81.96, 0.26)),
        # Section 5.2, from Singh-Miller (2010), who chose k by cross-validation.
        Large("classic, k-NN with the best k (5.2)", Mean(90.9), None, Mean(91.1)),
    ],
}

# The project's spec of NCA, table of large sets: its best recipe on each.
LARGE_SPEC = {
    "usps_roweis": Large("500 rows against all", Mean(93.6), Mean(91.9)),
    "magic": Large("50 rows against all", Mean(85.0), Mean(79.7)),
    "mnist": Large("random batches", Mean(91.5, 0.1), None, Mean(91.8, 0.1)),
}

# Prints what a fit takes and what comes of it. Loading the data counts as memory.
LARGE_FIT = """
import json, time
import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from common import MemoryWatch, memory_now, nca_rule_accuracy
{import_model}
def read(name):
    return np.load(f"{folder}/{{name}}.npy")
with MemoryWatch() as memory:
    X, y = read("X"), read("y")
    start = time.perf_counter()
    model = Model(5, random_state={seed}).fit(X, y)
    seconds = time.perf_counter() - start
process = memory_now("VmHWM")
X_test, y_test = read("X_test"), read("y_test")
Z, Z_test = model.transform(X), model.transform(X_test)
def neighbors(k):
    return KNeighborsClassifier(k).fit(Z, y).score(Z_test, y_test)
rule = model.score(X_test, y_test) if {ours} else nca_rule_accuracy(Z, y, Z_test, y_test)
print(json.dumps(dict(seconds=seconds, memory=memory.above, process=process, rule=rule,
                      nearest=neighbors(1), fifteen=neighbors(15))))
"""
OURS = "from vicinal import NeighborhoodComponents as Model"
THEIRS = "from sklearn.neighbors import NeighborhoodComponentsAnalysis as Model"


class Split(NamedTuple):
    """Training and test part of a set."""

    X: np.ndarray
    X_test: np.ndarray
    y: np.ndarray
    y_test: np.ndarray


class Scores(NamedTuple):
    """Test accuracy by the NCA rule and by the nearest neighbor.

    `broken`: the map has fewer dimensions than asked for.
    """

    rule: float
    nearest: float
    broken: bool = False


# Fits on a split in d dimensions, with a seed.
Method = Callable[[Split, int, int], Scores]


@dataclass
class Comparison:
    """Finds the means that are below published ones by more than a standard error."""

    source: str
    count: int = 0
    below: list[str] = field(default_factory=list)

    def add(self, where: str, ours: Mean, published: float, error: float | None) -> None:
        """Compare; `error` is the published standard error, where there is one."""
        if ours.error is None:
            return
        self.count += 1
        gap, combined = published - ours.value, float(np.hypot(ours.error, error or 0.0))
        if gap > combined:
            self.below.append(f"- {where}: {ours.words(2)} against {published:g}, {gap:.1f} below")

    def report(self, page: Page) -> None:
        """List what is below, or say that nothing is."""
        if not self.count:
            page.say(f"No comparison with {self.source}: no number, or only one split.\n")
        elif not self.below:
            page.say(f"None of {self.count} is below {self.source} by more than one combined")
            page.say("standard error.\n")
        else:
            page.say(f"Below {self.source} by more than one combined standard error:")
            page.say(f"{len(self.below)} of {self.count}.\n")
            for line in self.below:
                page.say(line)
            page.say()


def variant(name: str) -> Method:
    """One of ours."""

    def measure(part: Split, d: int, seed: int) -> Scores:
        model = NeighborhoodComponents(d, random_state=seed, **VARIANTS[name])
        model.fit(part.X, part.y)
        rule = model.score(part.X_test, part.y_test)
        return Scores(rule, nearest(part, model.transform(part.X), model.transform(part.X_test)))

    return measure


def scikit_learn(part: Split, d: int, seed: int) -> Scores:
    model = NeighborhoodComponentsAnalysis(d, random_state=seed).fit(part.X, part.y)
    # Its LDA start loses dimensions where a class has no variance along a column, and what is
    # left has entries near 1e16: the fit then ends where it began.
    return scores_of_map(part, model.components_)._replace(broken=len(model.components_) < d)


def rca_only(part: Split, d: int, seed: int) -> Scores:
    """The map that the others start from."""
    features = standard_units(part.X)
    classes, labels = np.unique(part.y, return_inverse=True)
    known = moments(features, labels, len(classes))
    return scores_of_map(part, starting_map("rca", known, d) / features.unit)


def scores_of_map(part: Split, A: np.ndarray) -> Scores:
    Z, Z_test = part.X @ A.T, part.X_test @ A.T
    return Scores(nca_rule_accuracy(Z, part.y, Z_test, part.y_test), nearest(part, Z, Z_test))


def nearest(part: Split, Z: np.ndarray, Z_test: np.ndarray) -> float:
    return KNeighborsClassifier(1).fit(Z, part.y).score(Z_test, part.y_test)


METHODS = {name: variant(name) for name in VARIANTS}
METHODS |= {"RCA only": rca_only, "scikit-learn": scikit_learn}


def random_split(X: np.ndarray, y: np.ndarray, seed: int) -> Split:
    return Split(*train_test_split(X, y, test_size=0.3, random_state=seed))


def standardized(part: Split) -> Split:
    """By the training part; columns that are constant there are dropped."""
    varies = np.ptp(part.X, axis=0) > 0
    scaler = StandardScaler().fit(part.X[:, varies])
    X, X_test = (scaler.transform(points[:, varies]) for points in (part.X, part.X_test))
    return part._replace(X=X, X_test=X_test)


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
    return Averages(Mean.of(rule), Mean.of(nearest), sum(broken))


def cell(published: Mean | float | None, digits: int = 1) -> str:
    if published is None:
        return ""
    return published.words(digits) if isinstance(published, Mean) else f"{published:g}"


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


class LargeSets:
    """Table of the large sets: ours, scikit-learn's and what was published."""

    def __init__(self, page: Page, names: list[str], options: argparse.Namespace) -> None:
        self.page, self.names, self.options = page, names, options
        self.spec = Comparison("the spec's number")

    def report(self) -> None:
        """The table, then what is below the spec's numbers."""
        self.page.say("## Large sets, d = 5, default settings\n")
        self.page.say("Memory: peak during loading and fit above what the process held before, the")
        self.page.say(
            "compiler included. Process: its largest resident memory until the end of the"
        )
        self.page.say(
            "fit. Both and the seconds of the fit are means. mnist: customary split, other"
        )
        self.page.say(
            "seeds. In parentheses: table or section of the thesis. scikit-learn may take"
        )
        self.page.say(f"{self.options.peer_seconds:g} s and {PEER_GIGABYTES} GB.\n")
        columns = ["NCA rule", "1-NN", "15-NN", "seconds", "memory, MB", "process, MB"]
        self.row = self.page.table(["set", "method", *columns])
        for name in self.names:
            self.one_set(name)
        self.page.say("\n## Large sets, below what was published\n")
        self.spec.report(self.page)

    def one_set(self, name: str) -> None:
        """Rows of a set."""
        ours, theirs, failure = [], [], None
        n_peers = self.options.peer_splits if name in WITH_PEER else 0
        for seed, part in enumerate(self.splits(name)):
            with tempfile.TemporaryDirectory() as folder:
                write(part, folder)
                ours.append(fit_large(OURS, folder, seed))
                if seed < n_peers and failure is None:
                    try:
                        theirs.append(self.fit_peer(folder, seed))
                    except OverLimit as limit:
                        failure = str(limit)
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

    def splits(self, name: str) -> Iterator[Split]:
        """Parts to fit with seeds 0, 1, ..."""
        data = datasets.load(name, download=False)
        X, y = data.data, data.target
        if name == "mnist":
            part = Split(X[data.train], X[~data.train], y[data.train], y[~data.train])
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
        accuracies = [Mean.of([r[key] for r in results]) for key in Large._fields[1:]]
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
                ours = Mean.of([r[key] for r in results])
                # One run has no error of its own: the thesis's for stochastic learning.
                error = published.error or getattr(stochastic, key).error
                self.spec.add(f"{name}, {words}", ours, published.value, error)


def write(part: Split, folder: str) -> None:
    for name, values in part._asdict().items():
        np.save(Path(folder) / f"{name}.npy", values)


def fit_large(import_model: str, folder: str, seed: int, **limits: float) -> dict:
    code = LARGE_FIT.format(
        import_model=import_model, folder=folder, seed=seed, ours=import_model == OURS
    )
    return in_fresh_process(code, **limits)


def first(results: list[dict]) -> str:
    return "split 0" if len(results) == 1 else f"splits 0 to {len(results) - 1}"


def here(page: Page, names: tuple[str, ...] | list[str], wanted: list[str] | None) -> list[str]:
    """Those asked for that are available."""
    found = []
    for name in names:
        if wanted and name not in wanted:
            continue
        if datasets.is_available(name):
            found.append(name)
        else:
            page.say(f"{name} is not here and was skipped: set VICINAL_DATA.\n")
    return found


def parse() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--sets", nargs="+", choices=[*SMALL, *LARGE], help="default: all")
    parser.add_argument("--large", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--peer-splits", type=int, default=1, help="splits for scikit-learn")
    parser.add_argument("--peer-seconds", type=float, default=600.0, help="its time limit")
    return parser.parse_args()


def main():
    options = parse()
    warnings.filterwarnings("ignore", category=ConvergenceWarning)
    page = Page("Accuracy of NCA and its variants")
    page.say(f"Test accuracy in %, mean ± standard error over {options.splits} random splits 70/30")
    page.say(
        "(the thesis: other splits, 20 where it says), by the NCA rule where not said otherwise:"
    )
    page.say(
        "the class with most of the soft neighborhood. Classic: L-BFGS, no penalty. Stochastic:"
    )
    page.say("50 rows against all, Adam, early stopping. All but scikit-learn start from RCA.\n")
    small = here(page, SMALL, options.sets)
    if small:
        SmallSets(page, small, options.splits).report()
    large = here(page, LARGE, options.sets) if options.large else []
    if large:
        LargeSets(page, large, options).report()
    if options.save:
        page.save("nca_accuracy")


if __name__ == "__main__":
    main()
