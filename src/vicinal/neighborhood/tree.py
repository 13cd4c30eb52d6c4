"""Engine for low dimension and many points: k-d trees, and only the pairs that matter.

Points of each class are put in the order of a k-d tree. Each leaf of outputs walks the trees of
inputs: what is far away is dropped, or stands for its points by their centroid, as long as a
budget for the error lasts; leaves that are left go through the kernels of `fused`.
"""

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from vicinal.neighborhood.arrange import Arrangement, Side, arrange
from vicinal.neighborhood.laws import Law
from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.sums import ColumnSums, RowSums
from vicinal.neighborhood.threads import effective_n_threads, run_in_order
from vicinal.neighborhood.tiled import natural_peaks, query_terms, undo_columns, undo_rows

__all__ = ["TreeEngine"]

# Where nothing may be lost, this share of a sum still may: less than rounding loses.
_ROUNDING = 2.0**-54

# Leaves of outputs per task.
_LEAVES = 16


class Forest(NamedTuple):
    """Trees over points in their order, one for each class; children come after parents.

    Attributes
    ----------
    starts, stops : ndarray of int, shape (n_nodes,)
    children : ndarray of int, shape (n_nodes,)
        The first of two children that stand side by side; -1 for a leaf.
    roots : ndarray of int, shape (n_classes,)
        -1 for a class without points.
    low, high : ndarray of shape (n_nodes, n_near)
        Box around a node's points.
    peak, weight, spread : ndarray of shape (n_nodes,)
    center : ndarray of shape (n_nodes, d)
    """

    starts: NDArray
    stops: NDArray
    children: NDArray
    roots: NDArray
    low: NDArray
    high: NDArray
    peak: NDArray
    weight: NDArray
    spread: NDArray
    center: NDArray


class TreeEngine:
    """Sums over pairs by k-d trees, with a bound on their error.

    Parameters
    ----------
    tolerance : float, default=0.0
        Largest relative error of every query's sum over each part of its keys, and of
        the share of a part in all. 0:
        only what rounding would lose is left out.
    n_jobs : int, optional
        Number of threads. None: every core. The result does not depend on it.
    leaf : int, default=64
        Largest number of points of a leaf.
    """

    name = "tree"

    def __init__(self, tolerance: float = 0.0, n_jobs: int | None = None, leaf: int = 64) -> None:
        # Of p = M₁ / (M₀ + M₁) the error is up to 2t / (1 - t) where those of the sums are t.
        self.tolerance = max(tolerance / (2.0 + tolerance), _ROUNDING)
        self.n_threads = effective_n_threads(n_jobs)
        self.leaf = leaf
        from vicinal.neighborhood.kernels import trees  # not at the top: it loads numba

        self._kernels = trees

    def rows(self, pairs: Pairs, law: Law, *, moments: bool = True) -> RowSums:
        """Sums over the keys, for every query; without `moments` their width is 0."""
        n, m, d = pairs.shape
        sums = RowSums.empty(pairs.n_parts, n, d if moments else 0)
        if n == 0 or m == 0:
            return sums
        arranged, outputs, work = self._row_work(pairs, law, sums)
        self._run(work, _leaves(outputs))
        return undo_rows(natural_peaks(sums, law, arranged.weight_peak), arranged)

    def share_visited(self, pairs: Pairs, law: Law, n_leaves: int = 32) -> float:
        """Share of all pairs that a rows pass looks at, as some leaves of queries tell."""
        n, m, _ = pairs.shape
        if n == 0 or m == 0:
            return 0.0
        _, outputs, work = self._row_work(pairs, law, RowSums.empty(pairs.n_parts, n, 0))
        every = _leaves(outputs)
        some = every[:: max(1, len(every) // n_leaves)]
        visits = sum(self._run(work, some))
        return visits / (m * float((outputs.stops[some[:, 0]] - outputs.starts[some[:, 0]]).sum()))

    def _row_work(
        self, pairs: Pairs, law: Law, sums: RowSums
    ) -> tuple[Arrangement, Forest, Callable[[NDArray], int]]:
        """Arrangement, trees of queries, and what adds the sums of some of their leaves."""
        n, m, _ = pairs.shape
        arranged, outputs, inputs = self._planted(pairs, law)
        weights = arranged.key_weights.astype(np.float64)
        inputs = self._summarized(inputs, arranged.keys, weights, np.ones(m), arranged.n_near)
        queries, keys = _transposed(arranged)
        nobody, tolerance = np.full(n, -1), self._allowed(pairs)

        def work(leaves: NDArray) -> int:
            return self._kernels.rows_of_leaves(
                law.code, arranged.n_near, tolerance, leaves, outputs, queries, inputs, keys,
                arranged.key_weights, arranged.own, nobody,
                sums.peak, sums.mass, sums.slope, sums.moment,
            )  # fmt: skip

        return arranged, outputs, work

    def columns(
        self,
        pairs: Pairs,
        law: Law,
        log_slope: NDArray,
        coefficients: NDArray,
        *,
        moments: bool = True,
    ) -> ColumnSums:
        """Sums over the queries of C_ij, for every key (see `engine.Engine`)."""
        n, m, d = pairs.shape
        sums = ColumnSums.empty(m, d if moments else 0)
        if n == 0 or m == 0:
            return sums
        arranged, inputs, outputs = self._planted(pairs, law)
        slopes, shares = query_terms(arranged, law, log_slope, coefficients)
        queries, keys = _transposed(arranged)
        nobody, tolerance = np.full(m, -1), self._allowed(pairs)
        for part in range(pairs.n_parts):
            given = float(np.abs(shares[part]).sum(dtype=np.float64))
            if given == 0.0:
                continue
            minus = -slopes[part].astype(np.float64)
            forest = self._summarized(
                inputs, arranged.queries, minus, shares[part].astype(np.float64), arranged.n_near
            )
            mean_share = float(np.log2(given / m))

            def work(
                leaves: NDArray,
                part: int = part,
                forest: Forest = forest,
                mean_share: float = mean_share,
            ) -> int:
                self._kernels.columns_of_leaves(
                    law.code, arranged.n_near, tolerance, leaves, outputs, keys, forest, queries,
                    arranged.key_weights, slopes[part], shares[part], arranged.owner, nobody, part,
                    pairs.n_parts, mean_share, sums.total, sums.moment,
                )  # fmt: skip
                return 0

            self._run(work, _leaves(outputs))
        return undo_columns(sums, arranged)

    def _allowed(self, pairs: Pairs) -> float:
        """The tolerance; centroids say nothing about coordinates that are carried along."""
        return self.tolerance if pairs.near.stop == pairs.shape[2] else _ROUNDING

    def _planted(self, pairs: Pairs, law: Law) -> tuple[Arrangement, Forest, Forest]:
        """Points in the order of trees, and the trees of queries and of keys."""
        arranged = arrange(pairs, law, _working_dtype)
        one_set = arranged.queries.points is arranged.keys.points or _same(pairs)
        queries, query_order = self._tree(arranged.queries, arranged.n_near)
        keys, key_order = (
            (queries, query_order) if one_set else self._tree(arranged.keys, arranged.n_near)
        )
        return _reordered(arranged, query_order, key_order), queries, keys

    def _tree(self, side: Side, n_near: int) -> tuple[Forest, NDArray]:
        """A tree for each class, and the order it needs."""
        n, d = side.points.shape
        bounds = np.array([0, n]) if side.bounds is None else side.bounds
        most = 4 * (n // max(1, self.leaf) + len(bounds)) + 8
        order = np.arange(n)
        starts, stops, children = (np.empty(most, dtype=np.int64) for _ in range(3))
        roots, count = np.full(len(bounds) - 1, -1), 0
        points = np.ascontiguousarray(side.points)
        for c, (first, last) in enumerate(itertools.pairwise(bounds)):
            if first < last:
                roots[c] = count
                count = self._kernels.build(
                    points, order, first, last, n_near, self.leaf, starts, stops, children, count
                )
        nodes = (starts[:count], stops[:count], children[:count])
        empty = (np.empty((count, n_near)), np.empty((count, n_near)))
        numbers = (np.empty(count), np.empty(count), np.empty(count), np.empty((count, d)))
        forest = Forest(*nodes, roots, *empty, *numbers)
        side = Side(points[order], side.order, side.bounds)
        return self._summarized(forest, side, np.zeros(n), np.ones(n), n_near), order

    def _summarized(
        self, forest: Forest, side: Side, log_weights: NDArray, shares: NDArray, n_near: int
    ) -> Forest:
        """The forest with what its nodes weigh."""
        count, d = forest.center.shape
        fresh = forest._replace(
            peak=np.empty(count), weight=np.empty(count), spread=np.empty(count),
            center=np.empty((count, d)),
        )  # fmt: skip
        self._kernels.summarize(
            side.points, log_weights, shares, n_near, fresh.starts, fresh.stops, fresh.low,
            fresh.high, fresh.peak, fresh.weight, fresh.center, fresh.spread,
        )  # fmt: skip
        return fresh

    def _run(self, work: Callable[[NDArray], int], leaves: NDArray) -> list[int]:
        parts = [leaves[start : start + _LEAVES] for start in range(0, len(leaves), _LEAVES)]
        with np.errstate(all="ignore"):
            return list(run_in_order(work, parts, self.n_threads))


def _leaves(forest: Forest) -> NDArray:
    """Each leaf and the class of its tree, shape (n_leaves, 2)."""
    nodes, known = np.flatnonzero(forest.children < 0), np.flatnonzero(forest.roots >= 0)
    tree = np.searchsorted(forest.roots[known], nodes, side="right") - 1
    return np.column_stack([nodes, known[tree]])


def _transposed(arranged: Arrangement) -> tuple[NDArray, NDArray]:
    queries, keys = arranged.queries.points, arranged.keys.points
    return np.ascontiguousarray(queries.T), np.ascontiguousarray(keys.T)


def _working_dtype(dtype: DTypeLike, reach: float) -> DTypeLike:
    # A float32 square overflows beyond 1e19: use float64 long before.
    return dtype if reach < 1e15 else np.float64


def _same(pairs: Pairs) -> bool:
    return pairs.queries is pairs.keys and pairs.query_labels is pairs.key_labels


def _reordered(arranged: Arrangement, query_order: NDArray, key_order: NDArray) -> Arrangement:
    """The arrangement in another order within classes."""
    to_query, to_key = np.argsort(query_order), np.argsort(key_order)
    own, owner = arranged.own[query_order], arranged.owner[key_order]
    return replace(
        arranged,
        queries=_side(arranged.queries, query_order),
        keys=_side(arranged.keys, key_order),
        key_weights=arranged.key_weights[key_order],
        own=np.where(own >= 0, to_key[own], -1),
        owner=np.where(owner >= 0, to_query[owner], -1),
    )


def _side(side: Side, order: NDArray) -> Side:
    return Side(np.ascontiguousarray(side.points[order]), side.order[order], side.bounds)
