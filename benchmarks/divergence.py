"""Divergences between local Gaussians: all pairs, a sparse graph of many points, its recall.

    python -m benchmarks.divergence [--parts pairs graph cells recall] [--n 100000] [--save]

Needs segment, mnist and usps (set VICINAL_DATA); a set that is not here is skipped, and the page
says so. The naive loop is timed on a sample of pairs. Timed work runs in fresh processes, which
are watched for memory.
"""

import argparse
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.decomposition import PCA

from benchmarks.common.children import call_apart
from benchmarks.common.command import arguments
from benchmarks.common.memory import MemoryWatch
from benchmarks.common.pages import Page
from benchmarks.common.sets import available
from benchmarks.common.timing import seconds_of
from vicinal import DivergenceNeighbors, datasets
from vicinal.divergence.divergences import DIVERGENCES
from vicinal.inputs.cells import nearly_nearest
from vicinal.inputs.nearest import nearest
from vicinal.neighborhood.threads import computing

PARTS = ("pairs", "graph", "cells", "recall")
N_POINTS, N_NEIGHBORS, GAMMA = 2310, 10, 1e-2
SETS = {18: "segment", 60: "mnist", 256: "usps"}  # by dimension
SAMPLE = {18: 4000, 60: 2000, 256: 100}  # pairs of the naive loop, by dimension
GRAPH_DIVERGENCES = ("jeffreys", "bhattacharyya", "riemann")
SEED = 7  # of sets for the search: its numbers were chosen on those of seed 0
GRAPH_NEIGHBORS, N_CANDIDATES, INNER_DIMENSION = 10, 100, 8

# The project's aims on 2 cores, in seconds.
AIMS = {
    "jeffreys": {18: 1, 60: 2, 256: 40},
    "bhattacharyya": {18: 6, 60: 20, 256: 40},
    "riemann": {18: 30, 60: 150, 256: 220},
}


# ------------------------------------------------------------------------------------------ data


def points_of(d: int) -> tuple[str, NDArray]:
    """A set's name and N_POINTS of its points in d dimensions."""
    name = SETS[d]
    data = datasets.load(name, download=False).data.astype(np.float64)[: 10 * N_POINTS]
    data = data[:, np.ptp(data, axis=0) > 0]
    if name == "segment":
        data = (data - data.mean(axis=0)) / data.std(axis=0)
    if name == "mnist":
        data = PCA(60, svd_solver="covariance_eigh").fit_transform(data / 255.0)
    return name, np.ascontiguousarray(data[:N_POINTS])


def here(page: Page) -> Iterator[tuple[str, NDArray]]:
    """Names and points of the sets that are here."""
    names = available(page, SETS.values())
    return (points_of(d) for d, name in SETS.items() if name in names)


# ---------------------------------------------------------------------------- what is compared


def naive(divergence: str, u: NDArray, S: NDArray, T: NDArray) -> float:
    """One pair from its matrices, by the formulas as they are printed."""
    if divergence == "jeffreys":
        P, Q = np.linalg.inv(S), np.linalg.inv(T)
        return 0.5 * u @ (P + Q) @ u + 0.5 * np.trace(P @ T + Q @ S) - len(u)
    middle = 0.5 * (S + T)
    if divergence in ("bhattacharyya", "hellinger"):
        logs = [np.linalg.slogdet(matrix)[1] for matrix in (middle, S, T)]
        value = u @ np.linalg.solve(middle, u) / 8 + 0.5 * (logs[0] - 0.5 * (logs[1] + logs[2]))
        return value if divergence == "bhattacharyya" else np.sqrt(-np.expm1(-value))
    riemann = np.linalg.norm(np.log(eigh(S, T, eigvals_only=True)))
    if divergence == "jeffreys-riemann":
        return np.sqrt(0.5 * u @ (np.linalg.inv(S) + np.linalg.inv(T)) @ u) + riemann
    if divergence == "bhattacharyya-riemann":
        return np.sqrt(u @ np.linalg.solve(middle, u)) + riemann
    return riemann


def all_pairs(d: int, divergence: str) -> dict[str, float]:
    """Seconds and memory of ours for all pairs, of the loop for one, and how far they differ."""
    _, X = points_of(d)
    model = DivergenceNeighbors(N_NEIGHBORS, gamma=GAMMA, divergence=divergence)
    model.fit_transform(X[:60])  # what is compiled
    start = time.perf_counter()
    with MemoryWatch() as memory:
        D = model.fit_transform(X)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "megabytes": memory.above, **beside_loop(X, divergence, D)}


def beside_loop(X: NDArray, divergence: str, D: NDArray) -> dict[str, float]:
    """Seconds of the loop for one pair, and the largest relative difference, on a sample."""
    rng = np.random.default_rng(0)
    rows = rng.choice(len(X), 200, replace=False)
    means, covariances = local_gaussians_at(X, rows)
    i, j = np.triu_indices(len(rows), 1)
    chosen = rng.choice(len(i), SAMPLE[X.shape[1]], replace=False)
    i, j = i[chosen], j[chosen]
    start = time.perf_counter()
    loop = [
        naive(divergence, means[a] - means[b], covariances[a], covariances[b])
        for a, b in zip(i, j, strict=True)
    ]
    one = (time.perf_counter() - start) / len(loop)
    error = float(np.max(np.abs(D[rows[i], rows[j]] - loop) / np.abs(loop)))
    return {"loop": one, "error": error}


def local_gaussians_at(X: NDArray, rows: NDArray) -> tuple[NDArray, NDArray]:
    """Means and dense covariances of some points only."""
    gaussians = DivergenceNeighbors(N_NEIGHBORS, gamma=GAMMA).fit(X).gaussians_[rows]
    return gaussians.means, gaussians.covariances()


# ------------------------------------------------------------------------------------ all pairs


def report_pairs(page: Page) -> None:
    page.say(f"## All pairs of {N_POINTS} points, m = {N_NEIGHBORS}, γ = {GAMMA:g}\n")
    page.say("Seconds include the search for neighbors and the local Gaussians, not compiling; MB:")
    page.say("largest memory above that before, the matrix of results included. Loop: one pair at")
    page.say("a time with NumPy and SciPy from ready covariances, seconds for all pairs as a")
    page.say("sample tells. Error: largest relative difference between both on the sample.")
    page.say("segment standardized, mnist in 60 principal components, usps as it is; the first")
    page.say("rows each.\n")
    sets = here(page)
    row = page.table(
        ["set", "d", "divergence", "seconds", "aim", "µs a pair", "loop", "ratio", "MB", "error"]
    )
    for name, X in sets:
        d = X.shape[1]
        for divergence in DIVERGENCES:
            aim = AIMS.get(divergence, {}).get(d, "–")
            row(name, d, divergence, *pairs_cells(call_apart(all_pairs, d, divergence), aim))
    page.say()


def pairs_cells(found: dict[str, float], aim: int | str) -> tuple[object, ...]:
    """Of a row, but for what it is about."""
    n_pairs = N_POINTS * (N_POINTS - 1) / 2
    seconds, loop = found["seconds"], found["loop"] * n_pairs
    cells = (f"{seconds:.2f}", aim, f"{1e6 * seconds / n_pairs:.2f}", f"{loop:.0f}")
    return *cells, f"{loop / seconds:.0f}", f"{found['megabytes']:.0f}", f"{found['error']:.0e}"


# ---------------------------------------------------------------------------------- sparse graph


def bent_sheet(n: int, d: int = 50, seed: int = 0) -> NDArray:
    """Points near a curved sheet of INNER_DIMENSION dimensions, of varying density."""
    rng = np.random.default_rng(seed)
    inner = rng.normal(size=(n, INNER_DIMENSION)) ** 3
    first, second = rng.normal(size=(2, INNER_DIMENSION, d)) / np.sqrt(INNER_DIMENSION)
    return inner @ first + np.sin(inner) @ second + 0.05 * rng.normal(size=(n, d))


def graph_fit(n: int, divergence: str, search: str) -> dict[str, float]:
    """Seconds and memory of a sparse graph."""
    X = bent_sheet(n)
    model = DivergenceNeighbors(
        N_NEIGHBORS,
        gamma=GAMMA,
        divergence=divergence,
        n_graph_neighbors=GRAPH_NEIGHBORS,
        n_candidates=N_CANDIDATES,
        search=search,
    )
    model.fit_transform(X[:500])
    cpu = time.process_time()
    with MemoryWatch() as memory:
        seconds = seconds_of(lambda: model.fit_transform(X))
    return {
        "seconds": seconds,
        "cpu": time.process_time() - cpu,
        "megabytes": memory.above,
    }


def report_graph(page: Page, n: int) -> None:
    page.say(f"## Graph of {GRAPH_NEIGHBORS} neighbors of {n} points, d = 50\n")
    page.say(f"{N_CANDIDATES} candidates each, m = {N_NEIGHBORS}: points near a curved sheet of")
    page.say(f"{INNER_DIMENSION} dimensions (synthetic). search: of Euclidean neighbors.\n")
    row = page.table(["divergence", "search", "seconds", "of processors", "MB above the points"])
    runs = [(divergence, "exact") for divergence in GRAPH_DIVERGENCES]
    for divergence, search in [*runs, (GRAPH_DIVERGENCES[0], "approximate")]:
        found = call_apart(graph_fit, n, divergence, search)
        times = (f"{found[name]:.0f}" for name in ("seconds", "cpu"))
        row(divergence, search, *times, f"{found['megabytes']:.0f}")
    page.say()


# ---------------------------------------------------------------------------- approximate search


def clouds(n: int, d: int = 50, seed: int = 0) -> NDArray:
    """100 clouds of 20 dimensions, each turned its own way, in float32."""
    rng = np.random.default_rng(seed)
    turns = rng.normal(size=(100, 20, d)).astype(np.float32) / 4
    centers = 3 * rng.normal(size=(100, d)).astype(np.float32)
    owner = rng.integers(100, size=n)
    X = 0.1 * rng.standard_normal((n, d), dtype=np.float32)
    for cloud in range(100):
        rows = np.flatnonzero(owner == cloud)
        inner = rng.standard_normal((len(rows), 20), dtype=np.float32)
        X[rows] += inner @ turns[cloud] + centers[cloud]
    return X


def ball(n: int, d: int = 50, seed: int = 0) -> NDArray:
    """Noise without a shape."""
    return np.random.default_rng(seed).standard_normal((n, d), dtype=np.float32)


def report_cells(page: Page, n: int) -> None:
    page.say(f"## Nearly the {N_CANDIDATES} nearest of {n} points, d = 50\n")
    page.say('Euclidean neighbors with search="approximate". Recall: share of the 10 nearest that')
    page.say(f"are among the 10, and of the {N_CANDIDATES} among as many, of 500 points.\n")
    row = page.table(["set", "seconds", "of processors", "recall of 10", f"of {N_CANDIDATES}"])
    for make in (bent_sheet, clouds, ball):
        X = make(n, seed=SEED)
        begun, cpu = time.perf_counter(), time.process_time()
        with computing():
            found = nearly_nearest(X, None, N_CANDIDATES)
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
        some = np.linspace(0, n - 1, 500).astype(int)
        wanted = nearest(X, X[some], N_CANDIDATES, some)[0]
        shares = [recall(wanted[:, :k], found[some, :k]) for k in (10, N_CANDIDATES)]
        row(make.__name__, f"{seconds:.0f}", f"{cpu:.0f}", *(f"{share:.3f}" for share in shares))
    page.say()


# ---------------------------------------------------------------------------------------- recall


def neighbors_in(X: NDArray, divergence: str, n_candidates: int | None) -> NDArray:
    """Positions of the nearest of every point."""
    model = DivergenceNeighbors(
        N_NEIGHBORS,
        gamma=GAMMA,
        divergence=divergence,
        n_graph_neighbors=GRAPH_NEIGHBORS,
        n_candidates=n_candidates,
    )
    return model.fit_transform(X).indices.reshape(len(X), -1)[:, 1:]


def report_recall(page: Page) -> None:
    page.say(f"## Recall of {GRAPH_NEIGHBORS} neighbors among Euclidean candidates\n")
    page.say(
        f"Share of the nearest by divergence, of {N_POINTS} points as above, that are among so"
    )
    page.say("many Euclidean neighbors. Not for riemann, which compares shapes only: its neighbors")
    page.say("may be anywhere.\n")
    counts = (25, 50, 100, 200, 400)
    sets = here(page)
    row = page.table(["set", "d", "divergence", *(f"{c} candidates" for c in counts)])
    for name, X in sets:
        for divergence in ("jeffreys", "bhattacharyya"):
            wanted = neighbors_in(X, divergence, None)
            shares = [recall(wanted, neighbors_in(X, divergence, c)) for c in counts]
            row(name, X.shape[1], divergence, *(f"{share:.3f}" for share in shares))
    page.say()


def recall(wanted: NDArray, found: NDArray) -> float:
    """Share of the wanted neighbors that were found."""
    return float(np.mean([np.isin(w, f).mean() for w, f in zip(wanted, found, strict=True)]))


def parse() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--n", type=int, default=100_000, help="points of the sparse graph")
    return parser.parse_args()


def main() -> None:
    options = parse()
    page = Page("Divergences between local Gaussians: speed, memory, recall of candidates")
    if "pairs" in options.parts:
        report_pairs(page)
    if "graph" in options.parts:
        report_graph(page, options.n)
    if "cells" in options.parts:
        report_cells(page, options.n)
    if "recall" in options.parts:
        report_recall(page)
    if options.save:
        page.save("divergence")


if __name__ == "__main__":
    main()
