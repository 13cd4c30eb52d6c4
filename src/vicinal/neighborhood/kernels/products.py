"""Passes by matrix products: distances of a piece, one sweep that weighs them, its moments.

All pieces of a tile go through one call: BLAS is called by the compiled code, through SciPy, and
nobody waits for Python's lock in between. Sweeps alone are for distances that come from elsewhere.
"""

import numpy as np

from vicinal.compiling.decorators import kernel

from .arithmetic import in_wide_vectors
from .weights import rescale, weigh_column, weigh_row


@kernel()
def rows_of_pieces(
    law, pieces, first, left, right, keys, key_weights, own, room, peak, mass, slope, moment
):  # fmt: skip
    """Add the sums over the keys of every piece of a tile to those of its queries.

    pieces (k, 5): part, first and last query, first and last key of each. left (n, d + 2) and
    right (m, d + 2): their products are the squared distances of queries to keys. keys (m, d).
    room: memory for the distances of the largest piece. The accumulators are those of the queries
    from `first` on: peak, mass, slope (p, k), moment (p, k, d) or (p, k, 0).
    """
    in_wide_vectors()
    factor = np.empty(peak.shape[1])
    product = np.empty(moment.shape[1] * moment.shape[2], keys.dtype)
    for k in range(pieces.shape[0]):
        part, start, stop = pieces[k, 0], pieces[k, 1], pieces[k, 2]
        begin, end = pieces[k, 3], pieces[k, 4]
        a, b = start - first, stop - first
        s = _product(left[start:stop], right[begin:end].T, room)
        _weigh_rows(
            law, s, key_weights[begin:end], own[start:stop], begin,
            peak[part, a:b], mass[part, a:b], slope[part, a:b], factor,
        )  # fmt: skip
        if moment.shape[2]:
            _add(_product(s, keys[begin:end], product), factor, moment[part, a:b])


@kernel()
def columns_of_pieces(
    law, pieces, first, left, right, queries, key_weights, log_slopes, coefficients, own, room,
    total, moment,
):  # fmt: skip
    """Add the sums over the queries of every piece of a tile to those of its keys.

    As for `rows_of_pieces`, but outputs are keys and inputs are queries. log_slopes, coefficients
    (p, n); total (k,), moment (k, d) or (k, 0).
    """
    in_wide_vectors()
    factor = np.ones(total.size)
    product = np.empty(moment.size, queries.dtype)
    for k in range(pieces.shape[0]):
        part, start, stop = pieces[k, 0], pieces[k, 1], pieces[k, 2]
        begin, end = pieces[k, 3], pieces[k, 4]
        a, b = start - first, stop - first
        s = _product(left[start:stop], right[begin:end].T, room)
        _weigh_columns(
            law, s, key_weights[start:stop], log_slopes[part, begin:end],
            coefficients[part, begin:end], own[start:stop], begin, total[a:b],
        )  # fmt: skip
        if moment.shape[1]:
            _add(_product(s, queries[begin:end], product), factor, moment[a:b])


@kernel()
def weigh_rows(law, s, key_weights, own, peak, mass, slope, factor):
    """Turn distances s (n, m) of queries to keys into weights, and add up mass and slope.

    `factor` (n,) receives what brings sums kept at the old peak to the new one.
    """
    in_wide_vectors()
    _weigh_rows(law, s, key_weights, own, 0, peak, mass, slope, factor)


@kernel()
def weigh_columns(law, s, key_weights, log_slopes, coefficients, own, total):
    """Turn distances s (m, n) of keys to queries into C_ij, and add up their column sums."""
    in_wide_vectors()
    _weigh_columns(law, s, key_weights, log_slopes, coefficients, own, 0, total)


@kernel(inlined=True)
def _weigh_rows(law, s, key_weights, own, first_key, peak, mass, slope, factor):
    in_wide_vectors()
    for i in range(s.shape[0]):
        _leave_out(s[i], own[i] - first_key)
        old_peak = s.dtype.type(peak[i])
        new_peak, more_mass, more_slope = weigh_row(law, s[i], key_weights, old_peak)
        factor[i] = rescale(old_peak, new_peak)
        peak[i] = new_peak
        mass[i] = factor[i] * mass[i] + more_mass
        slope[i] = factor[i] * slope[i] + more_slope


@kernel(inlined=True)
def _weigh_columns(law, s, key_weights, log_slopes, coefficients, own, first_query, total):
    in_wide_vectors()
    for j in range(s.shape[0]):
        _leave_out(s[j], own[j] - first_query)
        total[j] += weigh_column(law, s[j], log_slopes, coefficients, key_weights[j])


@kernel(inlined=True)
def _leave_out(s, own):
    """Put the output's own input out of reach, where it is among these."""
    if 0 <= own < s.size:
        s[own] = np.inf


@kernel(inlined=True)
def _product(left, right, memory):
    """The product of two matrices, in memory that is there."""
    n, m = left.shape[0], right.shape[1]
    found = memory[: n * m].reshape((n, m))
    np.dot(left, right, found)
    return found


@kernel(inlined=True)
def _add(more, factor, moment):
    """Bring moments to the new peaks, and add what was found."""
    in_wide_vectors()
    for i in range(more.shape[0]):
        for c in range(more.shape[1]):
            moment[i, c] = factor[i] * moment[i, c] + more[i, c]
