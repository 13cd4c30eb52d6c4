"""Do divergences help? Neighbors, clusters and embeddings by them beside Euclid's, by default.

python -m benchmarks.divergence_accuracy [--sets NAME ...] [--raw FILE] [--save]
"""

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.manifold import TSNE, Isomap, LocallyLinearEmbedding, SpectralEmbedding
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from benchmarks.common.command import arguments
from benchmarks.common.pages import Page
from benchmarks.common.records import Records
from benchmarks.common.sets import available
from benchmarks.common.splits import random_split
from vicinal import DivergenceEmbedding, DivergenceNeighbors
from vicinal.datasets import load
from vicinal.divergence.divergences import DIVERGENCES
from vicinal.metrics import purity

# Not those that gamma="auto" was chosen on (docs/decisions/0021), nor their seeds, 100 to 109.
SETS = (
    "iris",
    "wine",
    "wdbc",
    "glass",
    "ionosphere",
    "sonar",
    "new-thyroid",
    "pima",
    "segment",
    "landsat",
)
SEEDS = range(10)

# Of large sets; fewer where divergences of all pairs are needed.
MOST_ROWS, FEWER_ROWS = 1000, 500
K = 5

# Hellinger's neighbors are Bhattacharyya's.
RANKED = ["euclidean", *(name for name in DIVERGENCES if name not in ("euclidean", "hellinger"))]
COMPARED = ["euclidean", *(name for name in DIVERGENCES if name != "euclidean")]

# Neighbors in graphs of all methods, which DivergenceEmbedding has by default.
GRAPH = 15

Problem = tuple[np.ndarray, np.ndarray]


def table(name: str, most: int) -> Problem:
    """At most so many rows of a set, columns that vary."""
    data = load(name)
    X, y = data.data.astype(float), np.asarray(data.target)
    if len(X) > most:
        some = np.random.default_rng(0).choice(len(X), most, replace=False)
        X, y = X[some], y[some]
    return X[:, X.std(axis=0) > 0], y


# --------------------------------------------------------------------------------- neighbors


def neighbor_accuracy(X: np.ndarray, y: np.ndarray, divergence: str, seed: int) -> dict:
    """Accuracy of the nearest training points' vote, of new points by `transform`."""
    split = random_split(X, y, seed)
    split = split.mapped(StandardScaler().fit(split.X).transform)
    model = DivergenceNeighbors(divergence=divergence, n_graph_neighbors=K, n_jobs=1)
    graph = model.fit(split.X).transform(split.X_test)
    near = graph.indices.reshape(len(split.X_test), -1)[:, :K]
    classes, codes = np.unique(split.y, return_inverse=True)
    votes = np.eye(len(classes))[codes[near]].sum(axis=1)
    return {"accuracy": float((classes[votes.argmax(axis=1)] == split.y_test).mean())}


# ---------------------------------------------------------------------------------- clusters


def spectral(D: np.ndarray, k: int) -> np.ndarray:
    affinity = "precomputed_nearest_neighbors"
    model = SpectralClustering(k, affinity=affinity, n_neighbors=GRAPH, random_state=0)
    return model.fit_predict(D)


CLUSTERINGS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "spectral": spectral,
    "agglomerative": lambda D, k: AgglomerativeClustering(
        k, metric="precomputed", linkage="average"
    ).fit_predict(D),
    "HDBSCAN": lambda D, k: HDBSCAN(metric="precomputed", copy=True).fit_predict(D),
}


def agreement(y: np.ndarray, labels: np.ndarray) -> dict:
    return {
        "ARI": float(adjusted_rand_score(y, labels)),
        "NMI": float(normalized_mutual_info_score(y, labels, average_method="max")),
        "purity": float(purity(y, labels)),
    }


def clusters(X: np.ndarray, y: np.ndarray, divergence: str) -> dict:
    model = DivergenceNeighbors(divergence=divergence, square_root=True, n_jobs=1)
    D, k = model.fit_transform(StandardScaler().fit_transform(X)), len(np.unique(y))
    return {name: agreement(y, method(D, k)) for name, method in CLUSTERINGS.items()}


# -------------------------------------------------------------------------------- embeddings


def ours(method: str, divergence: str) -> Callable[[np.ndarray, int], np.ndarray]:
    def embed(X: np.ndarray, d: int) -> np.ndarray:
        model = DivergenceEmbedding(
            d, method=method, divergence=divergence, random_state=0, n_jobs=1
        )
        return model.fit_transform(X)

    return embed


def umap(X: np.ndarray, d: int) -> np.ndarray:
    from umap import UMAP

    return UMAP(n_neighbors=GRAPH, n_components=d, random_state=0, n_jobs=1).fit_transform(X)


THEIRS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "isomap": lambda X, d: Isomap(n_neighbors=GRAPH, n_components=d).fit_transform(X),
    "laplacian": lambda X, d: SpectralEmbedding(
        d, affinity="nearest_neighbors", n_neighbors=GRAPH, random_state=0
    ).fit_transform(X),
    "lle": lambda X, d: LocallyLinearEmbedding(
        n_neighbors=GRAPH, n_components=d, eigen_solver="dense", random_state=0
    ).fit_transform(X),
    "tsne": lambda X, d: TSNE(d, random_state=0, n_jobs=1).fit_transform(X),
    "umap": umap,
}
OURS = ("euclidean", "jeffreys")


def dimensions(method: str) -> tuple[int, ...]:
    return (2,) if method == "tsne" else (2, 5)  # scikit-learn's has at most three


def embedded(X: np.ndarray, y: np.ndarray, method: str, by: str, d: int) -> dict:
    """5-NN accuracy, each point by all others, and ARI of k-means, in the embedding."""
    embed = THEIRS[method] if by == "scikit-learn" else ours(method, by)
    Z = embed(StandardScaler().fit_transform(X), min(d, X.shape[1]))
    Z = Z / Z.std()
    vote = cross_val_predict(KNeighborsClassifier(K), Z, y, cv=10)
    labels = KMeans(len(np.unique(y)), n_init=10, random_state=0).fit_predict(Z)
    return {"accuracy": float((vote == y).mean()), "ARI": float(adjusted_rand_score(y, labels))}


# -------------------------------------------------------------------------------- the page


class Measurements:
    """All that is measured, each once."""

    def __init__(self, raw: str | None) -> None:
        self.records = Records(raw, ("part", "set", "case"))

    def get(self, part: str, name: str, case: str, measure: Callable[[], dict]) -> dict:
        """What is known of a case, or what is measured now."""
        found = self.records.get((part, name, case))
        if found is None:
            with warnings.catch_warnings():  # graphs of several components, and what UMAP says
                warnings.simplefilter("ignore")
                found = {"part": part, "set": name, "case": case, **measure()}
            self.records.add(found)
        return found

    def accuracies(self, name: str, divergence: str) -> np.ndarray:
        """One for every split."""
        X, y = table(name, MOST_ROWS)

        def one(seed: int) -> dict:
            return self.get(
                "neighbors",
                name,
                f"{divergence} {seed}",
                lambda: neighbor_accuracy(X, y, divergence, seed),
            )

        return np.array([one(seed)["accuracy"] for seed in SEEDS])

    def clusters(self, name: str, divergence: str) -> dict:
        """Scores of all clusterings."""
        X, y = table(name, FEWER_ROWS)
        return self.get("clusters", name, divergence, lambda: clusters(X, y, divergence))

    def embedded(self, name: str, method: str, by: str, d: int) -> dict:
        """Scores of an embedding."""
        X, y = table(name, FEWER_ROWS)
        case = f"{method} {by} {d}"
        return self.get("embedded", name, case, lambda: embedded(X, y, method, by, d))


def tell_neighbors(page: Page, sets: list[str], found: Measurements) -> None:
    page.say(
        f"## {K} nearest neighbors\n\nAccuracy in percent on 30 % of the rows held back, mean of "
        f"{len(SEEDS)} splits; in brackets the\nstandard error of Euclid's, and for the others that"
        " of the difference from it, split by split. Spread:\nhow far neighborhoods differ in size "
        "(standard deviation of log s_i, s_i the variance of a neighborhood); w:\nthe share by "
        'which gamma="auto" shrinks them to balls.\n'
    )
    columns = ["set", "spread", "w", *RANKED]
    row, better, worse = page.table(columns), dict.fromkeys(RANKED, 0), {}
    for name in sets:
        every = {divergence: found.accuracies(name, divergence) for divergence in RANKED}
        base = every["euclidean"]
        cells = [f"{100 * base.mean():.1f} ({error(base):.1f})"]
        for divergence in RANKED[1:]:
            gain = every[divergence] - base
            cells.append(f"{100 * gain.mean():+.1f} ({error(gain):.1f})")
            better[divergence] += gain.mean() > 0
            if 100 * gain.mean() < -error(base):
                worse.setdefault(divergence, []).append(name)
        row(name, *scales(name), *cells)
    page.say()
    for divergence in RANKED[1:]:
        below = ", ".join(worse.get(divergence, [])) or "none"
        page.say(
            f"- {divergence}: better than Euclid on {better[divergence]} of {len(sets)} sets; "
            f"worse by more than Euclid's standard error: {below}."
        )


def scales(name: str) -> tuple[str, str]:
    """How far neighborhoods differ in size, and how far they are shrunk."""
    X = StandardScaler().fit_transform(table(name, MOST_ROWS)[0])
    model = DivergenceNeighbors(n_jobs=1).fit(X)
    # (1 - w) s_i + w √(s_i s) is the mean variance of a Gaussian: a quadratic in √s_i.
    w, s = model.share_, model.variance_
    mean = model.gaussians_.covariances().trace(axis1=1, axis2=2) / X.shape[1]
    b = w * np.sqrt(s)
    root = 2 * mean / (b + np.sqrt(b * b + 4 * (1 - w) * mean))
    alive = root > 1e-2 * np.sqrt(s)
    return f"{np.log(root[alive] ** 2).std():.2f}", f"{w:.2f}"


def error(values: np.ndarray) -> float:
    """Standard error of a mean, in percent."""
    return float(100 * values.std(ddof=1) / np.sqrt(len(values)))


def tell_clusters(page: Page, sets: list[str], found: Measurements) -> None:
    page.say(
        "\n## Clusters\n\nAdjusted Rand index / normalized mutual information / purity. Spectral "
        "and agglomerative (average linkage)\nclustering know the number of classes, HDBSCAN does "
        "not. Of Jeffreys and Bhattacharyya, roots.\n"
    )
    for method in CLUSTERINGS:
        page.say(f"{method}:\n")
        row, means = page.table(["set", *COMPARED]), []
        for name in sets:
            every = [found.clusters(name, divergence)[method] for divergence in COMPARED]
            row(name, *(" / ".join(f"{v:.2f}" for v in scores.values()) for scores in every))
            means.append([scores["ARI"] for scores in every])
        row("mean ARI", *(f"{value:.3f}" for value in np.mean(means, axis=0)))
        page.say()


def tell_embeddings(page: Page, sets: list[str], found: Measurements) -> None:
    page.say(
        f"## Embeddings\n\n{K}-NN accuracy in percent (10 folds) / adjusted Rand index of k-means, "
        f"in the embedding. All graphs have\n{GRAPH} neighbors. First scikit-learn's method (or "
        "umap-learn's) on points, then DivergenceEmbedding's. Of four features, four dimensions.\n"
    )
    for method in THEIRS:
        for d in dimensions(method):
            page.say(f"{method}, {d} dimensions:\n")
            row, means = page.table(["set", "theirs", *OURS]), []
            for name in sets:
                every = [found.embedded(name, method, by, d) for by in ("scikit-learn", *OURS)]
                row(name, *(f"{100 * e['accuracy']:.1f} / {e['ARI']:.2f}" for e in every))
                means.append([(e["accuracy"], e["ARI"]) for e in every])
            row("mean", *(f"{100 * a:.1f} / {b:.3f}" for a, b in np.mean(means, axis=0)))
            page.say()


def methods_here() -> Iterator[str]:
    """Embeddings whose library is installed."""
    for method in THEIRS:
        if method == "umap":
            try:
                import umap  # noqa: F401
            except ImportError:
                continue
        yield method


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sets", nargs="+", choices=SETS, help="these only")
    parser.add_argument("--raw", metavar="FILE", help="keep what was measured, and go on from it")
    options = parser.parse_args()
    for method in set(THEIRS) - set(methods_here()):
        del THEIRS[method]
    page = Page("Do divergences help?")
    page.say(
        f"Columns are standardized, by the training rows where there are such; of large sets "
        f"{MOST_ROWS} rows are drawn,\n{FEWER_ROWS} for clusters and embeddings. All settings are "
        "the defaults; none was chosen by labels,\nnor on these sets (docs/decisions/0021).\n"
    )
    page.say(
        "Divergences help where neighborhoods differ in size or shape from region to region: one\n"
        "class dense or flat, another spread around it (ionosphere, glass, new-thyroid, whose\n"
        "spread is largest; sonar), and where clusterings suffer from outliers. Where classes are\n"
        "compact clouds of like density Euclid tells them apart already, and shapes estimated\n"
        "from ten neighbors cost up to a point (wdbc, segment). Riemann's distance, of shapes\n"
        "alone, finds no classes but in ionosphere, sonar and new-thyroid.\n"
    )
    sets, found = available(page, SETS, options.sets), Measurements(options.raw)
    tell_neighbors(page, sets, found)
    tell_clusters(page, sets, found)
    tell_embeddings(page, sets, found)
    if options.save:
        page.save("divergence_accuracy")


if __name__ == "__main__":
    main()
