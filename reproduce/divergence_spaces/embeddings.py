"""The four manifold learners, over the settings that section 6 tries."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from reproduce.divergence_spaces.data import Data
from reproduce.divergence_spaces.spaces import PilotSpace
from reproduce.experiment import Unit
from vicinal.divergence.graph import with_lengths
from vicinal.divergence.learners import learner_named


class Placed(NamedTuple):
    """Points in an embedding, and the settings that led to it."""

    settings: str
    coordinates: NDArray


@dataclass(frozen=True)
class Tried:
    """What is tried of a learner.

    Attributes
    ----------
    sizes : tuple of int
        Neighbors of every point in the graph, k.
    quantiles : tuple of float
        Of the graph's distances, for σ of Laplacian eigenmaps.
    perplexities : tuple of int
    dimensions : tuple of int
        Of t-SNE.
    """

    sizes: tuple[int, ...]
    quantiles: tuple[float, ...]
    perplexities: tuple[int, ...]
    dimensions: tuple[int, ...]

    @classmethod
    def of(cls, unit: Unit) -> "Tried":
        """As config.toml has it: "k" and "perplexity" as {first, last, step}."""
        return cls(span(unit["k"]), (0.25, 0.5, 0.75), span(unit["perplexity"]), (2, 3))


@dataclass(frozen=True)
class Parameters:
    """What the library's learners read. LLE rebuilds points by their coordinates, as it does."""

    n_components: int
    scale_quantile: float = 0.5
    method_params: dict[str, Any] | None = None
    n_graph_neighbors: int | None = None
    scale: float | None = None
    lle_weights: str = "coordinates"
    n_jobs: int = 1


# From a space, its data, what is to be tried and a seed to embeddings.
Embedder = Callable[[PilotSpace, Data, Tried, int], Iterator[Placed]]


def span(setting: dict[str, int]) -> tuple[int, ...]:
    """Whole numbers from the first to the last."""
    return tuple(range(setting["first"], setting["last"] + 1, setting["step"]))


def as_they_are(space: PilotSpace, data: Data, tried: Tried, seed: int) -> Iterator[Placed]:
    """The paper's column Euc."""
    yield Placed("", data.X)


def principal(space: PilotSpace, data: Data, tried: Tried, seed: int) -> Iterator[Placed]:
    """The paper's column PCA: two components, though it says 98 % of the variance (errata)."""
    yield Placed("", PCA(2).fit_transform(data.X))


def of_graphs(method: str) -> Embedder:
    """Isomap and LLE, with 2 to ⌊d/2⌋ dimensions: the first of those found for ⌊d/2⌋."""

    def embed(space: PilotSpace, data: Data, tried: Tried, seed: int) -> Iterator[Placed]:
        most = data.most_dimensions
        for k in tried.sizes:
            Z = embedded(method, space, space.joined(k), Parameters(most), seed)
            for d in range(2, most + 1):
                yield Placed(f"k={k} d={d}", Z[:, :d])

    return embed


def laplacian(space: PilotSpace, data: Data, tried: Tried, seed: int) -> Iterator[Placed]:
    """As many eigenvectors as classes, the constant one among them (Luxburg 2007)."""
    for k in tried.sizes:
        graph = affinity_graph(space, k)
        for quantile in tried.quantiles:
            parameters = Parameters(data.n_classes - 1, scale_quantile=quantile)
            Z = embedded("laplacian", space, graph, parameters, seed)
            yield Placed(f"k={k} quantile={quantile}", Z)


def t_sne(space: PilotSpace, data: Data, tried: Tried, seed: int) -> Iterator[Placed]:
    """Two and three dimensions."""
    for perplexity in tried.perplexities:
        graph = space.graph(3 * perplexity + 1)  # what scikit-learn's asks for
        for d in tried.dimensions:
            parameters = Parameters(d, method_params={"perplexity": perplexity})
            Z = embedded("tsne", space, graph, parameters, seed)
            yield Placed(f"perplexity={perplexity} d={d}", Z)


def affinity_graph(space: PilotSpace, k: int) -> Any:
    """The graph whose edges d become affinities exp(-d/σ): a Gaussian kernel, for Euclid."""
    graph = space.joined(k)
    return with_lengths(graph, graph.data**2) if space.is_euclidean else graph


def embedded(
    method: str, space: PilotSpace, graph: Any, parameters: Parameters, seed: int
) -> NDArray:
    """Coordinates by one of the library's learners."""
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():  # graphs that fall apart are what the paper hopes for
        warnings.simplefilter("ignore")
        return learner_named(method).embed(space, graph, parameters, rng).coordinates


EMBEDDERS: dict[str, Embedder] = {
    "euc": as_they_are,
    "pca": principal,
    "isomap": of_graphs("isomap"),
    "laplacian": laplacian,
    "lle": of_graphs("lle"),
    "tsne": t_sne,
}

# The manifold learners, by the names of the paper.
LEARNERS = {"isomap": "ISM", "laplacian": "LEM", "lle": "LLE", "tsne": "tSNE"}
