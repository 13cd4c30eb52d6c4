"""What runs in the process of a measurement, in any environment: NumPy is all it needs."""

import os
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.common.arrays import read_array
from benchmarks.kde.contenders import CONTENDERS, Contender, Method

BRIEF = 2.0  # seconds: what takes less is timed three times
N_CHECKED = 200  # queries compared with the oracle


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
    X, Q = (read_array(folder, name) for name in ("X", "Q"))
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
