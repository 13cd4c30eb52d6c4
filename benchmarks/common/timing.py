"""Seconds of work: the best of several runs, or runs of several that take turns."""

import time
from collections.abc import Callable, Mapping
from typing import Any


def seconds_of(work: Callable[[], object]) -> float:
    """Of one run."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def best_time(work: Callable[[], object], repeats: int = 3) -> float:
    """Shortest of several runs, after one that does not count: noise only ever adds."""
    work()
    return min(seconds_of(work) for _ in range(repeats))


def best_brief_time(work: Callable[[], object], repeats: int = 3, long: float = 5.0) -> float:
    """Shortest of several runs; of one, where that takes long. Nothing is run before."""
    times: list[float] = []
    while not times or (len(times) < repeats and times[0] < long):
        times.append(seconds_of(work))
    return min(times)


def in_turns(measures: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, list[Any]]:
    """Repeated measurements A B A B ..., so that a slow moment of the machine hits all alike."""
    found: dict[str, list[Any]] = {name: [] for name in measures}
    for _ in range(repeats):
        for name, measure in measures.items():
            found[name].append(measure())
    return found
