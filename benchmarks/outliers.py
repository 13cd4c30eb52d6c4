"""Outliers: rows of one class among those of the others, by AUC, beside scikit-learn's detectors.

python -m benchmarks.outliers [--splits N] [--save]
"""

from collections.abc import Callable
from statistics import mean

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
from vicinal import LocalComponents
from vicinal.datasets import load

# The class whose rows are outliers is the rarest, of equal ones the first. Of large sets some rows.
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
MOST_ROWS = 1000

Scores = Callable[[np.ndarray], np.ndarray]


def forest(X: np.ndarray, seed: int) -> Scores:
    return IsolationForest(random_state=seed).fit(X).score_samples


def local_outlier_factor(X: np.ndarray, seed: int) -> Scores:
    return LocalOutlierFactor(novelty=True).fit(X).score_samples


def gaussian_mixture(X: np.ndarray, seed: int) -> Scores:
    """Number of components by BIC."""
    models = [
        GaussianMixture(k, reg_covar=1e-3, random_state=seed).fit(X) for k in (1, 2, 3, 5, 7, 10)
    ]
    return min(models, key=lambda model: model.bic(X)).score_samples


def kernel_density(X: np.ndarray, seed: int) -> Scores:
    """Bandwidth by five folds; one leaf, as bounds of smaller ones err in high dimension."""
    grid = {"bandwidth": np.geomspace(0.05, 2.0, 20)}
    search = GridSearchCV(KernelDensity(leaf_size=len(X)), grid, cv=5).fit(X)
    return search.best_estimator_.score_samples


def ours(**parameters: str) -> Callable[[np.ndarray, int], Scores]:
    return lambda X, seed: LocalComponents(random_state=seed, **parameters).fit(X).score_samples


METHODS: dict[str, Callable[[np.ndarray, int], Scores]] = {
    "LocalComponents": ours(),
    'LocalComponents, covariance="auto"': ours(covariance="auto"),
    "IsolationForest": forest,
    "LocalOutlierFactor": local_outlier_factor,
    "GaussianMixture, BIC": gaussian_mixture,
    "KernelDensity, 5 folds": kernel_density,
}


def problem(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows to learn from, without outliers; new rows, and which of them are none."""
    data = load(name)
    labels, counts = np.unique(data.target, return_counts=True)
    X, inside = data.data.astype(float), data.target != labels[counts.argmin()]
    rng = np.random.default_rng(seed)
    normal, odd = (rng.permutation(np.flatnonzero(which)) for which in (inside, ~inside))
    n = min(MOST_ROWS, 2 * len(normal) // 3)
    test = np.concatenate([normal[n : n + MOST_ROWS], odd[:MOST_ROWS]])
    scaler = StandardScaler().fit(X[normal[:n]])
    return scaler.transform(X[normal[:n]]), scaler.transform(X[test]), inside[test]


def areas(name: str, seed: int) -> dict[str, float]:
    """AUC of every method on one split."""
    X, X_test, inside = problem(name, seed)
    fitted = {method: fit(X, seed) for method, fit in METHODS.items()}
    return {name: float(roc_auc_score(inside, score(X_test))) for name, score in fitted.items()}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--splits", type=int, default=3)
    options = parser.parse_args()
    page = Page("Outliers")
    page.say(
        "AUC for new rows of the classes learned from against rows of the rarest class; means\n"
        f"over {options.splits} random splits, two thirds of the rows (at most {MOST_ROWS}) to\n"
        "learn from, without outliers, columns scaled by them.\n"
        "Nothing is tuned on these rows. The last row: mean rank over the sets, 1 being the best.\n"
    )
    row = page.table(["set", *METHODS])
    ranks = []
    for name in SETS:
        found = [areas(name, seed) for seed in range(options.splits)]
        means = [mean(split[method] for split in found) for method in METHODS]
        ranks.append(rankdata([-value for value in means]))
        row(name, *(f"{value:.3f}" for value in means))
    row("mean rank", *(f"{value:.2f}" for value in np.mean(ranks, axis=0)))
    if options.save:
        page.save("outliers")


if __name__ == "__main__":
    main()
