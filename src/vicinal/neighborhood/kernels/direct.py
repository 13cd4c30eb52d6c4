"""Fused passes for low dimension: distances, weights and moments of a row while it is in cache.

Points come transposed, shape (d, n), so that the innermost loops run over
contiguous memory. Loads are what limits them: two outputs share each load of
the inputs, and coordinates are taken four at a time.
"""

import numpy as np

from vicinal.compiling.decorators import kernel

from .arithmetic import in_wide_vectors
from .weights import rescale, weigh_column, weigh_row

# Bytes of distances kept per output: small beside the first-level cache, long beside a vector.
_ROW_BYTES = 4096


@kernel()
def rows(
    law,
    n_near,
    queries,
    first_query,
    keys,
    first_key,
    last_key,
    key_weights,
    own,
    peak,
    mass,
    slope,
    moment,
):
    """Add sums over keys first_key..last_key to the accumulators of queries from first_query on.

    queries (d, n), keys (d, m), key_weights (m,). Distances are made of the
    first n_near of the d coordinates. Of the queries at hand only: own (k,),
    the key to leave out, and the accumulators peak, mass, slope (k,), moment
    (k, d) or (k, 0). Whole arrays of points and positions come in, not slices:
    only contiguous arrays vectorize.
    """
    in_wide_vectors()
    _rows(
        law, n_near, queries, first_query, keys, first_key, last_key, key_weights, own,
        peak, mass, slope, moment,
    )  # fmt: skip


@kernel()
def rows_of_pieces(
    law, n_near, pieces, first, queries, keys, key_weights, own, peak, mass, slope, moment
):  # fmt: skip
    """`rows` of every piece of a tile, without a word to Python in between.

    pieces (k, 5): part, first and last query, first and last key of each. The accumulators are
    those of the queries from `first` on: peak, mass, slope (p, k), moment (p, k, d) or (p, k, 0).
    """
    in_wide_vectors()
    for k in range(pieces.shape[0]):
        part, start, stop = pieces[k, 0], pieces[k, 1], pieces[k, 2]
        a, b = start - first, stop - first
        _rows(
            law, n_near, queries, start, keys, pieces[k, 3], pieces[k, 4], key_weights,
            own[start:stop], peak[part, a:b], mass[part, a:b], slope[part, a:b], moment[part, a:b],
        )  # fmt: skip


@kernel(inlined=True)
def _rows(
    law,
    n_near,
    queries,
    first_query,
    keys,
    first_key,
    last_key,
    key_weights,
    own,
    peak,
    mass,
    slope,
    moment,
):
    in_wide_vectors()
    tile = _ROW_BYTES // keys.itemsize
    buffer = np.empty((2, tile), keys.dtype)
    for start in range(first_key, last_key, tile):
        stop = min(start + tile, last_key)
        s, t = buffer[0, : stop - start], buffer[1, : stop - start]
        weights = key_weights[start:stop]
        for i in range(0, peak.size, 2):
            # The last of an odd number is paired with itself; its twin then weighs nothing.
            j = min(i + 1, peak.size - 1)
            a, b = first_query + i, first_query + j
            _squared_distances(n_near, queries, a, b, keys, start, s, t)
            _leave_out(s, own[i] - start)
            _leave_out(t, own[j] - start)
            factor = _fold(law, s, weights, i, peak, mass, slope)
            if j > i:
                twin_factor = _fold(law, t, weights, j, peak, mass, slope)
            else:
                t[:] = 0
                twin_factor = 1.0
            _add_moments(s, t, keys, start, factor, twin_factor, moment[i], moment[j])


@kernel(inlined=True)
def _fold(law, s, weights, i, peak, mass, slope):
    """Weigh one row and add it up; returns what brings sums at the old peak to the new one."""
    old_peak = s.dtype.type(peak[i])
    new_peak, more_mass, more_slope = weigh_row(law, s, weights, old_peak)
    factor = rescale(old_peak, new_peak)
    peak[i] = new_peak
    mass[i] = factor * mass[i] + more_mass
    slope[i] = factor * slope[i] + more_slope
    return factor


@kernel()
def columns(
    law,
    n_near,
    keys,
    first_key,
    queries,
    first_query,
    last_query,
    key_weights,
    log_slopes,
    coefficients,
    own,
    total,
    moment,
):
    """Add C_ij of queries first_query..last_query to the accumulators of keys from first_key on.

    keys (d, m), queries (d, n), key_weights (m,), log_slopes and coefficients
    (n,). Of the keys at hand only: own (k,), the query to leave out, and the
    accumulators total (k,), moment (k, d) or (k, 0).
    """
    in_wide_vectors()
    _columns(
        law, n_near, keys, first_key, queries, first_query, last_query, key_weights,
        log_slopes, coefficients, own, total, moment,
    )  # fmt: skip


@kernel()
def columns_of_pieces(
    law, n_near, pieces, first, keys, queries, key_weights, log_slopes, coefficients, own,
    total, moment,
):  # fmt: skip
    """`columns` of every piece of a tile; pieces (k, 5) have keys first, then queries.

    log_slopes and coefficients (p, n); accumulators of the keys from `first` on.
    """
    in_wide_vectors()
    for k in range(pieces.shape[0]):
        part, start, stop = pieces[k, 0], pieces[k, 1], pieces[k, 2]
        a, b = start - first, stop - first
        _columns(
            law, n_near, keys, start, queries, pieces[k, 3], pieces[k, 4], key_weights,
            log_slopes[part], coefficients[part], own[start:stop], total[a:b], moment[a:b],
        )  # fmt: skip


@kernel(inlined=True)
def _columns(
    law,
    n_near,
    keys,
    first_key,
    queries,
    first_query,
    last_query,
    key_weights,
    log_slopes,
    coefficients,
    own,
    total,
    moment,
):
    in_wide_vectors()
    tile = _ROW_BYTES // queries.itemsize
    buffer = np.empty((2, tile), queries.dtype)
    for start in range(first_query, last_query, tile):
        stop = min(start + tile, last_query)
        s, t = buffer[0, : stop - start], buffer[1, : stop - start]
        slopes, shares = log_slopes[start:stop], coefficients[start:stop]
        for i in range(0, total.size, 2):
            j = min(i + 1, total.size - 1)
            a, b = first_key + i, first_key + j
            _squared_distances(n_near, keys, a, b, queries, start, s, t)
            _leave_out(s, own[i] - start)
            _leave_out(t, own[j] - start)
            total[i] += weigh_column(law, s, slopes, shares, key_weights[a])
            if j > i:
                total[j] += weigh_column(law, t, slopes, shares, key_weights[b])
            else:
                t[:] = 0
            _add_moments(s, t, queries, start, 1.0, 1.0, moment[i], moment[j])


@kernel(inlined=True)
def _leave_out(s, position):
    if 0 <= position < s.size:
        s[position] = np.inf


@kernel(inlined=True)
def _squared_distances(d, origins, a, b, points, start, s, t):
    """Squared distances, in d coordinates, of origins a and b to the points from `start` on."""
    in_wide_vectors()
    stop = start + s.size
    first = (d - 1) % 4 + 1  # 1 to 4 coordinates begin the sums, the others are added by fours
    u, a0, b0 = points[0, start:stop], origins[0, a], origins[0, b]
    if first == 1:
        for j in range(s.size):
            s0, t0 = a0 - u[j], b0 - u[j]
            s[j] = s0 * s0
            t[j] = t0 * t0
    elif first == 2:
        v, a1, b1 = points[1, start:stop], origins[1, a], origins[1, b]
        for j in range(s.size):
            s0, s1, t0, t1 = a0 - u[j], a1 - v[j], b0 - u[j], b1 - v[j]
            s[j] = s0 * s0 + s1 * s1
            t[j] = t0 * t0 + t1 * t1
    elif first == 3:
        v, a1, b1 = points[1, start:stop], origins[1, a], origins[1, b]
        w, a2, b2 = points[2, start:stop], origins[2, a], origins[2, b]
        for j in range(s.size):
            s0, s1, s2 = a0 - u[j], a1 - v[j], a2 - w[j]
            t0, t1, t2 = b0 - u[j], b1 - v[j], b2 - w[j]
            s[j] = s0 * s0 + s1 * s1 + s2 * s2
            t[j] = t0 * t0 + t1 * t1 + t2 * t2
    else:
        v, a1, b1 = points[1, start:stop], origins[1, a], origins[1, b]
        w, a2, b2 = points[2, start:stop], origins[2, a], origins[2, b]
        x, a3, b3 = points[3, start:stop], origins[3, a], origins[3, b]
        for j in range(s.size):
            s0, s1, s2, s3 = a0 - u[j], a1 - v[j], a2 - w[j], a3 - x[j]
            t0, t1, t2, t3 = b0 - u[j], b1 - v[j], b2 - w[j], b3 - x[j]
            s[j] = s0 * s0 + s1 * s1 + s2 * s2 + s3 * s3
            t[j] = t0 * t0 + t1 * t1 + t2 * t2 + t3 * t3
    for k in range(first, d, 4):
        u, a0, b0 = points[k, start:stop], origins[k, a], origins[k, b]
        v, a1, b1 = points[k + 1, start:stop], origins[k + 1, a], origins[k + 1, b]
        w, a2, b2 = points[k + 2, start:stop], origins[k + 2, a], origins[k + 2, b]
        x, a3, b3 = points[k + 3, start:stop], origins[k + 3, a], origins[k + 3, b]
        for j in range(s.size):
            s0, s1, s2, s3 = a0 - u[j], a1 - v[j], a2 - w[j], a3 - x[j]
            t0, t1, t2, t3 = b0 - u[j], b1 - v[j], b2 - w[j], b3 - x[j]
            s[j] += s0 * s0 + s1 * s1 + s2 * s2 + s3 * s3
            t[j] += t0 * t0 + t1 * t1 + t2 * t2 + t3 * t3


@kernel(inlined=True)
def _add_moments(s, t, points, start, s_factor, t_factor, s_moment, t_moment):
    """moment ← factor · moment + Σ_j weight_j point_j, for weights s and t."""
    in_wide_vectors()
    d, stop = s_moment.size, start + s.size
    zero = s.dtype.type(0)
    for k in range(0, d - d % 4, 4):
        u, v = points[k, start:stop], points[k + 1, start:stop]
        w, x = points[k + 2, start:stop], points[k + 3, start:stop]
        s0 = s1 = s2 = s3 = t0 = t1 = t2 = t3 = zero
        for j in range(s.size):
            s0 += s[j] * u[j]
            t0 += t[j] * u[j]
            s1 += s[j] * v[j]
            t1 += t[j] * v[j]
            s2 += s[j] * w[j]
            t2 += t[j] * w[j]
            s3 += s[j] * x[j]
            t3 += t[j] * x[j]
        _update(s_moment, k, s_factor, s0, s1)
        _update(s_moment, k + 2, s_factor, s2, s3)
        _update(t_moment, k, t_factor, t0, t1)
        _update(t_moment, k + 2, t_factor, t2, t3)
    k = d - d % 4
    if d % 4 >= 2:
        u, v = points[k, start:stop], points[k + 1, start:stop]
        s0 = s1 = t0 = t1 = zero
        for j in range(s.size):
            s0 += s[j] * u[j]
            t0 += t[j] * u[j]
            s1 += s[j] * v[j]
            t1 += t[j] * v[j]
        _update(s_moment, k, s_factor, s0, s1)
        _update(t_moment, k, t_factor, t0, t1)
    if d % 2 == 1:
        u = points[d - 1, start:stop]
        s0 = t0 = zero
        for j in range(s.size):
            s0 += s[j] * u[j]
            t0 += t[j] * u[j]
        s_moment[d - 1] = s_factor * s_moment[d - 1] + s0
        t_moment[d - 1] = t_factor * t_moment[d - 1] + t0


@kernel(inlined=True)
def _update(moment, k, factor, first, second):
    moment[k] = factor * moment[k] + first
    moment[k + 1] = factor * moment[k + 1] + second
