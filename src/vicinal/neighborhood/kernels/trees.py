"""k-d trees over sorted points, and what a box of outputs needs of the trees of inputs.

A tree is a row of nodes, children after their parents, over points that were put in its order:
node a holds positions starts[a] to stops[a]. A box of outputs (queries in the rows pass, keys in
the columns pass) walks all trees of inputs. A node far enough away is dropped or stands for its
points by their centroid, where the error allows; what is left is gathered and summed exactly by
the kernels of `direct`. Bounds: docs/equations/trees.md.
"""

import math

import numpy as np

from vicinal.compiling.decorators import kernel

from .arithmetic import at_least_power_of_two, larger, power_of_two
from .bounds import (
    centroid_error,
    has_support,
    largest_exponent,
    log_slope,
    smallest_exponent,
)
from .direct import columns, rows

# 2^y is at least this share of what `at_least_power_of_two` says.
_SURE = 0.94

# Nodes that could weigh 2^_LARGEST times a sum are always opened: no float32 overflows.
_LARGEST = 100.0

# Deeper than any tree of numbered points.
_DEPTH = 128


@kernel()
def build(points, order, first, last, n_near, leaf, starts, stops, children, count):
    """Put points first..last in the order of a k-d tree, add its nodes after `count`.

    points (n, d) and order (n,) are permuted together. Split at the median rank along the widest
    side of the box. children[a] is the first of two adjacent children, -1 for a leaf. Returns the
    new count.
    """
    starts[count], stops[count] = first, last
    stack = np.empty(_DEPTH, np.int64)
    stack[0], height = count, 1
    low, high = np.empty(n_near, points.dtype), np.empty(n_near, points.dtype)
    count += 1
    while height > 0:
        height -= 1
        node = stack[height]
        start, stop = starts[node], stops[node]
        children[node] = -1
        if stop - start <= leaf:
            continue
        _box(points, start, stop, low, high)
        axis, width = 0, -1.0
        for k in range(n_near):
            if high[k] - low[k] > width:
                axis, width = k, high[k] - low[k]
        middle = (start + stop) // 2
        _select(points, order, axis, start, stop, middle)
        children[node] = count
        starts[count], stops[count] = start, middle
        starts[count + 1], stops[count + 1] = middle, stop
        stack[height], stack[height + 1] = count, count + 1
        height += 2
        count += 2
    return count


@kernel()
def _box(points, start, stop, low, high):
    """Smallest box around some points, in its own number of coordinates."""
    for k in range(len(low)):
        low[k] = high[k] = points[start, k]
    for t in range(start + 1, stop):
        for k in range(len(low)):
            value = points[t, k]
            if value < low[k]:
                low[k] = value
            if value > high[k]:
                high[k] = value


@kernel()
def _select(points, order, axis, start, stop, middle):
    """Partition start..stop so that ranks below `middle` come before it (Hoare's find)."""
    low, high = start, stop - 1
    while low < high:
        pivot = points[(low + high) // 2, axis]
        i, j = low, high
        while i <= j:
            while points[i, axis] < pivot:
                i += 1
            while points[j, axis] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                for k in range(points.shape[1]):
                    points[i, k], points[j, k] = points[j, k], points[i, k]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@kernel()
def box_in(points, forest):
    """Box of every node, from its points or from its children."""
    low, high = forest.low, forest.high
    for node in range(len(forest.starts) - 1, -1, -1):
        child = forest.children[node]
        if child < 0:
            _box(points, forest.starts[node], forest.stops[node], low[node], high[node])
            continue
        for k in range(low.shape[1]):
            low[node, k] = min(low[child, k], low[child + 1, k])
            high[node, k] = max(high[child, k], high[child + 1, k])


@kernel()
def weigh(points, log_weights, signs, forest):
    """Weight, centroid, spread and sign of every node, from its points or from its children.

    points (n, d) in tree order; a point weighs signs · 2^log_weights. Where signs disagree the
    spread is infinite: a centroid cannot stand for such a node.
    """
    for node in range(len(forest.starts) - 1, -1, -1):
        if forest.children[node] < 0:
            _weigh_leaf(points, log_weights, signs, node, forest)
        else:
            _weigh_parent(node, forest.children[node], forest)


@kernel()
def _weigh_leaf(points, log_weights, signs, node, forest):
    start, stop = forest.starts[node], forest.stops[node]
    center, n_near = forest.center[node], forest.low.shape[1]
    center[:] = 0.0
    peak, signed = -np.inf, 0.0
    for t in range(start, stop):
        peak = max(peak, log_weights[t])
    forest.log_weight[node] = forest.log_spread[node] = -np.inf
    forest.sign[node] = 1.0
    if peak == -np.inf:
        return
    total = square = 0.0
    for t in range(start, stop):
        w = power_of_two(log_weights[t] - peak)
        total += w
        signed += w * signs[t]
        for k in range(len(center)):
            center[k] += w * points[t, k]
    center /= total
    for t in range(start, stop):
        w = power_of_two(log_weights[t] - peak)
        for k in range(n_near):
            square += w * (points[t, k] - center[k]) ** 2
    forest.log_weight[node] = peak + math.log2(total)
    forest.sign[node] = 1.0 if signed >= 0.0 else -1.0
    if abs(signed) < (1.0 - 1e-12) * total:
        forest.log_spread[node] = np.inf
    elif square > 0.0:
        forest.log_spread[node] = peak + math.log2(square)


@kernel()
def _weigh_parent(node, child, forest):
    one, two = child, child + 1
    weight, spread, n_near = forest.log_weight, forest.log_spread, forest.low.shape[1]
    if weight[one] < weight[two]:
        one, two = two, one
    forest.center[node] = forest.center[one]
    weight[node], spread[node], forest.sign[node] = weight[one], spread[one], forest.sign[one]
    if weight[two] == -np.inf:
        return
    share = 2.0 ** (weight[two] - weight[one])
    square = 0.0
    for k in range(forest.center.shape[1]):
        apart = forest.center[two, k] - forest.center[one, k]
        forest.center[node, k] += share / (1.0 + share) * apart
        if k < n_near:
            square += apart * apart
    square *= share / (1.0 + share)  # parallel axes
    square += 2.0 ** (spread[one] - weight[one]) + 2.0 ** (spread[two] - weight[one])
    weight[node] = weight[one] + math.log2(1.0 + share)
    if forest.sign[one] != forest.sign[two]:
        spread[node] = np.inf
    else:
        spread[node] = weight[one] + math.log2(square) if square > 0.0 else -np.inf


@kernel()
def choose_boxes(forest, most, widest, boxes):
    """Cut trees of outputs into boxes: fills (n, 2) with nodes and trees, returns how many.

    A box has at most `most` points and a squared diagonal of at most `widest`, or is a leaf.
    """
    count = 0
    stack = np.empty(_DEPTH, np.int64)
    for tree in range(len(forest.roots)):
        if forest.roots[tree] < 0:
            continue
        stack[0], height = forest.roots[tree], 1
        while height > 0:
            height -= 1
            node = stack[height]
            diagonal = 0.0
            for k in range(forest.low.shape[1]):
                diagonal += (forest.high[node, k] - forest.low[node, k]) ** 2
            small = forest.stops[node] - forest.starts[node] <= most and diagonal <= widest
            child = forest.children[node]
            if small or child < 0:
                boxes[count, 0], boxes[count, 1] = node, tree
                count += 1
            else:
                stack[height], stack[height + 1] = child + 1, child
                height += 2
    return count


@kernel(inlined=True)
def _gap(forest, node, low, high):
    """Smallest and largest squared distance between a node and a box."""
    nearest, farthest = 0.0, 0.0
    for k in range(len(low)):
        below, above = forest.low[node, k] - high[k], low[k] - forest.high[node, k]
        apart = larger(larger(below, above), 0.0)  # `larger`: no branch to mispredict
        across = larger(-below, -above)
        nearest += apart * apart
        farthest += across * across
    return nearest, farthest


@kernel()
def _roots(forest, mine, part, n_parts, stack):
    """The trees that hold the inputs of one part, for outputs of tree `mine`; returns how many."""
    height = 0
    for tree in range(len(forest.roots)):
        if forest.roots[tree] >= 0 and (n_parts == 1 or (tree == mine) == (part == 1)):
            stack[height] = forest.roots[tree]
            height += 1
    return height


@kernel()
def _mark_near(forest, height, stack, low, high, marked, path, leaves):
    """Mark the nodes that touch a box; where no leaf does, those on the way to a near one.

    Fills path with the marked nodes and leaves with those that are leaves; returns how many.
    """
    n_path, n_leaves, closest, gap = 0, 0, -1, np.inf
    while height > 0:
        height -= 1
        node = stack[height]
        nearest, _ = _gap(forest, node, low, high)
        if nearest < gap:
            closest, gap = node, nearest
        if nearest > 0.0:
            continue
        n_path, n_leaves = _mark(forest, node, marked, path, n_path, leaves, n_leaves)
        child = forest.children[node]
        if child >= 0:
            stack[height], stack[height + 1] = child, child + 1
            height += 2
    while n_leaves == 0:
        n_path, n_leaves = _mark(forest, closest, marked, path, n_path, leaves, n_leaves)
        child = forest.children[closest]
        if child >= 0:
            one, two = _gap(forest, child, low, high)[0], _gap(forest, child + 1, low, high)[0]
            closest = child if one <= two else child + 1
    return n_path, n_leaves


@kernel(inlined=True)
def _mark(forest, node, marked, path, n_path, leaves, n_leaves):
    if not marked[node]:
        marked[node] = True
        path[n_path] = node
        n_path += 1
    if forest.children[node] < 0:
        leaves[n_leaves] = node
        n_leaves += 1
    return n_path, n_leaves


@kernel()
def _walk(
    law, forest, height, stack, low, high, own, marked, unit, slope_unit, room, moments, exact,
    standing,
):  # fmt: skip
    """Decide about every node of some trees, for a box of outputs.

    Masses are in units of 2^unit, slopes of 2^slope_unit. A node may err by 2^room of either. own:
    first and last input that are outputs themselves; marked: leaves that are summed already and the
    nodes above them. Fills exact and standing with nodes; returns how many, what all of them
    together err by at most, and what they add to every output at least.
    """
    n_exact, n_standing, lost, floor = 0, 0, 0.0, 0.0
    error = 2.0**room
    while height > 0:
        height -= 1
        node = stack[height]
        child = forest.children[node]
        if marked[node]:
            if child < 0:
                continue
        elif has_support(law):
            if _gap(forest, node, low, high)[0] >= 1.0:  # nobody within reach
                continue
        else:
            nearest, farthest = _gap(forest, node, low, high)
            start, stop, weight = forest.starts[node], forest.stops[node], forest.log_weight[node]
            exponent = largest_exponent(law, weight, nearest, unit, slope_unit)
            holds_own = start <= own[1] and own[0] < stop
            if not holds_own and exponent < _LARGEST:
                if exponent <= room:
                    lost += at_least_power_of_two(exponent)
                    continue
                spread = forest.log_spread[node]
                bound = centroid_error(
                    law, spread, nearest, farthest, unit, slope_unit, room, moments
                )
                if bound <= error and stop - start > 1:
                    lost += bound
                    least = smallest_exponent(law, weight, farthest, unit, slope_unit)
                    floor += _SURE * at_least_power_of_two(least)
                    standing[n_standing] = node
                    n_standing += 1
                    continue
            if child < 0 and not holds_own:
                least = smallest_exponent(law, weight, farthest, unit, slope_unit)
                floor += _SURE * at_least_power_of_two(least)
        if child < 0:
            exact[n_exact] = node
            n_exact += 1
        else:
            stack[height], stack[height + 1] = child, child + 1
            height += 2
    return n_exact, n_standing, lost, floor


@kernel()
def _search(
    law, forest, mine, part, n_parts, low, high, own, marked, unit, slope_unit, sure, tolerance,
    moments, room, stack, exact, standing,
):  # fmt: skip
    """Nodes to open and to stand in, so that the error is at most `tolerance` of a sum.

    sure: a lower bound of every output's sums without what the walk finds, in their units; where
    it is negative, -sure is what errors are relative to, and nothing is added to it. room[part]:
    log2 of what a node may err by, carried from box to box since neighbors are alike.
    """
    n_near = len(low)
    if math.isnan(room[part]):
        most = 0.0
        for h in range(_roots(forest, mine, part, n_parts, stack)):
            nearest, weight = _gap(forest, stack[h], low, high)[0], forest.log_weight[stack[h]]
            exponent = largest_exponent(law, weight, nearest, unit, slope_unit)
            if exponent > most:
                most = min(exponent, _LARGEST)
        room[part] = math.log2(tolerance) + most
    while True:
        height = _roots(forest, mine, part, n_parts, stack)
        n_exact, n_standing, lost, floor = _walk(
            law, forest, height, stack, low, high, own, marked, unit, slope_unit, room[part],
            moments, exact, standing,
        )  # fmt: skip
        allowed = tolerance * (sure + floor if sure >= 0.0 else -sure)
        if lost <= allowed:
            break
        # Nodes of n_near sides, errors of second order: they go with room^(2 / (n_near + 2)).
        step = 0.5 * (n_near + 2) * math.log2(allowed / lost) - 0.5 if allowed > 0.0 else -12.0
        room[part] += min(max(step, -12.0), -1.0)
    if lost < 0.5 * allowed:
        room[part] += 1.0
    return n_exact, n_standing


@kernel()
def _gathered(inputs, forest, exact, n_exact, standing, n_standing, own, own_span, own_here):
    """Inputs of nodes, side by side, and then centroids; own_here: where an output's own one is.

    inputs (d + e, n): coordinates and what else an input has, which centroids have not.
    """
    size = n_standing
    for e in range(n_exact):
        size += forest.stops[exact[e]] - forest.starts[exact[e]]
    block = np.empty((inputs.shape[0], size), inputs.dtype)
    own_here[:] = -1
    at = 0
    for e in range(n_exact):
        start, stop = forest.starts[exact[e]], forest.stops[exact[e]]
        for k in range(inputs.shape[0]):
            for t in range(stop - start):
                block[k, at + t] = inputs[k, start + t]
        if start <= own_span[1] and own_span[0] < stop:
            for i in range(len(own)):
                if start <= own[i] < stop:
                    own_here[i] = at + own[i] - start
        at += stop - start
    for e in range(n_standing):
        for k in range(forest.center.shape[1]):
            block[k, at + e] = forest.center[standing[e], k]
    return block


@kernel()
def rows_of_boxes(
    law, tolerance, boxes, outputs, queries, forest, keys, own, peak, mass, slope, moment
):
    """Rows pass for some boxes of queries over all trees of keys.

    boxes (n_boxes, 2): nodes of `outputs`, the trees of queries, and which of these they are in;
    queries (d, n); keys (d + 1, m) with their weights; accumulators of all queries. Returns the
    number of pairs that were looked at.
    """
    visits, d, n_parts = 0, queries.shape[0], peak.shape[0]
    exact, standing, stack, marked = _scratch(forest)
    span, room = np.empty(2, np.int64), np.full(n_parts, np.nan)
    for box, mine in boxes:
        start, stop = outputs.starts[box], outputs.stops[box]
        low, high, here = outputs.low[box], outputs.high[box], own[start:stop]
        own_here = np.empty(stop - start, np.int64)
        _span(here, span)
        for part in range(n_parts):
            p, m, s, z = (
                peak[part, start:stop], mass[part, start:stop], slope[part, start:stop],
                moment[part, start:stop],
            )  # fmt: skip
            height = _roots(forest, mine, part, n_parts, stack)
            if height == 0:
                continue
            n_path, unit, slope_unit = 0, 0.0, 0.0
            if not has_support(law):
                n_path, n_exact = _mark_near(
                    forest, height, stack, low, high, marked, standing, exact
                )  # fmt: skip
                path = standing[:n_path].copy()
                block = _gathered(keys, forest, exact, n_exact, standing, 0, here, span, own_here)
                size = block.shape[1]
                rows(law, len(low), queries, start, block, 0, size, block[d], own_here, p, m, s, z)
                visits += len(p) * size
                unit, slope_unit = _smallest(p, m), _smallest(p, s)
            n_exact, n_standing = _search(
                law, forest, mine, part, n_parts, low, high, span, marked, unit, slope_unit, 1.0,
                tolerance, z.shape[1] > 0, room, stack, exact, standing,
            )  # fmt: skip
            for e in range(n_path):
                marked[path[e]] = False
            block = _gathered(
                keys, forest, exact, n_exact, standing, n_standing, here, span, own_here
            )  # fmt: skip
            size = block.shape[1]
            for e in range(n_standing):
                block[d, size - n_standing + e] = forest.log_weight[standing[e]]
            rows(law, len(low), queries, start, block, 0, size, block[d], own_here, p, m, s, z)
            visits += len(p) * size
    return visits


@kernel()
def _smallest(peak, mass):
    """log2 of the smallest sum."""
    smallest = np.inf
    for i in range(len(peak)):
        smallest = min(smallest, peak[i] + math.log2(mass[i]) if mass[i] > 0.0 else -np.inf)
    return smallest


@kernel()
def columns_of_boxes(
    law, tolerance, boxes, outputs, keys, forest, queries, key_weights, owner, part, n_parts,
    mean_share, total, moment,
):  # fmt: skip
    """Columns pass of one part for some boxes of keys over all trees of queries.

    queries (d + 2, n) with the log2 of their slopes and their coefficients; mean_share: log2 of
    what a key gets on average, which `tolerance` is relative to. Returns the number of pairs that
    were looked at.
    """
    visits, d = 0, keys.shape[0]
    exact, standing, stack, marked = _scratch(forest)
    span, room = np.empty(2, np.int64), np.full(n_parts, np.nan)
    for box, mine in boxes:
        start, stop = outputs.starts[box], outputs.stops[box]
        low, high, here = outputs.low[box], outputs.high[box], owner[start:stop]
        own_here = np.empty(stop - start, np.int64)
        _span(here, span)
        heaviest = -np.inf
        for j in range(start, stop):
            heaviest = max(heaviest, key_weights[j])
        t, z = total[start:stop], moment[start:stop]
        n_exact, n_standing = _search(
            law, forest, mine, part, n_parts, low, high, span, marked, np.inf,
            mean_share - heaviest, -1.0, tolerance, z.shape[1] > 0, room, stack, exact, standing,
        )  # fmt: skip
        block = _gathered(
            queries, forest, exact, n_exact, standing, n_standing, here, span, own_here
        )  # fmt: skip
        size = block.shape[1]
        for e in range(n_standing):
            node, at = standing[e], size - n_standing + e
            # Shares of one query are at most 1, and `columns` sees to it; those of several are
            # made so.
            nearest = _gap(forest, node, low, high)[0]
            most = heaviest + forest.log_weight[node] + log_slope(law, nearest)
            most = max(most, 0.0)
            block[d, at] = most - forest.log_weight[node]
            block[d + 1, at] = forest.sign[node] * 2.0**most
        columns(
            law, len(low), keys, start, block, 0, size, key_weights, block[d], block[d + 1],
            own_here, t, z,
        )  # fmt: skip
        visits += len(t) * size
    return visits


@kernel()
def _scratch(forest):
    n_nodes, n_roots = len(forest.starts), len(forest.roots)
    nodes = np.empty((2, n_nodes), np.int64)
    stack, marked = np.empty(_DEPTH + n_roots, np.int64), np.zeros(n_nodes, np.bool_)
    return nodes[0], nodes[1], stack, marked


@kernel()
def _span(own, span):
    """First and last input that outputs are themselves; an empty span: none."""
    span[0], span[1] = np.iinfo(np.int64).max, -1
    for i in range(len(own)):
        if own[i] >= 0:
            span[0], span[1] = min(span[0], own[i]), max(span[1], own[i])
