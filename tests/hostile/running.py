"""A long run: ``python -m tests.hostile --cases 100000``."""

import argparse
import importlib
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

KINDS = ("estimators", "functions", "model_files", "command_lines")
_CHUNK = 50


def _check_chunk(kind: str, first: int, n: int) -> list[str]:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    check = importlib.import_module(f"tests.hostile.{kind}").check
    return [violation for case in range(first, first + n) for violation in check(case)]


def main() -> int:
    """Run cases in processes, print violations as they come, and a line in the end."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--kind", choices=KINDS, default="estimators")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    began, n_found, n_done = time.perf_counter(), 0, 0
    last = asked.first + asked.cases
    with ProcessPoolExecutor(asked.processes) as pool:
        chunks = {
            pool.submit(_check_chunk, asked.kind, first, min(_CHUNK, last - first)): first
            for first in range(asked.first, last, _CHUNK)
        }
        for chunk in as_completed(chunks):
            n_done += min(_CHUNK, last - chunks[chunk])
            for violation in chunk.result():
                n_found += 1
                print(violation, flush=True)
            if n_done % 1000 < _CHUNK:
                print(f"... {n_done} cases, {n_found} violations", flush=True)
    seconds = time.perf_counter() - began
    print(f"{asked.cases} cases of {asked.kind}, {n_found} violations, {seconds:.0f} s")
    return 1 if n_found else 0
