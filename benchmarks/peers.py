"""Whole fits against peers: test accuracy against the time of the fit.

    python benchmarks/peers.py [--sets landsat mnist] [--dims 5 2] [--methods nca umap] [--seeds 1]
        [--limit 300] [--max-train 10000] [--metric-learn PYTHON] [--torch PYTHON]
        [--raw FILE.jsonl] [--figure FILE.png] [--save]

Supervised maps to few dimensions: ours, those of scikit-learn, metric-learn,
pytorch-metric-learning and UMAP, with PCA and LDA as cheap baselines. Most are also stopped early,
so that each is a curve. Every fit has a process of its own, which may be ended and whose memory is
nobody else's; run nothing else on the machine meanwhile. `--raw` keeps what was measured, and rows
that it holds already are not measured again: the same command goes on where it was stopped, or
draws the figure anew. Delete the file after a change of the code.

Needs the data sets (set VICINAL_DATA); one that is not here is skipped. metric-learn needs an
environment of its own, torch may have one:

    python -m venv ENV; ENV/bin/pip install scikit-learn==1.5.2 metric-learn==0.7.0 "numpy<2"
    python -m venv TORCH; TORCH/bin/pip install torch pytorch-metric-learning
    python benchmarks/peers.py --metric-learn ENV/bin/python --torch TORCH/bin/python
"""

import argparse
import contextlib
import datetime
import importlib.util
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from common import OverLimit, Page, arguments, in_fresh_process, last_line
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from vicinal import datasets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SETS = ("usps_roweis", "magic", "mnist", "landsat")
PIXELS = ("usps_roweis", "mnist")
DIMENSIONS = (5, 2)
TEST_SHARE = 0.3
NEIGHBORS = 5  # of the rule that the figure shows

GIGABYTES = 16
# What a process may take beyond the limit of its fit: to start, to warm up and to transform.
SPARE_SECONDS = 180
WARM_UP_ROWS = 1000

# ------------------------------------------------------------------------------------- methods

# `make` is what the code of a method defines. Ends with a line of JSON; maps go to files.
FIT = """
import json, os, signal, time
import numpy as np
from common import peak_memory
{make}
def read(name):
    return np.load(f"{folder}/{{name}}.npy")
X, y = read("X"), read("y")
n_classes = len(np.unique(y))

# Compilers and lazy imports are not part of the fit.
rows = slice({warm_up_rows})
make({d}, {seed}, **{warm_up}).fit(X[rows], y[rows]).transform(X[:100])

def give_up(*_):
    print(json.dumps(dict(over=True)), flush=True)
    os._exit(0)
signal.signal(signal.SIGALRM, give_up)
signal.setitimer(signal.ITIMER_REAL, {limit})
start = time.perf_counter()
model = make({d}, {seed}, **{setting})
model.fit(X, y)
seconds = time.perf_counter() - start
signal.setitimer(signal.ITIMER_REAL, 0)
megabytes = peak_memory()

Z, X_test = model.transform(X), read("X_test")
start = time.perf_counter()
Z_test = model.transform(X_test)
transform = time.perf_counter() - start
np.save("{folder}/Z.npy", Z)
np.save("{folder}/Z_test.npy", Z_test)
updates = getattr(model, "n_iter_", None)
print(json.dumps(dict(seconds=seconds, transform=transform, megabytes=megabytes,
                      updates=None if updates is None else int(updates))))
"""

OUR_NCA = """
from vicinal import NeighborhoodComponents
def make(d, seed, **options):
    return NeighborhoodComponents(d, random_state=seed, {options}**options)
"""

COINCIDENCE = """
from vicinal import LatentCoincidence
def make(d, seed, **options):
    return LatentCoincidence(d, random_state=seed, **options)
"""

SCIKIT_LEARN = """
from sklearn.neighbors import NeighborhoodComponentsAnalysis
def make(d, seed, **options):
    return NeighborhoodComponentsAnalysis(d, random_state=seed, **options)
"""

METRIC_LEARN = """
from metric_learn import {model}
def make(d, seed, **options):
    return {model}(n_components=d, random_state=seed, {options}**options)
"""

# The loss of NCA as it was published: its authors do not normalize the points, as the library
# does where it is not told otherwise.
TORCH = """
import torch
from pytorch_metric_learning.distances import LpDistance
from pytorch_metric_learning.losses import NCALoss

class LinearNca:
    def __init__(self, d, seed, epochs):
        self.d, self.seed, self.epochs = d, seed, epochs

    def fit(self, X, y):
        torch.manual_seed(self.seed)
        points, labels = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
        self.map, self.n_iter_ = torch.nn.Linear(X.shape[1], self.d, bias=False), 0
        loss = NCALoss(distance=LpDistance(normalize_embeddings=False, p=2, power=2))
        adam = torch.optim.Adam(self.map.parameters(), lr={rate})
        for _ in range(self.epochs):
            for rows in torch.randperm(len(points)).split({batch}):
                adam.zero_grad()
                loss(self.map(points[rows]), labels[rows]).backward()
                adam.step()
                self.n_iter_ += 1
        return self

    def transform(self, X):
        with torch.no_grad():
            return self.map(torch.tensor(X, dtype=torch.float32)).numpy()

def make(d, seed, **options):
    return LinearNca(d, seed, **options)
"""

# Without a seed: with one it would use one core only.
UMAP = """
from umap import UMAP
def make(d, seed, **options):
    return UMAP(n_components=d, **options)
"""

PRINCIPAL = """
from sklearn.decomposition import PCA
def make(d, seed, **options):
    return PCA(d, random_state=seed)
"""

DISCRIMINANT = """
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
def make(d, seed, **options):
    return LinearDiscriminantAnalysis(n_components=min(d, n_classes - 1))
"""

TORCH_RATE, TORCH_BATCH = 0.01, 1000

# The settings of a method are the values of one of its options, None: its default.
Setting = int | None
OURS, PEER, BASELINE = "ours", "peer", "baseline"
TWO_UPDATES = '{"max_iter": 2}'


@dataclass(frozen=True)
class Method:
    """Somebody's way to a map: the code that makes the model, and how it is drawn.

    `settings` are in the order of their cost. `warm_up`: arguments of the fit that does not count.
    Where that is to compile (`compiles`), it needs all rows: few would go other ways.
    """

    name: str
    about: str
    make: str
    color: str
    marker: str
    settings: tuple[Setting, ...] = (None,)
    option: str = "max_iter"
    home: str = "here"  # or the option that names the interpreter of its environment
    kind: str = PEER
    warm_up: str = "{}"
    compiles: bool = False

    def arguments(self, setting: Setting) -> dict[str, int]:
        """For the model."""
        return {} if setting is None else {self.option: setting}

    def words(self, setting: Setting) -> str:
        """What a table calls the setting."""
        if setting is None:
            return "default" if len(self.settings) > 1 else ""
        return f"{self.option}={setting}"


def our_nca(
    name: str, about: str, options: str, style: tuple[str, str], settings: tuple[Setting, ...]
) -> Method:
    """A variant of NeighborhoodComponents."""
    make = OUR_NCA.format(options=f"{options}, " if options else "")
    full = f"vicinal NCA{', ' * bool(name)}{name}"
    drawn = {"settings": settings, "kind": OURS}
    # So few updates alone would be done without the compiler.
    warm_up = '{"max_iter": 2, "engine": "fused"}'
    return Method(full, about, make, *style, **drawn, warm_up=warm_up, compiles=True)


def metric_learn(
    name: str, about: str, model: str, style: tuple[str, str], settings: tuple[Setting, ...]
) -> Method:
    """A model of metric-learn, `model` with its options: "LMNN learn_rate=1e-6"."""
    model, _, options = model.partition(" ")
    make = METRIC_LEARN.format(model=model, options=f"{options}, " if options else "")
    return Method(
        f"metric-learn {name}",
        about,
        make,
        *style,
        settings=settings,
        home="metric_learn",
        warm_up=TWO_UPDATES,
    )


METHODS = {
    "nca": our_nca(
        "",
        "`NeighborhoodComponents` as it comes: L-BFGS up to 5000 rows, random batches beyond",
        "",
        ("#0b5fd6", "o"),
        (5, 20, 50, 200, None),
    ),
    "nca-exact": our_nca(
        "exact",
        '`solver="lbfgs"`: all pairs in every update, no penalty (classic NCA)',
        'solver="lbfgs"',
        ("#00a3c7", "s"),
        (5, 20, 50, None),
    ),
    "nca-subsample": our_nca(
        "subsample",
        '`batching="subsample"`: L-BFGS on 3000 of the rows',
        'batching="subsample"',
        ("#7fbf3f", "^"),
        (5, 20, 50, None),
    ),
    "nca-stochastic": our_nca(
        "stochastic",
        '`batching="stochastic"`: 500 rows against all in every update',
        'batching="stochastic"',
        ("#1b9e77", "D"),
        (20, 100, 500, None),
    ),
    "nca-compact": our_nca(
        "compact",
        '`kernel="compact"`',
        'kernel="compact"',
        ("#7b3fbf", "h"),
        (20, 50, 200, None),
    ),
    "nca-pca": our_nca(
        "PCA start", '`init="pca"`', 'init="pca"', ("#c08be8", "P"), (5, 20, 50, 200, None)
    ),
    "nca-log": our_nca(
        "log",
        '`objective="log"`, the objective that pytorch-metric-learning has',
        'objective="log"',
        ("#5f8fa8", ">"),
        (5, 20, 50, 200, None),
    ),
    "coincidence": Method(
        "vicinal LatentCoincidence",
        "`LatentCoincidence` as it comes, learning from labels",
        COINCIDENCE,
        "#2f2f7f",
        "p",
        settings=(5, 20, 50, None),
        kind=OURS,
        warm_up=TWO_UPDATES,
    ),
    "sklearn-nca": Method(
        "scikit-learn NCA",
        "`NeighborhoodComponentsAnalysis`, by default at most 50 updates",
        SCIKIT_LEARN,
        "#d62728",
        "o",
        settings=(5, 20, None),
        warm_up=TWO_UPDATES,
    ),
    "metric-learn-nca": metric_learn(
        "NCA", "`NCA`, by default at most 100 updates", "NCA", ("#ff7f0e", "s"), (5, 20, None)
    ),
    "lmnn": metric_learn(
        "LMNN",
        "`LMNN`, by default at most 1000 updates, learn_rate=1e-7",
        "LMNN",
        ("#8c564b", "D"),
        (20, 100, None),
    ),
    "lmnn-fast": metric_learn(
        "LMNN, learn_rate=1e-6",
        "the same with a larger rate",
        "LMNN learn_rate=1e-6",
        ("#c9986a", "^"),
        (20, 100, None),
    ),
    "torch-nca": Method(
        "pytorch-metric-learning NCA",
        f"`NCALoss` of a linear map, distances not normalized, Adam with a rate of {TORCH_RATE:g}, "
        f"batches of {TORCH_BATCH} rows",
        TORCH.format(rate=TORCH_RATE, batch=TORCH_BATCH),
        "#e377c2",
        "<",
        settings=(5, 20, 100, 300),
        option="epochs",
        home="torch",
        warm_up='{"epochs": 2}',
    ),
    "umap": Method(
        "UMAP, supervised",
        "`UMAP` given the labels; without a seed, which would hold it to one core",
        UMAP,
        "#bcbd22",
        "P",
        settings=(50, None),
        option="n_epochs",
        warm_up='{"n_epochs": 12}',  # its transform takes a third of them
        compiles=True,
    ),
    "pca": Method("PCA", "no labels", PRINCIPAL, "0.5", "*", kind=BASELINE),
    "lda": Method(
        "LDA",
        "at most one dimension less than there are classes",
        DISCRIMINANT,
        "black",
        "*",
        kind=BASELINE,
    ),
}

# What a line of the page calls the environment of a method, and the packages it tells of.
HOMES = {
    "metric_learn": ("metric-learn", ("metric-learn", "scikit-learn", "numpy", "scipy")),
    "torch": ("torch", ("torch", "pytorch-metric-learning", "numpy")),
}
VERSIONS = """
import importlib.metadata, json
{imports}
print(json.dumps({{name: importlib.metadata.version(name) for name in {names}}}))
"""
IMPORTS = {
    "metric_learn": "import metric_learn",
    "torch": "import torch, pytorch_metric_learning",
}

# ---------------------------------------------------------------------------------------- data


class Split(NamedTuple):
    """Training and test part of a set."""

    X: np.ndarray
    X_test: np.ndarray
    y: np.ndarray
    y_test: np.ndarray


def split_of(name: str, seed: int, most: int) -> Split:
    """Other rows for every seed, at most so many for training; the same for every method."""
    data = datasets.load(name, download=False)
    part = raw_split(data.data, data.target, data.train if name == "mnist" else None, seed)
    part = part._replace(X=part.X[:most].astype(np.float64), y=part.y[:most])
    return prepared(part, name in PIXELS)


def raw_split(X: np.ndarray, y: np.ndarray, train: np.ndarray | None, seed: int) -> Split:
    """Random 70/30, or the customary test rows and a random order of the training rows."""
    if train is None:
        parts = train_test_split(X, y, test_size=TEST_SHARE, stratify=y, random_state=seed)
        return Split(*parts)
    order = np.random.default_rng(seed).permutation(np.flatnonzero(train))
    return Split(X[order], X[~train], y[order], y[~train])


def prepared(part: Split, pixels: bool) -> Split:
    """Pixels from 0 to 1, others standardized, by the training part; no constant columns."""
    varies = np.ptp(part.X, axis=0) > 0
    X, X_test = part.X[:, varies], part.X_test[:, varies].astype(np.float64)
    if pixels:
        return part._replace(X=X / 255.0, X_test=X_test / 255.0)
    scaler = StandardScaler().fit(X)
    return part._replace(X=scaler.transform(X), X_test=scaler.transform(X_test))


# ----------------------------------------------------------------------------------- measuring


class Task(NamedTuple):
    """One fit."""

    set: str
    d: int
    method: str
    setting: Setting
    seed: int
    max_train: int


class Store:
    """Results of tasks, kept in a file of JSON lines where one is given."""

    def __init__(self, path: Path | None, limit: float) -> None:
        self.path, self.limit = path, limit
        self.rows: dict[Task, dict] = {}
        if path is not None and path.exists():
            for line in path.read_text().splitlines():
                self.keep(json.loads(line))

    def keep(self, row: dict) -> None:
        """Under its task; a later row of the same task counts."""
        self.rows[Task(**{key: row[key] for key in Task._fields})] = row

    def get(self, task: Task) -> dict | None:
        """What is known; a fit that was given up sooner than now is not."""
        row = self.rows.get(task)
        gave_up = row is not None and row.get("lasting") and row["limit"] < self.limit
        return None if gave_up else row

    def add(self, task: Task, result: dict) -> dict:
        """Keep and write, at once: the run may be stopped at any time."""
        today = datetime.date.today().isoformat()
        row = {**task._asdict(), "limit": self.limit, "date": today, **result}
        self.keep(row)
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps(row) + "\n")
        return row


class Laboratory:
    """Measures tasks; the split at hand lies in a folder for the processes to read."""

    def __init__(self, store: Store, pythons: dict[str, str], limit: float) -> None:
        self.store, self.pythons, self.limit = store, pythons, limit
        self.at_hand: tuple | None = None
        self.part: Split | None = None

    @contextlib.contextmanager
    def open(self) -> Iterator["Laboratory"]:
        """With a folder that is removed at the end."""
        with tempfile.TemporaryDirectory() as folder:
            self.folder = Path(folder)
            yield self

    def curve(self, task: Task) -> list[dict]:
        """Results of a method's settings, until one takes too much."""
        rows: list[dict] = []
        for setting in METHODS[task.method].settings:
            if rows and rows[-1].get("lasting"):
                idle = {"setting": setting, "problem": "not tried", "lasting": True}
                rows.append({**task._asdict(), **idle})
                continue
            rows.append(self.result(task._replace(setting=setting)))
        return rows

    def result(self, task: Task) -> dict:
        """Known already, or measured now."""
        return self.store.get(task) or self.store.add(task, self.measure(task))

    def measure(self, task: Task) -> dict:
        """Fit apart, judge here, so that the same code judges all."""
        part = self.prepare(task)
        try:
            result = self.fit(task)
        except OverLimit as over:  # of the process, not of the fit
            in_all = " in all" * str(over).startswith("over")
            return {"problem": f"{over}{in_all}", "lasting": True}
        except RuntimeError as error:
            return {"problem": f"broke down: {last_line(error)}"}
        if result.get("over"):
            return {"problem": f"over {self.limit:g} s", "lasting": True}
        return {**result, **self.judge(part)}

    def prepare(self, task: Task) -> Split:
        """Write the split, where it is not the one at hand."""
        wanted = (task.set, task.seed, task.max_train)
        if self.part is None or self.at_hand != wanted:
            self.part, self.at_hand = split_of(*wanted), wanted
            for name, values in self.part._asdict().items():
                np.save(self.folder / f"{name}.npy", values)
        return self.part

    def fit(self, task: Task) -> dict:
        """Time and memory, in a process of its own; the projected points are left in the folder."""
        method = METHODS[task.method]
        code = FIT.format(
            make=method.make,
            folder=self.folder,
            d=task.d,
            seed=task.seed,
            limit=self.limit,
            setting=method.arguments(task.setting),
            warm_up=method.warm_up,
            warm_up_rows=None if method.compiles else WARM_UP_ROWS,
        )
        return in_fresh_process(
            code,
            python=self.pythons[method.home],
            seconds=self.limit + SPARE_SECONDS,
            gigabytes=GIGABYTES,
        )

    def judge(self, part: Split) -> dict:
        """Test accuracy of nearest neighbors among the projected training rows."""
        Z, Z_test = (np.load(self.folder / f"{name}.npy") for name in ("Z", "Z_test"))
        if not (np.isfinite(Z).all() and np.isfinite(Z_test).all()):
            return {"problem": "not finite"}
        scores = {
            f"accuracy_{k}": KNeighborsClassifier(k).fit(Z, part.y).score(Z_test, part.y_test)
            for k in (1, NEIGHBORS)
        }
        shape = {"n_train": len(Z), "n_test": len(Z_test), "n_features": part.X.shape[1]}
        return {**scores, **shape, "dimension": Z.shape[1]}


# ------------------------------------------------------------------------------------ the page


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
    values = 100 * np.array(shares)
    error = f" ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}" if len(values) > 1 else ""
    return f"{values.mean():.1f}{error}"


# By set and dimension.
Found = dict[tuple[str, int], list[Point]]


class Report:
    """Tables, each row printed as it is known, and the figure."""

    def __init__(self, page: Page, options: argparse.Namespace, methods: Sequence[str]) -> None:
        self.page, self.options, self.methods = page, options, methods
        self.found: Found = {}

    def write(self, laboratory: Laboratory) -> None:
        """All sets and dimensions."""
        for name in self.options.sets:
            if not datasets.is_available(name):
                self.page.say(f"({name} is not here and was skipped.)\n")
                continue
            for d in self.options.dims:
                self.found[name, d] = self.one_table(name, d, laboratory)
        self.measured_when()

    def one_table(self, name: str, d: int, laboratory: Laboratory) -> list[Point]:
        """A heading, the rows and what they come to."""
        self.page.say(f"## {name}, d = {d}\n")
        columns = ["updates", "seconds", f"{NEIGHBORS}-NN", "1-NN", "transform, s", "MB"]
        row = self.page.table(["method", "setting", *columns])
        points: list[Point] = []
        for method in self.methods:
            tasks = [
                Task(name, d, method, None, seed, self.options.max_train)
                for seed in range(self.options.seeds)
            ]
            curves = [laboratory.curve(task) for task in tasks]
            for setting, *rows in zip(METHODS[method].settings, *curves, strict=True):
                points.append(Point(method, setting, rows))
                row(*points[-1].cells())
        self.page.say()
        self.summary(points)
        return points

    def summary(self, points: Sequence[Point]) -> None:
        """Size of the set, the best accuracy, and who comes near it first."""
        done = [point for point in points if point.measured]
        if not done:
            return
        row, best = done[0].measured[0], max(done, key=lambda point: point.accuracy)
        near = [point for point in done if point.accuracy >= best.accuracy - 1]
        first = min(near, key=lambda point: point.mean("seconds"))
        size = f"{row['n_train']} training rows of {row['n_features']} features, {row['n_test']}"
        self.page.say(f"{size} test rows. Best on them: {in_a_sentence(best)}.")
        self.page.say(f"Soonest within one point of that: {in_a_sentence(first)}.\n")

    def measured_when(self) -> None:
        """Days of the measurements: some may be older than the page."""
        points = [point for points in self.found.values() for point in points]
        days = sorted({row["date"] for point in points for row in point.rows if "date" in row})
        if days and days != [datetime.date.today().isoformat()]:
            self.page.say(f"Measured from {days[0]} to {days[-1]}.\n")


def in_a_sentence(point: Point) -> str:
    return f"{point.name}, {point.accuracy:.1f} % in {seconds_in_words(point.mean('seconds'))} s"


def introduce(page: Page, options: argparse.Namespace, methods: Sequence[str]) -> None:
    say = page.say
    for home, (name, packages) in HOMES.items():
        if any(METHODS[method].home == home for method in methods):
            say(f"{name}'s environment: {versions(home, getattr(options, home), packages)}.\n")
    say(
        f"Test accuracy in % of {NEIGHBORS} and of 1 nearest neighbors among the projected training"
    )
    say("rows, the same rule for every method, and seconds of the fit. At most")
    say(f"{options.max_train} training rows, for everyone, since some store n × n arrays. Random")
    say("stratified splits 70/30; mnist: the customary test rows, training rows drawn from the")
    say(f"customary ones. Seeds: {options.seeds}, each with a split of its own (mean ± standard")
    say("error where there are several). Pixels (usps_roweis, mnist) divided by 255, others")
    say("standardized by the training part; columns constant there dropped; float64.\n")
    say("Every fit has a process of its own and uses the threads its library takes by default. It")
    say("is timed after a fit of few updates that does not count, for compilers and lazy imports:")
    say(f"of all rows where there is a compiler (vicinal NCA, UMAP), else of {WARM_UP_ROWS}. A fit")
    say(f"is ended after {options.limit:g} s, and may use {GIGABYTES} GB; larger settings of a")
    say("method that went over are not tried. Transform: of the test rows. MB: largest resident")
    say("memory of the process until the end of the fit, libraries and data included.\n")
    say("Best, below a table: chosen by the test rows themselves, among many settings.\n")
    for method in methods:
        say(f"- {METHODS[method].name}: {METHODS[method].about}")
    say()


def versions(home: str, python: str, names: Sequence[str]) -> str:
    code = VERSIONS.format(imports=IMPORTS[home], names=tuple(names))
    found = in_fresh_process(code, python=python)
    return ", ".join(f"{name} {version}" for name, version in found.items())


def available(options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Methods to measure, and sentences about those that cannot be."""
    chosen, left_out = [], []
    for key in options.methods:
        why = why_not(METHODS[key], key, options)
        if why:
            left_out.append(f"{METHODS[key].name}: not measured, {why}.")
        else:
            chosen.append(key)
    return chosen, left_out


def why_not(method: Method, key: str, options: argparse.Namespace) -> str | None:
    """Reason why a method cannot be measured."""
    if method.home == "here":
        missing = key == "umap" and importlib.util.find_spec("umap") is None
        return "umap-learn is not installed" if missing else None
    python = getattr(options, method.home)
    if python is None:
        return "no environment given"
    try:
        versions(method.home, python, HOMES[method.home][1])
    except (OSError, RuntimeError) as error:
        return f"its environment does not work ({last_line(error)})"
    return None


# ---------------------------------------------------------------------------------- the figure

# Percentage points below the best that a panel shows; what is worse lies at its lower edge.
DEPTH = 25
# Seconds; what takes less, the start of a process drowns.
SHORTEST = 0.01
LINES = {OURS: "-", PEER: "--", BASELINE: ""}


def draw(found: Found, options: argparse.Namespace) -> "Figure":
    """Accuracy against time: a row of panels for each dimension, a column for each set."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(name for name, _ in found))
    shape = (len(options.dims), len(names))
    width = max(3.5 * len(names) + 0.3, 8.5)  # of the legend at least
    figure = Figure(figsize=(width, 3.2 * len(options.dims) + 1.5), layout="constrained")
    panels = figure.subplots(*shape, squeeze=False)
    for (name, d), points in found.items():
        axes = panels[options.dims.index(d), names.index(name)]
        Panel(axes, points, options.limit).draw(f"{name}, d = {d}")
    for axes in panels[:, 0]:
        axes.set_ylabel(f"{NEIGHBORS}-NN test accuracy, %")
    for axes in panels[-1]:
        axes.set_xlabel(f"seconds of the fit ({SHORTEST:g} or more)")
    add_legend(figure, found, options.limit)
    return figure


def add_legend(figure: "Figure", found: Found, limit: float) -> None:
    """Below the panels: methods that occur, and what the marks mean."""
    from matplotlib.lines import Line2D

    keys = dict.fromkeys(point.method for points in found.values() for point in points)
    lines = [Line2D([], [], label=METHODS[key].name, **style(METHODS[key])) for key in keys]
    mark = {"linestyle": "", "color": "0.3", "markersize": 6}
    lines.append(Line2D([], [], marker="x", label=f"over {limit:g} s or too large", **mark))
    lines.append(Line2D([], [], marker="v", label=f"more than {DEPTH} points below", **mark))
    columns = 3 if figure.get_size_inches()[0] < 12 else 5
    figure.legend(handles=lines, loc="outside lower center", ncols=columns, frameon=False)


def style(method: Method) -> dict:
    """Of a curve: ours drawn through, the others dashed."""
    return {
        "color": method.color,
        "marker": method.marker,
        "markersize": 9 if method.kind == BASELINE else 5,
        "linestyle": LINES[method.kind],
        "linewidth": 1.7 if method.kind == OURS else 1.2,
    }


class Panel:
    """Curves of one set in d dimensions."""

    def __init__(self, axes: "Axes", points: Sequence[Point], limit: float) -> None:
        self.axes, self.points, self.limit = axes, points, limit
        accuracies = [point.accuracy for point in points if point.measured]
        best, worst = max(accuracies, default=100.0), min(accuracies, default=0.0)
        self.floor = max(worst, best - DEPTH)
        self.margin = max(0.06 * (best - self.floor), 0.5)
        self.top = best + self.margin

    def draw(self, title: str) -> None:
        """Axes, curves and marks."""
        for key in dict.fromkeys(point.method for point in self.points):
            self.curve(key)
        self.given_up()
        self.axes.set_title(title, fontsize=10)
        self.axes.set_xscale("log")
        self.axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        self.axes.set_ylim(self.floor - 2 * self.margin, self.top)
        self.axes.grid(alpha=0.25, linewidth=0.6)

    def curve(self, key: str) -> None:
        """Points of a method in the order of their settings; those too low, at the edge."""
        points = [point for point in self.points if point.method == key and point.measured]
        times = np.array([max(point.mean("seconds"), SHORTEST) for point in points])
        accuracies = np.array([point.accuracy for point in points])
        drawn, low = style(METHODS[key]), accuracies < self.floor
        self.axes.plot(times, np.maximum(accuracies, self.floor), **{**drawn, "marker": ""})
        self.axes.plot(times[~low], accuracies[~low], **{**drawn, "linestyle": ""})
        edge = np.full(low.sum(), self.floor - self.margin)
        self.axes.plot(times[low], edge, color=drawn["color"], marker="v", linestyle="")

    def given_up(self) -> None:
        """A mark at the limit for every method that went over it with any setting."""
        failed = dict.fromkeys(point.method for point in self.points if point.is_too_much)
        if not failed:
            return
        self.axes.axvline(self.limit, color="0.7", linewidth=0.8, linestyle=":")
        place = self.axes.get_xaxis_transform()  # seconds, share of the height
        for i, key in enumerate(failed):
            mark = {"color": METHODS[key].color, "marker": "x", "markeredgewidth": 2}
            self.axes.plot([self.limit], [0.05 + 0.07 * i], transform=place, **mark)


# ---------------------------------------------------------------------------------------- main


def parse() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--dims", nargs="+", type=int, default=DIMENSIONS)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=1, help="how many")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of a fit")
    parser.add_argument("--max-train", type=int, default=10_000, help="training rows at most")
    # Processes start in another folder; a link is not followed, it is what makes an environment.
    python = {"metavar": "PYTHON", "type": os.path.abspath}
    parser.add_argument("--metric-learn", **python, help="of an environment that has it")
    parser.add_argument("--torch", **python, help="the same for pytorch-metric-learning")
    parser.add_argument("--raw", metavar="FILE", type=Path, help="results so far, JSON lines")
    parser.add_argument("--figure", metavar="FILE", type=Path, help="accuracy against time, PNG")
    return parser.parse_args()


@contextlib.contextmanager
def command_without_paths() -> Iterator[None]:
    """Options as a page shows them: interpreters as PYTHON, other full paths by their names."""
    words, sys.argv = sys.argv, without_paths(sys.argv)
    try:
        yield
    finally:
        sys.argv = words


def without_paths(words: Sequence[str]) -> list[str]:
    shown, before = [words[0]], ""
    for word in words[1:]:
        option, equals, value = word.partition("=") if word.startswith("--") else (before, "", word)
        if option in ("--metric-learn", "--torch") and value:
            value = "PYTHON"
        elif value.startswith("/"):
            value = Path(value).name
        shown.append(f"{option}{equals}{value}" if word.startswith("--") else value)
        before = word
    return shown


def main() -> None:
    options = parse()
    methods, left_out = available(options)
    packages = ["umap-learn"] if "umap" in methods else []
    with command_without_paths():
        page = Page("Whole fits against peers: accuracy against time", packages)
    introduce(page, options, methods)
    for sentence in left_out:
        page.say(f"{sentence}\n")
    report = Report(page, options, methods)
    pythons = {"here": sys.executable}
    pythons |= {home: getattr(options, home) for home in HOMES}
    store = Store(options.raw, options.limit)
    with Laboratory(store, pythons, options.limit).open() as laboratory:
        report.write(laboratory)
    if options.figure is not None and report.found:
        draw(report.found, options).savefig(options.figure, dpi=150)
        page.say(f"Figure: `{options.figure.name}`.")
    if options.save:
        page.save("peers")


if __name__ == "__main__":
    main()
