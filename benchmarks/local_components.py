"""Local components: E-steps saved by acceleration, time of an EM step, a million points.

    python -m benchmarks.local_components [--n 1000000] [--save]

Needs usps (set VICINAL_DATA). The last part runs in a fresh process and watches its memory.
"""

import os
from collections.abc import Callable, Iterator
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_blobs

from benchmarks.common.children import in_fresh_process
from benchmarks.common.command import arguments
from benchmarks.common.pages import Page
from benchmarks.common.timing import best_time
from benchmarks.common.yardsticks import gemm_rate, numpy_time
from vicinal import LocalComponents, datasets
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components import learning
from vicinal.local_components.equations import Shape, expected_scatter
from vicinal.neighborhood import Engine, Workload, choose_engine

ALL_CORES = os.cpu_count() or 1


def e_steps(X: NDArray, accelerate: bool) -> NDArray:
    """Penalized likelihood of every E-step made, those of rejected extrapolations included."""
    objectives: list[float] = []
    original = learning.LocalProblem._visit

    def counted(problem: learning.LocalProblem, *args: object) -> tuple[float, NDArray]:
        value, following = original(problem, *args)
        objectives.append(value)
        return value, following

    with patch.object(learning.LocalProblem, "_visit", counted):
        LocalComponents(accelerate=accelerate, tol=1e-12, max_iter=3000).fit(X)
    return np.maximum.accumulate(objectives)


def acceleration_table(page: Page) -> None:
    page.say("## E-steps until the objective is within 1e-6 and 1e-9 of the optimum\n")
    page.say("The optimum is the lower of those that both runs reach: there are several, and the")
    page.say("last column says how much higher the accelerated one ends. Every E-step counts, also")
    page.say("those of extrapolations that were not kept. usps: 1000 rows, the first ones or drawn")
    page.say("with a seed, in 30 principal components.\n")
    row = page.table(["data", "plain EM", "SQUAREM", "ratio", "SQUAREM ends higher by"])
    for name, X in acceleration_cases():
        plain, fast = e_steps(X, False), e_steps(X, True)
        target = min(plain[-1], fast[-1])
        counts = [
            [int((run >= target - gap).argmax()) + 1 for gap in (1e-6, 1e-9)]
            for run in (plain, fast)
        ]
        ratios = " / ".join(f"{p / f:.1f} ×" for p, f in zip(*counts, strict=True))
        cells = ("{} / {}".format(*count) for count in counts)
        row(name, *cells, ratios, f"{fast[-1] - plain[-1]:.1e}")
    page.say()


def acceleration_cases() -> Iterator[tuple[str, NDArray]]:
    for name in ("iris", "wine"):
        yield name, datasets.load(name).data
    usps = datasets.load("usps").data.astype(float)
    yield "usps, first rows", leading_components(usps[:1000], 30)
    for seed in range(4):
        rows = np.random.default_rng(seed).choice(len(usps), 1000, replace=False)
        yield f"usps, seed {seed}", leading_components(usps[rows], 30)


def leading_components(X: NDArray, n: int) -> NDArray:
    return (X - X.mean(axis=0)) @ np.linalg.eigh(np.cov(X.T))[1][:, -n:]


def step_time(X: NDArray, engine: Engine) -> Callable[[], object]:
    points = WeightedPoints(X - X.mean(axis=0))
    shape = Shape.of(0.3 * np.cov(points.X.T) + 1e-3 * np.eye(X.shape[1]))
    return lambda: expected_scatter(shape, engine, points)


def gemm_table(page: Page) -> None:
    page.say("## One EM step, n = 6000, d = 256 (usps), all cores, float64\n")
    page.say("Limit: the matrix products it cannot do without, at the machine's rate: distances in")
    page.say("the rows and in the columns pass and the moments of the rows, 6 n² d operations.\n")
    X = datasets.load("usps").data[:6000].astype(float)
    n, d = X.shape
    engine, _ = choose_engine("auto", Workload(n, n, d, 500))
    rate = gemm_rate(np.float64, ALL_CORES)
    seconds = best_time(step_time(X, engine), 5)
    limit = 6 * n * n * d / rate
    row = page.table(["engine", "GEMM, GFLOP/s", "limit, s", "EM step, s", "ratio"])
    row(
        engine.name, f"{rate / 1e9:.0f}", f"{limit:.2f}", f"{seconds:.2f}", f"{seconds / limit:.2f}"
    )
    page.say()


def fused_table(page: Page) -> None:
    page.say("## One EM step, n = 20 000, d = 5\n")
    page.say("NumPy: the same two passes by tiles of matrix products, one core.\n")
    n, d = 20_000, 5
    X = make_blobs(n, d, centers=20, random_state=0)[0]
    row = page.table(["engine", "threads", "EM step, s", "ns per pair"])
    for name in ("fused", "blocked"):
        for threads in (1, ALL_CORES):
            engine, _ = choose_engine(name, Workload(n, n, d, 500), threads)
            seconds = best_time(step_time(X, engine), 3)
            row(name, threads, f"{seconds:.2f}", f"{seconds / n**2 * 1e9:.2f}")
    Z = 1.2 * np.random.default_rng(5).normal(size=(n, d))
    seconds = numpy_time(Z, None, 2)
    row("NumPy", 1, f"{seconds:.2f}", f"{seconds / n**2 * 1e9:.2f}")
    page.say()


MILLION = """
import json, time
import numpy as np
from benchmarks.common.memory import MemoryWatch
from vicinal import LocalComponents
rng = np.random.default_rng(0)
n, d = {n}, 10
centers, scales = rng.normal(size=(50, d)) * 4, rng.uniform(0.3, 1.5, size=(50, d))
def draw(n):
    which = rng.integers(0, 50, n)
    return centers[which] + scales[which] * rng.normal(size=(n, d))
X, test = draw(n), draw(2000)
LocalComponents(batch_size=500, n_neighbors=500, max_iter=2).fit(X[:2000])  # compile
start = time.perf_counter()
with MemoryWatch() as watch:
    model = LocalComponents({settings}random_state=0).fit({rows})
    fitted = time.perf_counter() - start
    score = model.score(test)
print(json.dumps([fitted, watch.above, model.n_iter_, score, X.nbytes / 1e6]))
"""


def million_table(page: Page, n: int) -> None:
    page.say(f"## n = {n:,}, d = 10: stochastic EM\n")
    page.say("50 Gaussian clouds. Memory is what the fit and the score of 2000 new points add to")
    page.say("the data, in a fresh process. Exact EM visits n² pairs in every step: not run on all")
    page.say("rows, but on the first 20 000.\n")
    row = page.table(["fit", "updates", "seconds", "memory, MB", "data, MB", "held-out likelihood"])
    cases = (
        (
            "B = 1000, N = 3000, 5 passes, γ = 0.6",
            f"batch_size=1000, n_neighbors=3000, max_iter={n // 200}, ",
            "X",
        ),
        (
            "B = 1000, N = 30 000, 1 pass, γ = 0.01",
            f"batch_size=1000, n_neighbors=30000, max_iter={n // 1000}, discount=0.01, ",
            "X",
        ),
        ("exact EM, 20 000 rows", "", "X[:20000]"),
    )
    for name, settings, rows in cases:
        found = in_fresh_process(MILLION.format(n=n, settings=settings, rows=rows))
        seconds, memory, updates, score, size = found
        row(name, updates, f"{seconds:.0f}", f"{memory:.0f}", f"{size:.0f}", f"{score:.4f}")
    page.say()


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--n", type=int, default=1_000_000, help="points of the last part")
    options = parser.parse_args()
    page = Page("Local components: speed")
    acceleration_table(page)
    gemm_table(page)
    fused_table(page)
    million_table(page, options.n)
    if options.save:
        page.save("local_components")


if __name__ == "__main__":
    main()
