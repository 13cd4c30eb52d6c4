"""All tables of accuracy: a method on a set in d dimensions; Figure 5.2: accuracy against time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from reproduce.experiment import Measured, Unit
from reproduce.fast_metric_learning.methods import LABELS, fitted, left_out, scores, share_right
from reproduce.fast_metric_learning.sets import part_of, whole

# Which rule's accuracy is drawn (caption of Figure 5.2).
DRAWN = {"ss": "1-nn", "mb": "nca", "sl": "nca", "sl-cs": "nca"}
COLORS = ("gray", "blue", "red", "green")


def case_of(unit: Unit) -> tuple[str, int]:
    """Set and dimension of "iris/2"."""
    name, _, d = unit["case"].partition("/")
    return name, int(d)


def measure(unit: Unit) -> dict[str, Any]:
    """Scores of a method, its seconds of CPU and its updates."""
    name, d = case_of(unit)
    part = part_of(name, unit["seed"], unit["rows"])
    model, seconds = fitted(unit["method"], part, d, unit["seed"], unit["max_iter"])
    found = scores(model, part)
    return {**found, "seconds": round(seconds, 3), "updates": float(model.n_iter_)}


def measure_beside_euclid(unit: Unit) -> dict[str, Any]:
    """Table 5.2: also Euclid's nearest neighbor, columns as they are.

    `euclid`: of test rows; `left-out`: of all rows, each among the others, which is what the
    caption says, but none of its numbers is a multiple of 1 / N.
    """
    name, _ = case_of(unit)
    part = part_of(name, unit["seed"], unit["rows"], in_own_units=True)
    nearest = NearestNeighbors(n_neighbors=1).fit(part.X)
    who = nearest.kneighbors(part.X_test, return_distance=False)[:, 0]
    rows = whole(name, in_own_units=True)
    return {
        **measure(unit),
        "euclid": share_right(part.y[who], part.y_test),
        "left-out": left_out(rows.X, rows.y),
    }


def draw_times(all_measured: Sequence[Measured]) -> Figure:
    """Accuracy against seconds of CPU, a panel for each set, an ellipse around each method."""
    cases = list(dict.fromkeys(unit["case"] for unit, _ in all_measured))
    figure = Figure(figsize=(4.2 * len(cases), 4.2), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(cases)))
    for ax, case in zip(axes, cases, strict=True):
        for (method, rule), color in zip(DRAWN.items(), COLORS, strict=True):
            points = [
                (found["seconds"], found[rule])
                for unit, found in all_measured
                if unit["case"] == case and unit["method"] == method
            ]
            if points:
                _draw_method(ax, np.array(points), LABELS[method], f"tab:{color}")
        ax.set(title=case.replace("/", ", d = "), xlabel="CPU seconds of the fit", xscale="log")
        _plain_ticks(ax)
    axes[0].set_ylabel("test accuracy (%)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _plain_ticks(ax: Any) -> None:
    """1, 2 and 5 times powers of ten, and some room on either side."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = ax.get_xlim()
    ax.set_xlim(low / 1.5, high * 1.5)
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())


def _draw_method(ax: Any, points: NDArray, label: str, color: str) -> None:
    ax.plot(*points.T, "o", color=color, markersize=4, alpha=0.6, label=label)
    if len(points) > 2:  # fewer have no covariance to speak of
        seconds, accuracy = ellipse(points)
        seconds = np.maximum(seconds, 0.2 * points[:, 0].min())  # the axis has no negative times
        ax.plot(seconds, accuracy, color=color, linewidth=1)


def ellipse(points: NDArray) -> NDArray:
    """Where the Gaussian of the points has the density of two standard deviations, shape (2, 100).

    On the scale of seconds: a logarithmic axis deforms it, as in the thesis.
    """
    variances, directions = np.linalg.eigh(np.cov(points.T))
    angles = np.linspace(0, 2 * np.pi, 100)
    circle = 2 * np.sqrt(np.maximum(variances, 0))[:, None] * [np.cos(angles), np.sin(angles)]
    return points.mean(axis=0)[:, None] + directions @ circle
