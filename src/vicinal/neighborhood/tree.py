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
from numpy.typing import NDArray

from vicinal.neighborhood.abilities import NO_KERNELS, Abilities, is_compiled, work_of
from vicinal.neighborhood.arrange import Arrangement, Side, arrange, safe_dtype
from vicinal.neighborhood.hosted import takes_tensors
from vicinal.neighborhood.laws import Law
from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.sums import ColumnSums, RowSums
from vicinal.neighborhood.threads import effective_n_threads, run_in_order
from vicinal.neighborhood.tiled import columns_in_units, natural_peaks, query_terms, rows_in_units

__all__ = ["TreeEngine"]

# Where nothing may be lost, this share of a sum still may: less than rounding loses.
_ROUNDING = {"float64": 2.0**-54, "float32": 2.0**-25}

# The least number there is: a mean of shares that is less counts as this much.
_LEAST = float(np.nextafter(0.0, 1.0))

# Boxes of outputs per task: neighbors, that learn from each other how far to walk.
_BOXES = 64

# Largest number of outputs in a box: few walks against short ones (docs/decisions/0010). Its
# largest diagonal is the law's.
_MOST = 64


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


class Planted(NamedTuple):
    """Points in the order of their trees, the trees, and the boxes of outputs they are cut into."""

    pairs: Pairs
    law: Law
    arranged: Arrangement
    queries: Forest
    keys: Forest
    query_boxes: NDArray
    key_boxes: NDArray


class TreeEngine:
    """Sums over pairs by k-d trees, with a bound on their error.

    Parameters
    ----------
    n_jobs : int, optional
        Number of threads. None: every core. The result does not depend on it.
    tolerance : float, default=0.0
        Largest relative error of every query's sum over each part of its keys, and of
        the share of a part in all. 0: only what rounding would lose is left out.
    leaf : int, default=16
        Largest number of points of a leaf.
    """

    name = "tree"
    can = Abilities(is_compiled, NO_KERNELS)

    def __init__(
        self, n_jobs: int | None = None, *, tolerance: float = 0.0, leaf: int = 16
    ) -> None:
        # Of p = M₁ / (M₀ + M₁) the error is up to 2t / (1 - t) where those of the sums are t.
        self.tolerance = tolerance / (2.0 + tolerance)
        self.n_threads = effective_n_threads(n_jobs)
        self.leaf = leaf
        self._last: Planted | None = None
        from vicinal.neighborhood.kernels import trees  # not at the top: it loads numba

        self._kernels = trees

    @takes_tensors
    def rows(self, pairs: Pairs, law: Law, *, moments: bool = True) -> RowSums:
        """Sums over the keys, for every query; without `moments` their width is 0."""
        n, m, d = pairs.shape
        sums = RowSums.empty(pairs.n_parts, n, d if moments else 0)
        if n == 0 or m == 0:
            return sums
        planted = self._planted(pairs, law)
        self._run(self._row_work(planted, pairs, law, sums), planted.query_boxes)
        arranged = planted.arranged
        sums = rows_in_units(natural_peaks(sums, law, arranged.weight_peak), arranged)
        return sums.at(arranged.queries.order)

    def share_visited(self, pairs: Pairs, law: Law, n_boxes: int = 64) -> float:
        """Share of all pairs that a rows pass looks at, as some boxes of queries tell."""
        n, m, _ = pairs.shape
        if n == 0 or m == 0:
            return 0.0
        planted = self._planted(pairs, law)
        boxes = planted.query_boxes
        some = boxes[np.unique((np.arange(n_boxes) + 0.5) * len(boxes) // n_boxes).astype(int)]
        sizes = (planted.queries.stops - planted.queries.starts)[some[:, 0]]
        work = self._row_work(planted, pairs, law, RowSums.empty(pairs.n_parts, n, 0))
        with np.errstate(all="ignore"):
            return work(some) / (m * float(sizes.sum()))

    def _row_work(
        self, planted: Planted, pairs: Pairs, law: Law, sums: RowSums
    ) -> Callable[[NDArray], int]:
        """What adds the sums of some boxes of queries."""
        arranged = planted.arranged
        inputs = self._weighed(planted.keys, arranged.keys, arranged.key_weights, np.ones(1))
        queries = np.ascontiguousarray(arranged.queries.points.T)
        keys = _beside(arranged.keys.points, arranged.key_weights)
        tolerance, numbers = self._allowed(pairs, queries.dtype), law.numbers(pairs.near.stop)

        def work(boxes: NDArray) -> int:
            return self._kernels.rows_of_boxes(
                numbers, tolerance, boxes, planted.queries, queries, inputs, keys, arranged.own,
                sums.peak, sums.mass, sums.slope, sums.moment,
            )  # fmt: skip

        return work

    @takes_tensors
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
        planted = self._planted(pairs, law)
        arranged = planted.arranged
        slopes, shares = query_terms(arranged, law, log_slope, coefficients)
        keys = np.ascontiguousarray(arranged.keys.points.T)
        tolerance, numbers = self._allowed(pairs, keys.dtype), law.numbers(pairs.near.stop)
        for part in range(pairs.n_parts):
            given = float(np.abs(shares[part]).sum(dtype=np.float64))
            if given == 0.0:
                continue
            log_weights = _log2(np.abs(shares[part])) - slopes[part]
            signs = np.sign(shares[part])
            forest = self._weighed(planted.queries, arranged.queries, log_weights, signs)
            queries = _beside(arranged.queries.points, slopes[part], shares[part])

            def work(
                boxes: NDArray,
                part: int = part,
                forest: Forest = forest,
                queries: NDArray = queries,
                mean_share: float = float(np.log2(given / m or _LEAST)),
            ) -> int:
                return self._kernels.columns_of_boxes(
                    numbers, tolerance, boxes, planted.keys, keys, forest, queries,
                    arranged.key_weights, arranged.owner, part, pairs.n_parts, mean_share,
                    sums.total, sums.moment,
                )  # fmt: skip

            self._run(work, planted.key_boxes)
        return columns_in_units(sums, arranged).at(arranged.keys.order)

    def _allowed(self, pairs: Pairs, dtype: np.dtype) -> float:
        """The tolerance; centroids say nothing about coordinates that are carried along."""
        carried = pairs.near.stop < pairs.shape[2]
        return max(0.0 if carried else self.tolerance, _ROUNDING[dtype.name])

    def _planted(self, pairs: Pairs, law: Law) -> Planted:
        """Points in the order of trees; kept for the columns pass that follows a rows pass."""
        if self._last is None or self._last.pairs is not pairs or self._last.law != law:
            self._last = None  # let go of the memory before taking more
            self._last = self._plant(pairs, law)
        return self._last

    def _plant(self, pairs: Pairs, law: Law) -> Planted:
        self.can.check(self.name, work_of(pairs, law))
        arranged = arrange(pairs, law, safe_dtype)
        queries, query_order, query_points = self._tree(arranged.queries, arranged.n_near)
        query_boxes = self._boxes(queries, law)
        keys, key_order, key_points, key_boxes = queries, query_order, query_points, query_boxes
        if arranged.keys is not arranged.queries:
            keys, key_order, key_points = self._tree(arranged.keys, arranged.n_near)
            key_boxes = self._boxes(keys, law)
        arranged = replace(
            arranged,
            queries=_reordered(arranged.queries, query_order, query_points),
            keys=_reordered(arranged.keys, key_order, key_points),
            key_weights=arranged.key_weights[key_order],
            own=_renumbered(arranged.own, query_order, key_order),
            owner=_renumbered(arranged.owner, key_order, query_order),
        )
        return Planted(pairs, law, arranged, queries, keys, query_boxes, key_boxes)

    def _tree(self, side: Side, n_near: int) -> tuple[Forest, NDArray, NDArray]:
        """A tree for each class, the order it needs, and the points in it."""
        n, d = side.points.shape
        bounds = np.array([0, n]) if side.bounds is None else side.bounds
        most = 4 * (n // max(1, self.leaf) + len(bounds)) + 8
        order = _sorted_within(side.points[:, 0], bounds) if n_near == 1 else np.arange(n)
        points = np.ascontiguousarray(side.points[order])
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
        return forest, order, points

    def _weighed(self, forest: Forest, side: Side, log_weights: NDArray, signs: NDArray) -> Forest:
        """The forest with what its nodes weigh."""
        count, n_near, d = len(forest.starts), forest.low.shape[1], forest.center.shape[1]
        fresh = Forest(*forest[:4], *_numbers(count, n_near, d))
        fresh.low[:], fresh.high[:] = forest.low, forest.high
        signs = np.broadcast_to(signs, len(side.points)).astype(np.float64)
        self._kernels.weigh(side.points, log_weights.astype(np.float64), signs, fresh)
        return fresh

    def _boxes(self, outputs: Forest, law: Law) -> NDArray:
        """Outputs that walk together: nodes, and the numbers of their trees."""
        boxes = np.empty((len(outputs.starts), 2), dtype=np.int64)
        count = self._kernels.choose_boxes(outputs, _MOST, law.widest_box, boxes)
        return boxes[:count]

    def _run(self, work: Callable[[NDArray], int], boxes: NDArray) -> None:
        tasks = [boxes[start : start + _BOXES] for start in range(0, len(boxes), _BOXES)]
        with np.errstate(all="ignore"):
            for _ in run_in_order(work, tasks, self.n_threads):
                pass


def _sorted_within(values: NDArray, bounds: NDArray) -> NDArray:
    """Positions in order of the values, class by class: on a line that is the tree's own order."""
    pieces = [first + np.argsort(values[first:last]) for first, last in itertools.pairwise(bounds)]
    return np.concatenate(pieces)


def _numbers(count: int, n_near: int, d: int) -> tuple[NDArray, ...]:
    """Box, center, weight, spread and sign of nodes: what a walk looks at lies side by side."""
    # Two rows at least: parts of a single one are contiguous, another type to the compiler.
    seen = np.empty((max(count, 2), 2 * n_near + 2))
    low, high = seen[:, :n_near], seen[:, n_near:-2]
    return low, high, np.empty((count, d)), seen[:, -2], seen[:, -1], np.empty(count)


def _beside(points: NDArray, *numbers: NDArray) -> NDArray:
    """Coordinates and other numbers of points, one after the other: (d + e, n).

    In one order of memory: vstack's own depends on how many points and coordinates there are, and
    is another type to the compiler.
    """
    return np.ascontiguousarray(np.vstack([points.T, *numbers]))


def _log2(values: NDArray) -> NDArray:
    with np.errstate(divide="ignore"):
        return np.log2(values)


def _reordered(side: Side, order: NDArray, points: NDArray) -> Side:
    return Side(points, side.order[order], side.bounds, side.n_near)


def _renumbered(partner: NDArray, order: NDArray, partner_order: NDArray) -> NDArray:
    """For each point in its new order the new position of its partner, -1 for none."""
    position = np.empty_like(partner_order)
    position[partner_order] = np.arange(len(partner_order))
    moved = partner[order]
    return np.where(moved >= 0, position[moved], -1)
