"""NCA of 10^4 to 10^7 points in a memory-mapped file, 50 to 5 dimensions: time, memory, accuracy.

    python -m benchmarks.nca_scale [--sizes 10000 100000] [--metric-learn PYTHON] [--save]

Each fit runs in a fresh process. scikit-learn and metric-learn take part up to the size at which
they need more time or memory than they may have. metric-learn 0.7.0 does not run with
scikit-learn 1.6 or later and needs an environment of its own:

    python -m venv ENV; ENV/bin/pip install scikit-learn==1.5.2 metric-learn==0.7.0 "numpy<2"
    python -m benchmarks.nca_scale --metric-learn ENV/bin/python
"""

import argparse
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy.stats import ortho_group

from benchmarks.common import environments
from benchmarks.common.arrays import write_arrays
from benchmarks.common.children import OverLimit, in_fresh_process
from benchmarks.common.command import add_interpreter, arguments
from benchmarks.common.pages import Page

SIZES = (10**4, 10**5, 10**6, 10**7)
N_TEST = 10_000
ROWS_AT_A_TIME = 100_000
PEER_GIGABYTES = 16
MOST_FOR_NEIGHBORS = 10**6

# Many small clusters, so that more points can tell more; with 8 clusters of scale 3.3, tried first,
# 10^5 points already reach what the best rule does.
N_CLASSES, N_CLUSTERS, N_SIGNAL, N_NOISE = 10, 24, 5, 45
# Of the centers, with clusters of unit variance: the best rule then has about 90 % right.
CENTER_SCALE = 4.0
# More than along the signal, so that principal components would find noise only.
NOISE_SCALE = 5.0

DATA = """
import json, time
import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from benchmarks.common.arrays import read_array
from benchmarks.common.judging import nca_rule_accuracy
from benchmarks.common.memory import MemoryWatch
X = np.load("{folder}/X.npy", mmap_mode="r")
y, X_test, y_test = (read_array("{folder}", name) for name in ("y", "X_test", "y_test"))
"""

FIT = """
with MemoryWatch() as memory:
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
result = dict(seconds=seconds, updates=int(model.n_iter_), memory=memory.above)
"""

OURS = """
from vicinal import NeighborhoodComponents
model = NeighborhoodComponents(5, random_state=0)
"""

# The first time is that of the start, before any update.
OUR_RESULT = """
times = model.history_["time"]
result["per_update"] = float(times[-1] - times[0]) / max(1, len(times) - 1)
start = time.perf_counter()
result["rule"] = model.score(X_test, y_test)
result["predicting"] = time.perf_counter() - start
"""

SCIKIT_LEARN = """
from sklearn.neighbors import NeighborhoodComponentsAnalysis
model = NeighborhoodComponentsAnalysis(5, random_state=0)
"""

METRIC_LEARN = """
from metric_learn import NCA
model = NCA(n_components=5, random_state=0)
"""

PEER_RESULT = """
result["per_update"] = seconds / max(1, result["updates"])
A = model.components_
result["rule"] = nca_rule_accuracy(X @ A.T, y, X_test @ A.T, y_test)
"""

NEIGHBORS = """
if len(X) <= {most}:
    A = model.components_
    result["neighbors"] = KNeighborsClassifier(15).fit(X @ A.T, y).score(X_test @ A.T, y_test)
print(json.dumps(result))
"""


class Mixture:
    """Classes of Gaussian clusters in a subspace, among noise."""

    def __init__(self, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.centers = CENTER_SCALE * rng.normal(size=(N_CLASSES, N_CLUSTERS, N_SIGNAL))
        self.rotation = ortho_group.rvs(N_SIGNAL + N_NOISE, random_state=seed)

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Points in float32, and their classes."""
        y, cluster = rng.integers(N_CLASSES, size=n), rng.integers(N_CLUSTERS, size=n)
        X = rng.standard_normal((n, N_SIGNAL + N_NOISE), dtype=np.float32)
        X[:, :N_SIGNAL] += self.centers[y, cluster]
        X[:, N_SIGNAL:] *= NOISE_SCALE
        return X @ self.rotation.astype(np.float32), y

    def best_accuracy(self, X: np.ndarray, y: np.ndarray) -> float:
        """Of the rule that knows the centers."""
        signal = X @ self.rotation[:N_SIGNAL].T
        s = np.square(signal[:, None, None] - self.centers).sum(axis=-1)
        densities = np.exp(-s / 2).sum(axis=-1)
        return float((densities.argmax(axis=1) == y).mean())


def write_data(folder: Path, n: int, mixture: Mixture) -> None:
    """Training and test points; the training points never as a whole in memory."""
    rng = np.random.default_rng((1, n))
    shape = (n, N_SIGNAL + N_NOISE)
    X = np.lib.format.open_memmap(folder / "X.npy", mode="w+", dtype=np.float32, shape=shape)
    y = np.empty(n, dtype=np.int64)
    for start in range(0, n, ROWS_AT_A_TIME):
        rows = slice(start, min(start + ROWS_AT_A_TIME, n))
        X[rows], y[rows] = mixture.draw(rows.stop - rows.start, rng)
    X.flush()
    X_test, y_test = test_points(mixture)
    write_arrays(folder, y=y, X_test=X_test, y_test=y_test)


def test_points(mixture: Mixture) -> tuple[np.ndarray, np.ndarray]:
    """The same for every size."""
    return mixture.draw(N_TEST, np.random.default_rng(2))


def fit_ours(folder: Path) -> dict:
    parts = (DATA.format(folder=folder), OURS, FIT, OUR_RESULT)
    return in_fresh_process("".join(parts) + NEIGHBORS.format(most=MOST_FOR_NEIGHBORS))


@dataclass
class Peer:
    """Somebody else's NCA, tried until it fails once."""

    name: str
    model: str
    seconds: float
    python: str | None
    failed: str | None = field(default=None, init=False)

    def fit(self, folder: Path) -> dict | str:
        """What it takes, or why it is not known."""
        if self.python is None:
            return "not measured: no environment given"
        if self.failed:
            return "not tried"
        parts = (DATA.format(folder=folder), self.model, FIT, PEER_RESULT)
        code = "".join(parts) + NEIGHBORS.format(most=MOST_FOR_NEIGHBORS)
        limits = {"seconds": self.seconds, "gigabytes": PEER_GIGABYTES}
        try:
            return in_fresh_process(code, python=self.python, **limits)
        except OverLimit as limit:
            self.failed = str(limit)
            return self.failed


def cells(result: dict | str) -> list[str]:
    if isinstance(result, str):
        return [result] + [""] * 6
    neighbors, predicting = result.get("neighbors"), result.get("predicting")
    return [
        f"{result['seconds']:.1f}",
        f"{result['updates']}",
        f"{1000 * result['per_update']:.1f}",
        f"{result['memory']:.0f}",
        f"{result['rule']:.1%}",
        "" if neighbors is None else f"{neighbors:.1%}",
        "" if predicting is None else f"{predicting:.1f}",
    ]


def introduce(page: Page, mixture: Mixture, options: argparse.Namespace) -> None:
    if options.metric_learn:
        page.say(environments.METRIC_LEARN.line(options.metric_learn))
    best = mixture.best_accuracy(*test_points(mixture))
    page.say(f"{N_CLASSES} classes, each of {N_CLUSTERS} Gaussian clusters in the same")
    page.say(f"{N_SIGNAL}-dimensional subspace, {N_NOISE} directions of noise of larger variance,")
    page.say(
        f"all rotated; float32 in a memory-mapped file. {N_TEST} test points, of which the rule"
    )
    page.say(f"that knows the centers gets {best:.1%} right.\n")
    page.say("Seconds: of the fit. Per update: ours without the start; of the others, seconds by")
    page.say("updates. Memory: peak anonymous memory above what the process held before the fit;")
    page.say("pages of the file do not count, loading the compiler does. Predicting: all test")
    page.say("points by the NCA rule.")
    page.say(f"The others may take {options.peer_seconds:g} s and {PEER_GIGABYTES} GB.\n")


def parse() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--peer-seconds", type=float, default=900.0, help="time limit of the peers")
    parser.add_argument("--folder", help="where the data is written and deleted again")
    add_interpreter(parser, "--metric-learn", "of an environment that has it")
    return parser.parse_args()


def fit_all(page: Page, mixture: Mixture, options: argparse.Namespace) -> None:
    """A table: ours and the others for each size."""
    peers = (
        Peer("scikit-learn", SCIKIT_LEARN, options.peer_seconds, sys.executable),
        Peer("metric-learn", METRIC_LEARN, options.peer_seconds, options.metric_learn),
    )
    columns = ["seconds", "updates", "ms per update", "memory, MB", "NCA rule", "15-NN"]
    row = page.table(["points", "model", *columns, "predicting, s"])
    for n in sorted(options.sizes):
        with tempfile.TemporaryDirectory(dir=options.folder) as name:
            folder = Path(name)
            write_data(folder, n, mixture)
            row(f"{n:,}", "vicinal", *cells(fit_ours(folder)))
            for peer in peers:
                row(f"{n:,}", peer.name, *cells(peer.fit(folder)))


def main() -> None:
    options = parse()
    page = Page("NCA by the number of points, D = 50, d = 5, default settings")
    mixture = Mixture()
    introduce(page, mixture, options)
    fit_all(page, mixture, options)
    if options.save:
        page.save("nca_scale")


if __name__ == "__main__":
    main()
