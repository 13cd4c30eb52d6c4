"""What the machine can do: its matrix product, and both passes in plain NumPy."""

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.common.timing import best_time

QUERY_TILE, KEY_TILE = 512, 1024


def gemm_rate(dtype, threads):
    a = np.random.default_rng(0).normal(size=(2000, 2000)).astype(dtype)
    with threadpool_limits(threads):
        return 2 * 2000**3 / best_time(lambda: a @ a, 5)


def numpy_rows(Z, labels=None):
    """Leave-one-out log Σ exp(-s) and weighted means, tile by tile; with labels, by part."""
    norms = np.square(Z).sum(axis=1)
    n_parts = 1 if labels is None else 2
    log_mass = np.empty((n_parts, len(Z)), Z.dtype)
    centroid = np.empty((n_parts, *Z.shape), Z.dtype)
    for a in range(0, len(Z), QUERY_TILE):
        out = slice(a, min(a + QUERY_TILE, len(Z)))
        peak = np.full(out.stop - a, -np.inf, Z.dtype)
        mass = np.zeros((n_parts, out.stop - a), Z.dtype)
        moment = np.zeros((n_parts, out.stop - a, Z.shape[1]), Z.dtype)
        for b in range(0, len(Z), KEY_TILE):
            exponent, k = numpy_exponents(Z, norms, a, b)
            top = np.maximum(peak, exponent.max(axis=1))
            exponent -= top[:, None]
            weights = np.exp(exponent, out=exponent)
            scale = np.exp(peak - top)
            mass *= scale
            moment *= scale[:, None]
            mass[0] += weights.sum(axis=1)
            moment[0] += weights @ k
            if labels is not None:
                weights *= labels[out, None] == labels[b : b + KEY_TILE]
                mass[1] += weights.sum(axis=1)
                moment[1] += weights @ k
            peak = top
        log_mass[:, out] = peak + np.log(mass)
        centroid[:, out] = moment / mass[..., None]
    return log_mass, centroid


def numpy_columns(Z, log_mass, labels=None):
    """Column sums of the coefficients, and of the coefficients times the queries."""
    norms = np.square(Z).sum(axis=1)
    total, moment = np.zeros(len(Z), Z.dtype), np.zeros_like(Z)
    for a in range(0, len(Z), QUERY_TILE):
        q = Z[a : a + QUERY_TILE]
        for b in range(0, len(Z), KEY_TILE):
            exponent, _ = numpy_exponents(Z, norms, a, b)
            exponent -= log_mass[0, a : a + QUERY_TILE, None]
            weights = np.exp(exponent, out=exponent)
            if labels is not None:
                same = labels[a : a + QUERY_TILE, None] == labels[b : b + KEY_TILE]
                weights *= np.where(same, Z.dtype.type(0.5), Z.dtype.type(-0.5))
            total[b : b + KEY_TILE] += weights.sum(axis=0)
            moment[b : b + KEY_TILE] += weights.T @ q
    return total, moment


def numpy_time(Z, labels, repeats):
    """Seconds of both passes in NumPy on one core."""
    with threadpool_limits(1):
        log_mass, _ = numpy_rows(Z, labels)
        rows = best_time(lambda: numpy_rows(Z, labels), repeats)
        return rows + best_time(lambda: numpy_columns(Z, log_mass, labels), repeats)


def numpy_exponents(Z, norms, a, b):
    q, k = Z[a : a + QUERY_TILE], Z[b : b + KEY_TILE]
    exponent = q @ k.T
    exponent *= 2
    exponent -= norms[a : a + QUERY_TILE, None]
    exponent -= norms[b : b + KEY_TILE]
    own = np.arange(max(a, b), min(a + len(q), b + len(k)))
    exponent[own - a, own - b] = -np.inf
    return exponent, k
