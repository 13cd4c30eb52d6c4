"""Figures 3 and 4: spectral clustering under dimensions of noise, in several metrics."""

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from reproduce.experiment import Measured, Unit
from reproduce.local_components.projections import ICA_CONTRASTS, fast_ica, ngca
from reproduce.local_components.spectral import spectral_clusters
from reproduce.local_components.toys import TOYS
from reproduce.means import mean_of
from vicinal import LocalComponents
from vicinal.metrics import permutation_accuracy

# From rows as they are drawn, the same rows white, the number of relevant dimensions and a seed, to
# coordinates; several where the best of them counts.
Coordinates = Callable[[NDArray, NDArray, int, int], list[NDArray]]


def local_coordinates(X: NDArray, **parameters: object) -> NDArray:
    """Coordinates of the paper's model: no penalty; steps are those of EM itself."""
    model = LocalComponents(regularization=0.0, accelerate=False, **parameters)
    with warnings.catch_warnings():  # where `max_iter` is what is looked at
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X).transform(X)


METHODS: dict[str, Coordinates] = {
    "raw": lambda X, Z, d, seed: [X],
    "whitened": lambda X, Z, d, seed: [Z],
    "one-step": lambda X, Z, d, seed: [local_coordinates(Z, max_iter=1)],
    "fastica": lambda X, Z, d, seed: [
        fast_ica(Z, d, contrast, seed) for contrast in ICA_CONTRASTS.values()
    ],
    "ngca": lambda X, Z, d, seed: [ngca(Z, d, seed)],
    "lca": lambda X, Z, d, seed: [local_coordinates(Z)],
    "lca-gauss": lambda X, Z, d, seed: [local_coordinates(Z, gaussian="em")],
    "search": lambda X, Z, d, seed: [local_coordinates(Z, gaussian="search")],
}

LABELS = {
    "raw": "as drawn",
    "whitened": "whitened",
    "one-step": "one EM step",
    "fastica": "FastICA",
    "ngca": "NGCA",
    "lca": "LCA",
    "lca-gauss": "LCA-Gauss",
    "search": "LCA-Gauss-Red",
}


def measure_methods(unit: Unit) -> dict[str, float]:
    """Accuracy of every method in percent; of FastICA, that of its best contrast."""
    X, y = noisy(unit)
    Z, toy = whitened(X), TOYS[unit["set"]]
    found = {}
    for name, coordinates in METHODS.items():
        tried = coordinates(X, Z, toy.n_relevant, unit["seed"])
        found[name] = max(accuracy(rows, y, unit) for rows in tried)
    return found


def measure_iterations(unit: Unit) -> dict[str, float]:
    """Accuracy after some iterations of EM, in percent; 0 iterations: until they converge."""
    X, y = noisy(unit)
    limit = {"max_iter": unit["iterations"]} if unit["iterations"] else {}
    return {"accuracy": accuracy(local_coordinates(whitened(X), **limit), y, unit)}


def noisy(unit: Unit) -> tuple[NDArray, NDArray]:
    """Rows with noise, and their clusters."""
    make = TOYS[unit["set"]].make
    return make(unit["n_points"], n_noise=unit["n_noise"], random_state=unit["seed"])


def whitened(X: NDArray) -> NDArray:
    """Rows in principal components of variance 1."""
    variances, directions = np.linalg.eigh(np.cov(X.T, bias=True))
    return (X - X.mean(axis=0)) @ (directions / np.sqrt(variances))


def accuracy(rows: NDArray, y: NDArray, unit: Unit) -> float:
    """Of spectral clustering, in percent."""
    n_clusters = TOYS[unit["set"]].n_clusters
    labels = spectral_clusters(rows, n_clusters, unit["n_neighbors"], unit["seed"])
    return 100 * permutation_accuracy(y, labels)


def draw_methods(all_measured: Sequence[Measured]) -> Figure:
    """Accuracy over noise, a line for each method."""
    return _draw(
        all_measured,
        {LABELS[name]: (name, {}) for name in METHODS},
    )


def draw_iterations(all_measured: Sequence[Measured]) -> Figure:
    """Accuracy over noise, a line for each number of iterations."""
    numbers = sorted({unit["iterations"] for unit, _ in all_measured}, key=lambda n: n or np.inf)
    names = {0: "to convergence", 1: "1 (Manifold Parzen windows)"}
    return _draw(
        all_measured,
        {names.get(n, str(n)): ("accuracy", {"iterations": n}) for n in numbers},
        "iterations of EM",
    )


def _draw(
    all_measured: Sequence[Measured], lines: dict[str, tuple[str, dict]], legend: str = ""
) -> Figure:
    noise = sorted({unit["n_noise"] for unit, _ in all_measured})
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    axes = figure.subplots(1, len(TOYS), sharey=True)
    for ax, (name, toy) in zip(axes, TOYS.items(), strict=True):
        for i, (label, (number, settings)) in enumerate(lines.items()):
            points = [mean_of(all_measured, number, set=name, n_noise=n, **settings) for n in noise]
            errors = [point.error or 0 for point in points]
            ax.errorbar(
                range(len(noise)),
                [point.value for point in points],
                errors,
                marker="xv^<osD."[i],
                markersize=10 - i,  # what lies below is larger, so that none hides another
                linewidth=3.4 - 0.35 * i,
                label=label,
            )
        ax.set(title=toy.title, xlabel="dimensions of noise", ylim=(15, 103))
        ax.set_xticks(range(len(noise)), noise)
    axes[0].set_ylabel("clustering accuracy (%)")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, title=legend or None)
    return figure
