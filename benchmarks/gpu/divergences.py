"""Divergences on the device and on the CPU, in the same run: all pairs, and those of neighbors."""

import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from benchmarks.common.pages import Page
from vicinal import DivergenceNeighbors
from vicinal.divergence import places
from vicinal.divergence.comparison import Comparison
from vicinal.divergence.divergences import DIVERGENCES
from vicinal.divergence.local import LocalModel

# Points, features and neighbors: frames of low rank, and of all directions.
CASES = ((3000, 50, 10), (3000, 15, 10), (3000, 8, 10))

# Points of which all pairs are compared on the device only, and those of a graph of candidates.
MANY, GRAPH, CANDIDATES = 20_000, 20_000, 100

NAMES = [name for name, divergence in DIVERGENCES.items() if divergence.shapes]


def divergences(page: Page) -> None:
    """Tables of all pairs, of many, and of a graph."""
    page.say("## Divergences\n")
    page.say(
        "Gaussians of 10 neighbors, computed beforehand. Wall-clock time of a second run, until "
        'values are in host memory. "error" is the largest relative difference from the CPU.\n'
    )
    row = page.table(["divergence", "n", "d", "CPU s", "GPU s", "times", "error", "GPU GB"])
    for n, d, m in CASES:
        gaussians = _gaussians(n, d, m)
        for name in NAMES:
            row(name, str(n), str(d), *_both(name, gaussians))
    page.say()
    _many(page)
    _graph(page)


def _gaussians(n: int, d: int, m: int) -> Any:
    X = np.random.default_rng(0).normal(size=(n, d))
    return LocalModel(m, gamma="auto").fit(X)


def _both(name: str, gaussians: Any) -> tuple[str, ...]:
    """Seconds on the CPU and on the device, their ratio, the error, and memory of the device."""
    with patch.object(places, "has_gpu", lambda: False):  # "auto" stays on the CPU
        expected, here = _second(lambda: Comparison(DIVERGENCES[name]).matrix(gaussians))
    torch.cuda.reset_peak_memory_stats()
    found, there = _second(lambda: Comparison(DIVERGENCES[name], "cuda").matrix(gaussians))
    held = torch.cuda.max_memory_allocated() / 1e9
    error = np.max(np.abs(found - expected) / np.where(expected > 0, expected, 1.0))
    return f"{here:.2f}", f"{there:.3f}", f"{here / there:.1f}", f"{error:.0e}", f"{held:.2f}"


def _second(work: Callable[[], Any]) -> tuple[Any, float]:
    work()
    start = time.perf_counter()
    found = work()
    return found, time.perf_counter() - start


def _many(page: Page) -> None:
    """All pairs of so many points that the CPU would take long."""
    row = page.table(["divergence, all pairs", "n", "d", "GPU s", "million pairs a second"])
    gaussians = _gaussians(MANY, 50, 10)
    for name in NAMES:
        comparison = Comparison(DIVERGENCES[name], "cuda")
        start = time.perf_counter()
        comparison.matrix(gaussians)
        seconds = time.perf_counter() - start
        row(name, str(MANY), "50", f"{seconds:.1f}", f"{MANY**2 / 2e6 / seconds:.1f}")
    page.say()


def _graph(page: Page) -> None:
    """End to end, neighborhoods and Gaussians on the CPU: what a user waits for."""
    row = page.table(["divergence, graph of candidates", "n", "d", "CPU s", "GPU s", "same edges"])
    X = np.random.default_rng(0).normal(size=(GRAPH, 50))
    for name in ("jeffreys", "bhattacharyya", "riemann"):
        seconds, graphs = [], []
        for engine in ("low-rank", "cuda"):
            model = DivergenceNeighbors(
                divergence=name, engine=engine, n_graph_neighbors=15, n_candidates=CANDIDATES
            )
            start = time.perf_counter()
            graphs.append(model.fit_transform(X))
            seconds.append(time.perf_counter() - start)
        same = float(np.mean(graphs[0].indices == graphs[1].indices))
        row(name, str(GRAPH), "50", *(f"{each:.1f}" for each in seconds), f"{same:.5f}")
    page.say()
