"""Seconds of work: the best of several runs, or runs of several that take turns."""

import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Clocks(NamedTuple):
    """Seconds on the wall, and those of all threads on the processor.

    Where other programs are at work, the second is the steadier one.
    """

    wall: float
    cpu: float


def clocks_of(work: Callable[[], object]) -> Clocks:
    """Of one run."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Clocks(time.perf_counter() - wall, time.process_time() - cpu)


def seconds_of(work: Callable[[], object]) -> float:
    """Of one run, on the wall."""
    return clocks_of(work).wall


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


def best_clocks(work: Callable[[], object], most: int = 15, seconds: float = 1.0) -> Clocks:
    """Shortest by each clock, of as many runs as fit in some seconds, after one that only warms."""
    work()
    times = [clocks_of(work)]
    while len(times) < most and sum(run.wall for run in times) < seconds:
        times.append(clocks_of(work))
    return Clocks(*map(min, zip(*times, strict=True)))


def in_turns(measures: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, list[Any]]:
    """Repeated measurements A B A B ..., so that a slow moment of the machine hits all alike."""
    found: dict[str, list[Any]] = {name: [] for name in measures}
    for _ in range(repeats):
        for name, measure in measures.items():
            found[name].append(measure())
    return found
