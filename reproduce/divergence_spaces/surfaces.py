"""Figure 3, and the rule of section 4.2: energy of Laplacian eigenmaps and loss of k-means.

Over m, the size of the neighborhoods, and k, the neighbors of every point in the graph.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.metrics import adjusted_rand_score

from reproduce.divergence_spaces import data
from reproduce.divergence_spaces.clusters import Found, clusters
from reproduce.divergence_spaces.embeddings import Parameters, affinity_graph, embedded, span
from reproduce.divergence_spaces.spaces import PilotSpace, space
from reproduce.experiment import Measured, Unit
from vicinal.divergence.energy import laplacian_energy
from vicinal.divergence.graph import symmetric
from vicinal.divergence.learners.laplacian import scale_of
from vicinal.neighborhood.threads import on_own_threads

# Energies that differ by less are the same.
ROUNDING = 1e-9


@on_own_threads
def measure(unit: Unit) -> dict[str, list[float]]:
    """Energy, loss and adjusted Rand index for every k."""
    rows = data.load(unit["set"])
    pilot = space(unit["set"], unit["divergence"], unit["m"])
    each = [_at(pilot, rows, k, unit["seed"]) for k in span(unit["k"])]
    energies, losses, rand = (list(part) for part in zip(*each, strict=True))
    return {"energies": energies, "losses": losses, "rand": rand}


def _at(pilot: PilotSpace, rows: data.Data, k: int, seed: int) -> tuple[float, float, float]:
    """Of one graph; the eigenvectors that k-means sees have length 1."""
    rng = np.random.default_rng(seed)
    graph = symmetric(pilot.graph(k))
    energy = laplacian_energy(graph, rows.n_classes, scale_of(graph, None), rng)
    parameters = Parameters(rows.n_classes - 1)
    Z = embedded("laplacian", pilot, affinity_graph(pilot, k), parameters, seed)
    found = clusters(Z / np.linalg.norm(Z, axis=0), rows.n_classes, seed)
    return energy, float(found.inertia_), float(adjusted_rand_score(rows.y, found.labels_))


def gather(units: Sequence[Measured]) -> Iterator[Found]:
    """What the paper says of the surfaces, in numbers.

    "overlap" is Spearman's correlation of energy and loss over all m and k, to be negative;
    "small-loss" and "large-loss" are mean losses of the smaller and the larger half of the sizes,
    "least-loss-m" is the size of the least one. "full-energy" is the share of the largest energy.
    "ari-energy" is at the largest energy (of equal ones at the smallest m, then k), "ari-best" and
    "ari-median" are over all m and k, "ari-beaten" the share of these that it is not worse than.
    """
    sizes = sorted(unit["m"] for unit, _ in units)
    energies, losses, rand = (_surface(units, name) for name in ("energies", "losses", "rand"))
    is_small = np.array(sizes) < np.median(sizes)
    chosen = float(rand.ravel()[_first_largest(energies)])
    yield {
        "overlap": float(spearmanr(energies.ravel(), losses.ravel()).statistic),
        "small-loss": float(losses[is_small].mean()),
        "large-loss": float(losses[~is_small].mean()),
        "least-loss-m": sizes[int(losses.min(axis=1).argmin())],
        "full-energy": float((energies >= energies.max() - ROUNDING).mean()),
        "ari-energy": chosen,
        "ari-best": float(rand.max()),
        "ari-median": float(np.median(rand)),
        "ari-beaten": float((rand <= chosen).mean()),
    }


def _surface(units: Sequence[Measured], name: str) -> NDArray:
    """Rows by m, from small to large, columns by k."""
    ordered = sorted(units, key=lambda one: one.unit["m"])
    return np.array([found[name] for _, found in ordered])


def _first_largest(energies: NDArray) -> int:
    return int(np.argmax(energies.ravel() >= energies.max() - ROUNDING))


def draw(all_measured: Sequence[Measured]) -> Figure:
    """Energy above, loss below, for every set."""
    names = list(dict.fromkeys(unit["set"] for unit, _ in all_measured))
    figure = Figure(figsize=(4.2 * len(names) + 0.6, 7.2), layout="constrained")
    axes = figure.subplots(2, len(names), squeeze=False)
    for column, name in enumerate(names):
        units = [one for one in all_measured if one.unit["set"] == name]
        for ax, surface, title in (
            (axes[0, column], "energies", f"{name}: energy of the Laplacian"),
            (axes[1, column], "losses", f"{name}: loss of k-means"),
        ):
            image = _draw_surface(ax, units, surface)
            ax.set_title(title)
            figure.colorbar(image, ax=ax, shrink=0.85)
    return figure


def _draw_surface(ax: Axes, units: Sequence[Measured], name: str) -> Any:
    sizes = sorted(unit["m"] for unit, _ in units)
    k = span(units[0].unit["k"])
    values = _surface(units, name)
    image = ax.pcolormesh(k, sizes, values, cmap="viridis", shading="nearest", rasterized=True)
    energies = _surface(units, "energies")
    row, column = np.unravel_index(_first_largest(energies), energies.shape)
    ax.plot(k[column], sizes[row], "x", color="red", markersize=9, markeredgewidth=2)
    ax.set(xlabel="k, neighbors in the graph (No. Patches)", ylabel="m (No. Points)")
    return image


def draw_rule(all_measured: Sequence[Measured]) -> Figure:
    """Adjusted Rand index over all m and k, and where the largest energy leads."""
    names = list(dict.fromkeys(unit["set"] for unit, _ in all_measured))
    figure = Figure(figsize=(9, 4), layout="constrained")
    ax = figure.subplots()
    every = [_surface([one for one in all_measured if one.unit["set"] == n], "rand") for n in names]
    ax.boxplot([rand.ravel() for rand in every], whis=(0, 100), widths=0.5)
    for place, name in enumerate(names, start=1):
        units = [one for one in all_measured if one.unit["set"] == name]
        chosen = next(gather(units))["ari-energy"]
        label = "at the largest energy" if place == 1 else None
        ax.plot(place, chosen, "D", color="C3", markersize=7, label=label, zorder=3)
    ax.set_xticks(range(1, len(names) + 1), names, rotation=20)
    ax.set(ylabel="adjusted Rand index")
    ax.legend(loc="upper right")
    return figure
