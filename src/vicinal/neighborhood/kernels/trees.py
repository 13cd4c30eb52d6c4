"""k-d trees over sorted points, and what a leaf of outputs needs of a tree of inputs.

A tree is a row of nodes, children after their parents, over points that were put in its order:
node a holds positions starts[a] to stops[a]. A leaf of outputs (queries in the rows pass, keys in
the columns pass) walks all trees of inputs. A node far enough away is dropped or stands for its
points by their centroid, where the error allows; leaves that are left are summed exactly.
"""

import math

import numpy as np
from numba import njit

from .direct import columns, rows
from .weights import OPTIONS

_LN2 = math.log(2.0)
_GAUSSIAN = 0

# Nodes that could weigh 2^_LARGEST times a sum are always opened: no float32 overflows.
_LARGEST = 100.0

# Deeper than any tree of numbered points.
_DEPTH = 128


@njit(**OPTIONS)
def build(points, order, first, last, n_near, leaf, starts, stops, children, count):
    """Order positions first..last as a k-d tree, add its nodes after `count`; returns their count.

    `order` holds rows of `points` and is permuted. Split at the median rank along the widest side
    of the box. children[a] is the first of two adjacent children, -1 for a leaf.
    """
    starts[count], stops[count] = first, last
    stack = np.empty(_DEPTH, np.int64)
    stack[0], height = count, 1
    count += 1
    while height > 0:
        height -= 1
        node = stack[height]
        start, stop = starts[node], stops[node]
        children[node] = -1
        if stop - start <= leaf:
            continue
        axis, width = 0, -1.0
        for k in range(n_near):
            low = high = points[order[start], k]
            for t in range(start, stop):
                value = points[order[t], k]
                low, high = min(low, value), max(high, value)
            if high - low > width:
                axis, width = k, high - low
        middle = (start + stop) // 2
        _select(points, order, axis, start, stop, middle)
        children[node] = count
        starts[count], stops[count] = start, middle
        starts[count + 1], stops[count + 1] = middle, stop
        stack[height], stack[height + 1] = count, count + 1
        height += 2
        count += 2
    return count


@njit(**OPTIONS)
def _select(points, order, axis, start, stop, middle):
    """Partition order[start:stop] so that ranks below `middle` come before it (Hoare's find)."""
    low, high = start, stop - 1
    while low < high:
        pivot = points[order[(low + high) // 2], axis]
        i, j = low, high
        while i <= j:
            while points[order[i], axis] < pivot:
                i += 1
            while points[order[j], axis] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@njit(**OPTIONS)
def summarize(
    points, log_weights, shares, n_near, starts, stops, low, high, peak, weight, center, spread
):
    """Box, weight, centroid and spread of every node.

    points (n, d) in tree order; a point weighs shares · 2^log_weights. weight and Σ w |z - c|²
    over the near coordinates (spread) are kept at 2^peak. Signs of the shares must agree in a node
    for its centroid to stand for it: otherwise spread is infinite.
    """
    d = points.shape[1]
    for node in range(len(starts)):
        start, stop = starts[node], stops[node]
        for k in range(n_near):
            low[node, k] = high[node, k] = points[start, k]
        top = -np.inf
        for t in range(start, stop):
            if shares[t] != 0.0:
                top = max(top, log_weights[t])
            for k in range(n_near):
                low[node, k] = min(low[node, k], points[t, k])
                high[node, k] = max(high[node, k], points[t, k])
        total, signed = 0.0, 0.0
        center[node] = 0.0
        if top > -np.inf:
            for t in range(start, stop):
                w = abs(shares[t]) * 2.0 ** (log_weights[t] - top)
                total += w
                signed += w if shares[t] > 0.0 else -w
                for k in range(d):
                    center[node, k] += w * points[t, k]
        spread[node], weight[node], peak[node] = 0.0, signed, top
        if total > 0.0:
            for k in range(d):
                center[node, k] /= total
            for t in range(start, stop):
                w = abs(shares[t]) * 2.0 ** (log_weights[t] - top)
                square = 0.0
                for k in range(n_near):
                    square += (points[t, k] - center[node, k]) ** 2
                spread[node] += w * square
            if abs(signed) < (1.0 - 1e-12) * total:
                spread[node], weight[node] = np.inf, total


@njit(**OPTIONS)
def _gap(low, high, node, box_low, box_high, n_near):
    """Smallest and largest squared distance between a node and a box."""
    nearest, farthest = 0.0, 0.0
    for k in range(n_near):
        apart = max(low[node, k] - box_high[k], box_low[k] - high[node, k], 0.0)
        across = max(high[node, k] - box_low[k], box_high[k] - low[node, k])
        nearest += apart * apart
        farthest += across * across
    return nearest, farthest


@njit(**OPTIONS)
def _nearest_leaf(forest, root, box_low, box_high, n_near):
    """A leaf near a box, by going to the nearer child, and its squared distance."""
    node = root
    gap = _gap(forest.low, forest.high, node, box_low, box_high, n_near)[0]
    while forest.children[node] >= 0:
        child = forest.children[node]
        one = _gap(forest.low, forest.high, child, box_low, box_high, n_near)[0]
        two = _gap(forest.low, forest.high, child + 1, box_low, box_high, n_near)[0]
        node, gap = (child, one) if one <= two else (child + 1, two)
    return node, gap


@njit(**OPTIONS)
def _error(forest, node, nearest, farthest):
    """Bound on what a centroid errs by, relative to 2^(peak - nearest): docs/equations/trees.md.

    For the weight itself, and for the weighted difference of the points from an output, over one
    unit plus its largest size.
    """
    steepest = 2.0 * _LN2 * math.sqrt(farthest)
    bend = max(2.0 * _LN2, 4.0 * _LN2 * _LN2 * farthest - 2.0 * _LN2)
    taylor = (0.5 * bend + steepest) * forest.spread[node]
    plain = abs(forest.weight[node]) * (1.0 - 2.0 ** (nearest - farthest))
    return min(taylor, plain) if forest.spread[node] < np.inf else np.inf


@njit(**OPTIONS)
def _walk(
    law, n_near, forest, root, box_low, box_high, avoid, skip, bound, budget, exact, standing
):
    """Decide about every node of a tree for a box of outputs.

    bound: log2 of a lower bound of what the outputs' sums are; budget: [share of it that may still
    be lost, points not yet decided on]; avoid: positions of inputs that are outputs themselves;
    skip: a leaf that is summed already. Fills exact and standing with nodes, returns how many.
    """
    n_exact, n_standing = 0, 0
    stack = np.empty(_DEPTH, np.int64)
    stack[0], height = root, 1
    while height > 0:
        height -= 1
        node = stack[height]
        size = forest.stops[node] - forest.starts[node]
        child = forest.children[node]
        if node == skip:
            budget[1] -= size
            continue
        nearest, farthest = _gap(forest.low, forest.high, node, box_low, box_high, n_near)
        if law == _GAUSSIAN:
            taken = forest.starts[node] <= avoid[1] and avoid[0] < forest.stops[node]
            if skip >= 0:
                taken |= forest.starts[node] <= forest.starts[skip] < forest.stops[node]
            exponent = forest.peak[node] - nearest - bound
            # Else weights far below the largest one may have vanished from the sums of the node.
            if not taken and exponent < _LARGEST:
                fair = budget[0] * size / budget[1]
                unit = 2.0**exponent
                lost = abs(forest.weight[node]) * unit
                if lost <= fair:
                    budget[0] -= lost
                    budget[1] -= size
                    continue
                lost = _error(forest, node, nearest, farthest) * unit
                if lost <= fair and size > 1:
                    budget[0] -= lost
                    budget[1] -= size
                    standing[n_standing] = node
                    n_standing += 1
                    continue
        elif nearest >= 1.0:  # nobody within reach
            continue
        if child < 0:
            budget[1] -= size
            exact[n_exact] = node
            n_exact += 1
            continue
        one = _gap(forest.low, forest.high, child, box_low, box_high, n_near)[0]
        two = _gap(forest.low, forest.high, child + 1, box_low, box_high, n_near)[0]
        near = child if one <= two else child + 1
        stack[height], stack[height + 1] = 2 * child + 1 - near, near  # the nearer one next
        height += 2
    return n_exact, n_standing


@njit(**OPTIONS)
def rows_of_leaves(
    law, n_near, tolerance, leaves, outputs, queries, forest, keys, key_weights, own,
    nobody, peak, mass, slope, moment,
):  # fmt: skip
    """Rows pass for some leaves of queries over all trees of keys.

    leaves (n_leaves, 2): nodes of `outputs`, the trees of queries, and the class of their tree;
    queries (d, n), keys (d, m) transposed; accumulators of all queries. Returns the number of
    pairs that were looked at.
    """
    visits = 0
    n_parts, n_roots = peak.shape[0], len(forest.roots)
    n_nodes = len(forest.starts)
    exact, standing = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    avoid = np.empty(2, np.int64)
    for which in range(len(leaves)):
        leaf, mine = leaves[which, 0], leaves[which, 1]
        start, stop = outputs.starts[leaf], outputs.stops[leaf]
        box_low, box_high = outputs.low[leaf], outputs.high[leaf]
        _span(own, start, stop, avoid)
        for part in range(n_parts):
            p, m, s, z = (
                peak[part, start:stop], mass[part, start:stop], slope[part, start:stop],
                moment[part, start:stop],
            )  # fmt: skip
            skip, gap, total = -1, np.inf, 0
            for root in range(n_roots):
                if n_parts == 1 or (root == mine) == (part == 1):
                    node = forest.roots[root]
                    if node < 0:
                        continue
                    total += forest.stops[node] - forest.starts[node]
                    found, distance = _nearest_leaf(forest, node, box_low, box_high, n_near)
                    if distance < gap or skip < 0:
                        skip, gap = found, distance
            if skip < 0:
                continue
            rows(
                law, n_near, queries, start, keys, forest.starts[skip], forest.stops[skip],
                key_weights, own, p, m, s, z,
            )  # fmt: skip
            visits += len(p) * (forest.stops[skip] - forest.starts[skip])
            bound = np.inf
            for i in range(len(p)):
                bound = min(bound, p[i] + math.log2(m[i]) if m[i] > 0.0 else -np.inf)
            budget = np.array([tolerance, float(total)])
            for root in range(n_roots):
                if not (n_parts == 1 or (root == mine) == (part == 1)) or forest.roots[root] < 0:
                    continue
                n_exact, n_standing = _walk(
                    law, n_near, forest, forest.roots[root], box_low, box_high, avoid, skip, bound,
                    budget, exact, standing,
                )  # fmt: skip
                visits += len(p) * n_standing
                for e in range(n_exact):
                    node = exact[e]
                    visits += len(p) * (forest.stops[node] - forest.starts[node])
                    rows(
                        law, n_near, queries, start, keys, forest.starts[node], forest.stops[node],
                        key_weights, own, p, m, s, z,
                    )  # fmt: skip
                if n_standing:
                    centers, weights = _stand_ins(forest, standing, n_standing, keys)
                    rows(
                        law, n_near, queries, start, centers, 0, n_standing, weights, nobody,
                        p, m, s, z,
                    )  # fmt: skip
    return visits


@njit(**OPTIONS)
def columns_of_leaves(
    law, n_near, tolerance, leaves, outputs, keys, forest, queries, key_weights, log_slopes,
    coefficients, owner, nobody, part, n_parts, mean_share, total, moment,
):  # fmt: skip
    """Columns pass of one part for some leaves of keys over all trees of queries.

    log_slopes, coefficients (n,) of the part; mean_share: log2 of what a key gets on average, which
    `tolerance` is relative to.
    """
    n_nodes = len(forest.starts)
    exact, standing = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    avoid = np.empty(2, np.int64)
    for which in range(len(leaves)):
        leaf, mine = leaves[which, 0], leaves[which, 1]
        start, stop = outputs.starts[leaf], outputs.stops[leaf]
        box_low, box_high = outputs.low[leaf], outputs.high[leaf]
        _span(owner, start, stop, avoid)
        heaviest = -np.inf
        for j in range(start, stop):
            heaviest = max(heaviest, key_weights[j])
        t, z = total[start:stop], moment[start:stop]
        n_inputs = 0
        for root in range(len(forest.roots)):
            node = forest.roots[root]
            if node >= 0 and (n_parts == 1 or (root == mine) == (part == 1)):
                n_inputs += forest.stops[node] - forest.starts[node]
        budget = np.array([tolerance, float(n_inputs)])
        for root in range(len(forest.roots)):
            node = forest.roots[root]
            if node < 0 or not (n_parts == 1 or (root == mine) == (part == 1)):
                continue
            n_exact, n_standing = _walk(
                law, n_near, forest, node, box_low, box_high, avoid, -1, mean_share - heaviest,
                budget, exact, standing,
            )  # fmt: skip
            for e in range(n_exact):
                node = exact[e]
                columns(
                    law, n_near, keys, start, queries, forest.starts[node], forest.stops[node],
                    key_weights, log_slopes, coefficients, owner, t, z,
                )  # fmt: skip
            if n_standing:
                centers, slopes = _stand_ins(forest, standing, n_standing, queries)
                shares = np.empty(n_standing, keys.dtype)
                for e in range(n_standing):
                    node = standing[e]
                    nearest = _gap(forest.low, forest.high, node, box_low, box_high, n_near)[0]
                    # Shares of one query are at most 1, and `columns` sees to it; those of several,
                    # at the largest of their weights, are made so.
                    most = max(heaviest + forest.peak[node] - nearest, 0.0)
                    shares[e] = forest.weight[node] * 2.0**most
                    slopes[e] = most - forest.peak[node]
                columns(
                    law, n_near, keys, start, centers, 0, n_standing, key_weights, slopes, shares,
                    nobody, t, z,
                )  # fmt: skip


@njit(**OPTIONS)
def _span(own, start, stop, avoid):
    """First and last input that outputs start..stop are themselves; an empty span: none."""
    avoid[0], avoid[1] = len(own) + 1, -1
    first, last = np.iinfo(np.int64).max, -1
    for i in range(start, stop):
        if own[i] >= 0:
            first, last = min(first, own[i]), max(last, own[i])
    if last >= 0:
        avoid[0], avoid[1] = first, last


@njit(**OPTIONS)
def _stand_ins(forest, standing, n_standing, points):
    """Centroids of nodes, transposed, and log2 of their weights."""
    d = points.shape[0]
    centers, weights = np.empty((d, n_standing), points.dtype), np.empty(n_standing, points.dtype)
    for e in range(n_standing):
        node = standing[e]
        weights[e] = forest.peak[node] + math.log2(abs(forest.weight[node]))
        for k in range(d):
            centers[k, e] = forest.center[node, k]
    return centers, weights
