"""What a fit takes in memory beside X, reckoned before it begins (docs/decisions/0026)."""

from typing import Any

from vicinal.divergence.learners import learner_named
from vicinal.divergence.many import graph_neighbors
from vicinal.rows.memory import Need

__all__ = ["needs_of_embedding", "needs_of_neighbors"]

# Copies of the directions of a Gaussian, and numbers of eight bytes for every point besides.
_DIRECTIONS, _NUMBERS_OF_POINT = 10, 150

# Numbers for every neighbor in a graph or candidate for one, and matrices of all pairs of points:
# of divergences, and of those who embed lengths between all points.
_NUMBERS_OF_EDGE, _DIVERGENCES, _LENGTHS = 12, 1.5, 5

# Neighbors and candidates that are counted where nobody says how many.
_NEIGHBORS, _CANDIDATES = 15, 100

# Tiles of divergences, and the rest.
_REST = 120e6


def needs_of_neighbors(model: Any, method: str, n: int, D: int) -> list[Need]:
    """Of `DivergenceNeighbors.fit` and `fit_transform` to n rows of D columns."""
    needs = _needs_of_points(model, n, D)
    if method == "fit":
        return needs
    if graph_neighbors(model.n_graph_neighbors, n) is None:
        instead = "set n_graph_neighbors, which makes a sparse graph"
        return [*needs, Need("divergences of all pairs", 8.0 * _DIVERGENCES * n * n, instead)]
    return [*needs, _need_of_graph(model, n)]


def needs_of_embedding(model: Any, n: int, D: int) -> list[Need]:
    """Of `DivergenceEmbedding.fit` to n rows of D columns."""
    needs = [*_needs_of_points(model, n, D), _need_of_graph(model, n)]
    if not learner_named(model.method).all_pairs:
        return needs
    instead = "set method='laplacian', which needs a graph of neighbors only, or pass fewer rows"
    return [*needs, Need("lengths between all pairs", 8.0 * _LENGTHS * n * n, instead)]


def _needs_of_points(model: Any, n: int, D: int) -> list[Need]:
    """Points with their Gaussians, or with the distances that were given."""
    rest = Need("blocks of rows", _REST, "")
    if model.metric == "precomputed":
        return [Need("distances of all pairs", 8.0 * 3 * n * D, "pass fewer rows"), rest]
    # Neighborhoods span as many directions as they have points, and no more than there are.
    m = model.n_neighbors if isinstance(model.n_neighbors, int) and model.radius is None else D
    numbers = _DIRECTIONS * min(m, D) * D + _NUMBERS_OF_POINT
    return [Need("a Gaussian for every row", 8.0 * numbers * n, "pass fewer rows"), rest]


def _need_of_graph(model: Any, n: int) -> Need:
    given = model.n_graph_neighbors
    edges = given if isinstance(given, int) else _NEIGHBORS
    among = model.n_candidates if isinstance(model.n_candidates, int) else _CANDIDATES
    n_bytes = 8.0 * _NUMBERS_OF_EDGE * n * min(n, edges + among)
    return Need("the graph of neighbors", n_bytes, "lower n_graph_neighbors or n_candidates")
