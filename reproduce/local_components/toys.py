"""Figure 2: the three toy sets without noise, which figures 3 and 4 add dimensions of noise to."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reproduce.experiment import Measured, Unit, drawable
from vicinal.datasets import make_five_gaussians, make_noisy_circles, make_noisy_gaussians


class Toy(NamedTuple):
    """A set, its number of clusters, and the number of dimensions that tell them apart."""

    title: str
    make: Callable[..., tuple[NDArray, NDArray]]
    n_clusters: int
    n_relevant: int


TOYS = {
    "gaussians": Toy("two Gaussians", make_noisy_gaussians, 2, 1),
    "circles": Toy("two circles", make_noisy_circles, 2, 2),
    "five": Toy("five Gaussians", make_five_gaussians, 5, 2),
}


def measure(unit: Unit) -> dict:
    """What the caption of the figure says about a set, and its points."""
    X, y = TOYS[unit["set"]].make(unit["n_points"], random_state=unit["seed"])
    shown = {"points": X.round(4).tolist(), "labels": y.tolist()} if unit["seed"] == 0 else {}
    return {**FACTS[unit["set"]](X, y), **shown}


def facts_of_gaussians(X: NDArray, y: NDArray) -> dict[str, float]:
    """Means, and a variance of each."""
    left, right = X[y == 0], X[y == 1]
    return {
        "left": float(left[:, 0].mean()),
        "right": float(right[:, 0].mean()),
        "variance": float(np.mean([part.var(axis=0, ddof=1) for part in (left, right)])),
    }


def facts_of_circles(X: NDArray, y: NDArray) -> dict[str, float]:
    """Radii, and the noise across them: E r² = R² + 2 σ² on a circle of radius R."""
    radius = np.linalg.norm(X, axis=1)
    circles = [radius[y == label] for label in (0, 1)]
    deviation = float(np.mean([circle.std(ddof=1) for circle in circles]))
    inner, outer = (float(np.sqrt(np.mean(r**2) - 2 * deviation**2)) for r in circles)
    return {"inner": inner, "outer": outer, "deviation": deviation}


def facts_of_five(X: NDArray, y: NDArray) -> dict[str, float]:
    """How much larger the cluster in the middle is."""
    counts = np.bincount(y)
    return {"clusters": float(len(counts)), "ratio": float(counts[0] / counts[1:].mean())}


FACTS = {"gaussians": facts_of_gaussians, "circles": facts_of_circles, "five": facts_of_five}


def draw(all_measured: Sequence[Measured]) -> Figure:
    """The points of the first seed."""
    shown = drawable(all_measured, "points")
    figure = Figure(figsize=(3 * len(shown), 3.6), layout="constrained")
    axes = figure.subplots(1, len(shown), squeeze=False)[0]
    for ax, (unit, found) in zip(axes, shown, strict=True):
        points, colors = np.array(found["points"]), found["labels"]
        ax.scatter(*points.T, c=colors, s=4, cmap="tab10", vmax=9, rasterized=True)
        ax.set(title=TOYS[unit["set"]].title, aspect="equal", xlabel="first coordinate")
    axes[0].set_ylabel("second coordinate")
    return figure
