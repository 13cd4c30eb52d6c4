"""Figure 1: a sequence of words, globally white (PCA) and locally white (LCA)."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from numpy.typing import NDArray

from reproduce.experiment import Measured, Unit, drawable
from vicinal import LocalComponents

# What is drawn is the sequence of the paper; others tell whether its length matters.
SHOWN = "To be or not to be"


def measure(unit: Unit) -> dict:
    """Widths of letters beside their heights, as drawn after each map; 1: as they were."""
    X = ink(unit["text"], unit["n_points"], unit["seed"])
    model = LocalComponents(regularization=0.0).fit(X)
    kept = unit["text"] == SHOWN and unit["seed"] == 0
    return {
        "pca": stretch(np.cov(X.T)),
        "lca": stretch(model.covariance_),
        **({"points": X.round(4).tolist()} if kept else {}),
    }


def ink(text: str, n_points: int, seed: int) -> NDArray:
    """Points drawn uniformly from the letters of a text whose height is about 1."""
    outlines = [Path(polygon) for polygon in TextPath((0, 0), text, size=1).to_polygons()]
    corners = np.vstack([outline.vertices for outline in outlines])
    low, high = corners.min(axis=0), corners.max(axis=0)
    rng = np.random.default_rng(seed)
    points = np.empty((0, 2))
    while len(points) < n_points:
        drawn = rng.uniform(low, high, (4 * n_points, 2))
        # Inside an odd number of outlines: the hole of an "o" is inside two.
        within = sum(outline.contains_points(drawn).astype(int) for outline in outlines)
        points = np.vstack([points, drawn[within % 2 == 1]])
    return points[:n_points]


def stretch(covariance: NDArray) -> float:
    """How much wider things become, beside how much higher, where a covariance becomes round."""
    return float(np.sqrt(covariance[1, 1] / covariance[0, 0]))


def draw(all_measured: Sequence[Measured]) -> Figure:
    """Both maps of the paper's text; below, the stretch of texts of several lengths."""
    figure = Figure(figsize=(9, 5.2), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(1.1, 1))
    X = np.array(drawable(all_measured, "points")[0].found["points"])
    _draw_maps(above.subplots(1, 2, width_ratios=(1, 2.6)), X)
    _draw_stretches(below.subplots(), all_measured)
    return figure


def _draw_maps(axes: Sequence, X: NDArray) -> None:
    maps = {
        "PCA: globally round": np.diag(X.std(axis=0) ** -1),
        "LCA: locally round": LocalComponents(regularization=0.0).fit(X).components_,
    }
    for ax, (title, components) in zip(axes, maps.items(), strict=True):
        Z = X @ components.T
        Z = (Z - Z.mean(axis=0)) / Z[:, 1].std()
        ax.scatter(*Z.T, s=2, color="black", linewidths=0, rasterized=True)
        ax.set(title=title, aspect="equal", xticks=[], yticks=[])


def _draw_stretches(ax, all_measured: Sequence[Measured]) -> None:
    texts = list(dict.fromkeys(unit["text"] for unit, _ in all_measured))
    for method, marker in (("pca", "s"), ("lca", "o")):
        values = [
            [found[method] for unit, found in all_measured if unit["text"] == text]
            for text in texts
        ]
        ax.plot([np.mean(row) for row in values], texts, marker=marker, label=method.upper())
    ax.axvline(1, color="gray", linewidth=0.8, linestyle="--")
    ax.invert_yaxis()
    ax.set(
        xlabel="width of letters beside their height after the map (1: as written)", xlim=(0, None)
    )
    ax.legend()
