"""Measures each cell of each contender, or remembers it."""

import argparse
import json
import sys
from collections.abc import Callable

import numpy as np

from benchmarks.common.children import OverLimit, call_apart, last_line
from benchmarks.common.records import Records
from benchmarks.kde.contenders import CONTENDERS
from benchmarks.kde.problems import Problem
from benchmarks.kde.process import work

START_SECONDS = 20.0  # for a process to start, to load the data and to warm up
GIGABYTES = 16.0
TIMES = ("evaluated", "seconds", "threads")
KEY = ("contender", "n", "d", "bandwidth", "error", "queries")


class Bench:
    """Measures each cell of each contender, or remembers it."""

    def __init__(self, options: argparse.Namespace, pythons: dict[str, str]) -> None:
        self.options, self.pythons = options, pythons
        self.records = Records(options.raw, KEY)
        self.contenders = [
            name for name in options.contenders if CONTENDERS[name].package in pythons
        ]

    def scale(self, problem: Problem, bandwidth: str) -> dict:
        """The bandwidth, and how many neighbors count in it."""

        def make() -> dict:
            neighbors = problem.truth(bandwidth).neighbors
            return {"value": problem.bandwidth(bandwidth), "neighbors": float(np.median(neighbors))}

        return self.known(self.key("oracle", problem, bandwidth, 0.0), make)

    def row(self, name: str, problem: Problem, bandwidth: str, error: float) -> dict | None:
        """What a contender needs and how far off it is; None where it does not take part."""
        if not CONTENDERS[name].applies(problem.d, error):
            return None
        key = self.key(name, problem, bandwidth, error)
        return self.known(key, lambda: self.measured(name, problem, bandwidth, error))

    def known(self, key: tuple, make: Callable[[], dict]) -> dict:
        """The row, made where it is not there."""
        row = self.records.get(key)
        if row is None:
            row = self.records.add(dict(zip(KEY, key, strict=True)) | make())
            print(json.dumps(row), file=sys.stderr, flush=True)
        return row

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
        threads = "1" if contender.one_thread else str(self.options.threads)
        environment = {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        python = self.pythons[contender.package]
        limits = {} if contender.is_ours else self.limits()
        try:
            call_apart(work, *job, environment=environment, python=python, **limits)
        except OverLimit as over:
            return f"over {limit:g} s" if str(over).startswith("over") else str(over)
        except RuntimeError as broken:
            return f"fails: {last_line(broken)}"
        return ""

    def limits(self) -> dict[str, float]:
        """Of a peer's process: the stages before the last take a ninth of it, often less."""
        return {"seconds": START_SECONDS + 2 * self.options.limit, "gigabytes": GIGABYTES}


def relative_errors(out: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Of the density; NaN counts as infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        errors = np.abs(np.expm1(out - truth))
    return np.where(np.isnan(errors), np.inf, errors)
