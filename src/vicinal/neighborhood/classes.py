"""Masses of several classes of keys around the same queries."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from vicinal.neighborhood.arrays import Array, is_numpy, namespace, on_host
from vicinal.neighborhood.engine import Engine, has_place, placed
from vicinal.neighborhood.laws import Law
from vicinal.neighborhood.pairs import SAME, Pairs

__all__ = ["class_log_masses"]

# Up to so many pairs a pass of an engine takes longer to arrange than to do.
_FEW_PAIRS = 150_000

# Up to so many pairs a device is done with them before it is told of the next class.
_FEW_ON_A_DEVICE = 2**30

# Distances as they are.
_AS_THEY_ARE = (1.0,)


def class_log_masses(
    queries: NDArray,
    keys: NDArray,
    labels: NDArray,
    n_classes: int,
    log_weights: NDArray | None,
    law: Law,
    engine: Engine,
    scales: Sequence[float] | NDArray = _AS_THEY_ARE,
) -> NDArray:
    """log Σ_{j in c} w_j k(a² |q - k_j|²) of all queries and classes, -inf where nothing is.

    Parameters
    ----------
    queries : ndarray of shape (n, d)
    keys : ndarray of shape (m, d)
    labels : ndarray of int, shape (m,)
        Class of each key.
    n_classes : int
    log_weights : ndarray of shape (m,) or None
    law : Law
    engine : Engine
    scales : sequence of float, default=(1.0,)
        Sizes a that distances are taken at, one after the other.

    Returns
    -------
    ndarray of float64, shape (len(scales), n, n_classes)
    """
    found = np.full((len(scales), len(queries), n_classes), -np.inf)
    if len(queries) * len(keys) <= _FEW_PAIRS and len(queries):
        return _all_at_once(queries, keys, labels, log_weights, law, scales, found)
    points, keys = placed(engine, queries), placed(engine, keys)  # once, for all classes and sizes
    if has_place(engine) and found[0].size * len(keys) <= _FEW_ON_A_DEVICE and len(queries):
        return _one_pass(points, keys, labels, log_weights, law, engine, scales, found)
    for c in np.unique(labels):  # every pair is visited once in all
        mine = np.flatnonzero(labels == c)
        weights = None if log_weights is None else placed(engine, log_weights[mine])
        members = keys[placed(engine, mine)]
        for a, scale in enumerate(scales):
            sized = _sized(points, scale), _sized(members, scale)
            pairs = Pairs(*sized, key_log_weights=weights)
            log_mass = engine.rows(pairs, law, moments=False).finish().log_mass[0]
            found[a, :, c] = on_host(log_mass)
    return found


def _one_pass(
    queries: Array,
    keys: Array,
    labels: NDArray,
    log_weights: NDArray | None,
    law: Law,
    engine: Engine,
    scales: Sequence[float] | NDArray,
    found: NDArray,
) -> NDArray:
    """Every query once for every class, as if it were its own: one pass for each size."""
    xp, (_, n, n_classes) = namespace(queries), found.shape
    asked = placed(engine, np.repeat(np.arange(n_classes), n))
    copies, theirs = xp.tile(queries, (n_classes, 1)), placed(engine, labels)
    weights = None if log_weights is None else placed(engine, log_weights)
    for a, scale in enumerate(scales):
        pairs = Pairs(_sized(copies, scale), _sized(keys, scale), asked, theirs, weights)
        log_mass = engine.rows(pairs, law, moments=False).finish().log_mass[SAME]
        found[a] = on_host(log_mass).reshape(n_classes, n).T
    return found


def _sized(points: Array, scale: float) -> Array:
    """Points in their own precision, times a number."""
    if scale == 1.0:
        return points
    return points * (points.dtype.type(scale) if is_numpy(points) else float(scale))


def _all_at_once(
    queries: NDArray,
    keys: NDArray,
    labels: NDArray,
    log_weights: NDArray | None,
    law: Law,
    scales: Sequence[float] | NDArray,
    found: NDArray,
) -> NDArray:
    """From one array of all distances, keys in the order of their classes."""
    order = np.argsort(labels, kind="stable")
    classes, first = np.unique(labels[order], return_index=True)
    sizes = np.diff(np.append(first, len(order)))
    s = cdist(queries.astype(np.float64), keys[order].astype(np.float64), "sqeuclidean")
    for a, scale in enumerate(scales):
        with np.errstate(divide="ignore"):
            log_k = law.log_mass(scale**2 * s, queries.shape[1])
        if log_weights is not None:
            log_k = log_k + log_weights[order]
        peak = np.maximum.reduceat(log_k, first, axis=1)
        base = np.where(np.isneginf(peak), 0.0, peak)
        np.exp(log_k - np.repeat(base, sizes, axis=1), out=log_k)
        with np.errstate(divide="ignore"):
            found[a][:, classes] = np.log(np.add.reduceat(log_k, first, axis=1)) + base
    return found
