"""Figures of projections to the plane: starts, annealing, sub-samples, variants."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from benchmarks.common.splits import Split
from reproduce.experiment import Measured, Unit, drawable
from reproduce.fast_metric_learning.linear import MAPS, Covariances
from reproduce.fast_metric_learning.methods import LABELS, fitted, left_out, scores
from reproduce.fast_metric_learning.sets import part_of, whole
from vicinal.nca import objective

# Points that are kept for a figure.
MOST_POINTS = 800

# Figure 4.1 draws a sample of one row in three.
DRAWN_PART = 3

Drawing = dict[str, list]


def start_of(name: str, X: NDArray, y: NDArray, seed: int, d: int = 2) -> NDArray:
    """A map to start from; random ones are small, as the thesis cites them (3.3.3)."""
    if name == "random":
        return 0.01 * np.random.default_rng(seed).normal(size=(d, X.shape[1]))
    return MAPS[name](Covariances.of(X, y), d)


def measure_start(unit: Unit) -> dict[str, Any]:
    """Figures 3.3, B.1 to B.3: f(A) in % before and after learning from a start."""
    part, seed = whole(unit["set"]), unit["seed"]
    before = start_of(unit["init"], part.X, part.y, seed)
    model, _ = fitted("cg", part, 2, seed, unit["max_iter"], init=before)
    maps = {"before": before, "after": model.components_}
    found: dict[str, Any] = {
        name: 100 * objective(A, part.X, part.y)[0] / len(part.X) for name, A in maps.items()
    }
    if seed == 0:
        found["drawings"] = [drawing(part.X @ A.T, part.y) for A in maps.values()]
    return found


def measure_annealing(unit: Unit) -> dict[str, Any]:
    """Figure 3.4: f(A) and leave-one-out accuracy in %, with and without annealing."""
    part, is_annealed, seed = whole("ionosphere"), unit["way"] == "annealed", unit["seed"]
    n_rows = part.X.shape[1] if is_annealed else 2
    start = start_of("random", part.X, part.y, seed, n_rows)
    options = {"annealing": is_annealed, "init": start}
    model, _ = fitted("cg", part, 2, seed, unit["max_iter"], **options)
    Z = model.transform(part.X)
    found: dict[str, Any] = {"f": 100 * float(model.objective_), "loo": left_out(Z, part.y)}
    if unit["seed"] == 0:
        found["drawings"] = [drawing(Z, part.y)]
    return found


def measure_sample(unit: Unit) -> dict[str, Any]:
    """Figure 4.1: leave-one-out accuracy in % among the rows learned from, and among all."""
    part, rng = whole(unit["set"]), np.random.default_rng(unit["seed"])
    n = len(part.X) // unit["parts"]
    some = np.sort(rng.permutation(len(part.X))[:n])
    sample = Split(part.X[some], part.X_test, part.y[some], part.y_test)
    model, _ = fitted("cg", sample, 2, unit["seed"], unit["max_iter"])
    Z, y = model.transform(part.X), part.y
    found: dict[str, Any] = {"sample": left_out(Z[some], y[some]), "all": left_out(Z, y)}
    if unit["seed"] == 0:
        found["drawings"] = [drawing(Z[some], y[some]), drawing(Z, y)]
    return found


def measure_variant(unit: Unit) -> dict[str, Any]:
    """Figures 5.3 and 5.4: test rows in the plane of a method, and its scores."""
    part, seed = part_of(unit["set"], unit["seed"], unit["rows"]), unit["seed"]
    model, _ = fitted(unit["method"], part, 2, seed, unit["max_iter"])
    found: dict[str, Any] = scores(model, part)
    if seed == 0:
        found["drawings"] = [drawing(model.transform(part.X_test), part.y_test)]
    return found


def drawing(Z: NDArray, y: NDArray) -> Drawing:
    """Some of the points, centered, in units of their spread."""
    some = np.linspace(0, len(Z) - 1, min(len(Z), MOST_POINTS)).astype(int)
    Z = (Z - Z.mean(axis=0)) / (Z.std() or 1.0)
    return {"points": Z[some].round(3).tolist(), "labels": y[some].tolist()}


def start_name(init: str) -> str:
    """Of a start, as figures show it."""
    return init if init == "random" else init.upper()


def draw_starts(all_measured: Sequence[Measured]) -> Figure:
    """Above the starts, below what was learned from them."""
    found = {unit["init"]: found for unit, found in drawable(all_measured, "drawings")}
    return grid(
        {
            start_name(name): (
                [f"{one['before']:.1f}", f"{one['after']:.1f}"],
                one["drawings"],
            )
            for name, one in found.items()
        },
        ("start, f(A) = {} %", "learned, f(A) = {} %"),
    )


def draw_annealing(all_measured: Sequence[Measured]) -> Figure:
    """Without annealing and with it."""
    found = {unit["way"]: found for unit, found in drawable(all_measured, "drawings")}
    columns = {name: ([f"{one['f']:.1f}"], one["drawings"]) for name, one in found.items()}
    return grid(columns, ("f(A) = {} %",))


def draw_sample(all_measured: Sequence[Measured]) -> Figure:
    """The rows learned from, and all of them."""
    of_part = [one for one in all_measured if one.unit["parts"] == DRAWN_PART]
    one = drawable(of_part, "drawings")[0].found
    sample, every = one["drawings"]
    columns = {
        "rows learned from": ([f"{one['sample']:.1f}"], [sample]),
        "all rows": ([f"{one['all']:.1f}"], [every]),
    }
    return grid(columns, ("leave-one-out accuracy {} %",))


def draw_variants(all_measured: Sequence[Measured]) -> Figure:
    """Test rows, a panel for each method."""
    found = {unit["method"]: found for unit, found in drawable(all_measured, "drawings")}
    columns = {
        LABELS[name]: ([f"{one['nca']:.1f}"], one["drawings"]) for name, one in found.items()
    }
    return grid(columns, ("NCA rule {} %",))


def grid(columns: Mapping[str, tuple[list[str], list[Drawing]]], rows: Sequence[str]) -> Figure:
    """Panels of points: a column for each name, a row for each kind of number."""
    figure = Figure(figsize=(3.3 * len(columns), 3.4 * len(rows)), layout="constrained")
    axes = figure.subplots(len(rows), len(columns), squeeze=False)
    for column, (name, (numbers, drawings)) in zip(axes.T, columns.items(), strict=True):
        for ax, row, number, one in zip(column, rows, numbers, drawings, strict=True):
            points = np.array(one["points"])
            ax.scatter(*points.T, c=one["labels"], s=6, cmap="tab10", vmin=0, vmax=9, linewidths=0)
            ax.set(title=f"{name}\n{row.format(number)}", xticks=[], yticks=[])
            ax.title.set_fontsize("medium")
    figure.supxlabel("first coordinate", fontsize="medium")
    figure.supylabel("second coordinate", fontsize="medium")
    return figure
