"""Which pairs labels make (section 3.2): targets and impostors, found in blocks, never n × n."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vicinal.inputs.nearest import nearest, squared_distances

__all__ = ["LabeledPairs", "labeled_pairs"]

# Side of a tile of squared distances.
_TILE = 1024

# Matrix products err: distances this much larger, relative to the squared norms, are looked at
# before differences decide.
_SLACK = 1e-9

# First point, second point, and whether they coincide; all of shape (n_pairs,).
LabeledPairs = tuple[NDArray, NDArray, NDArray]


def labeled_pairs(X: NDArray, labels: NDArray, n_targets: int, kind: str) -> LabeledPairs:
    """Pairs of every point that has any.

    Parameters
    ----------
    X : ndarray of shape (n, D)
    labels : ndarray of int, shape (n,)
    n_targets : int
        k nearest points of the same class are targets, coincident pairs.
    kind : {"impostors", "all"}
        What does not coincide: points of other classes nearer than the last
        target, points without any left out; or the k nearest of other classes.
    """
    targets, radii = _targets(X, labels, n_targets)
    if kind == "all":
        others = [_nearest(X, members, rest, n_targets) for members, rest in _classes(labels)]
        firsts = np.concatenate([first for first, _, _ in others])
        seconds = np.concatenate([second for _, second, _ in others])
        kept = np.ones(len(X), dtype=bool)
    else:
        firsts, seconds = _impostors(X, labels, radii)
        kept = np.bincount(firsts, minlength=len(X)) > 0
    mine = kept[targets[0]]
    first = np.concatenate([targets[0][mine], firsts])
    second = np.concatenate([targets[1][mine], seconds])
    coincide = np.arange(len(first)) < mine.sum()
    order = np.lexsort((second, ~coincide, first))
    return first[order], second[order], coincide[order]


def _classes(labels: NDArray) -> Iterator[tuple[NDArray, NDArray]]:
    """Positions of the members of each class, and of all others."""
    for c in np.unique(labels):
        yield np.flatnonzero(labels == c), np.flatnonzero(labels != c)


def _targets(X: NDArray, labels: NDArray, k: int) -> tuple[tuple[NDArray, NDArray], NDArray]:
    """Pairs with targets, and each point's squared distance to the last of them (0: none)."""
    radii = np.zeros(len(X))
    found = []
    for members, _ in _classes(labels):
        first, second, squared = _nearest(X, members, members, k)
        np.maximum.at(radii, first, squared)
        found.append((first, second))
    first, second = (np.concatenate(part) for part in zip(*found, strict=True))
    return (first, second), radii


def _nearest(
    X: NDArray, queries: NDArray, keys: NDArray, k: int
) -> tuple[NDArray, NDArray, NDArray]:
    """The k keys nearest to each query but itself; both are positions in X, in order."""
    own = np.searchsorted(keys, queries)
    own[~np.isin(queries, keys)] = -1
    found, squared = nearest(X[keys], X[queries], k, own)
    real = np.isfinite(squared)
    first = np.broadcast_to(queries[:, None], found.shape)
    return first[real], keys[found[real]], squared[real]


def _impostors(X: NDArray, labels: NDArray, radii: NDArray) -> tuple[NDArray, NDArray]:
    """Points of another class strictly nearer than the last target."""
    X = X.astype(np.float64, copy=False)
    centered = X - X.mean(axis=0)
    norms = np.einsum("nd,nd->n", centered, centered)
    # |x - x'|² ≤ r  ⇔  2 x·x' - |x'|² ≥ |x|² - r: one product gives the left side.
    queries = np.column_stack([2.0 * centered, -np.ones(len(X))])
    keys = np.column_stack([centered, norms]).T
    least = norms - radii - _SLACK * (norms.max() + norms)
    found = []
    for rows, columns in _tiles(len(X)):
        near = queries[rows] @ keys[:, columns] >= least[rows, None]
        i, j = np.divmod(np.flatnonzero(near), near.shape[1])  # faster than nonzero
        i, j = i + rows.start, j + columns.start
        others = labels[i] != labels[j]
        i, j = i[others], j[others]
        strictly = squared_distances(X, i, j) < radii[i]
        found.append((i[strictly], j[strictly]))
    first, second = (np.concatenate(part) for part in zip(*found, strict=True))
    return first, second


def _tiles(n: int) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of an n × n matrix, in parts that stay in the cache."""
    for start in range(0, n, _TILE):
        for column in range(0, n, _TILE):
            yield slice(start, start + _TILE), slice(column, column + _TILE)
