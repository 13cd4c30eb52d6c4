"""Projections to the plane: principal components, and where EM leads from there."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reproduce.experiment import Measured, Unit, drawable
from reproduce.latent_coincidence.neighbors import (
    contrast,
    iterations_to_stop,
    learned_maps,
    neighbor_error,
)
from reproduce.latent_coincidence.parts import part_of

# Test rows that are drawn, at most.
_MOST_SHOWN = 700

METHODS = {"pca": "PCA", "lca": "LCA"}


def measure(unit: Unit) -> dict:
    """Test errors in the plane, how far classes are apart there, and points of the first seed."""
    part, k = part_of(unit), unit["n_targets"]
    learned, n_stop = learned_maps(part, unit), iterations_to_stop(part, unit)
    found: dict = {"iterations": float(n_stop)}
    for name, W in {"pca": learned[0], "lca": learned[n_stop]}.items():
        found |= {name: neighbor_error(part, W, k), f"contrast-{name}": contrast(part, W, k)}
        if unit["seed"] == 0:
            found[f"points-{name}"] = in_principal_axes(part.X_test @ W.T)[:_MOST_SHOWN].tolist()
    if unit["seed"] == 0:
        found["labels"] = part.y_test[:_MOST_SHOWN].tolist()
    return found


def in_principal_axes(Z: NDArray) -> NDArray:
    """Points around 0, widest along the first axis: a rotation says nothing about neighbors."""
    centered = Z - Z.mean(axis=0)
    _, _, axes = np.linalg.svd(centered, full_matrices=False)
    return (centered @ axes.T / np.sqrt(np.square(centered).mean())).round(3)


def _limits(points: NDArray) -> NDArray:
    """Corners of a box around nearly all points: a few outliers would take all the room."""
    low, high = np.quantile(points, [0.01, 0.99], axis=0)
    margin = 0.15 * (high - low)
    return np.array([low - margin, high + margin])


def draw(all_measured: Sequence[Measured]) -> Figure:
    """Test points of each set in the plane of PCA, and in that of LCA."""
    shown = drawable(all_measured, "labels")
    figure = Figure(figsize=(2.9 * len(shown), 5.8), layout="constrained")
    axes = figure.subplots(len(METHODS), len(shown), squeeze=False)
    for (name, label), row in zip(METHODS.items(), axes, strict=True):
        for ax, (unit, found) in zip(row, shown, strict=True):
            points = np.array(found[f"points-{name}"])
            colors = {"c": found["labels"], "cmap": "tab10", "vmin": 0, "vmax": 9}
            ax.scatter(*points.T, s=5, rasterized=True, **colors)
            (left, low), (right, high) = _limits(points)
            ax.set(xlim=(left, right), ylim=(low, high))
            ax.set(title=f"{unit['set']}, {label}: {found[name]:.1f} %", xticks=[], yticks=[])
            ax.title.set_fontsize(10)
        row[0].set_ylabel("second coordinate")
    for ax in axes[-1]:
        ax.set_xlabel("first coordinate")
    return figure
