"""What more threads gain: passes of the engines, updates of batches, a whole fit.

    python -m benchmarks.threads [--threads 1 2 4 8 16] [--parts passes fits] [--quick] [--save]

Milliseconds, the best of some, and how many times the speed of one thread that is. As a ceiling,
such passes in as many processes, which share nothing but the machine, each on one thread: how many
times the rate of one process all of them have together. Threads: powers of two up to the cores that
this process may use, by default. About four minutes on 16 cores.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from multiprocessing import get_context
from typing import Any, NamedTuple

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from benchmarks.common.command import arguments
from benchmarks.common.pages import Page
from benchmarks.common.timing import best_brief_time, seconds_of
from vicinal import NeighborhoodComponents
from vicinal.neighborhood import GAUSSIAN, Pairs
from vicinal.neighborhood.blocked import BlockedEngine
from vicinal.neighborhood.fused import FusedEngine
from vicinal.neighborhood.threads import computing

ENGINES = {"fused": FusedEngine, "blocked": BlockedEngine}
N_CLASSES = 10

# Seconds of one run beyond which it is not repeated.
LONG = 2.0
REPEATS = 7

# Seconds in which processes that begin together must all be there; one may have failed.
PATIENCE = 120.0

# Rows of batched NCA, the updates that are timed, and those before them, start included.
N_ROWS, N_COLUMNS = 60_000, 784
UPDATES, UPDATES_BEFORE = 100, 10


class Case(NamedTuple):
    """Rows and columns pass of n points; processes take fewer, which takes less time."""

    engine: str
    n: int
    d: int
    n_apart: int

    def __str__(self) -> str:
        return f"`{self.engine}`, n = {self.n:,}, d = {self.d}"

    def smaller(self) -> "Case":
        """A tenth of it, to see that it runs."""
        return self._replace(n=self.n // 10, n_apart=self.n_apart // 10)


CASES = (
    Case("fused", 40_000, 5, 20_000),
    Case("blocked", 20_000, 64, 10_000),
    Case("blocked", 4000, 64, 4000),
)


def both_passes(engine: str, n: int, d: int, n_threads: int) -> Callable[[], None]:
    """As an objective and its gradient need them; kernels are compiled, or loaded, beforehand."""
    rng, worker = np.random.default_rng(0), ENGINES[engine](n_threads)
    points, labels = rng.normal(size=(n, d)) / np.sqrt(2 * d), rng.integers(0, N_CLASSES, n)

    def passes(among: slice = slice(None)) -> None:
        pairs = Pairs.among(points[among], labels[among])
        log_slope = worker.rows(pairs, GAUSSIAN).finish().log_slope
        worker.columns(pairs, GAUSSIAN, log_slope, np.ones_like(log_slope))

    passes(slice(200))
    return passes


def pass_time(case: Case, n_threads: int) -> float:
    """Seconds on threads of one process."""
    with computing(n_threads):
        work = both_passes(case.engine, case.n, case.d, n_threads)
        return best_brief_time(work, REPEATS, LONG)


# In a worker process: where as many as begin at once wait for each other.
_starts: dict[int, Any] = {}


def know_starts(starts: dict[int, Any]) -> None:
    """Tell a worker process, while it is started: nothing else can be handed a barrier."""
    _starts.update(starts)


def pass_time_apart(case: Case, n_processes: int) -> float:
    """Seconds in one of the processes, all of which begin at the same time."""
    work = both_passes(case.engine, case.n_apart, case.d, 1)
    _starts[n_processes].wait(PATIENCE)
    return seconds_of(work)


@contextmanager
def processes(counts: Sequence[int]) -> Iterator[Callable[[Case, int], float]]:
    """Function of a case and a number of processes: seconds until the last of them is through."""
    spawn = get_context("spawn")
    starts = {count: spawn.Barrier(count) for count in counts}
    with spawn.Pool(max(counts), know_starts, (starts,)) as pool:

        def once(case: Case, count: int) -> float:
            return max(pool.starmap(pass_time_apart, [(case, count)] * count, chunksize=1))

        yield lambda case, count: min(once(case, count) for _ in range(2))


@cache
def labeled_rows(n_rows: int) -> tuple[NDArray, NDArray]:
    """As many and as wide as mnist."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, N_COLUMNS)).astype(np.float32)
    y = rng.integers(0, N_CLASSES, n_rows)
    X[:, :20] += 0.3 * y[:, None]
    return X, y


def updates_time(n_rows: int, n_threads: int) -> float:
    """Seconds of one update of batched NCA: of many, less those of a few and their start."""
    X, y = labeled_rows(n_rows)

    def fit(updates: int) -> None:
        model = NeighborhoodComponents(
            5, random_state=0, max_iter=updates, engine="fused", regularization=1e-5,
            n_jobs=n_threads,
        )  # fmt: skip
        model.fit(X, y)

    fit(1)  # compiles
    few, many = (seconds_of(partial(fit, UPDATES_BEFORE + more)) for more in (0, UPDATES))
    return (many - few) / UPDATES


def digits_time(n_threads: int) -> float:
    """Seconds of a fit with all defaults but the dimension."""
    X, y = load_digits(return_X_y=True)
    model = NeighborhoodComponents(2, random_state=0, n_jobs=n_threads)
    model.fit(X[:300], y[:300])  # compiles
    return best_brief_time(lambda: model.fit(X, y), 2, LONG)


def with_gains(seconds: Sequence[float]) -> list[str]:
    """Milliseconds, and how many times the speed of the first."""
    return [
        f"{1e3 * one:.3g}" + (f" ({seconds[0] / one:.1f} ×)" if place else "")
        for place, one in enumerate(seconds)
    ]


def rates(seconds: Sequence[float], counts: Sequence[int]) -> list[str]:
    """Of several processes together, relative to the first number of them."""
    first = counts[0] / seconds[0]
    return [f"{k / one / first:.1f} ×" for k, one in zip(counts, seconds, strict=True)]


def write_passes(row: Callable[..., None], counts: Sequence[int], quick: bool) -> None:
    """Passes, each with its ceiling."""
    cases = [case.smaller() if quick else case for case in CASES]
    with processes(counts) as time_apart:
        for case in cases:
            row(str(case), *with_gains([pass_time(case, k) for k in counts]))
            ceiling = rates([time_apart(case, k) for k in counts], counts)
            row(f"as many processes, n = {case.n_apart:,} in each", *ceiling)


def write_fits(row: Callable[..., None], counts: Sequence[int], quick: bool) -> None:
    """What fits are made of, and a whole one."""
    n_rows = N_ROWS // 10 if quick else N_ROWS
    updates = with_gains([updates_time(n_rows, k) for k in counts])
    row(f"NCA, an update of 2000 of {n_rows:,} × {N_COLUMNS} → 5", *updates)
    row("NCA, digits → 2, a whole fit", *with_gains([digits_time(k) for k in counts]))


PARTS = {"passes": write_passes, "fits": write_fits}


def main() -> None:
    """Print the page."""
    cores = joblib.cpu_count()
    parser = arguments(__doc__)
    powers = [k for k in (1, 2, 4, 8, 16) if k <= cores]
    parser.add_argument("--threads", type=int, nargs="+", default=powers)
    parser.add_argument("--quick", action="store_true", help="few points, to see that it runs")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    page = Page("The gain from more threads")
    page.say(
        f"Both passes (rows and columns) in float64, with {N_CLASSES} classes; batches in float32. "
        f"This process may use {cores} cores.\n"
    )
    warnings.simplefilter("ignore", ConvergenceWarning)
    row = page.table(("ms", *(f"{k} thread{'s' * (k > 1)}" for k in options.threads)))
    for part in options.parts:
        PARTS[part](row, options.threads, options.quick)
    if options.save:
        page.save("threads")


if __name__ == "__main__":
    main()
