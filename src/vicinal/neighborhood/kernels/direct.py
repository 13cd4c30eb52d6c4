"""Fused passes for low dimension: distances, weights and moments of a row while it is in cache.

Points come transposed, shape (d, n), so that the innermost loops run over
contiguous memory; coordinates are taken four at a time to spare loads and stores.
"""

import numpy as np
from numba import njit

from vicinal.neighborhood.kernels.weights import OPTIONS, rescale, weigh_column, weigh_row


@njit(**OPTIONS)
def rows(
    law,
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

    queries (d, n), keys (d, m), key_weights (m,), own (n,): the key to leave
    out. Accumulators of the queries at hand only: peak, mass, slope (k,),
    moment (k, d) or (k, 0). Whole arrays and positions come in, not slices:
    only contiguous arrays vectorize.
    """
    tile = 4096 // keys.itemsize
    buffer = np.empty(tile, keys.dtype)
    for start in range(first_key, last_key, tile):
        stop = min(start + tile, last_key)
        s = buffer[: stop - start]
        for i in range(peak.size):
            query = first_query + i
            _squared_distances(queries, query, keys, start, s)
            _leave_out(s, own[query] - start)
            old_peak = s.dtype.type(peak[i])
            new_peak, more_mass, more_slope = weigh_row(law, s, key_weights[start:stop], old_peak)
            factor = rescale(old_peak, new_peak)
            peak[i] = new_peak
            mass[i] = factor * mass[i] + more_mass
            slope[i] = factor * slope[i] + more_slope
            _add_moments(s, keys, start, factor, moment[i])


@njit(**OPTIONS)
def columns(
    law,
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
    (n,), own (m,): the query to leave out. Accumulators of the keys at hand
    only: total (k,), moment (k, d).
    """
    tile = 4096 // queries.itemsize
    buffer = np.empty(tile, queries.dtype)
    for start in range(first_query, last_query, tile):
        stop = min(start + tile, last_query)
        s = buffer[: stop - start]
        for j in range(total.size):
            key = first_key + j
            _squared_distances(keys, key, queries, start, s)
            _leave_out(s, own[key] - start)
            total[j] += weigh_column(
                law, s, log_slopes[start:stop], coefficients[start:stop], key_weights[key]
            )
            _add_moments(s, queries, start, 1.0, moment[j])


@njit(**OPTIONS)
def _leave_out(s, position):
    if 0 <= position < s.size:
        s[position] = np.inf


@njit(**OPTIONS)
def _squared_distances(origins, i, points, start, s):
    """s_j = |origins_i - points_(start + j)|², first the odd coordinates, then four at a time."""
    d, stop = origins.shape[0], start + s.size
    first = d % 4
    if first == 1:
        x = origins[0, i]
        u = points[0, start:stop]
        for j in range(s.size):
            a = x - u[j]
            s[j] = a * a
    elif first == 2:
        x, y = origins[0, i], origins[1, i]
        u, v = points[0, start:stop], points[1, start:stop]
        for j in range(s.size):
            a, b = x - u[j], y - v[j]
            s[j] = a * a + b * b
    elif first == 3:
        x, y, z = origins[0, i], origins[1, i], origins[2, i]
        u, v, w = points[0, start:stop], points[1, start:stop], points[2, start:stop]
        for j in range(s.size):
            a, b, c = x - u[j], y - v[j], z - w[j]
            s[j] = a * a + b * b + c * c
    else:
        s[:] = 0
    for k in range(first, d, 4):
        x, y, z, t = origins[k, i], origins[k + 1, i], origins[k + 2, i], origins[k + 3, i]
        u, v = points[k, start:stop], points[k + 1, start:stop]
        w, r = points[k + 2, start:stop], points[k + 3, start:stop]
        for j in range(s.size):
            a, b, c, e = x - u[j], y - v[j], z - w[j], t - r[j]
            s[j] += a * a + b * b + c * c + e * e


@njit(**OPTIONS)
def _add_moments(weights, points, start, factor, moment):
    """moment ← factor · moment + Σ_j weights_j points_(start + j), four coordinates at a time."""
    d, stop = moment.size, start + weights.size
    for k in range(0, d - d % 4, 4):
        u, v = points[k, start:stop], points[k + 1, start:stop]
        w, r = points[k + 2, start:stop], points[k + 3, start:stop]
        a = b = c = e = weights.dtype.type(0)
        for j in range(weights.size):
            a += weights[j] * u[j]
            b += weights[j] * v[j]
            c += weights[j] * w[j]
            e += weights[j] * r[j]
        moment[k] = factor * moment[k] + a
        moment[k + 1] = factor * moment[k + 1] + b
        moment[k + 2] = factor * moment[k + 2] + c
        moment[k + 3] = factor * moment[k + 3] + e
    k = d - d % 4
    if d % 4 >= 2:
        u, v = points[k, start:stop], points[k + 1, start:stop]
        a = b = weights.dtype.type(0)
        for j in range(weights.size):
            a += weights[j] * u[j]
            b += weights[j] * v[j]
        moment[k] = factor * moment[k] + a
        moment[k + 1] = factor * moment[k + 1] + b
    if d % 2 == 1:
        u = points[d - 1, start:stop]
        a = weights.dtype.type(0)
        for j in range(weights.size):
            a += weights[j] * u[j]
        moment[d - 1] = factor * moment[d - 1] + a
