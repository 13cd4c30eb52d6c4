"""Masses of several classes of keys around the same queries."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from vicinal.neighborhood.engine import Engine
from vicinal.neighborhood.laws import Law
from vicinal.neighborhood.pairs import Pairs

__all__ = ["class_log_masses"]

# Up to so many pairs a pass of an engine takes longer to arrange than to do.
_FEW_PAIRS = 30_000


def class_log_masses(
    queries: NDArray,
    keys: NDArray,
    labels: NDArray,
    n_classes: int,
    log_weights: NDArray | None,
    law: Law,
    engine: Engine,
) -> NDArray:
    """log Σ_{j in c} w_j k(|q - k_j|²) of every query and class, -inf where there is nothing.

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

    Returns
    -------
    ndarray of float64, shape (n, n_classes)
    """
    found = np.full((len(queries), n_classes), -np.inf)
    if len(queries) * len(keys) <= _FEW_PAIRS and len(queries):
        return _all_at_once(queries, keys, labels, log_weights, law, found)
    for c in np.unique(labels):  # every pair is visited once in all
        mine = labels == c
        weights = None if log_weights is None else log_weights[mine]
        pairs = Pairs(queries, keys[mine], key_log_weights=weights)
        found[:, c] = engine.rows(pairs, law, moments=False).finish().log_mass[0]
    return found


def _all_at_once(
    queries: NDArray,
    keys: NDArray,
    labels: NDArray,
    log_weights: NDArray | None,
    law: Law,
    found: NDArray,
) -> NDArray:
    """From one array of all distances, keys in the order of their classes."""
    order = np.argsort(labels, kind="stable")
    classes, first = np.unique(labels[order], return_index=True)
    s = cdist(queries.astype(np.float64), keys[order].astype(np.float64), "sqeuclidean")
    with np.errstate(divide="ignore"):
        log_k = law.log_mass(s, queries.shape[1])
    if log_weights is not None:
        log_k = log_k + log_weights[order]
    peak = np.maximum.reduceat(log_k, first, axis=1)
    base = np.where(np.isneginf(peak), 0.0, peak)
    sizes = np.diff(np.append(first, len(order)))
    np.exp(log_k - np.repeat(base, sizes, axis=1), out=log_k)
    with np.errstate(divide="ignore"):
        found[:, classes] = np.log(np.add.reduceat(log_k, first, axis=1)) + base
    return found
