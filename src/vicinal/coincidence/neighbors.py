"""Which pairs labels make (section 3.2): targets and impostors, found in blocks, never n × n."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vicinal.inputs.nearest import nearest, squared_distances
from vicinal.neighborhood.cluster.sharing import in_order
from vicinal.neighborhood.threads import current_n_threads

__all__ = ["LabeledPairs", "LabeledPoints", "labeled_pairs"]

# Side of a tile of squared distances.
_TILE = 1024

# Multiplications from which on workers of a cluster, where they are asked, look for impostors:
# seconds of a core.
_MUCH = 30_000_000_000

# Matrix products err: distances this much larger, relative to the squared norms, are looked at
# before differences decide.
_SLACK = 1e-9

# First point, second point, and whether they coincide; all of shape (n_pairs,).
LabeledPairs = tuple[NDArray, NDArray, NDArray]

# Positions of two points each, and their squared distances.
_Found = tuple[NDArray, NDArray, NDArray]

# Is told of anchors that were looked at, each time how many more; of parts of one, where it was
# compared with part of the points.
Tell = Callable[[float], None]


@dataclass(frozen=True)
class LabeledPoints:
    """Points with classes, and those of them whose neighbors make pairs.

    Attributes
    ----------
    X : ndarray of shape (n, D)
    labels : ndarray of int, shape (n,)
    anchors : ndarray of int, shape (n_anchors,), optional
        Positions of points that have pairs, sorted; None: all.
    most_impostors : int, optional
        Only so many of an anchor's count, the nearest; None: all.
    """

    X: NDArray
    labels: NDArray
    anchors: NDArray | None = None
    most_impostors: int | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def n_anchors(self) -> int:
        """Number of points that have pairs."""
        return len(self) if self.anchors is None else len(self.anchors)

    @cached_property
    def asked(self) -> NDArray:
        """Positions of points that have pairs."""
        return np.arange(len(self)) if self.anchors is None else self.anchors

    def classes(self) -> Iterator[tuple[NDArray, NDArray, NDArray]]:
        """Of each class the anchors, the members, and all who are not."""
        for c in np.unique(self.labels[self.asked]):
            is_member = self.labels == c
            mine = self.asked[is_member[self.asked]]
            yield mine, np.flatnonzero(is_member), np.flatnonzero(~is_member)


def labeled_pairs(
    points: LabeledPoints, n_targets: int, kind: str, tell: Tell = lambda more: None
) -> LabeledPairs:
    """Pairs of every anchor that has any.

    Parameters
    ----------
    points : LabeledPoints
    n_targets : int
        k nearest points of the same class are targets, coincident pairs.
    kind : {"impostors", "all"}
        What does not coincide: points of other classes nearer than the last
        target, points without any left out; or the k nearest of other classes.
    tell : callable, optional
        Is told of anchors that were looked at.
    """
    targets = _nearest_of(points, n_targets, tell, of_own_class=True)
    if kind == "all":
        others = _nearest_of(points, n_targets, tell, of_own_class=False)
        mine = np.ones(len(targets[0]), dtype=bool)
    else:
        radii = np.zeros(len(points))
        np.maximum.at(radii, targets[0], targets[2])
        others = _impostors(points, radii, tell)
        mine = (np.bincount(others[0], minlength=len(points)) > 0)[targets[0]]
    first = np.concatenate([targets[0][mine], others[0]])
    second = np.concatenate([targets[1][mine], others[1]])
    coincide = np.arange(len(first)) < mine.sum()
    order = np.lexsort((second, ~coincide, first))
    return first[order], second[order], coincide[order]


def _nearest_of(points: LabeledPoints, k: int, tell: Tell, *, of_own_class: bool) -> _Found:
    """The k nearest points of an anchor's own class, or of the others."""
    found = [
        _nearest(points.X, queries, members if of_own_class else rest, k, tell)
        for queries, members, rest in points.classes()
    ]
    return _joined(found)


def _nearest(X: NDArray, queries: NDArray, keys: NDArray, k: int, tell: Tell) -> _Found:
    """The k keys nearest to each query but itself; both are positions in X, in order."""
    own = np.searchsorted(keys, queries)
    own[~np.isin(queries, keys)] = -1
    part = len(keys) / len(X)
    found, squared = nearest(
        X[keys], X[queries], k, own, current_n_threads(), lambda more: tell(part * more)
    )
    real = np.isfinite(squared)
    first = np.broadcast_to(queries[:, None], found.shape)
    return first[real], keys[found[real]], squared[real]


@dataclass(frozen=True)
class _ImpostorSearch:
    """All that it takes to find the impostors of some anchors.

    Attributes
    ----------
    points : LabeledPoints
    radii : ndarray of shape (n,)
        Squared distance of the last target of each point.
    center : ndarray of shape (D,)
    norms : ndarray of shape (n,)
        Squared, about the center.
    """

    points: LabeledPoints
    radii: NDArray
    center: NDArray
    norms: NDArray

    @classmethod
    def within(cls, points: LabeledPoints, radii: NDArray) -> "_ImpostorSearch":
        """The search for whoever is nearer than these radii."""
        center = points.X.mean(axis=0, dtype=np.float64)
        centered = points.X - center
        return cls(points, radii, center, np.einsum("nd,nd->n", centered, centered))

    def of(self, rows: NDArray) -> _Found:
        """Points of another class strictly nearer than the last target of some anchors."""
        X, most = self.points.X, self.points.most_impostors
        # |x - x'|² ≤ r  ⇔  2 x·x' - |x'|² ≥ |x|² - r: one product gives the left side.
        least = self.norms - self.radii - _SLACK * (self.norms.max() + self.norms)
        queries = np.column_stack([2.0 * (X[rows] - self.center), -np.ones(len(rows))])
        found = []
        for columns in _slices(len(X)):
            keys = np.column_stack([X[columns] - self.center, self.norms[columns]])
            near = queries @ keys.T >= least[rows, None]
            i, j = np.divmod(np.flatnonzero(near), near.shape[1])  # faster than nonzero
            found.append(_fewer(self._strictly(rows[i], j + columns.start), most))
        return _fewer(_joined(found), most)

    def _strictly(self, i: NDArray, j: NDArray) -> _Found:
        """Those of some pairs that are of two classes and near enough, by differences."""
        others = self.points.labels[i] != self.points.labels[j]
        i, j = i[others], j[others]
        squared = squared_distances(self.points.X, i, j)
        strictly = squared < self.radii[i]
        return i[strictly], j[strictly], squared[strictly]


def _impostors(points: LabeledPoints, radii: NDArray, tell: Tell) -> _Found:
    """Points of another class strictly nearer than the last target."""
    search = _ImpostorSearch.within(points, radii)
    parts, found = [points.asked[part] for part in _slices(points.n_anchors)], []
    is_much = points.n_anchors * points.X.size >= _MUCH
    with closing(in_order(search.of, parts, current_n_threads(), is_much, "impostors")) as searches:
        for rows, some in zip(parts, searches, strict=True):
            found.append(some)
            tell(len(rows))
    return _joined(found)


def _fewer(found: _Found, most: int | None) -> _Found:
    """The nearest of each first point, at most so many of each."""
    if most is None or len(found[0]) <= most:
        return found
    order = np.lexsort((found[1], found[2], found[0]))
    first = found[0][order]
    rank = np.arange(len(first)) - np.searchsorted(first, first)
    kept = order[rank < most]
    return found[0][kept], found[1][kept], found[2][kept]


def _joined(found: list[_Found]) -> _Found:
    first, second, squared = (np.concatenate(part) for part in zip(*found, strict=True))
    return first, second, squared


def _slices(n: int) -> Iterator[slice]:
    """Parts of n rows or columns whose products stay in the cache."""
    return (slice(start, min(start + _TILE, n)) for start in range(0, n, _TILE))
