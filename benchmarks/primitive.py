"""Time per pair of the rows and columns passes, against plain NumPy and the machine's own limits.

python -m benchmarks.primitive [--quick] [--save]
"""

import os
import tempfile

import numpy as np

from benchmarks.common.children import in_fresh_process
from benchmarks.common.command import arguments
from benchmarks.common.pages import Page
from benchmarks.common.timing import best_time
from benchmarks.common.yardsticks import gemm_rate, numpy_time
from vicinal.neighborhood import GAUSSIAN, Pairs
from vicinal.neighborhood.blocked import BlockedEngine
from vicinal.neighborhood.fused import FusedEngine

ALL_CORES = os.cpu_count() or 1


def points(n, d, dtype):
    """A cloud in which every point has some tens of neighbors that count."""
    return (1.2 * np.random.default_rng(d).normal(size=(n, d))).astype(dtype)


def engine_times(engine, pairs, repeats):
    """Seconds of the rows pass and of the columns pass."""
    log_slope = engine.rows(pairs, GAUSSIAN).finish().log_slope
    ones = np.ones_like(log_slope)
    return (
        best_time(lambda: engine.rows(pairs, GAUSSIAN), repeats),
        best_time(lambda: engine.columns(pairs, GAUSSIAN, log_slope, ones), repeats),
    )


def fused_table(page, n, repeats):
    page.say(f"## fused against plain NumPy, n = {n}, one core, nanoseconds per pair\n")
    page.say("Both passes together, without labels and with 10 classes. `bound`: what the machine")
    page.say(
        "allows if each of 3 d + 20 vector operations per pair and pass took as long as one of"
    )
    page.say("its matrix product.\n")
    page.say(
        "Ratios of 3 (float64) and 4 (float32) were asked for. The loop without labels came first,"
    )
    page.say("and fell short; the one with labels, NCA's own job, was added after that was seen.\n")
    header = ["precision", "d", "rows", "columns", "both", "NumPy", "ratio"]
    row = page.table([*header, "10 classes", "NumPy", "ratio", "bound"])
    labels = np.random.default_rng(0).integers(0, 10, n)
    for dtype in (np.float64, np.float32):
        rate = gemm_rate(dtype, 1)
        for d in range(2, 9):
            Z = points(n, d, dtype)
            rows, columns = engine_times(FusedEngine(1), Pairs.among(Z), repeats)
            labeled = sum(engine_times(FusedEngine(1), Pairs.among(Z, labels), repeats))
            plain, plain_labeled = (numpy_time(Z, y, max(1, repeats - 1)) for y in (None, labels))
            times = (rows, columns, rows + columns, plain, labeled, plain_labeled)
            ns = [f"{seconds * 1e9 / n**2:.2f}" for seconds in times]
            ratios = [f"{p / t:.1f} ×" for p, t in ((plain, times[2]), (plain_labeled, labeled))]
            bound = f"{2 * (3 * d + 20) / (rate / 2) * 1e9:.2f}"
            row(np.dtype(dtype).name, d, *ns[:4], ratios[0], *ns[4:], ratios[1], bound)
    page.say()


def blocked_table(page, n, repeats):
    page.say(f"## blocked against the machine's GEMM, n = {n}, all cores, 4 n² d flops per pass\n")
    row = page.table(["precision", "d", "GEMM, GFLOP/s", "rows", "columns", "rows, 10 classes"])
    for dtype in (np.float64, np.float32):
        rate = gemm_rate(dtype, ALL_CORES)
        for d in (16, 32, 64, 128, 256):
            Z = (points(n, d, dtype) / np.sqrt(d)).astype(dtype)
            labels = np.random.default_rng(0).integers(0, 10, n)
            plain = engine_times(BlockedEngine(ALL_CORES), Pairs.among(Z), repeats)
            labeled = engine_times(BlockedEngine(ALL_CORES), Pairs.among(Z, labels), repeats)
            share = [f"{4 * n**2 * d / t / rate:.0%}" for t in (*plain, labeled[0])]
            row(np.dtype(dtype).name, d, f"{rate / 1e9:.0f}", *share)
    page.say()


def crossover_table(page, n, repeats):
    page.say(f"## where auto switches, n = {n}, 10 classes, all cores, ns per pair, both passes\n")
    dimensions = (4, 8, 12, 16, 20, 24, 28, 32, 40)
    row = page.table(["precision", "engine", *(f"d = {d}" for d in dimensions)])
    for dtype in (np.float64, np.float32):
        times = {}
        for engine in (FusedEngine(ALL_CORES), BlockedEngine(ALL_CORES)):
            for d in dimensions:
                labels = np.random.default_rng(0).integers(0, 10, n)
                pairs = Pairs.among(points(n, d, dtype), labels)
                times[engine.name, d] = sum(engine_times(engine, pairs, repeats)) * 1e9 / n**2
            cells = (f"{times[engine.name, d]:.2f}" for d in dimensions)
            row(np.dtype(dtype).name, engine.name, *cells)
        faster = [d for d in dimensions if times["fused", d] <= times["blocked", d]]
        last = f"d = {faster[-1]}" if faster else "nowhere"  # other work on the machine can do that
        row(np.dtype(dtype).name, "fused is faster up to", last, *[""] * (len(dimensions) - 1))
    page.say()


FIRST_CALL = """
import json, time
import numpy as np
from vicinal.neighborhood import GAUSSIAN, Pairs, Workload, choose_engine
Z = np.random.default_rng(0).normal(size=({n}, 3))
start = time.perf_counter()
engine, _ = choose_engine("{engine}", Workload({n}, {n}, 3))
rows = engine.rows(Pairs.among(Z), GAUSSIAN).finish()
engine.columns(Pairs.among(Z), GAUSSIAN, rows.log_slope, np.ones_like(rows.log_slope))
print(json.dumps(time.perf_counter() - start))
"""


def first_call_table(page):
    page.say("## first call in a fresh process, seconds for both passes, compiler included\n")
    row = page.table(["case", "seconds"])
    with tempfile.TemporaryDirectory() as folder:
        cache = {"NUMBA_CACHE_DIR": folder}
        for case, engine in (
            ("fused, n = 1000, nothing cached", "fused"),
            ("fused, n = 1000, from the cache on disk", "fused"),
            ("auto, n = 1000 (NumPy, no compiler)", "auto"),
        ):
            row(case, f"{in_fresh_process(FIRST_CALL.format(n=1000, engine=engine), cache):.2f}")
    page.say()


def main():
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="small n, to see that it runs")
    options = parser.parse_args()
    page = Page("The primitive: time per pair")
    n, m, repeats = (2000, 2000, 1) if options.quick else (20_000, 12_000, 3)
    first_call_table(page)
    fused_table(page, n, repeats)
    blocked_table(page, m, repeats)
    crossover_table(page, m, repeats)
    if options.save:
        page.save("primitive")


if __name__ == "__main__":
    main()
