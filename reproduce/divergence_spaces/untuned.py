"""Table 2 without any tuning: settings that nobody chose by labels.

Sizes of neighborhoods are those of Brand's rule, which the paper names (section 2); the rest is
what the library does where nothing is said, and as many dimensions as there are classes.
"""

from collections.abc import Sequence
from functools import lru_cache

from matplotlib.figure import Figure
from numpy.typing import NDArray

from reproduce.divergence_spaces import data
from reproduce.divergence_spaces.clusters import MEASURES, agreement, clusters
from reproduce.divergence_spaces.embeddings import (
    LEARNERS,
    Parameters,
    affinity_graph,
    embedded,
)
from reproduce.divergence_spaces.spaces import GAMMA, PilotSpace, space
from reproduce.experiment import Measured, Unit
from reproduce.means import mean_of
from vicinal import DivergenceNeighbors
from vicinal.neighborhood.threads import on_own_threads

GRAPH_NEIGHBORS = 15
PERPLEXITY = 30


@on_own_threads
def measure(unit: Unit) -> dict[str, float]:
    """The three measures, and the size of the neighborhoods."""
    rows = data.load(unit["set"])
    m = brand_size(unit["set"])
    pilot = space(unit["set"], unit["metric"], m)
    Z = _embedded(pilot, rows, unit["learner"], unit["seed"])
    labels = clusters(Z, rows.n_classes, unit["seed"]).labels_
    return {**dict(zip(MEASURES, agreement(rows.y, labels), strict=True)), "m": m}


@lru_cache(maxsize=1)
def brand_size(name: str) -> int:
    """By the growth of balls (Brand 2003), as the library has it."""
    model = DivergenceNeighbors("growth", gamma=GAMMA, n_graph_neighbors=1)
    return int(model.fit(data.load(name).X).n_neighbors_)


def _embedded(pilot: PilotSpace, rows: data.Data, learner: str, seed: int) -> NDArray:
    if learner == "tsne":
        parameters = Parameters(2, method_params={"perplexity": PERPLEXITY})
        return embedded(learner, pilot, pilot.graph(3 * PERPLEXITY + 1), parameters, seed)
    if learner == "laplacian":
        parameters = Parameters(rows.n_classes - 1)
        return embedded(learner, pilot, affinity_graph(pilot, GRAPH_NEIGHBORS), parameters, seed)
    parameters = Parameters(max(2, min(rows.n_classes, rows.most_dimensions)))
    return embedded(learner, pilot, pilot.joined(GRAPH_NEIGHBORS), parameters, seed)


def draw(all_measured: Sequence[Measured]) -> Figure:
    """Adjusted Rand index of every metric, by learner and set."""
    sets = list(dict.fromkeys(unit["set"] for unit, _ in all_measured))
    metrics = list(dict.fromkeys(unit["metric"] for unit, _ in all_measured))
    learners = [one for one in LEARNERS if any(unit["learner"] == one for unit, _ in all_measured)]
    figure = Figure(figsize=(10, 2.1 * len(learners) + 0.9), layout="constrained")
    axes = figure.subplots(len(learners), 1, sharex=True, squeeze=False)[:, 0]
    for ax, learner in zip(axes, learners, strict=True):
        for shift, metric in enumerate(metrics):
            points = [
                mean_of(all_measured, "ari", set=name, learner=learner, metric=metric).value
                for name in sets
            ]
            places = [place + 0.12 * (shift - (len(metrics) - 1) / 2) for place in range(len(sets))]
            style = {"marker": "_", "markersize": 9, "color": "black", "markeredgewidth": 2}
            style = style if metric == "euclidean" else {"marker": "o", "markersize": 5}
            ax.plot(places, points, linestyle="", label=metric, **style)
        ax.set(ylabel=f"{LEARNERS[learner]}, ARI")
        ax.grid(axis="y", alpha=0.3)
    axes[-1].set_xticks(range(len(sets)), sets, rotation=20)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    return figure
