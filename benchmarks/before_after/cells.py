"""What is timed, in the process of a measurement, which imports vicinal from one of the trees.

Only names that both trees have can be used here: public ones, and those of the primitive.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.common.arrays import write_arrays
from benchmarks.common.timing import best_clocks

TREE_DIMS = 8  # in more, trees have nothing to gain
N_CLASSES = 10
N_NCA, N_EM = 1500, 2000  # rows of usps

# Names of cells and work that returns numbers to compare; sizes and dimensions are the primitive's.
Cells = Iterator[tuple[str, Callable[[], np.ndarray]]]
Job = Callable[[Sequence[int], Sequence[int]], Cells]


def measure(job: str, sizes: Sequence[int], dims: Sequence[int], tree: str, folder: str) -> dict:
    """Seconds of every cell of a job, by both clocks; results are left in the folder."""
    import vicinal

    found = Path(vicinal.__file__)
    if Path(tree).resolve() not in found.resolve().parents:
        raise RuntimeError(f"vicinal was imported from {found.parent}, not from {tree}")
    seconds = {}
    for cell, work in JOBS[job](sizes, dims):
        write_arrays(folder, **{cell: work()})
        seconds[cell] = best_clocks(work)
    return seconds


def passes(engine: str, law: str, sizes: Sequence[int], dims: Sequence[int]) -> Cells:
    """The rows pass, with what an engine builds for the points, and the columns pass after it."""
    from vicinal.neighborhood import LAWS, Pairs

    known = LAWS[law]
    value = known() if isinstance(known, type) else known  # classes, since laws have numbers
    for n in sizes:
        for d in dims:
            if engine in ("tree", "radius") and d > TREE_DIMS:
                continue
            labels = np.random.default_rng(0).integers(0, N_CLASSES, n)
            pairs, where = Pairs.among(cloud(n, d), labels), f"{engine}, {law}, n = {n}, d = {d}"
            yield f"{where}, rows", partial(rows_pass, engine, value, pairs)
            yield f"{where}, columns", columns_pass(engine, value, pairs)


def cloud(n: int, d: int) -> np.ndarray:
    """Points of which each has some neighbors, within the support of a compact kernel, too."""
    spread = 1.2 if d <= TREE_DIMS else 1 / np.sqrt(2 * d)
    return spread * np.random.default_rng(d).normal(size=(n, d))


def new_engine(name: str):
    """One of the tree's, with its defaults."""
    from vicinal.neighborhood import blocked, fused, radius, tree

    classes = {
        "blocked": blocked.BlockedEngine,
        "fused": fused.FusedEngine,
        "tree": tree.TreeEngine,
        "radius": radius.RadiusEngine,
    }
    return classes[name]()


def rows_pass(engine, law, pairs) -> np.ndarray:
    return new_engine(engine).rows(pairs, law).finish().log_mass


def columns_pass(engine, law, pairs) -> Callable[[], np.ndarray]:
    """By an engine that has done the rows pass of the same pairs, as in every update of a fit."""
    worker = new_engine(engine)
    log_slope = worker.rows(pairs, law).finish().log_slope
    coefficients = np.isfinite(log_slope).astype(float)
    return lambda: worker.columns(pairs, law, log_slope, coefficients).total


def nca(sizes: Sequence[int], dims: Sequence[int]) -> Cells:
    """A fit of few updates by L-BFGS."""
    from vicinal import NeighborhoodComponents, datasets

    usps = datasets.load("usps", download=False)
    X, y = usps.data[:N_NCA].astype(float), usps.target[:N_NCA]
    model = NeighborhoodComponents(5, solver="lbfgs", max_iter=20, random_state=0)
    yield f"NCA, usps, {N_NCA} rows, 20 updates", lambda: model.fit(X, y).components_


def em(sizes: Sequence[int], dims: Sequence[int]) -> Cells:
    """A fit that makes one step."""
    from vicinal import LocalComponents, datasets

    X = datasets.load("usps", download=False).data[:N_EM].astype(float)
    model = LocalComponents(accelerate=False, max_iter=1, random_state=0)
    yield f"LocalComponents, usps, {N_EM} rows, one EM step", lambda: model.fit(X).components_


def divergence(name: str, sizes: Sequence[int], dims: Sequence[int]) -> Cells:
    """All pairs of segment."""
    from vicinal import DivergenceNeighbors, datasets

    X = datasets.load("segment", download=False).data.astype(float)
    X = X[:, np.ptp(X, axis=0) > 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = DivergenceNeighbors(10, gamma=1e-2, divergence=name)
    yield f"{name}, all pairs of segment", lambda: model.fit_transform(X)


# Everything a process measures, by its name on the command line.
JOBS: dict[str, Job] = {
    **{
        f"{engine}-{law}": partial(passes, engine, law)
        for engine in ("blocked", "fused")
        for law in ("gaussian", "compact")
    },
    "tree-gaussian": partial(passes, "tree", "gaussian"),
    "radius-compact": partial(passes, "radius", "compact"),
    "nca": nca,
    "em": em,
    "jeffreys": partial(divergence, "jeffreys"),
    "bhattacharyya": partial(divergence, "bhattacharyya"),
}
