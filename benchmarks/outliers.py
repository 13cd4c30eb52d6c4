"""Outliers: rows of one class among those of the others, by AUC, beside scikit-learn's detectors.

    python -m benchmarks.outliers [--splits N] [--sets wine wdbc] [--raw FILE] [--save]

With `--raw FILE` what was measured is kept and a run can be resumed. Needs the data sets (set
VICINAL_DATA); one that is not here is skipped.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
from scipy.stats import rankdata
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity, LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from benchmarks.common.command import arguments
from benchmarks.common.pages import Page
from benchmarks.common.records import Records
from benchmarks.common.sets import available
from vicinal import LocalComponents
from vicinal.datasets import load

SETS = (
    "wine",
    "wdbc",
    "glass",
    "ionosphere",
    "sonar",
    "pima",
    "new-thyroid",
    "segment",
    "landsat",
    "magic",
)
FIELDS = ("set", "outliers", "seed", "method")

# Of large sets some rows; classes of fewer rows are never the outliers.
MOST_ROWS, FEWEST_OUTLIERS = 1000, 10

PROTOCOL = """
AUC for new rows of the classes learned from against rows of another class, which nobody has seen:
the rarest class, as outliers are, and then every class in turn ({fewest} rows at least), up to
{splits} random splits, seeds 0 to {last}; means over classes and splits. Two thirds of the other
rows (at most {rows}) to learn from, without outliers, columns that vary scaled by them; at most
{rows} other rows and {rows} outliers to judge by. Default settings, or what is said, chosen within
the training rows. Settings of LocalComponents were not chosen by AUC, and not on these splits.
"Mean rank": over the sets, 1 being the best of all columns; "beside the peers": of each of ours
among the peers alone. That the rarest class comes first, as in a first look at fewer splits, was
settled again when part of the second table was known, in which others are ahead: read both.
""".lstrip()

Scores = Callable[[np.ndarray], np.ndarray]
Fit = Callable[[np.ndarray, int], Scores]


def forest(X: np.ndarray, seed: int) -> Scores:
    return IsolationForest(random_state=seed).fit(X).score_samples


def local_outlier_factor(X: np.ndarray, seed: int) -> Scores:
    return LocalOutlierFactor(novelty=True).fit(X).score_samples


def gaussian_mixture(X: np.ndarray, seed: int) -> Scores:
    """Number of components by BIC."""
    numbers = [k for k in (1, 2, 3, 5, 7, 10) if k <= len(X)]
    models = [GaussianMixture(k, reg_covar=1e-3, random_state=seed).fit(X) for k in numbers]
    return min(models, key=lambda model: model.bic(X)).score_samples


def kernel_density(X: np.ndarray, seed: int) -> Scores:
    """Bandwidth by five folds; one leaf, as bounds of smaller ones err in high dimension."""
    grid = {"bandwidth": np.geomspace(0.05, 2.0, 20)}
    search = GridSearchCV(KernelDensity(leaf_size=len(X)), grid, cv=5).fit(X)
    return search.best_estimator_.score_samples


def ours(**parameters: str) -> Fit:
    return lambda X, seed: LocalComponents(random_state=seed, **parameters).fit(X).score_samples


OURS: dict[str, Fit] = {
    "LocalComponents": ours(),
    'LocalComponents, n_mixture="auto"': ours(n_mixture="auto"),
}
PEERS: dict[str, Fit] = {
    "IsolationForest": forest,
    "LocalOutlierFactor": local_outlier_factor,
    "GaussianMixture, BIC": gaussian_mixture,
    "KernelDensity, 5 folds": kernel_density,
}
METHODS = OURS | PEERS


def classes_of(name: str) -> list[str]:
    """Those that may be the outliers, in words, the rarest first."""
    labels, counts = np.unique(load(name).target, return_counts=True)
    order = np.argsort(counts, kind="stable")
    return [str(label) for label in labels[order[counts[order] >= FEWEST_OUTLIERS]]]


def rarest_of(name: str) -> list[str]:
    """The rarest of them alone."""
    return classes_of(name)[:1]


def problem(name: str, outliers: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows to learn from, without outliers; new rows, and which of them are none."""
    data = load(name)
    X, inside = data.data.astype(float), data.target.astype(str) != outliers
    rng = np.random.default_rng(seed)
    normal, odd = (rng.permutation(np.flatnonzero(which)) for which in (inside, ~inside))
    n = min(MOST_ROWS, 2 * len(normal) // 3)
    test = np.concatenate([normal[n : n + MOST_ROWS], odd[:MOST_ROWS]])
    scaler = StandardScaler().fit(X[normal[:n]])
    return scaler.transform(X[normal[:n]]), scaler.transform(X[test]), inside[test]


def measure(records: Records, names: Sequence[str], splits: int, every: int) -> None:
    """Fill in what is not known yet, the rarest classes first, every class on some splits."""
    problems = [
        (name, c, seed) for seed in range(splits) for name in names for c in rarest_of(name)
    ]
    problems += [
        (name, c, seed) for seed in range(every) for name in names for c in classes_of(name)
    ]
    for asked in problems:
        for method in METHODS:
            key = (*asked, method)
            if records.get(key) is None:
                row = dict(zip(FIELDS, key, strict=True)) | area(*key)
                records.add(row)
                print(*row.values(), file=sys.stderr, flush=True)


def area(name: str, outliers: str, seed: int, method: str) -> dict[str, float]:
    """AUC of a method on one split, and the seconds it took."""
    X, X_test, inside = problem(name, outliers, seed)
    start = time.perf_counter()
    scores = METHODS[method](X, seed)(X_test)
    seconds = time.perf_counter() - start
    return {"auc": float(roc_auc_score(inside, scores)), "seconds": seconds}


def report(page: Page, records: Records, names: Sequence[str], splits: int, every: int) -> None:
    """The rarest class, every class, and how long it took."""
    page.say(f"\n## The rarest class, {splits} splits\n")
    tabulate(page, records, {name: rarest_of(name) for name in names}, splits)
    page.say(f"\n## Every class in turn, {every} splits\n")
    tabulate(page, records, {name: classes_of(name) for name in names}, every)
    seconds = [median_seconds(records, names, splits, method) for method in METHODS]
    said = ", ".join(f"{n} {s:.2g}" for n, s in zip(METHODS, seconds, strict=True))
    page.say(f"\nMedian seconds to fit and score, other work on the machine: {said}.")


def tabulate(page: Page, records: Records, problems: dict[str, list[str]], splits: int) -> None:
    """Means over the classes of every set and splits, and ranks."""
    row = page.table(["set", *METHODS])
    means = {name: mean_areas(records, name, problems[name], splits) for name in problems}
    for name, values in means.items():
        row(name, *(f"{value:.3f}" for value in values))
    table = np.array(list(means.values()))
    row("mean", *(f"{value:.3f}" for value in table.mean(axis=0)))
    row("mean rank", *(f"{value:.2f}" for value in mean_ranks(table)))
    beside = [mean_ranks(table[:, [k, *range(len(OURS), len(METHODS))]]) for k in range(len(OURS))]
    row("beside the peers", *(f"{ranks[0]:.2f}" for ranks in beside), *["" for _ in PEERS])
    for method, ranks in zip(OURS, beside, strict=True):
        said = ", ".join(f"{n} {r:.2f}" for n, r in zip(PEERS, ranks[1:], strict=True))
        page.say(f"\n{method} beside the peers has mean rank {ranks[0]:.2f}; {said}.")


def mean_areas(records: Records, name: str, classes: list[str], splits: int) -> list[float]:
    """AUC of every method on a set."""
    found = [values(records, name, classes, splits, method, "auc") for method in METHODS]
    return [float(np.mean(areas)) for areas in found]


def median_seconds(records: Records, names: Sequence[str], splits: int, method: str) -> float:
    found = [values(records, name, classes_of(name), splits, method, "seconds") for name in names]
    return float(np.median(np.concatenate(found)))


def values(
    records: Records, name: str, classes: list[str], splits: int, method: str, what: str
) -> list[float]:
    """What was measured with these classes as outliers on every split of a set."""
    rows = [records.get((name, c, seed, method)) for c in classes for seed in range(splits)]
    return [row[what] for row in rows if row is not None]


def mean_ranks(table: np.ndarray) -> np.ndarray:
    """Of columns, over rows; 1 has the largest values."""
    return np.mean([rankdata(-row) for row in table.round(4)], axis=0)


def parse() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--every", type=int, help="splits with every class in turn; default: all")
    parser.add_argument("--sets", nargs="+", choices=SETS, help="default: all")
    parser.add_argument("--raw", metavar="FILE", help="keep what was measured here, and resume")
    return parser.parse_args()


def main() -> None:
    options = parse()
    page = Page("Outliers")
    known = {"splits": options.splits, "last": options.splits - 1, "rows": MOST_ROWS}
    page.say(PROTOCOL.format(fewest=FEWEST_OUTLIERS, **known))
    records = Records(options.raw, FIELDS)
    names = available(page, SETS, options.sets)
    splits = options.splits, options.every or options.splits
    measure(records, names, *splits)
    report(page, records, names, *splits)
    if options.save:
        page.save("outliers")


if __name__ == "__main__":
    main()
