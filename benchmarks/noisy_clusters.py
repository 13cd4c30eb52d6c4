"""Clusters under dimensions of noise: Figure 3 of "Local component analysis" (Le Roux and Bach).

    python -m benchmarks.noisy_clusters [PICTURE]

draws the accuracy of spectral clustering (Gaussian affinities of width 1), on whitened rows and in
the learned metric, and of ModeClustering, which is not told the number of clusters, to PICTURE
("noisy_clusters.png").
"""

import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.cluster import SpectralClustering
from sklearn.decomposition import PCA

from vicinal import ModeClustering
from vicinal.datasets import make_five_gaussians, make_noisy_circles, make_noisy_gaussians
from vicinal.metrics import permutation_accuracy

SETS = {
    "two Gaussians": (make_noisy_gaussians, 2),
    "two circles": (make_noisy_circles, 2),
    "five Gaussians": (make_five_gaussians, 5),
}
NOISE, N_ROWS, SEEDS = (0, 2, 4, 8), 500, (0, 1)
METHODS = ("spectral, whitened", "spectral, learned metric", "ModeClustering")


def spectral(Z: np.ndarray, k: int) -> np.ndarray:
    """Clusters of rows, k of them."""
    return SpectralClustering(k, gamma=0.5, random_state=0).fit_predict(Z)


def accuracies(make, k: int, n_noise: int, seed: int) -> list[float]:
    """Of every method, on rows that are whitened after noise was added."""
    X, y = make(N_ROWS, n_noise=n_noise, random_state=seed)
    X = PCA(whiten=True).fit_transform(X)
    model = ModeClustering(random_state=0).fit(X)
    found = (
        spectral(X, k),
        spectral(model.density_.transform(X), k),
        model.labels_,
    )
    return [permutation_accuracy(y, labels) for labels in found]


def main() -> None:
    """Measure, print and draw."""
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    axes = figure.subplots(1, len(SETS), sharey=True)
    for ax, (name, (make, k)) in zip(axes, SETS.items(), strict=True):
        means = np.array(
            [np.mean([accuracies(make, k, n, seed) for seed in SEEDS], axis=0) for n in NOISE]
        )
        for method, line, marker in zip(METHODS, 100 * means.T, "so^", strict=True):
            ax.plot(NOISE, line, marker=marker, label=method, alpha=0.8)
            print(f"{name}, {method}:", *(f"{value:.0f}" for value in line), flush=True)
        ax.set(title=name, xlabel="dimensions of noise", xticks=NOISE, ylim=(0, 103))
    axes[0].set_ylabel("permutation accuracy (%)")
    axes[0].legend(loc="lower left", fontsize="small")
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "noisy_clusters.png", dpi=120)


if __name__ == "__main__":
    main()
