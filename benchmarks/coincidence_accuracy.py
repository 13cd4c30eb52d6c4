"""LatentCoincidence beside Euclid, PCA, NCA and LMNN: test error, verification of pairs, speed.

    python benchmarks/coincidence_accuracy.py [--parts neighbors classes verification speed]
        [--sets iris letter] [--splits 5] [--metric-learn PYTHON] [--plot PATH] [--save]

neighbors: test error of 3 nearest neighbors. classes: CoincidenceClassifier beside LDA and QDA.
verification: whether two points are of the same class, and whether the probability of that is
calibrated. speed: one fit of many rows. Needs the data sets (set VICINAL_DATA); one that is not
here is skipped, and the page says so. metric-learn, for LMNN, needs an environment of its own:

    python -m venv ENV; ENV/bin/pip install scikit-learn==1.5.2 metric-learn==0.7.0 "numpy<2"
    python benchmarks/coincidence_accuracy.py --metric-learn ENV/bin/python
"""

import argparse
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from common import OverLimit, Page, arguments, in_fresh_process, last_line
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Bunch

from vicinal import CoincidenceClassifier, LatentCoincidence, NeighborhoodComponents, datasets
from vicinal.coincidence.neighbors import labeled_pairs

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PARTS = ("neighbors", "classes", "verification", "speed")
LARGE_SPLITS = 2  # at most, of a large set
LARGE_NCA_UPDATES = 20  # of scikit-learn's, as the reference has it

LEARN_RATES = (1e-7, 1e-6, 1e-5)
LMNN_NEIGHBORS, LMNN_UPDATES = 3, 200
SPEED_LEARN_RATE = 1e-6
PEER_GIGABYTES = 16
# What a process may take beyond the limit of its fit, to start and to read the data.
START_SECONDS = 10

N_PAIRS = 4000
N_BINS = 10
MEASURES = ("AUC", "AUC, Euclid", "AUC, vicinal NCA", "ECE", "Brier")


class Case(NamedTuple):
    """How a set is split and prepared: without principal components it is standardized."""

    rows: int | None = None  # for training; None: 70 %
    test_rows: int | None = None  # None: what is left
    components: int | None = None  # principal components
    dimension: int | None = None  # of the map; None: of the input
    divisor: float = 1.0
    customary: bool = (
        False  # training rows are drawn from the customary ones, the others are tested
    )

    @property
    def is_large(self) -> bool:
        """Whether rows are drawn from it."""
        return self.rows is not None


CASES = {
    **dict.fromkeys(("iris", "wine", "balance-scale", "ionosphere"), Case()),
    **dict.fromkeys(("glass", "sonar", "wdbc", "segment"), Case()),
    "letter": Case(6000, 4000),
    # The customary test rows are harder than a random part (Euclid, seed 0: 6.3 % and 4.3 %), and
    # the reference's errors of Euclid, LDA and QDA are near those of the customary ones.
    "usps": Case(4000, None, 50, 30, customary=True),
    "mnist": Case(4000, 4000, 60, 30, divisor=255.0),
    "isolet": Case(4000, None, 50, 30, customary=True),
}
CLASS_CASES = {
    "usps": Case(4000, None, 40, 5, customary=True),
    "segment": Case(),
    "ionosphere": Case(),
}
PAIR_CASES = {
    "letter": Case(6000, 4000),
    "usps": Case(4000, 4000, 50),
    "segment": Case(),
}
SPEED_CASES = {
    "letter": Case(customary=True),
    "usps": Case(components=50, dimension=30, customary=True),
    "mnist": Case(components=60, dimension=30, divisor=255.0, customary=True),
}


# The project's spec of latent coincidence analysis: test error in %, iterations chosen by
# validation.
REFERENCE = {
    "shared": {"balance-scale": 6.7, "segment": 4.6, "letter": 5.4, "usps": 5.8, "mnist": 5.5},
    "local": {"balance-scale": 7.3, "segment": 3.8, "letter": 4.9, "usps": 5.5, "mnist": 5.2},
    "Euclid": {"balance-scale": 18.8, "segment": 5.3, "letter": 10.6, "usps": 5.9, "mnist": 6.0},
    "scikit-learn NCA": {"balance-scale": 5.7, "segment": 3.8, "letter": 5.6, "usps": 6.1},
}
CLASS_REFERENCE = {
    "usps": {"ours": 5.8, "LDA": 12.4, "QDA": 7.3},
    "segment": {"ours": 7.7, "LDA": 9.6, "QDA": 13.5},
    "ionosphere": {"ours": 8.1, "LDA": 13.0, "QDA": 14.2},
}


class Split(NamedTuple):
    """Training and test part of a set."""

    X: np.ndarray
    X_test: np.ndarray
    y: np.ndarray
    y_test: np.ndarray


class Failure(Exception):  # noqa: N818  (the message is what a table says in its place)
    """A number that could not be computed.

    `lasting`: the next split would not do better.
    """

    def __init__(self, why: str, lasting: bool = False) -> None:
        super().__init__(why)
        self.lasting = lasting


@dataclass
class Scores:
    """Numbers of the splits, and why some are missing."""

    values: list[float] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """Over the splits that have a number."""
        return float(np.mean(self.values))

    @property
    def error(self) -> float | None:
        """Standard error, where there is one."""
        n = len(self.values)
        return float(np.std(self.values, ddof=1) / np.sqrt(n)) if n > 1 else None

    @property
    def is_hopeless(self) -> bool:
        """Whether further splits need not be tried."""
        return any(failure.lasting for failure in self.failures)

    def add(self, work: Callable[[], float]) -> None:
        """Compute one more, or keep why not."""
        if self.is_hopeless:
            return
        try:
            self.values.append(work())
        except Failure as failure:
            self.failures.append(failure)

    def words(self, digits: int = 1) -> str:
        """Mean ± error, or why there is none."""
        if not self.values:
            return str(self.failures[0]) if self.failures else "–"
        error = "" if self.error is None else f" ± {self.error:.{digits}f}"
        n = len(self.values)
        mark = f" ({n} split{'s' * (n > 1)}; missing: {self.failures[0]})" if self.failures else ""
        return f"{self.mean:.{digits}f}{error}{mark}"


# ---------------------------------------------------------------------------------------- data


@lru_cache(maxsize=1)
def load(name: str) -> Bunch:
    return datasets.load(name, download=False)


def here(page: Page, cases: dict[str, Case], wanted: Sequence[str] | None) -> Iterator[str]:
    """Names of the sets asked for; what is not here is named on the page."""
    for name in cases:
        if wanted is not None and name not in wanted:
            continue
        if datasets.is_available(name):
            yield name
        else:
            page.say(f"({name} is not here and was skipped.)")


def raw_split(name: str, case: Case, seed: int) -> Split:
    """Stratified; the same rows for every method."""
    data = load(name)
    if case.customary:
        return customary_split(data, case, seed)
    rows = 0.7 if case.rows is None else case.rows
    parts = train_test_split(
        data.data,
        data.target,
        train_size=rows,
        test_size=case.test_rows,
        stratify=data.target,
        random_state=seed,
    )
    return in_units(Split(*parts), case)


def customary_split(data: Bunch, case: Case, seed: int) -> Split:
    """Training rows drawn from the customary ones, all the others for the test."""
    train, test = np.flatnonzero(data.train), np.flatnonzero(~data.train)
    if case.rows is not None and case.rows < len(train):
        labels = data.target[train]
        train, _ = train_test_split(train, train_size=case.rows, stratify=labels, random_state=seed)
    X, y = data.data, data.target
    return in_units(Split(X[train], X[test], y[train], y[test]), case)


def in_units(part: Split, case: Case) -> Split:
    X, X_test = (points.astype(np.float64) / case.divisor for points in part[:2])
    return part._replace(X=X, X_test=X_test)


def prepared(part: Split, case: Case) -> Split:
    """Principal components, or standardized columns that vary, by the training part."""
    if case.components is not None:
        pca = PCA(case.components, svd_solver="covariance_eigh").fit(part.X)
        return part._replace(X=pca.transform(part.X), X_test=pca.transform(part.X_test))
    varies = np.ptp(part.X, axis=0) > 0
    scaler = StandardScaler().fit(part.X[:, varies])
    X, X_test = (scaler.transform(points[:, varies]) for points in part[:2])
    return part._replace(X=X, X_test=X_test)


def splits_of(name: str, case: Case, n_splits: int) -> Iterator[tuple[int, Split]]:
    """Seeds and parts."""
    for seed in range(min(n_splits, LARGE_SPLITS) if case.is_large else n_splits):
        yield seed, prepared(raw_split(name, case, seed), case)


def neighbor_error(part: Split, A: np.ndarray | None) -> float:
    """Test error of 3-NN in %, by the map A."""
    Z, Z_test = (part.X, part.X_test) if A is None else (part.X @ A.T, part.X_test @ A.T)
    return 100 * (1 - KNeighborsClassifier(3).fit(Z, part.y).score(Z_test, part.y_test))


# ------------------------------------------------------------------------- fits of their own

# Ends with a line of JSON; the map goes to a file.
FIT = """
import json, time
import numpy as np
from common import MemoryWatch
{model}
with np.load("{folder}/data.npz") as data:
    X, y = data["X"], data["y"]
start = time.perf_counter()
with MemoryWatch() as memory:
    model.fit(X, y)
seconds = time.perf_counter() - start
np.save("{folder}/components.npy", model.components_)
print(json.dumps(dict(seconds=seconds, megabytes=memory.above)))
"""

OURS = """
from vicinal import LatentCoincidence
model = LatentCoincidence({dimension}, random_state=0)
"""

SCIKIT_LEARN = """
from sklearn.neighbors import NeighborhoodComponentsAnalysis
model = NeighborhoodComponentsAnalysis({dimension}, random_state=0, max_iter={updates})
"""

METRIC_LEARN = """
from metric_learn import LMNN
model = LMNN(n_neighbors={neighbors}, learn_rate={rate}, max_iter={updates},
             n_components={dimension}, random_state={seed})
"""

VERSIONS = """
import importlib.metadata, json
names = ("metric-learn", "scikit-learn", "numpy", "scipy")
print(json.dumps({name: importlib.metadata.version(name) for name in names}))
"""


class Fit(NamedTuple):
    """A map learned in a fresh process."""

    components: np.ndarray
    seconds: float
    megabytes: float  # at most, above what there was before


def fit_apart(
    model: str,
    X: np.ndarray,
    y: np.ndarray,
    *,
    python: str = sys.executable,
    seconds: float | None = None,
    gigabytes: float | None = None,
) -> Fit:
    """Fit in a fresh process; `Failure` says which limit it went over, or that it broke down."""
    limit = None if seconds is None else seconds + START_SECONDS
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "data.npz", X=X, y=y)
        code = FIT.format(model=model, folder=folder)
        try:
            result = in_fresh_process(code, python=python, seconds=limit, gigabytes=gigabytes)
        except OverLimit as over:
            timed = str(over).startswith("over")
            raise Failure(f"over {seconds:g} s" if timed else str(over), lasting=True) from over
        except RuntimeError as error:
            raise Failure(f"broke down: {last_line(error)}") from error
        if seconds is not None and result["seconds"] > seconds:
            raise Failure(f"over {seconds:g} s", lasting=True)
        components = np.load(Path(folder) / "components.npy")
        return Fit(components, result["seconds"], result["megabytes"])


class Lmnn:
    """LMNN of metric-learn, its learning rate chosen on a validation part."""

    def __init__(self, python: str | None, seconds: float) -> None:
        self.python, self.seconds = python, seconds
        self.chosen: list[float] = []

    def __call__(self, part: Split, d: int, seed: int) -> np.ndarray:
        """The map learned at the best rate."""
        if self.python is None:
            raise Failure("not asked for", lasting=True)
        rate = self.best_rate(part, d, seed)
        A = self.fit(part, d, seed, rate)
        self.chosen.append(rate)
        return A

    def best_rate(self, part: Split, d: int, seed: int) -> float:
        """With the least error among those that stay within the limit."""
        inner = Split(
            *train_test_split(part.X, part.y, test_size=0.2, stratify=part.y, random_state=seed)
        )
        errors, failures = {}, []
        for rate in LEARN_RATES:
            try:
                errors[rate] = neighbor_error(inner, self.fit(inner, d, seed, rate))
            except Failure as failure:
                failures.append(failure)
        if not errors:
            raise failures[-1]
        return min(errors, key=errors.__getitem__)

    def fit(self, part: Split, d: int, seed: int, rate: float) -> np.ndarray:
        """One fit in metric-learn's environment."""
        assert self.python is not None
        model = lmnn_code(d, rate, seed)
        return fit_apart(model, part.X, part.y, python=self.python, seconds=self.seconds).components


def lmnn_code(d: int, rate: float, seed: int) -> str:
    return METRIC_LEARN.format(
        neighbors=LMNN_NEIGHBORS, rate=rate, updates=LMNN_UPDATES, dimension=d, seed=seed
    )


# --------------------------------------------------------------------- part 1: test error, 3-NN

# Learns a map of a part in d dimensions, with a seed; None: no map.
Method = Callable[[Split, int, int], np.ndarray | None]


def euclid(part: Split, d: int, seed: int) -> None:
    return None


def principal(part: Split, d: int, seed: int) -> np.ndarray:
    if d == part.X.shape[1]:
        raise Failure("–", lasting=True)
    return PCA(d, svd_solver="covariance_eigh").fit(part.X).components_


def coincidence(**options: str) -> Method:
    """One of ours."""

    def learn(part: Split, d: int, seed: int) -> np.ndarray:
        try:
            return (
                LatentCoincidence(d, random_state=seed, **options).fit(part.X, part.y).components_
            )
        except ValueError as error:
            raise Failure(f"failed: {last_line(error)}") from error

    return learn


def scikit_learn(part: Split, d: int, seed: int, **options: int) -> np.ndarray:
    model = NeighborhoodComponentsAnalysis(d, random_state=seed, **options)
    return model.fit(part.X, part.y).components_


def scikit_learn_briefly(part: Split, d: int, seed: int) -> np.ndarray:
    return scikit_learn(part, d, seed, max_iter=LARGE_NCA_UPDATES)


def our_nca(part: Split, d: int, seed: int) -> np.ndarray:
    return NeighborhoodComponents(d, random_state=seed).fit(part.X, part.y).components_


def methods(case: Case, lmnn: Lmnn) -> dict[str, Method]:
    return {
        "Euclid": euclid,
        "PCA": principal,
        "shared": coincidence(),
        "local": coincidence(scale="local"),
        "all": coincidence(pairs="all"),
        "all, local": coincidence(pairs="all", scale="local"),
        "scikit-learn NCA": scikit_learn_briefly if case.is_large else scikit_learn,
        "vicinal NCA": our_nca,
        "LMNN": lmnn,
    }


class Neighbors:
    """Test error of 3-NN by the maps of all methods."""

    def __init__(self, page: Page, options: argparse.Namespace) -> None:
        self.page, self.options = page, options
        self.found: dict[str, dict[str, Scores]] = {}
        self.n_tested: dict[str, int] = {}

    def report(self) -> None:
        """The table, the reference beside it, and what is worse."""
        self.introduce()
        lmnn = Lmnn(self.options.metric_learn, self.options.lmnn_seconds)
        row = self.page.table(["set", "rows", "D", "d", *methods(Case(), lmnn)])
        for name in here(self.page, CASES, self.options.sets):
            shape, scores = self.one_set(name, lmnn)
            row(name, *shape, *(score.words() for score in scores.values()))
            self.found[name] = scores
        if lmnn.chosen:
            counts = ", ".join(f"{rate:g}: {lmnn.chosen.count(rate)}" for rate in LEARN_RATES)
            self.page.say(f"\nRates chosen for LMNN: {counts} times.")
        self.page.say("\n### Beside the reference\n")
        self.beside_reference()

    def introduce(self) -> None:
        """What the columns are."""
        say, options = self.page.say, self.options
        say("## 3-NN test error in %\n")
        say(f"Mean ± standard error over {options.splits} random stratified splits (large sets: at")
        say(f"most {LARGE_SPLITS}), the same for every method. 70/30, letter 6000 rows and 4000 to")
        say("test, standardized by the training part. usps, mnist (divided by 255), isolet: 4000")
        say(
            "rows, principal components of the training part, not standardized. mnist: 4000 rows to"
        )
        say("test; usps, isolet: training rows drawn from the customary ones, all customary test")
        say("rows tested, so that their standard error is that of the training rows only.")
        say("D: dimension of the input, d: of the maps.\n")
        say("shared, local, all and all, local: LatentCoincidence with `scale` and `pairs` so set,")
        say(
            'by default "shared" and "impostors". PCA: – where d = D. scikit-learn NCA: its default'
        )
        say(f"number of updates, on the large sets {LARGE_NCA_UPDATES}. LMNN (metric-learn):")
        rates = ", ".join(f"{rate:g}" for rate in LEARN_RATES)
        say(f"learn_rate of {rates} chosen on 20 % of the training rows, {LMNN_UPDATES}")
        say(f"updates at most, {options.lmnn_seconds:g} s for each fit; a rate over that is out,")
        say("and where all are, no further split is tried.\n")

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
        self.page.say()
        self.page.say(
            "Noise: our standard error over splits and the binomial one of a test part of"
        )
        self.page.say(
            "this size, which the reference's numbers have, too, together. Worse: by more"
        )
        self.page.say("than two of these.\n")
        for method in ("shared", "local"):
            self.page.say(f"- {method}: {self.worse(method, names)}")
        self.page.say()

    def worse(self, method: str, names: Sequence[str]) -> str:
        """Sets with an error above the reference by more than twice the noise, and all gaps."""
        gaps, noise = {}, {}
        for name in names:
            score, share = self.found[name][method], REFERENCE[method][name] / 100
            gaps[name] = score.mean - 100 * share
            binomial = 100 * np.sqrt(share * (1 - share) / self.n_tested[name])
            noise[name] = float(np.hypot(score.error or 0.0, binomial))
        worse = [name for name, gap in gaps.items() if gap > 2 * noise[name]]
        listed = ", ".join(
            f"{name} {gap:+.1f} (noise {noise[name]:.1f})" for name, gap in gaps.items()
        )
        return f"worse on {len(worse)} of {len(names)} sets. {listed}."


# ------------------------------------------------------------ part 1: class-conditional models


def our_classifier(part: Split, d: int) -> float:
    model = CoincidenceClassifier(d, random_state=0).fit(part.X, part.y)
    return error_of(model.predict(part.X_test), part)


def lda(part: Split, d: int) -> float:
    return error_of(LinearDiscriminantAnalysis().fit(part.X, part.y).predict(part.X_test), part)


def error_of(predicted: np.ndarray, part: Split) -> float:
    """Share of wrong labels in %."""
    return 100 * float((predicted != part.y_test).mean())


class Qda:
    """QDA, regularized where a class's covariance is singular."""

    def __init__(self) -> None:
        self.n_singular = 0

    def __call__(self, part: Split, d: int) -> float:
        """Test error in %."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                model = QuadraticDiscriminantAnalysis().fit(part.X, part.y)
        except (np.linalg.LinAlgError, UserWarning):
            self.n_singular += 1
            model = QuadraticDiscriminantAnalysis(reg_param=0.01).fit(part.X, part.y)
        return error_of(model.predict(part.X_test), part)


def report_classes(page: Page, options: argparse.Namespace) -> None:
    page.say("## Class-conditional models: test error in %\n")
    page.say("Splits as above. QDA with reg_param=0.01 where a class has a singular covariance, in")
    page.say("so many splits. In parentheses: the reference.\n")
    names = ("CoincidenceClassifier", "LDA", "QDA", "QDA regularized")
    row = page.table(["set", "rows", "D", "d", *names])
    for name in here(page, CLASS_CASES, options.sets):
        case, qda, shape = CLASS_CASES[name], Qda(), (0, 0, 0)
        models = {"ours": our_classifier, "LDA": lda, "QDA": qda}
        scores = {model: Scores() for model in models}
        for _, part in splits_of(name, case, options.splits):
            d = case.dimension or part.X.shape[1]
            shape = (*part.X.shape, d)
            for model, measure in models.items():
                scores[model].add(lambda: measure(part, d))  # noqa: B023
        known = CLASS_REFERENCE[name]
        cells = [f"{score.words()} ({known[model]})" for model, score in scores.items()]
        row(name, *shape, *cells, f"{qda.n_singular} of {len(scores['QDA'].values)}")
    page.say()


# ------------------------------------------------------------------------ part 2: verification


class Pairs(NamedTuple):
    """Positions of two rows each, and whether they are of the same class."""

    positions: np.ndarray
    same: np.ndarray


def random_pairs(labels: np.ndarray, rng: np.random.Generator) -> Pairs:
    """Half of the same class, half of different classes, in random order."""
    first, second = rng.integers(len(labels), size=(2, 200 * N_PAIRS))
    same = labels[first] == labels[second]
    rows = [np.flatnonzero(kind)[: N_PAIRS // 2] for kind in (same & (first != second), ~same)]
    chosen = rng.permutation(np.concatenate(rows))
    return Pairs(np.column_stack([first, second])[chosen], same[chosen])


def near_pairs(X: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> Pairs:
    """The kind that is learned from: the nearest of the same class and of others."""
    first, second, same = labeled_pairs(X, labels, 3, "all")
    chosen = rng.permutation(len(first))[:N_PAIRS]
    return Pairs(np.column_stack([first, second])[chosen], np.asarray(same, dtype=bool)[chosen])


class Bins(NamedTuple):
    """Mean probability and share of pairs that are the same, in bins of equal mass."""

    said: np.ndarray
    was: np.ndarray

    @property
    def error(self) -> float:
        """Expected calibration error."""
        return float(np.abs(self.said - self.was).mean())


def binned(probability: np.ndarray, same: np.ndarray) -> Bins:
    groups = np.array_split(np.argsort(probability, kind="stable"), N_BINS)
    said = np.array([probability[group].mean() for group in groups])
    return Bins(said, np.array([same[group].mean() for group in groups]))


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


class Kind(NamedTuple):
    """Pairs learned from, pairs asked about, and whether of the classes learned from."""

    learned: str
    asked: str
    seen: bool

    @property
    def cells(self) -> tuple[str, str, str]:
        """In words."""
        return self.learned, self.asked, "seen" if self.seen else "not seen"


KINDS = (
    Kind("random", "random", True),
    Kind("random", "random", False),
    Kind("near", "near", True),
    Kind("near", "near", False),
    Kind("near", "random", True),
    Kind("near", "random", False),
)
# What is drawn: label, color and marker.
DRAWN = {
    KINDS[0]: ("random pairs, classes seen", "C0", "o"),
    KINDS[1]: ("random pairs, classes not seen", "C1", "s"),
    KINDS[2]: ("near pairs, classes seen", "C2", "^"),
    KINDS[4]: ("learned from near pairs, asked about random ones", "C3", "x"),
}


@dataclass
class Trial:
    """Numbers of one kind of pairs over the seeds, and the probabilities that were said."""

    scores: list[Scores] = field(default_factory=lambda: [Scores() for _ in MEASURES])
    said: list[np.ndarray] = field(default_factory=list)
    same: list[np.ndarray] = field(default_factory=list)

    def add(self, said: np.ndarray, same: np.ndarray, values: Sequence[float]) -> None:
        """One seed more."""
        for score, value in zip(self.scores, values, strict=True):
            score.values.append(value)
        self.said.append(said)
        self.same.append(same)

    def bins(self) -> Bins:
        """Of all seeds together."""
        return binned(np.concatenate(self.said), np.concatenate(self.same))


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
        self.introduce()
        row = self.page.table(["set", "learned from", "asked about", "classes", *MEASURES])
        for name in here(self.page, PAIR_CASES, self.options.sets):
            self.trials[name] = self.one_set(name)
            for kind, trial in self.trials[name].items():
                row(name, *kind.cells, *(score.words(3) for score in trial.scores))
        self.page.say()
        if self.options.plot and self.trials:
            self.plot(Path(self.options.plot))

    def introduce(self) -> None:
        """What the columns are."""
        say = self.page.say
        say("## Verification: do two points belong together?\n")
        say("LatentCoincidence learns from the training rows of half of the classes (rounded")
        say(f"down, drawn at random): by `fit_pairs` from {N_PAIRS} random pairs, half of them of")
        say('the same class; or by `fit` with pairs="all" from near pairs, a row and its 3 nearest')
        say(f"of its own class and of others. It is asked about {N_PAIRS} pairs of test rows, of")
        say("the one or the other kind, half of the same class, of the classes learned from or of")
        say("the others. Principal components (usps, 50) and standard units are those of the rows")
        say(f"learned from. All components kept. Mean ± standard error over {self.options.splits}")
        say(f"seeds. ECE: expected calibration error, {N_BINS} bins of equal mass. Always saying")
        say("1/2 has an ECE of 0 and a Brier score of 0.25.\n")

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
                rows = np.isin(part.y_test, seen if kind.seen else others)
                X, labels = part.X_test[rows], part.y_test[rows]
                near = kind.asked == "near"
                pairs = near_pairs(X, labels, rng) if near else random_pairs(labels, rng)
                said, values = models.measure(kind.learned, X, pairs)
                trial.add(said, pairs.same, values)
        return trials

    def plot(self, path: Path) -> None:
        """Reliability diagram: what was said, and what was."""
        from matplotlib.figure import Figure

        n = len(self.trials)
        figure = Figure(figsize=(3.2 * n + 0.4, 3.9), layout="constrained")
        panels = figure.subplots(1, n, sharey=True, squeeze=False)[0]
        for axes, (name, trials) in zip(panels, self.trials.items(), strict=True):
            self.panel(axes, name, trials)
        panels[0].set_ylabel("share of pairs of the same class")
        lines = panels[0].get_legend_handles_labels()
        figure.legend(*lines, frameon=False, loc="outside upper center", ncols=2)
        figure.savefig(path, dpi=150, bbox_inches="tight")
        self.page.say(f"Reliability diagram (all seeds together): `{path.name}`.\n")

    def panel(self, axes: "Axes", name: str, trials: dict[Kind, Trial]) -> None:
        """Curves of one set."""
        axes.plot([0, 1], [0, 1], color="0.6", linewidth=1, linestyle="--")
        for kind, (label, color, marker) in DRAWN.items():
            bins = trials[kind].bins()
            axes.plot(bins.said, bins.was, color=color, marker=marker, markersize=4, label=label)
        axes.set(xlabel=f"pair_probability, {name}", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        axes.set_aspect("equal")


# ------------------------------------------------------------------------------- part 3: speed


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
        say = self.page.say
        say("## Speed: one fit\n")
        say("Customary training rows; letter standardized, usps and mnist their first 50 and 60")
        say("principal components, of which maps keep 30. Seconds of the fit, each in a fresh")
        say("process, all in this run; MB: its largest memory above that before. The others may")
        say(f"take {self.options.limit:g} s and {PEER_GIGABYTES} GB. Times ours: their seconds by")
        say("ours. 3-NN: test error in % on the customary test rows.\n")
        self.row = self.page.table(
            ["set", "rows", "D", "d", "model", "seconds", "times ours", "MB", "3-NN"]
        )
        for name in here(self.page, SPEED_CASES, self.options.sets):
            self.one_set(name)
        say()

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


# ------------------------------------------------------------------------------------------ page


def parse() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--sets", nargs="+", choices=list(CASES), help="default: all")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--metric-learn", metavar="PYTHON", help="of an environment that has it")
    parser.add_argument("--lmnn-seconds", type=float, default=120.0, help="limit of a fit, part 1")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of a peer's fit, speed")
    parser.add_argument("--plot", metavar="PATH", help="reliability diagram of the verification")
    return parser.parse_args()


def introduce(page: Page, options: argparse.Namespace) -> None:
    if options.metric_learn:
        found = in_fresh_process(VERSIONS, python=options.metric_learn)
        versions = ", ".join(f"{name} {version}" for name, version in found.items())
        page.say(f"metric-learn's environment: {versions}.\n")


def main() -> None:
    options = parse()
    # Fits that stop at their number of updates, and LDA of columns that depend on others.
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", message="Variables are collinear")
    page = Page("Latent coincidence analysis: test error, verification of pairs, speed")
    introduce(page, options)
    if "neighbors" in options.parts:
        Neighbors(page, options).report()
    if "classes" in options.parts:
        report_classes(page, options)
    if "verification" in options.parts:
        Verification(page, options).report()
    if "speed" in options.parts:
        Speed(page, options).report()
    if options.save:
        page.save(
            "coincidence_speed" if list(options.parts) == ["speed"] else "coincidence_accuracy"
        )


if __name__ == "__main__":
    main()
