"""Draw every display of vicinal.report on data that come with scikit-learn.

    python examples/displays.py [FOLDER]

writes one picture each to FOLDER ("displays" unless named).
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from vicinal import (
    DivergenceNeighbors,
    LatentCoincidence,
    LocalComponents,
    NeighborhoodComponents,
)
from vicinal.report import (
    ComparisonDisplay,
    ConvergenceDisplay,
    DensityDisplay,
    FeatureImportanceDisplay,
    LocalEllipsesDisplay,
    MetricDisplay,
    NeighborhoodGraphDisplay,
    NeighborsAccuracyDisplay,
    ProjectionDisplay,
    RegularizationDisplay,
    ReliabilityDisplay,
    SpectrumDisplay,
    compare,
)
from vicinal.report.support import save_figure

wine = load_wine(as_frame=True)
scaled = StandardScaler().set_output(transform="pandas")
metric = make_pipeline(scaled, NeighborhoodComponents(n_components=2)).fit(wine.data, wine.target)
X = scaled.transform(wine.data)
density = LocalComponents(gaussian="search", regularization="auto", random_state=0).fit(X)
graph = DivergenceNeighbors(n_graph_neighbors=5, gamma=0.1).fit(X)

pixels, digits = load_digits(return_X_y=True)
train, test, y_train, y_test = train_test_split(pixels / 16, digits, random_state=0)
projection = NeighborhoodComponents(n_components=2, random_state=0).fit(train, y_train)
embedding = NeighborhoodComponents(n_components=5, random_state=0).fit(train, y_train)

# Pairs of digits, half of them of the same kind: some to learn from, others to judge by.
rng = np.random.default_rng(0)
pairs = rng.integers(len(train), size=(60_000, 2))
same = y_train[pairs[:, 0]] == y_train[pairs[:, 1]]
chosen = np.append(np.flatnonzero(same), np.flatnonzero(~same)[: same.sum()])
learn, judge = train_test_split(chosen, random_state=0)
coincidence = LatentCoincidence(n_components=10).fit_pairs(pairs[learn], same[learn], train)

comparison = compare(wine.data, wine.target, random_state=0)

PICTURES: dict[str, Callable[[Axes], object]] = {
    "projection": lambda ax: ProjectionDisplay.from_estimator(
        projection, train, y_train, ax, queries=test[:2], n_neighbors=5
    ),
    "metric": lambda ax: MetricDisplay.from_estimator(metric, wine.data, ax=ax),
    "importance": lambda ax: FeatureImportanceDisplay.from_estimator(metric, wine.data, ax=ax),
    "spectrum": lambda ax: SpectrumDisplay.from_estimator(density, ax=ax),
    "convergence": lambda ax: ConvergenceDisplay.from_estimators(
        {"2 components": projection, "5 components": embedding}, ax=ax
    ),
    "regularization": lambda ax: RegularizationDisplay.from_estimator(projection, ax=ax),
    "density": lambda ax: DensityDisplay.from_estimator(density, X, ax=ax),
    "ellipses": lambda ax: LocalEllipsesDisplay.from_estimator(graph, X, wine.target, ax=ax),
    "graph": lambda ax: NeighborhoodGraphDisplay.from_estimator(graph, X, wine.target, ax=ax),
    "reliability": lambda ax: ReliabilityDisplay.from_estimator(
        coincidence, pairs[judge], same[judge], X=train, ax=ax
    ),
    "accuracy": lambda ax: NeighborsAccuracyDisplay.from_estimator(
        embedding, train, y_train, test, y_test, baselines=("raw", "pca"), ax=ax
    ),
    "comparison": lambda ax: ComparisonDisplay.from_comparison(comparison, ax=ax),
}


def main(folder: Path) -> None:
    """Draw and save them all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        figure = Figure(layout="constrained")
        draw(figure.subplots())
        save_figure(figure, folder / f"{name}.png")
        print(folder / f"{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "displays"))
