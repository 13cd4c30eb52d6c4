"""Density queries against peers: seconds at a wanted relative error, and the error measured.

    python benchmarks/kde.py [--n 10000 100000] [--d 1 2] [--bandwidths small] [--errors 1e-2 0]
        [--contenders vicinal scikit-learn] [--peers PYTHON] [--raw FILE] [--limit 60] [--save]

`log_density` beside scikit-learn, SciPy, KDEpy and mlpack. Every measurement is a process of its
own; with --raw it is kept in a file of JSON lines and not made again. Peers that are not installed
here run in another environment, and are left out where there is none:

    python -m venv ENV; ENV/bin/pip install numpy scipy KDEpy mlpack
    python benchmarks/kde.py --peers ENV/bin/python
"""

import argparse
import importlib.metadata
import itertools
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from common import OverLimit, Page, arguments, in_fresh_process, last_line

SIZES = (10**4, 10**5, 10**6)
DIMENSIONS = (1, 2, 3, 5, 8)
BANDWIDTHS = {"small": 0.25, "medium": 1.0, "large": 4.0}  # times Scott's rule
ERRORS = (1e-2, 1e-4, 1e-8, 0.0)
EXACT = 1e-10  # the largest error that counts as none
NEARLY = 2.0  # times the wanted error, in a second look at the peers

N_COMPONENTS = 10
N_CHECKED = 200  # queries compared with the oracle
ORACLE_PAIRS = 10**7  # at a time

BRIEF = 2.0  # seconds: what takes less is timed three times
START_SECONDS = 20.0  # for a process to start, to load the data and to warm up
GIGABYTES = 16.0

FFT_MOST = {1: 2**20, 2: 2**11, 3: 160}  # points along an axis of the grid
FFT_LEAST_ERROR = 1e-4
TREE_LEAST_CUT = np.exp(-31.9)  # TreeKDE looks for the end of a kernel within 8 bandwidths

# Log-density of rows; a method makes one from points, a bandwidth and a wanted relative error.
Density = Callable[[np.ndarray], np.ndarray]
Method = Callable[[np.ndarray, float, float], Density]


# ------------------------------------------------------------------------------------ contenders
# Imported where they run: no environment has to have all of them.


def vicinal(X: np.ndarray, bandwidth: float, error: float) -> Density:
    from vicinal.local_components import log_density

    return lambda Q: log_density(Q, X, covariance=bandwidth**2, tolerance=error)


def scikit_learn(X: np.ndarray, bandwidth: float, error: float) -> Density:
    from sklearn.neighbors import KernelDensity

    model = KernelDensity(bandwidth=bandwidth, algorithm="kd_tree", rtol=error, atol=0.0)
    return model.fit(X).score_samples


def scipy(X: np.ndarray, bandwidth: float, error: float) -> Density:
    """By `evaluate`, nearly four times as fast as `logpdf`."""
    model = isotropic_gaussian_kde(X, bandwidth)
    return lambda Q: log_of(model.evaluate(Q.T))


def isotropic_gaussian_kde(X: np.ndarray, bandwidth: float) -> Any:
    """SciPy's estimator with round kernels, where its own have the covariance of the data."""
    from scipy.stats import gaussian_kde

    class Isotropic(gaussian_kde):
        def _compute_covariance(self) -> None:
            self.covariance = bandwidth**2 * np.eye(self.d)
            self.cho_cov = bandwidth * np.eye(self.d)
            self.log_det = 2 * self.d * np.log(bandwidth * np.sqrt(2 * np.pi))

    return Isotropic(X.T)


def kdepy_tree(X: np.ndarray, bandwidth: float, error: float) -> Density:
    """Kernels end where all n of them together would be `error` of one at its center."""
    from KDEpy import TreeKDE

    cut = max(error / len(X), TREE_LEAST_CUT)
    eps = cut / (bandwidth * np.sqrt(2 * np.pi))  # in units of a kernel in one dimension
    model = TreeKDE(bw=bandwidth).fit(X)
    return lambda Q: log_of_kdepy(model.evaluate(Q, eps=eps))


def kdepy_fft(X: np.ndarray, bandwidth: float, error: float) -> Density:
    """A grid around points and queries, and linear interpolation in it."""
    from KDEpy import FFTKDE
    from scipy.interpolate import RegularGridInterpolator

    def density(Q: np.ndarray) -> np.ndarray:
        axes = grid_axes(X, Q, bandwidth, error)
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        values = FFTKDE(bw=bandwidth).fit(X).evaluate(grid).reshape([len(axis) for axis in axes])
        return log_of_kdepy(RegularGridInterpolator(axes, values)(Q))

    return density


def grid_axes(X: np.ndarray, Q: np.ndarray, bandwidth: float, error: float) -> list[np.ndarray]:
    """Errors of binning and of interpolation go with the square of the step."""
    low = np.minimum(X.min(axis=0), Q.min(axis=0)) - bandwidth
    high = np.maximum(X.max(axis=0), Q.max(axis=0)) + bandwidth
    wanted = np.ceil((high - low) / (bandwidth * np.sqrt(error)))
    sizes = np.clip(wanted, 16, FFT_MOST[X.shape[1]]).astype(int)
    return [np.linspace(*ends) for ends in zip(low, high, sizes, strict=True)]


def mlpack(algorithm: str) -> Method:
    """One call builds the trees and asks them; it puts the rows it is given in another order."""

    def fit(X: np.ndarray, bandwidth: float, error: float) -> Density:
        from mlpack import kde

        settings: dict[str, str | float] = {"kernel": "gaussian", "tree": "kd-tree"}
        settings |= {"algorithm": algorithm, "bandwidth": bandwidth}
        settings |= {"rel_error": float(error), "abs_error": 0.0}  # an int is refused
        return lambda Q: log_of(kde(reference=X.copy(), query=Q.copy(), **settings)["predictions"])

    return fit


def log_of(densities: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(densities, 0.0))


def log_of_kdepy(densities: np.ndarray) -> np.ndarray:
    """Without the 2e-16 that KDEpy adds to every density "for contour plotting"."""
    return log_of(densities - np.finfo(float).eps)


class Contender(NamedTuple):
    """Somebody who answers density queries."""

    package: str
    method: Method
    applies: Callable[[int, float], bool] = lambda d, error: True
    is_ours: bool = False
    one_thread: bool = False


CONTENDERS = {
    "vicinal": Contender("vicinal", vicinal, is_ours=True),
    "vicinal, 1 thread": Contender("vicinal", vicinal, is_ours=True, one_thread=True),
    "scikit-learn": Contender("scikit-learn", scikit_learn),
    "SciPy": Contender("scipy", scipy, lambda d, error: error == 0),
    "KDEpy TreeKDE": Contender("KDEpy", kdepy_tree),
    "KDEpy FFTKDE": Contender(
        "KDEpy", kdepy_fft, lambda d, error: d in FFT_MOST and error >= FFT_LEAST_ERROR
    ),
    "mlpack dual": Contender("mlpack", mlpack("dual-tree")),
    "mlpack single": Contender("mlpack", mlpack("single-tree")),
}
OURS, OURS_ALONE = "vicinal", "vicinal, 1 thread"


# ------------------------------------------------------------------------- in a process of its own


class Timing(NamedTuple):
    """Of fitting and answering some queries."""

    queries: int
    seconds: float
    cpu_seconds: float
    log_density: np.ndarray

    def expected(self, queries: int, one: "Timing") -> float:
        """Seconds for another number of queries, `one` being the time of a single one."""
        each = max(0.0, self.seconds - one.seconds) / max(1, self.queries - 1)
        return self.seconds + each * (queries - self.queries)


def clocked(method: Method, X: np.ndarray, Q: np.ndarray, bandwidth: float, error: float) -> Timing:
    start, cpu = time.perf_counter(), time.process_time()
    out = np.ravel(method(X, bandwidth, error)(Q))
    return Timing(len(Q), time.perf_counter() - start, time.process_time() - cpu, out)


def work(folder: str, contender: str, bandwidth: float, error: float, limit: float) -> None:
    """Measure, and leave in the folder what is known after every stage.

    A hundredth of the queries, a tenth, then all; a peer goes on as long as the next stage is
    expected to take no more than the limit.
    """
    X, Q = (np.load(Path(folder) / f"{name}.npy") for name in ("X", "Q"))
    one_of = CONTENDERS[contender]
    warm_up(one_of, X.shape[1])

    def run(m: int) -> Timing:
        return clocked(one_of.method, X, Q[:m], bandwidth, error)

    one = last = run(1)
    for m in stages(len(Q)):
        if last is not one and not one_of.is_ours and last.expected(m, one) > limit:
            break
        last = run(m)
        keep(folder, last, last.expected(len(Q), one))
    if last.queries == len(Q) and last.seconds < BRIEF:
        best = min([last, run(len(Q)), run(len(Q))], key=lambda timing: timing.seconds)
        keep(folder, best, best.seconds)


def stages(n_queries: int) -> list[int]:
    return sorted({max(2, n_queries // 100), max(2, n_queries // 10), n_queries})


def warm_up(contender: Contender, d: int) -> None:
    """Load libraries; ours: let numba compile, whichever engine will be chosen."""
    X = np.random.default_rng(0).normal(size=(300, d))
    contender.method(X, 1.0, 1e-2)(X[:100])
    if contender.is_ours:
        from vicinal.local_components import log_density

        for engine in ("blocked", "fused", "tree"):
            log_density(X[:100], X, covariance=1.0, engine=engine)


def keep(folder: str, timing: Timing, seconds: float) -> None:
    """Write a result at once: the process may be killed at any time."""
    written = Path(folder) / "written.npz"
    np.savez(
        written,
        evaluated=timing.queries,
        seconds=seconds,
        threads=timing.cpu_seconds / timing.seconds,
        log_density=timing.log_density[:N_CHECKED],
    )
    os.replace(written, Path(folder) / "result.npz")


# ------------------------------------------------------------------------------ data and the truth


class Mixture:
    """Gaussians of different weight, size and shape; every coordinate has mean 0, variance 1."""

    def __init__(self, d: int, seed: int = 0) -> None:
        rng = np.random.default_rng((seed, d))
        self.weights = rng.dirichlet(np.full(N_COMPONENTS, 2.0))
        centers = rng.normal(size=(N_COMPONENTS, d))
        sizes = rng.permutation(np.geomspace(0.15, 1.0, N_COMPONENTS))[:, None, None]
        shapes = 0.8 * rng.normal(size=(N_COMPONENTS, d, d)) / np.sqrt(d)
        # One factor for the shape, one that keeps a component from being flat.
        factors = sizes * np.concatenate(
            [shapes, np.tile(0.3 * np.eye(d), (N_COMPONENTS, 1, 1))], axis=2
        )
        mean = self.weights @ centers
        variances = np.square(factors).sum(axis=2) + np.square(centers - mean)
        scale = np.sqrt(self.weights @ variances)
        self.centers = (centers - mean) / scale
        self.factors = factors / scale[:, None]  # of shape (components, d, 2 d)

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Rows in random order."""
        component = rng.choice(N_COMPONENTS, size=n, p=self.weights)
        X = self.centers[component]
        for k, factor in enumerate(self.factors):
            rows = component == k
            X[rows] += rng.normal(size=(rows.sum(), factor.shape[1])) @ factor.T
        return X


class Truth(NamedTuple):
    """Of the queries that are checked."""

    log_density: np.ndarray
    neighbors: np.ndarray  # (Σ w)² / Σ w²


def oracle(Q: np.ndarray, X: np.ndarray, bandwidth: float) -> Truth:
    """The definition, in float64, some queries at a time."""
    logs, neighbors = [], []
    for start in range(0, len(Q), max(1, ORACLE_PAIRS // len(X))):
        some = Q[start : start + max(1, ORACLE_PAIRS // len(X))]
        s = sum(np.square(some[:, j, None] - X[:, j]) for j in range(X.shape[1]))
        exponents = s / (-2 * bandwidth**2)
        logs.append(logsumexp(exponents))
        neighbors.append(np.exp(2 * logs[-1] - logsumexp(2 * exponents)))
    log_norm = np.log(len(X)) + X.shape[1] * np.log(bandwidth * np.sqrt(2 * np.pi))
    return Truth(np.concatenate(logs) - log_norm, np.concatenate(neighbors))


def logsumexp(exponents: np.ndarray) -> np.ndarray:
    peak = exponents.max(axis=1)
    return peak + np.log(np.exp(exponents - peak[:, None]).sum(axis=1))


def scott(n: int, d: int) -> float:
    """Scott's rule for unit variance."""
    return n ** (-1 / (d + 4))


class Problem:
    """Points and queries of one size and dimension, drawn and written when first needed."""

    def __init__(self, n: int, d: int, n_queries: int, folder: str) -> None:
        self.n, self.d, self.n_queries, self.folder = n, d, n_queries, Path(folder)
        self._truths: dict[str, Truth] = {}

    @cached_property
    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """X and Q, in files, too."""
        mixture, rng = Mixture(self.d), np.random.default_rng((1, self.n, self.d))
        X, Q = mixture.draw(self.n, rng), mixture.draw(self.n_queries, rng)
        np.save(self.folder / "X.npy", X)
        np.save(self.folder / "Q.npy", Q)
        return X, Q

    def bandwidth(self, name: str) -> float:
        """Standard deviation of the kernels."""
        return BANDWIDTHS[name] * scott(self.n, self.d)

    def truth(self, name: str) -> Truth:
        """For the first queries; they are in random order."""
        if name not in self._truths:
            X, Q = self.points
            self._truths[name] = oracle(Q[:N_CHECKED], X, self.bandwidth(name))
        return self._truths[name]


# ------------------------------------------------------------------------------------ measurements

KEY = ("contender", "n", "d", "bandwidth", "error", "queries")


class Rows:
    """What was measured, by `KEY`; in a file as soon as it is known, so that a run can resume."""

    def __init__(self, path: str | None) -> None:
        self.path = Path(path) if path else None
        lines = self.path.read_text().splitlines() if self.path and self.path.exists() else []
        rows = [json.loads(line) for line in lines if line.strip()]
        self.rows = {tuple(row[name] for name in KEY): row for row in rows}

    def get(self, key: tuple, make: Callable[[], dict]) -> dict:
        """The row, made where it is not there."""
        if key not in self.rows:
            row = dict(zip(KEY, key, strict=True)) | make()
            if self.path:
                with self.path.open("a") as file:
                    file.write(json.dumps(row) + "\n")
            print(json.dumps(row), file=sys.stderr, flush=True)
            self.rows[key] = row
        return self.rows[key]


class Bench:
    """Measures each cell of each contender, or remembers it."""

    def __init__(self, options: argparse.Namespace, pythons: dict[str, str]) -> None:
        self.options, self.pythons = options, pythons
        self.rows = Rows(options.raw)
        self.contenders = [
            name for name in options.contenders if CONTENDERS[name].package in pythons
        ]

    def scale(self, problem: Problem, bandwidth: str) -> dict:
        """The bandwidth, and how many neighbors count in it."""

        def make() -> dict:
            neighbors = problem.truth(bandwidth).neighbors
            return {"value": problem.bandwidth(bandwidth), "neighbors": float(np.median(neighbors))}

        return self.rows.get(self.key("oracle", problem, bandwidth, 0.0), make)

    def row(self, name: str, problem: Problem, bandwidth: str, error: float) -> dict | None:
        """What a contender needs and how far off it is; None where it does not take part."""
        if not CONTENDERS[name].applies(problem.d, error):
            return None
        key = self.key(name, problem, bandwidth, error)
        return self.rows.get(key, lambda: self.measured(name, problem, bandwidth, error))

    def key(self, name: str, problem: Problem, bandwidth: str, error: float) -> tuple:
        """As in `KEY`."""
        return name, problem.n, problem.d, bandwidth, error, problem.n_queries

    def measured(self, name: str, problem: Problem, bandwidth: str, error: float) -> dict:
        """Of a fresh process; what it left, where it was killed."""
        truth, result = problem.truth(bandwidth), problem.folder / "result.npz"
        result.unlink(missing_ok=True)
        problem_words = self.run(name, problem, bandwidth, error)
        if not result.exists():
            return {"problem": problem_words or "no result"}
        with np.load(result) as found:
            out, numbers = found["log_density"], {k: float(found[k]) for k in found if k in TIMES}
        errors = relative_errors(out, truth.log_density[: len(out)])
        spread = {"max_error": float(errors.max()), "median_error": float(np.median(errors))}
        return {**numbers, **spread, "problem": ""}

    def run(self, name: str, problem: Problem, bandwidth: str, error: float) -> str:
        """Run the process; why it has not come to its end, if so."""
        contender, limit = CONTENDERS[name], self.options.limit
        job = (str(problem.folder), name, problem.bandwidth(bandwidth), error, limit)
        code = f"import json, kde\nkde.work(*{job!r})\nprint(json.dumps(None))"
        threads = "1" if contender.one_thread else str(self.options.threads)
        environment = {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        python = self.pythons[contender.package]
        limits = {} if contender.is_ours else self.limits()
        try:
            in_fresh_process(code, environment, python=python, **limits)
        except OverLimit as over:
            return f"over {limit:g} s" if str(over).startswith("over") else str(over)
        except RuntimeError as broken:
            return f"fails: {last_line(broken)}"
        return ""

    def limits(self) -> dict[str, float]:
        """Of a peer's process: the stages before the last take a ninth of it, often less."""
        return {"seconds": START_SECONDS + 2 * self.options.limit, "gigabytes": GIGABYTES}


TIMES = ("evaluated", "seconds", "threads")


def relative_errors(out: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Of the density; NaN counts as infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        errors = np.abs(np.expm1(out - truth))
    return np.where(np.isnan(errors), np.inf, errors)


# ------------------------------------------------------------------------------------------ report


class Ratio(NamedTuple):
    """The best peer's seconds by ours."""

    where: str
    error: float
    value: float
    peer: str
    lenient: float  # where peers may miss the wanted error by `NEARLY`


class Report:
    """A table for each size and dimension, then summaries."""

    def __init__(self, page: Page, bench: Bench) -> None:
        self.page, self.bench = page, bench
        self.options = bench.options
        self.ratios: dict[str, list[Ratio]] = {OURS: [], OURS_ALONE: []}
        self.seen: dict[str, list[dict]] = {name: [] for name in bench.contenders}
        self.no_peer = 0

    @property
    def ours(self) -> list[str]:
        """Ours among the contenders."""
        return [name for name in self.bench.contenders if CONTENDERS[name].is_ours]

    def add(self, problem: Problem) -> None:
        """One table."""
        tables = {name: self.measure(problem, name) for name in self.options.bandwidths}
        self.page.say(f"## n = {problem.n:,}, d = {problem.d}\n")
        ratios = [f"best peer / {name}" for name in self.ours]
        row = self.page.table(["bandwidth", "wanted", *self.bench.contenders, *ratios])
        for bandwidth, cells in tables.items():
            scale = self.bench.scale(problem, bandwidth)
            words = f"{bandwidth}, {scale['value']:.3g} ({scale['neighbors']:.3g})"
            for error in self.options.errors:
                where = f"n = {problem.n:,}, d = {problem.d}, {bandwidth}"
                times = [self.cell(name, cells, error) for name in self.bench.contenders]
                against = [self.ratio(name, cells, error, where) for name in self.ours]
                row(words, wanted(error), *times, *against)
        self.page.say()

    def measure(self, problem: Problem, bandwidth: str) -> dict[tuple[str, float], dict]:
        """Rows of a bandwidth by contender and error, those that have one."""
        found = {}
        for error, name in itertools.product(self.options.errors, self.bench.contenders):
            row = self.bench.row(name, problem, bandwidth, error)
            if row is not None:
                found[name, error] = row
                self.seen[name].append(row)
        return found

    def cell(self, name: str, cells: dict[tuple[str, float], dict], error: float) -> str:
        """Seconds and the largest error."""
        row = cells.get((name, error))
        if row is None:
            return "–"
        if row["problem"]:
            return row["problem"]
        words = f"{row['max_error']:.0e}"
        if not meets(row, error):
            words = f"{row['max_error']:.1e} ✗, median {row['median_error']:.0e}"
        return f"{estimate_mark(row)}{row['seconds']:.3g} ({words})"

    def ratio(
        self, name: str, cells: dict[tuple[str, float], dict], error: float, where: str
    ) -> str:
        """Of the best peer to ours; a peer may do more than is wanted."""
        mine = cells.get((name, error))
        if mine is None or not meets(mine, error):
            return "ours missed"
        best, lenient = (best_peer(cells, error, slack) for slack in (1.0, NEARLY))
        if best is None or lenient is None:
            self.no_peer += name == OURS
            return "no peer met it"
        value, least = best["seconds"] / mine["seconds"], lenient["seconds"] / mine["seconds"]
        self.ratios[name].append(Ratio(where, error, value, best["contender"], least))
        setting = "" if best["error"] == error else f" at {wanted(best['error'])}"
        return f"{estimate_mark(best)}{value:.2g} × {best['contender']}{setting}"

    def summary(self) -> None:
        """How often ours is fastest."""
        self.page.say("## Summary: seconds of the best peer by ours\n")
        self.page.say("Lenient: ours faster where peers count that miss the wanted error by up to")
        self.page.say(f"{NEARLY:g} times; ours may not.\n")
        columns = ["cells", "ours faster", "lenient", "median", "least", "where", "most", "where"]
        row = self.page.table(["", "wanted", *columns])
        for name in self.ours:
            for error in self.options.errors:
                some = [ratio for ratio in self.ratios[name] if ratio.error == error]
                if some:
                    row(name, wanted(error), *summary_cells(some))
        self.page.say()
        if self.no_peer:
            self.page.say(f"In {self.no_peer} cells no peer met what was wanted.\n")

    def contenders(self) -> None:
        """Who kept to the error, and how many threads worked."""
        self.page.say("## Errors and threads\n")
        self.page.say("Missed: measurements with an error above the wanted one. Worst: the largest")
        self.page.say(
            "error by the wanted one (exact: by 1e-10). Threads: time on all cores by time"
        )
        self.page.say(
            "on the clock, of what takes a second or more; below 1, others were at work.\n"
        )
        row = self.page.table(["contender", "measured", "estimated", "missed", "worst", "threads"])
        for name, rows in self.seen.items():
            row(name, *contender_cells([one for one in rows if not one["problem"]]))
        self.page.say()

    def save(self) -> None:
        """Where it was asked for."""
        if self.options.save:
            self.page.save("kde")


def best_peer(cells: dict[tuple[str, float], dict], error: float, slack: float) -> dict | None:
    """The fastest that was asked for at least this, and gave it but for some slack."""
    rows = [row for row in cells.values() if not CONTENDERS[row["contender"]].is_ours]
    peers = [row for row in rows if row["error"] <= error and meets(row, error, slack)]
    return min(peers, key=lambda row: row["seconds"], default=None)


def meets(row: dict, error: float, slack: float = 1.0) -> bool:
    return not row["problem"] and row["max_error"] <= slack * max(error, EXACT)


def estimate_mark(row: dict) -> str:
    return "" if row["evaluated"] == row["queries"] else "~"


def wanted(error: float) -> str:
    return f"{error:.0e}" if error else "exact"


def summary_cells(some: Sequence[Ratio]) -> list[str]:
    least, most = (pick(some, key=lambda ratio: ratio.value) for pick in (min, max))
    faster, lenient = (
        sum(value > 1 for value in values)
        for values in zip(*((one.value, one.lenient) for one in some), strict=True)
    )
    middle = float(np.median([ratio.value for ratio in some]))
    ends = [cell for end in (least, most) for cell in (f"{end.value:.2g} ×", place(end))]
    return [str(len(some)), str(faster), str(lenient), f"{middle:.2g} ×", *ends]


def place(ratio: Ratio) -> str:
    return f"{ratio.where} ({ratio.peer})"


def contender_cells(rows: Sequence[dict]) -> list[str]:
    if not rows:
        return ["0", "", "", "", ""]
    estimated = sum(row["evaluated"] < row["queries"] for row in rows)
    missed = sum(not meets(row, row["error"]) for row in rows)
    worst = max(row["max_error"] / max(row["error"], EXACT) for row in rows)
    long = [row["threads"] for row in rows if row["seconds"] >= 1]
    threads = f"{min(long):.1f} to {max(long):.1f}" if long else "–"
    return [str(len(rows)), str(estimated), str(missed), f"{worst:.2g} ×", threads]


PROTOCOL = """
Seconds to make ready and to answer {n_queries:,} density queries, Gaussian kernels of one
bandwidth, float64; in parentheses the largest relative error of the density, measured on
{n_checked} of the queries against the definition in float64. **✗**: the error is above the wanted
one, or, where exact is wanted, above {exact:g}; then the median is given, too. **~**: estimated,
see below. **–**: does not apply.

Data: {n_components} Gaussians with different weights, sizes and shapes, each coordinate of
variance 1; the queries are from the same distribution. Bandwidths: Scott's rule, n^(-1/(d+4)),
times {bandwidths}. In parentheses how many neighbors count, (Σ w)² / Σ w²,
the median of {n_checked} queries.

"Best peer / vicinal": seconds of the fastest peer that was asked for the wanted error, or for less,
and had it when measured, by ours, which was asked for just that. Above 1 ours is faster. A ratio
with ~ has an estimate in it.

Every measurement is a process of its own, in which small problems are solved first: numba's
compiler and the loading of libraries do not count, nor does passing the data. What takes less than
{brief:g} s is timed three times, and the shortest counts. Peers first answer a hundredth of the
queries, then a tenth, then all, as long as the next step is expected to take no more than
{limit:g} s; where it is, seconds are extrapolated in a straight line from one query and the last
step (~), which is rough, and the error may be that of fewer queries, too. Peers are killed after
{killed:g} s in all.

Threads: "vicinal" has {threads}, "vicinal, 1 thread" has one (OMP_NUM_THREADS=1). The peers have
the same environment as "vicinal", but use one thread as far as measured; see the last table.

- vicinal: `log_density(Q, X, covariance=bandwidth**2, tolerance=wanted)`, engine chosen by itself.
- scikit-learn: `KernelDensity(algorithm="kd_tree", rtol=wanted, atol=0)`, other settings default.
- SciPy: `gaussian_kde` with its covariance replaced by a round one; `evaluate`, which is faster
  than `logpdf`. Always exact.
- KDEpy TreeKDE: has no relative error. Kernels are cut off (`eps`) where all n of them together
  would be the wanted error of one at its center, at most at 8 bandwidths, as far as it goes. The
  2.2e-16 that KDEpy adds to every density is subtracted.
- KDEpy FFTKDE: up to d = 3 and down to {fft_error:g}, because it cuts its kernels off at 1e-4 (its
  value in one dimension). A grid over points and queries with steps of √wanted bandwidths, but at
  most {fft_most} points along each axis for d = {fft_d}; linear interpolation (SciPy's
  RegularGridInterpolator) to the queries.
- mlpack: `kde(kernel="gaussian", tree="kd-tree", rel_error=wanted, abs_error=0)`, with
  algorithm="dual-tree" and "single-tree". It reorders the arrays it is given: the copies made for
  it count as part of its time.
"""


def protocol(options: argparse.Namespace) -> str:
    return PROTOCOL.strip().format(
        n_queries=options.queries,
        n_checked=N_CHECKED,
        exact=EXACT,
        n_components=N_COMPONENTS,
        bandwidths=", ".join(f"{factor:g} ({name})" for name, factor in BANDWIDTHS.items()),
        brief=BRIEF,
        limit=options.limit,
        killed=START_SECONDS + 2 * options.limit,
        threads=options.threads,
        fft_error=FFT_LEAST_ERROR,
        fft_most=", ".join(map(str, FFT_MOST.values())),
        fft_d=", ".join(map(str, FFT_MOST)),
    )


# ---------------------------------------------------------------------------------- high dimension

HIGH_N, HIGH_D, HIGH_QUERIES = 10_000, 64, 200
HIGH_FACTORS = (1.0, 0.5, 0.25)  # times Scott's rule
WRONG = 0.01  # nats


def high_methods(X: np.ndarray, bandwidth: float) -> dict[str, Density]:
    """Log-densities, where nothing has to be fast."""
    from sklearn.neighbors import KernelDensity

    def tree(**settings: Any) -> Density:
        return KernelDensity(bandwidth=bandwidth, **settings).fit(X).score_samples

    model = isotropic_gaussian_kde(X, bandwidth)
    return {
        "vicinal": vicinal(X, bandwidth, 0.0),
        "vicinal, 1e-4": vicinal(X, bandwidth, 1e-4),
        "scikit-learn": tree(),
        "depth first": tree(breadth_first=False),
        "rtol 1e-4": tree(rtol=1e-4),
        "ball tree": tree(algorithm="ball_tree"),
        "leaf_size n": tree(leaf_size=len(X)),
        "SciPy logpdf": lambda Q: model.logpdf(Q.T),
        "SciPy log(pdf)": lambda Q: log_of(model.evaluate(Q.T)),
    }


def high_queries(X: np.ndarray, new: np.ndarray, bandwidth: float) -> dict[str, np.ndarray]:
    """Near the points, and from the same distribution."""
    noise = np.random.default_rng(2).normal(size=new.shape)
    return {"near points": X[: len(new)] + 0.1 * bandwidth * noise, "new": new}


def high_dimension(page: Page) -> None:
    page.say(HIGH.strip().format(n=HIGH_N, d=HIGH_D, m=HIGH_QUERIES, wrong=WRONG))
    page.say()
    mixture, rng = Mixture(HIGH_D), np.random.default_rng(1)
    X, new = mixture.draw(HIGH_N, rng), mixture.draw(HIGH_QUERIES, rng)
    methods = list(high_methods(X[:500], 1.0))
    row = page.table(["bandwidth", "queries", "depth", *methods])
    for factor in HIGH_FACTORS:
        bandwidth = factor * scott(HIGH_N, HIGH_D)
        for name, Q in high_queries(X, new, bandwidth).items():
            row(f"{bandwidth:.3g} ({factor:g} × Scott)", name, *high_cells(X, Q, bandwidth))
    page.say()


def high_cells(X: np.ndarray, Q: np.ndarray, bandwidth: float) -> Iterator[str]:
    """How deep the queries are, and errors in nats."""
    truth = oracle(Q, X, bandwidth).log_density
    # 0: all points at the query.
    depth = truth + X.shape[1] * np.log(bandwidth * np.sqrt(2 * np.pi))
    yield f"{depth.min():.0f}, {np.median(depth):.0f}, {depth.max():.0f}"
    for density in high_methods(X, bandwidth).values():
        errors = np.abs(density(Q) - truth)
        wrong = f", {np.mean(errors > WRONG):.0%} wrong" if errors.max() > WRONG else ""
        yield f"{errors.max():.2g} ({np.median(errors):.2g}{wrong})"


HIGH = """
## d = {d}: errors of the log-density

n = {n:,}, {m} queries. Errors in nats: the largest, the median, and how many queries are wrong by
more than {wrong:g}. "Near points": points of the data moved by a tenth of the bandwidth along each
axis; "new": from the same distribution. Depth: log-density less that of all points at the query;
lowest, median, highest. vicinal, 1e-4: with that tolerance.

"scikit-learn" is `KernelDensity` with default settings (rtol = atol = 0, meant to be exact); the
four columns after it change the setting they name. Its trees begin with bounds for all points and,
on the way down, subtract those of a node and add those of its children. What rounding leaves of
the first bounds, about log(2^-53) = -37 below them, stays in the result: it often takes the place
of a density that is deeper, and spoils digits of others by its share. That is a matter of depth,
not of dimension, but in high dimension many queries are deep. A difference below zero
counts as nothing and can end the search too early. rtol does not bound these errors; a single leaf
(leaf_size = n) avoids them. Compare scikit-learn's issues 7492, 25799 and 27186.
"""


# ------------------------------------------------------------------------------------------- start


VERSIONS = """
import importlib.metadata, json
def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
print(json.dumps({{name: version(name) for name in {names!r}}}))
"""


def interpreters(page: Page, options: argparse.Namespace) -> dict[str, str]:
    """Which interpreter has which package; this one where it can."""
    packages = sorted({CONTENDERS[name].package for name in options.contenders})
    pythons = {name: sys.executable for name in packages if is_here(name)}
    others = [name for name in packages if name not in pythons]
    if others and options.peers:
        names = [*others, "numpy", "scipy"]
        found = in_fresh_process(VERSIONS.format(names=names), python=options.peers)
        pythons |= {name: options.peers for name in others if found[name]}
        versions = ", ".join(f"{name} {version}" for name, version in found.items() if version)
        page.say(f"The peers' environment: {versions}.\n")
    missing = [name for name in packages if name not in pythons]
    if missing:
        page.say(f"Not installed and left out: {', '.join(missing)}.\n")
    return pythons


def is_here(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def hide_paths(words: Sequence[str]) -> list[str]:
    """The command line without the names of folders of this machine."""
    names = {"--peers": "PYTHON", "--raw": "FILE"}
    before = ["", *words[:-1]]
    return [names.get(last, word) for last, word in zip(before, words, strict=True)]


def parse() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--n", type=int, nargs="+", default=SIZES)
    parser.add_argument("--d", type=int, nargs="+", default=DIMENSIONS)
    parser.add_argument("--bandwidths", nargs="+", choices=list(BANDWIDTHS), default=[*BANDWIDTHS])
    parser.add_argument("--errors", type=float, nargs="+", default=ERRORS, help="0: exact")
    parser.add_argument("--contenders", nargs="+", choices=list(CONTENDERS), default=[*CONTENDERS])
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--threads", type=int, default=2, help="ours, but for one column")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a peer")
    parser.add_argument("--peers", metavar="PYTHON", help="of an environment that has them")
    parser.add_argument("--raw", metavar="FILE", help="JSON lines; rows in it are not run again")
    parser.add_argument("--folder", help="where the data is written and deleted again")
    parser.add_argument("--no-high", action="store_true", help=f"leave d = {HIGH_D} out")
    return parser.parse_args()


def main() -> None:
    options = parse()
    sys.argv = hide_paths(sys.argv)
    page = Page("Density queries against peers")
    report = Report(page, Bench(options, interpreters(page, options)))
    page.say(protocol(options) + "\n")
    for d, n in itertools.product(options.d, options.n):
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            report.add(Problem(n, d, options.queries, folder))
    report.summary()
    report.contenders()
    if not options.no_high:
        high_dimension(page)
    report.save()


if __name__ == "__main__":
    main()
