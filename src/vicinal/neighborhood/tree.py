"""Engine for low dimension and many points: k-d trees, and only the pairs that matter.

Points of each class are put in the order of a k-d tree. Each box of outputs walks the trees of
inputs: what is far away is dropped, or stands for its points by their centroid, as long as a
budget for the error lasts; what is left goes through the kernels of `fused`.
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
_ROUNDING = {"float64": 2.0**-54, "float32": 2.0**-25}

# Boxes of outputs per task: neighbors, that learn from each other how far to walk.
_BOXES = 64

# Largest number of outputs in a box, and its largest diagonal in units of the kernel, squared:
# few walks against short ones (docs/decisions/0010).
_MOST = 64
_WIDEST = {"gaussian": 16.0, "compact": 1.0}


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
    center : ndarray of shape (n_nodes, d)
    log_weight, log_spread, sign : ndarray of shape (n_nodes,)
        log2 of Σ w and of Σ w |z - center|²; the sign of the weights.
    """

    starts: NDArray
    stops: NDArray
    children: NDArray
    roots: NDArray
    low: NDArray
    high: NDArray
    center: NDArray
    log_weight: NDArray
    log_spread: NDArray
    sign: NDArray


class TreeEngine:
    """Sums over pairs by k-d trees, with a bound on their error.

    Parameters
    ----------
    tolerance : float, default=0.0
        Largest relative error of every query's sum over each part of its keys, and of
        the share of a part in all. 0: only what rounding would lose is left out.
    n_jobs : int, optional
        Number of threads. None: every core. The result does not depend on it.
    leaf : int, default=16
        Largest number of points of a leaf.
    """

    name = "tree"

    def __init__(self, tolerance: float = 0.0, n_jobs: int | None = None, leaf: int = 16) -> None:
        # Of p = M₁ / (M₀ + M₁) the error is up to 2t / (1 - t) where those of the sums are t.
        self.tolerance = tolerance / (2.0 + tolerance)
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
        arranged, boxes, work = self._row_work(pairs, law, sums)
        self._run(work, boxes[:, :2])
        return undo_rows(natural_peaks(sums, law, arranged.weight_peak), arranged)

    def share_visited(self, pairs: Pairs, law: Law, n_boxes: int = 64) -> float:
        """Share of all pairs that a rows pass looks at, as some boxes of queries tell."""
        n, m, _ = pairs.shape
        if n == 0 or m == 0:
            return 0.0
        _, boxes, work = self._row_work(pairs, law, RowSums.empty(pairs.n_parts, n, 0))
        some = boxes[np.unique(np.linspace(0, len(boxes) - 1, n_boxes).astype(int))]
        return work(some[:, :2]) / (m * float(some[:, 2].sum()))

    def _row_work(
        self, pairs: Pairs, law: Law, sums: RowSums
    ) -> tuple[Arrangement, NDArray, Callable[[NDArray], int]]:
        """Arrangement, boxes of queries, and what adds the sums of some of them."""
        arranged, outputs, inputs = self._planted(pairs, law)
        inputs = self._weighed(inputs, arranged.keys, arranged.key_weights, np.ones(1))
        queries = np.ascontiguousarray(arranged.queries.points.T)
        keys = np.vstack([arranged.keys.points.T, arranged.key_weights])
        tolerance = self._allowed(pairs, queries.dtype)

        def work(boxes: NDArray) -> int:
            return self._kernels.rows_of_boxes(
                law.code, tolerance, boxes, outputs, queries, inputs, keys, arranged.own,
                sums.peak, sums.mass, sums.slope, sums.moment,
            )  # fmt: skip

        return arranged, self._boxes(outputs, law), work

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
        keys = np.ascontiguousarray(arranged.keys.points.T)
        tolerance, boxes = self._allowed(pairs, keys.dtype), self._boxes(outputs, law)
        for part in range(pairs.n_parts):
            given = float(np.abs(shares[part]).sum(dtype=np.float64))
            if given == 0.0:
                continue
            log_weights = _log2(np.abs(shares[part])) - slopes[part]
            forest = self._weighed(inputs, arranged.queries, log_weights, np.sign(shares[part]))
            queries = np.vstack([arranged.queries.points.T, slopes[part], shares[part]])

            def work(
                boxes: NDArray,
                part: int = part,
                forest: Forest = forest,
                queries: NDArray = queries,
                mean_share: float = float(np.log2(given / m)),
            ) -> int:
                return self._kernels.columns_of_boxes(
                    law.code, tolerance, boxes, outputs, keys, forest, queries,
                    arranged.key_weights, arranged.owner, part, pairs.n_parts, mean_share,
                    sums.total, sums.moment,
                )  # fmt: skip

            self._run(work, boxes[:, :2])
        return undo_columns(sums, arranged)

    def _allowed(self, pairs: Pairs, dtype: np.dtype) -> float:
        """The tolerance; centroids say nothing about coordinates that are carried along."""
        carried = pairs.near.stop < pairs.shape[2]
        return max(0.0 if carried else self.tolerance, _ROUNDING[dtype.name])

    def _planted(self, pairs: Pairs, law: Law) -> tuple[Arrangement, Forest, Forest]:
        """Points in the order of trees, and the trees of queries and of keys."""
        arranged = arrange(pairs, law, _working_dtype)
        queries, query_order = self._tree(arranged.queries, arranged.n_near)
        keys, key_order = (
            (queries, query_order) if _same(pairs) else self._tree(arranged.keys, arranged.n_near)
        )
        return _reordered(arranged, query_order, key_order), queries, keys

    def _tree(self, side: Side, n_near: int) -> tuple[Forest, NDArray]:
        """A tree for each class, and the order it needs."""
        n, d = side.points.shape
        bounds = np.array([0, n]) if side.bounds is None else side.bounds
        most = 4 * (n // max(1, self.leaf) + len(bounds)) + 8
        points, order = np.array(side.points, order="C"), np.arange(n)
        starts, stops, children = (np.empty(most, dtype=np.int64) for _ in range(3))
        roots, count = np.full(len(bounds) - 1, -1), 0
        for c, (first, last) in enumerate(itertools.pairwise(bounds)):
            if first < last:
                roots[c] = count
                count = self._kernels.build(
                    points, order, first, last, n_near, self.leaf, starts, stops, children, count
                )
        nodes = (starts[:count], stops[:count], children[:count], roots)
        forest = Forest(*nodes, *_numbers(count, n_near, d))
        self._kernels.box_in(points, forest)
        return forest, order

    def _weighed(self, forest: Forest, side: Side, log_weights: NDArray, signs: NDArray) -> Forest:
        """The forest with what its nodes weigh."""
        (count, n_near), d = forest.low.shape, forest.center.shape[1]
        fresh = Forest(*forest[:4], *_numbers(count, n_near, d))
        fresh.low[:], fresh.high[:] = forest.low, forest.high
        signs = np.broadcast_to(signs, len(side.points)).astype(np.float64)
        self._kernels.weigh(side.points, log_weights.astype(np.float64), signs, fresh)
        return fresh

    def _boxes(self, outputs: Forest, law: Law) -> NDArray:
        """Outputs that walk together: nodes, the numbers of their trees, their sizes."""
        boxes = np.empty((len(outputs.starts), 2), dtype=np.int64)
        count = self._kernels.choose_boxes(outputs, _MOST, _WIDEST[law.name], boxes)
        nodes = boxes[:count, 0]
        return np.column_stack([boxes[:count], outputs.stops[nodes] - outputs.starts[nodes]])

    def _run(self, work: Callable[[NDArray], int], boxes: NDArray) -> None:
        tasks = [boxes[start : start + _BOXES] for start in range(0, len(boxes), _BOXES)]
        with np.errstate(all="ignore"):
            for _ in run_in_order(work, tasks, self.n_threads):
                pass


def _numbers(count: int, n_near: int, d: int) -> tuple[NDArray, ...]:
    """Box, center, weight, spread and sign of nodes: what a walk looks at lies side by side."""
    seen = np.empty((count, 2 * n_near + 2))
    low, high = seen[:, :n_near], seen[:, n_near:-2]
    return low, high, np.empty((count, d)), seen[:, -2], seen[:, -1], np.empty(count)


def _log2(values: NDArray) -> NDArray:
    with np.errstate(divide="ignore"):
        return np.log2(values)


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
