"""Section 3.1 in the plane: each class around its mean, under the map that was learned for it."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from reproduce.experiment import Measured, Unit, drawable
from reproduce.latent_coincidence.mixture import coincidence
from reproduce.latent_coincidence.parts import part_of

# Classes, and test rows of each kind, that are drawn at most; of other rows, the share inside.
_CLASSES_SHOWN, _MOST_SHOWN, _SHARE_INSIDE = 4, 300, 0.9


def measure(unit: Unit) -> dict:
    """How much farther from the mean of a class others are than its own test rows."""
    part = part_of(unit)
    model = coincidence(part, 2, solver="em-endpoints", max_iter=unit["iterations"], tol=0.0)
    plane, found = PCA(2).fit(part.X).components_, {"shown": []}
    contrasts = []
    for c, (mean, W) in enumerate(zip(model.means_, model.components_, strict=True)):
        own, centered = part.y_test == model.classes_[c], part.X_test - mean
        contrasts.append([contrast(centered @ A.T, own) for A in (plane, W)])
        if unit["seed"] == 0 and c < _CLASSES_SHOWN:
            found["shown"].append(shown_points(centered @ W.T, own))
    before, after = np.mean(contrasts, axis=0)
    return found | {"contrast-pca": float(before), "contrast-lca": float(after)}


def contrast(Z: NDArray, own: NDArray) -> float:
    """Ratio of root mean squared distances to the origin, others to own."""
    squared = np.square(Z).sum(axis=1)
    return float(np.sqrt(squared[~own].mean() / squared[own].mean()))


def shown_points(Z: NDArray, own: NDArray) -> list[list]:
    """Some points of others and of the class, in units of its own root mean square."""
    unit = np.sqrt(np.square(Z[own]).sum(axis=1).mean())
    return [(Z[which][:_MOST_SHOWN] / unit).round(2).tolist() for which in (~own, own)]


def draw(all_measured: Sequence[Measured]) -> Figure:
    """A row for each set, a plane for each of its first classes."""
    shown = [(unit["set"], found["shown"]) for unit, found in drawable(all_measured, "shown")]
    figure = Figure(figsize=(2.6 * _CLASSES_SHOWN, 2.7 * len(shown)), layout="constrained")
    axes = figure.subplots(len(shown), _CLASSES_SHOWN, squeeze=False)
    for row, (name, classes) in zip(axes, shown, strict=True):
        for c, (ax, kinds) in enumerate(zip(row, classes, strict=False)):
            for kind, color, label in zip(
                kinds, ("silver", "tab:red"), ("other classes", "the class"), strict=True
            ):
                ax.scatter(*np.array(kind).T, s=5, color=color, label=label, rasterized=True)
            ax.plot(0, 0, "+", color="black", markersize=9, label="its mean")
            radius = np.quantile(np.abs(kinds[0]).max(axis=1), _SHARE_INSIDE)
            ax.set(title=f"{name}, class {c}", xlim=(-radius, radius), ylim=(-radius, radius))
            ax.set(aspect="equal", xlabel="first coordinate")
        row[0].set_ylabel("second coordinate")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure
