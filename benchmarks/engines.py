"""Seconds of one objective and its gradient, by engine: where trees pay and where they do not.

    VICINAL_DATA=FOLDER python -m benchmarks.engines [--sizes 1000 10000] [--dims 1 2] [--save]

NCA at the start of training (after one update), in the middle (10) and at the end (200), and one
step of EM. Maps are learned on 5000 points of mnist (after PCA to 50 dimensions); more points than
mnist has are its own with a little noise. What `engine="auto"` does rests on this table.
"""

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from benchmarks.common.command import arguments
from benchmarks.common.pages import Page
from benchmarks.common.timing import best_brief_time
from vicinal import LocalComponents, NeighborhoodComponents, datasets
from vicinal.neighborhood import GAUSSIAN, Engine, Pairs, Rows
from vicinal.neighborhood.blocked import BlockedEngine
from vicinal.neighborhood.fused import FusedEngine
from vicinal.neighborhood.tree import TreeEngine

SIZES = (10**3, 10**4, 10**5, 10**6)
DIMS = (1, 2, 3, 5, 8, 20, 50)
# Updates of the map.
STAGES = {"start": 1, "middle": 10, "end": 200}
TOLERANCES = (0.0, 1e-3)

N_LEARN = 5000
TREE_DIMS = 8

# Noise of repeated points, in within-class standard deviations: of the size of what NCA resolves.
JITTER = 0.3

# Beyond this many pairs exact sweeps are timed on some of the queries; their time is proportional.
MOST_PAIRS = 10**9

# Trees that would look at more pairs than this are not waited for.
PATIENCE = 2 * 10**10


def learning_data() -> tuple[np.ndarray, np.ndarray]:
    """mnist in 50 dimensions, scaled to unit total variance."""
    mnist = datasets.load("mnist")
    Z = PCA(50, random_state=0).fit_transform(np.asarray(mnist.data, dtype=np.float32))
    order = np.random.default_rng(0).permutation(len(Z))
    return (Z / np.sqrt(Z.var(axis=0).sum())).astype(np.float64)[order], mnist.target[order]


def enlarged(X: np.ndarray, y: np.ndarray, n: int, rng: np.random.Generator) -> tuple:
    """n rows: some of those there are, or all of them and noisy copies."""
    order = rng.permutation(len(X))
    rows = np.resize(order, n)
    spread = np.sqrt(np.mean([X[y == c].var(axis=0) for c in np.unique(y)], axis=0))
    noise = JITTER * spread * rng.normal(size=(max(0, n - len(X)), X.shape[1]))
    points = X[rows]
    points[len(X) :] += noise
    return points, y[rows]


def maps(X: np.ndarray, y: np.ndarray, d: int) -> dict[str, np.ndarray]:
    """The map at the stages of training."""
    found = {}
    for stage, updates in STAGES.items():
        model = NeighborhoodComponents(d, batching="full", solver="auto", max_iter=updates)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X[:N_LEARN], y[:N_LEARN])
        found[stage] = model.components_
    return found


def evaluate(engine: Engine, pairs: Pairs) -> None:
    """Both passes, as an objective and its gradient need them."""
    rows = engine.rows(pairs, GAUSSIAN).finish()
    engine.columns(pairs, GAUSSIAN, rows.log_slope, coefficients(rows))


def coefficients(rows: Rows) -> np.ndarray:
    """Of NCA (thesis 3.3), or of EM, where all rows weigh the same."""
    if len(rows.log_mass) == 1:
        return np.ones_like(rows.log_mass)
    p = np.exp(rows.log_mass[1] - rows.log_total)
    return np.stack([p * (1 - p), -p * (1 - p)])


def sweep(engine: Engine, pairs: Pairs) -> tuple[float, bool]:
    """Seconds of an exact engine, and whether they are scaled up from some of the queries."""
    n = len(pairs.queries)
    some = min(n, max(1, MOST_PAIRS // n))
    if some == n:
        return best_brief_time(lambda: evaluate(engine, pairs)), False
    labels = pairs.query_labels
    part = Pairs(
        pairs.queries[:some], pairs.keys, None if labels is None else labels[:some], labels,
        own=np.arange(some),
    )  # fmt: skip
    return best_brief_time(lambda: evaluate(engine, part)) * n / some, True


def tree_cell(tolerance: float, pairs: Pairs, fused: float) -> str:
    """Share of pairs looked at, seconds, and how many times fused's that is."""
    n = len(pairs.queries)
    engine = TreeEngine(tolerance=tolerance)
    share = engine.share_visited(pairs, GAUSSIAN)
    if share * n * n > PATIENCE:
        return f"{share:.0%}"
    seconds = best_brief_time(lambda: evaluate(TreeEngine(tolerance=tolerance), pairs))
    return f"{share:.1%}, {seconds:.3g} s, **{fused / seconds:.2g} ×**"


def neighbors(pairs: Pairs) -> float:
    """Median effective number of neighbors, (Σ k)² / Σ k², of some queries among all keys."""
    Q, K = pairs.queries[:100], pairs.keys[:20_000]
    s = np.square(Q[:, None] - K).sum(axis=2)
    s[s == 0] = np.inf
    k = np.exp(s.min(axis=1, keepdims=True) - s)
    return float(
        np.median(k.sum(axis=1) ** 2 / np.square(k).sum(axis=1)) * len(pairs.keys) / len(K)
    )


def cells(pairs: Pairs) -> Iterator[str]:
    """One row of a table."""
    d = pairs.shape[2]
    yield f"{neighbors(pairs):.3g}"
    fused, is_scaled = sweep(FusedEngine(), pairs)
    blocked, _ = sweep(BlockedEngine(compiled=True), pairs)
    mark = "~" if is_scaled else ""
    yield f"{mark}{blocked:.3g}"
    yield f"{mark}{fused:.3g}"
    for tolerance in TOLERANCES:
        yield tree_cell(tolerance, pairs, fused) if d <= TREE_DIMS else "–"


HEADER = ("n", "neighbors", "blocked", "fused", "tree, exact", "tree, 1e-3")


def nca_tables(page: Page, X: np.ndarray, y: np.ndarray, options) -> None:
    """One for each number of dimensions."""
    for d in options.dims:
        page.say(f"\n## NCA, d = {d}\n")
        row = page.table(("stage", *HEADER))
        for stage, A in maps(X, y, d).items():
            for n in options.sizes:
                points, labels = enlarged(X, y, n, np.random.default_rng(n))
                row(stage, f"{n:,}", *cells(Pairs.among(points @ A.T, labels)))


def em_tables(page: Page, X: np.ndarray, y: np.ndarray, options) -> None:
    """One step of EM in the metric it begins and ends with."""
    for d in (d for d in options.dims if 1 < d <= TREE_DIMS):
        page.say(f"\n## EM of local components, d = {d}\n")
        row = page.table(("stage", *HEADER))
        first = X[:, :d]
        learned = LocalComponents().fit(first[:N_LEARN]).components_
        whole = np.linalg.inv(np.linalg.cholesky(np.cov(first.T)))
        for stage, A in (("start", whole), ("end", learned)):
            for n in options.sizes:
                points, _ = enlarged(first, y, n, np.random.default_rng(n))
                row(stage, f"{n:,}", *cells(Pairs.among(points @ A.T / np.sqrt(2))))


def main() -> None:
    """Print the page."""
    parser = arguments(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--dims", type=int, nargs="+", default=list(DIMS))
    options = parser.parse_args()
    page = Page("Engines: seconds of one objective and gradient")
    page.say(
        "Both passes (rows and columns) in float64 on all cores, compiled beforehand. "
        "`neighbors`: median (Σk)²/Σk².\n`~`: scaled up from some of the queries. Trees: share of "
        "the pairs looked at, seconds, and how many times\nfaster than fused; only the share where "
        f"that is more than {PATIENCE:.0e} pairs."
    )
    X, y = learning_data()
    warm = Pairs.among(np.random.default_rng(0).normal(size=(500, 3)), np.arange(500) % 2)
    for engine in (FusedEngine(), BlockedEngine(compiled=True), TreeEngine(tolerance=1e-3)):
        evaluate(engine, warm)
        evaluate(engine, Pairs.among(warm.queries))
    nca_tables(page, X, y, options)
    em_tables(page, X, y, options)
    if options.save:
        page.save("engines")


if __name__ == "__main__":
    main()
