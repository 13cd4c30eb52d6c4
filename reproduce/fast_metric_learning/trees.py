"""Table 5.8: stochastic rows with k-d trees, for several errors; how many points are visited."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproduce.experiment import Unit
from reproduce.fast_metric_learning.accuracy import case_of
from reproduce.fast_metric_learning.methods import fitted, scores
from reproduce.fast_metric_learning.sets import part_of
from vicinal.neighborhood import GAUSSIAN
from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.tree import TreeEngine

# Points of a leaf; the thesis does not say.
LEAF = 10

# Rows whose walks are counted, as many as an update looks at.
N_QUERIES = 50


def measure(unit: Unit) -> dict[str, Any]:
    """Scores, and the share of points visited at the end, by the thesis's rule and by ours."""
    name, d = case_of(unit)
    part, error = part_of(name, unit["seed"], unit["rows"]), float(unit["error"])
    # Ours is relative: less than rounding is rounding, and 0.1 is the largest of the table.
    model, seconds = fitted("sl-kde", part, d, unit["seed"], unit["max_iter"], tolerance=error)
    Z, rng = model.transform(part.X), np.random.default_rng(unit["seed"])
    queries = Z[rng.permutation(len(Z))[:N_QUERIES]]
    pairs = Pairs(queries, Z)
    engine = TreeEngine(1, tolerance=error)
    return {
        **scores(model, part),
        "visited": 100 * visited(queries, Z, part.y, error),
        "ours": 100 * engine.share_visited(pairs, GAUSSIAN, N_QUERIES),
        "seconds": round(seconds, 3),
        "updates": float(model.n_iter_),
    }


def visited(queries: NDArray, Z: NDArray, y: NDArray, error: float) -> float:
    """Share of points that queries look at one by one (algorithm 4.6), the error being absolute.

    A node stands for its points where ½ (k_max - k_min) is at most the error (4.10).
    """
    looked = sum(_looked(queries, _tree(Z[y == c]), error) for c in np.unique(y))
    return looked / (len(queries) * len(Z))


class Node(NamedTuple):
    """Points in a box; a leaf has no children."""

    low: NDArray
    high: NDArray
    n: int
    children: "tuple[Node, ...]"


def _tree(Z: NDArray) -> Node:
    """Cut at the median of the widest side (algorithm 4.5)."""
    low, high = Z.min(axis=0), Z.max(axis=0)
    if len(Z) <= LEAF:
        return Node(low, high, len(Z), ())
    order = Z[:, np.argmax(high - low)].argsort(kind="stable")
    half = len(Z) // 2
    return Node(low, high, len(Z), (_tree(Z[order[:half]]), _tree(Z[order[half:]])))


def _looked(queries: NDArray, node: Node, error: float) -> int:
    """Pairs of a query and a point of a leaf that it comes to."""
    if not len(queries):
        return 0
    outside = np.maximum(np.maximum(node.low - queries, queries - node.high), 0.0)
    farthest = np.maximum(queries - node.low, node.high - queries)
    k_max, k_min = (np.exp(-np.square(part).sum(axis=1)) for part in (outside, farthest))
    going_on = queries[0.5 * (k_max - k_min) > error]
    if not node.children:
        return len(going_on) * node.n
    return sum(_looked(going_on, child, error) for child in node.children)
