"""Figures of curves: early stopping, soft assignments, dimensions, points inspected."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.neighbors import KDTree

from reproduce.experiment import Measured, Unit, drawable
from reproduce.fast_metric_learning.methods import fitted, scores
from reproduce.fast_metric_learning.projections import drawing, grid, start_name, start_of
from reproduce.fast_metric_learning.sets import part_of
from reproduce.means import mean_of

# Soft assignments that are drawn, the largest first.
MOST_NEIGHBORS = 300

# Rows by which the share of points in reach is estimated.
N_LOOKED = 500


def measure_early_stopping(unit: Unit) -> dict[str, Any]:
    """Figure 3.2: the error of rows held back at every update, in percent."""
    part = part_of("mnist", unit["seed"], unit["rows"])
    model, _ = fitted(unit["method"], part, 5, unit["seed"], unit["max_iter"])
    errors = 100 * (1 - model.history_["validation"])
    best = int(np.argmin(errors))
    return {
        "start": float(errors[0]),
        "best": float(errors[best]),
        "end": float(errors[-1]),
        "iteration": float(best),
        "updates": float(model.n_iter_),
        "errors": errors.round(3).tolist(),
    }


def draw_early_stopping(all_measured: Sequence[Measured]) -> Figure:
    """Error over updates of the first seed, and where it was least."""
    found = all_measured[0].found
    figure = Figure(figsize=(6, 3.6), layout="constrained")
    ax = figure.subplots()
    ax.plot(found["errors"], color="tab:blue", linewidth=1)
    best = int(found["iteration"])
    ax.plot(best, found["best"], "o", color="tab:red", label=f"best: update {best}")
    ax.set(xlabel="update", ylabel="error of rows held back (%)")
    ax.legend()
    return figure


def measure_assignments(unit: Unit) -> dict[str, Any]:
    """Figure 4.2: p_ij of one point after some updates, and how many of them make 99 %."""
    part = part_of(unit["set"], unit["seed"], unit["rows"])
    start = start_of("random", part.X, part.y, unit["seed"], unit["d"])
    A = start
    if unit["updates"]:
        options = {"init": start, "tol": 0.0}
        A = fitted("bold", part, unit["d"], unit["seed"], unit["updates"], **options)[0].components_
    rng = np.random.default_rng(unit["seed"])
    shares = assignments(part.X @ A.T, int(rng.integers(len(part.X))))
    found: dict[str, Any] = {"neighbors": 1.0 + float(np.searchsorted(shares.cumsum(), 0.99))}
    if unit["seed"] == 0:
        found["shares"] = [float(f"{share:.3g}") for share in shares[:MOST_NEIGHBORS]]
    return found


def assignments(Z: NDArray, i: int) -> NDArray:
    """p_ij over all j but i (3.1), the largest first."""
    s = np.square(np.delete(Z, i, axis=0) - Z[i]).sum(axis=1)
    shares = np.exp(s.min() - s)
    return np.sort(shares / shares.sum())[::-1]


def draw_assignments(all_measured: Sequence[Measured]) -> Figure:
    """A curve for each number of updates."""
    figure = Figure(figsize=(6, 4), layout="constrained")
    ax = figure.subplots()
    curves = [
        (unit["updates"], found["shares"]) for unit, found in drawable(all_measured, "shares")
    ]
    for number, (updates, shares) in enumerate(curves):
        color = matplotlib_color(number / max(1, len(curves) - 1))
        ax.plot(np.arange(1, len(shares) + 1), shares, color=color, label=str(updates))
    ax.set(xlabel="neighbors, by their share", ylabel="$p_{ij}$", yscale="log", ylim=(1e-20, 2))
    ax.legend(title="updates", ncols=2)
    return figure


def matplotlib_color(share: float) -> tuple:
    """From dark to light."""
    from matplotlib import colormaps

    return colormaps["viridis"](0.9 * share)


def measure_dimension(unit: Unit) -> dict[str, Any]:
    """Figure 5.1: scores on landsat in d dimensions."""
    part = part_of("landsat", unit["seed"], unit["rows"])
    return scores(fitted(unit["method"], part, unit["d"], unit["seed"], unit["max_iter"])[0], part)


def draw_dimensions(all_measured: Sequence[Measured]) -> Figure:
    """Test accuracy over d."""
    dimensions = sorted({unit["d"] for unit, _ in all_measured})
    figure = Figure(figsize=(6, 3.8), layout="constrained")
    ax = figure.subplots()
    for rule, label, marker in (("nca", "NCA rule", "o"), ("1-nn", "1-NN", "s")):
        means = [mean_of(all_measured, rule, d=d) for d in dimensions]
        errors = [mean.error or 0 for mean in means]
        ax.errorbar(
            dimensions,
            [mean.value for mean in means],
            errors,
            marker=marker,
            markersize=4,
            label=label,
        )
    ax.set(xlabel="dimension d of the projection", ylabel="test accuracy (%)")
    ax.legend()
    return figure


class ReachWatch:
    """A callback of scikit-learn: the share of points in reach of a point, after every update."""

    def __init__(self, rows: NDArray) -> None:
        self._rows, self.shares = rows, []

    def setup(self, estimator: Any, context: Any) -> None:
        """Nothing to set up."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing to look at yet."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any) -> bool:
        """Look at the map after an update."""
        if context.task_name == "update":
            self.shares.append(share_in_reach(fitted_estimator.transform(self._rows)))
        return False

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to put away."""


def share_in_reach(Z: NDArray) -> float:
    """Of other points, how many are within the support of the kernel, in percent."""
    looked = Z[:N_LOOKED]
    counts = KDTree(Z).query_radius(looked, 1.0, count_only=True) - 1
    return 100 * float(counts.mean()) / (len(Z) - 1)


def measure_reach(unit: Unit) -> dict[str, Any]:
    """Figures 5.5 and 5.6: points in reach along a fit with compact support, and where it ends."""
    part, seed = part_of(unit["set"], unit["seed"], unit["rows"]), unit["seed"]
    start = start_of(unit["init"], np.asarray(part.X, dtype=np.float64), part.y, seed)
    watch = ReachWatch(part.X)
    options = {"init": start, "callbacks": [watch]}
    model, _ = fitted("sl-cs", part, 2, seed, unit["max_iter"], **options)
    first = share_in_reach(part.X @ start.T)
    found: dict[str, Any] = {**scores(model, part), "first": first, "last": watch.shares[-1]}
    if seed == 0:
        found["shares"] = [round(share, 4) for share in [first, *watch.shares]]
        found["drawings"] = [drawing(model.transform(part.X_test), part.y_test)]
    return found


def draw_reach(all_measured: Sequence[Measured]) -> Figure:
    """Share of points in reach over updates."""
    figure = Figure(figsize=(6, 3.8), layout="constrained")
    ax = figure.subplots()
    for unit, found in drawable(all_measured, "shares"):
        ax.plot(found["shares"], label=f"{start_name(unit['init'])} start")
    ax.set(xlabel="update", ylabel="points in reach (%)", yscale="log", ylim=(0.05, 150))
    ax.yaxis.set_major_formatter("{x:g}")
    ax.legend()
    return figure


def draw_reached(all_measured: Sequence[Measured]) -> Figure:
    """Test rows under the final maps."""
    found = {unit["init"]: found for unit, found in drawable(all_measured, "drawings")}
    columns = {
        f"{start_name(name)} start": ([f"{one['nca']:.1f}"], one["drawings"])
        for name, one in found.items()
    }
    return grid(columns, ("NCA rule {} %",))
