"""Clusters: modes of a learned density beside scikit-learn's clusterings, on sets with classes.

python -m benchmarks.clusters [--mixture] [--save]
"""

from collections.abc import Callable

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, MeanShift, SpectralClustering
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from benchmarks.common.command import arguments
from benchmarks.common.pages import Page
from vicinal import LocalComponents, ModeClustering
from vicinal.datasets import load, make_five_gaussians, make_noisy_circles, make_noisy_gaussians
from vicinal.metrics import permutation_accuracy, purity

SETS = ("iris", "wine", "wdbc", "glass", "ecoli", "segment", "landsat")
MOST_ROWS = 1000

# Not those that settings were chosen on, which are 1 to 4.
SEED = 100

Problem = tuple[np.ndarray, np.ndarray]
Labels = Callable[[np.ndarray, int], np.ndarray]


def anisotropic() -> Problem:
    X, y = make_blobs(400, random_state=SEED)
    return X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), y


TOYS: dict[str, Callable[[], Problem]] = {
    "moons": lambda: make_moons(400, noise=0.08, random_state=SEED),
    "rings": lambda: make_circles(400, noise=0.05, factor=0.5, random_state=SEED),
    "blobs of three widths": lambda: make_blobs(
        400, cluster_std=[1.0, 2.5, 0.5], random_state=SEED
    ),
    "slanted blobs": anisotropic,
    "figure 3, left": lambda: make_noisy_gaussians(500, n_noise=8, random_state=SEED),
    "figure 3, center": lambda: make_noisy_circles(500, n_noise=8, random_state=SEED),
    "figure 3, right": lambda: make_five_gaussians(500, n_noise=8, random_state=SEED),
}


def modes(density: LocalComponents | None = None) -> Labels:
    return lambda X, k: ModeClustering(density, random_state=0).fit_predict(X)


METHODS: dict[str, Labels] = {
    "ModeClustering": modes(),
    "MeanShift": lambda X, k: MeanShift().fit_predict(X),
    "HDBSCAN": lambda X, k: HDBSCAN(copy=True).fit_predict(X),
    "KMeans, told": lambda X, k: KMeans(k, n_init=10, random_state=0).fit_predict(X),
    "GaussianMixture, told": lambda X, k: GaussianMixture(
        k, reg_covar=1e-3, n_init=3, random_state=0
    ).fit_predict(X),
    "spectral, told": lambda X, k: SpectralClustering(
        k, affinity="nearest_neighbors", random_state=0
    ).fit_predict(X),
}
MIXTURE = {"ModeClustering, mixture": modes(LocalComponents(n_mixture="auto"))}


def table(name: str) -> Problem:
    """At most so many rows of a set."""
    data = load(name)
    X, y = data.data.astype(float), np.asarray(data.target)
    if len(X) > MOST_ROWS:
        some = np.random.default_rng(SEED).choice(len(X), MOST_ROWS, replace=False)
        X, y = X[some], y[some]
    return X[:, X.std(axis=0) > 0], y


def cell(y: np.ndarray, labels: np.ndarray) -> tuple[str, str]:
    """ARI and the number of clusters; purity and permutation accuracy."""
    n = len(set(labels) - {-1})
    agreement = f"{adjusted_rand_score(y, labels):.2f} ({n})"
    return agreement, f"{purity(y, labels):.2f}, {permutation_accuracy(y, labels):.2f}"


def measured(X: np.ndarray, y: np.ndarray, methods: dict[str, Labels]) -> list[tuple[str, str]]:
    X, k = StandardScaler().fit_transform(X), len(np.unique(y))
    return [cell(y, method(X, k)) for method in methods.values()]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--mixture", action="store_true", help="climb a mixture of parts, too")
    options = parser.parse_args()
    methods = METHODS | MIXTURE if options.mixture else METHODS
    page = Page("Clusters")
    page.say(
        f"Columns are standardized; of large sets {MOST_ROWS} rows are drawn. Methods that are\n"
        "told know the number of classes. What HDBSCAN calls noise counts as a cluster in all but\n"
        "the number of them. Settings of ModeClustering were chosen on toys of other seeds\n"
        "(docs/decisions/0020), and on none of these sets.\n\n"
        "Adjusted Rand index, and the number of clusters found:\n"
    )
    row, others = page.table(["set", "classes", *methods]), []
    for name in (*TOYS, *SETS):
        X, y = TOYS[name]() if name in TOYS else table(name)
        found = measured(X, y, methods)
        row(name, len(np.unique(y)), *(agreement for agreement, _ in found))
        others.append((name, [words for _, words in found]))
    page.say("\nPurity, and permutation accuracy:\n")
    row = page.table(["set", *methods])
    for name, words in others:
        row(name, *words)
    if options.save:
        page.save("clusters")


if __name__ == "__main__":
    main()
