"""Neighborhood component analysis in equations (Oneață's thesis, chapter 3).

Pure functions of the finished sums; nothing here loops over pairs.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from vicinal.neighborhood import DIFFERENT, SAME, Engine, Law, Pairs, Rows, scatter

__all__ = [
    "OBJECTIVES",
    "ClassPriors",
    "class_log_probabilities",
    "class_log_weights",
    "class_priors",
    "coefficients",
    "penalized",
    "point_log_probabilities",
    "value_and_gradient",
]

OBJECTIVES = ("accuracy", "log")


@dataclass(frozen=True)
class ClassPriors:
    """What a prior on classes adds to logarithms of masses.

    Attributes
    ----------
    key_log_weights : ndarray of shape (m,) or None
        log(π_c / N_c) of each key's class c, up to a constant.
    same_log_weights : ndarray of shape (n,) or 0.0
        log(N_c / (N_c - 1)): a point's own class has one member less for it.
    """

    key_log_weights: NDArray | None
    same_log_weights: NDArray | float


def class_log_weights(prior: str | NDArray, counts: NDArray) -> NDArray:
    """log(π_c / N_c) of each class, up to a constant (3.11, 3.12, with 1/N_c' inside the sum).

    The empirical prior π_c = N_c / N cancels against 1 / N_c: that is classic
    NCA, where every key weighs the same.
    """
    if isinstance(prior, str):
        return np.zeros(len(counts)) if prior == "empirical" else -np.log(counts)
    return np.log(prior) - np.log(counts)


def class_priors(prior: str | NDArray, labels: NDArray) -> ClassPriors:
    """What the prior adds in leave-one-out sums over points with these labels."""
    if isinstance(prior, str) and prior == "empirical":
        return ClassPriors(None, 0.0)
    counts = np.bincount(labels)
    others = np.maximum(counts - 1, 1)
    return ClassPriors(class_log_weights(prior, counts)[labels], np.log(counts / others)[labels])


def point_log_probabilities(rows: Rows, priors: ClassPriors) -> tuple[NDArray, NDArray]:
    """log p_i of the own class (3.2) and log (1 - p_i), shape (n,) each.

    Both are -inf for a point without any neighbor in reach: it is sure of nothing.
    """
    same = rows.log_mass[SAME] + priors.same_log_weights
    different = rows.log_mass[DIFFERENT]
    total = np.logaddexp(same, different)
    total = np.where(np.isneginf(total), 0.0, total)
    return same - total, different - total


def coefficients(rows: Rows, weight: NDArray, log_q: NDArray) -> NDArray:
    """Row sums of C in each part, shape (2, n), for the gradient 2 Σ C_ij (A x_ij) x_ijᵀ (3.5).

    d log p_i = (1 - p_i) (d log M_same - d log M_different), and within a part
    d log M = -(Σ -k' / Σ k) · (share-weighted d s_ij). `weight` is
    d objective / d log p_i.
    """
    signed = weight * np.exp(log_q)
    with np.errstate(invalid="ignore"):
        steepness = np.exp(rows.log_slope - rows.log_mass)
    steepness = np.where(np.isneginf(rows.log_mass), 0.0, steepness)
    return steepness * np.stack([signed, -signed])


def value_and_gradient(
    A: NDArray,
    X: NDArray,
    labels: NDArray,
    *,
    engine: Engine,
    law: Law,
    objective: str,
    priors: ClassPriors,
) -> tuple[float, NDArray]:
    """Sum over points of p_i (3.3) or of log p_i, and its gradient in A (3.5)."""
    Z = X @ A.T.astype(X.dtype)
    pairs = Pairs.among(Z, labels, priors.key_log_weights)
    rows = engine.rows(pairs, law).finish()
    log_p, log_q = point_log_probabilities(rows, priors)
    if objective == "accuracy":
        weight = np.exp(log_p)
        value = weight.sum()
    else:
        weight = np.ones_like(log_p)
        value = log_p.sum()
    pull = coefficients(rows, weight, log_q)
    columns = engine.columns(pairs, law, rows.log_slope, pull)
    return float(value), 2.0 * scatter(pairs, rows, pull, columns, X)


def penalized(
    value: float, gradient: NDArray, A: NDArray, regularization: float
) -> tuple[float, NDArray]:
    """g(A) = f(A) - λ Σ A_ij² and its gradient (3.22, 3.23)."""
    return value - regularization * float(np.square(A).sum()), gradient - 2 * regularization * A


def class_log_probabilities(
    queries: NDArray,
    keys: NDArray,
    labels: NDArray,
    log_weights: NDArray,
    *,
    engine: Engine,
    law: Law,
) -> NDArray:
    """log p(c | x) of new points by the NCA rule (3.24, 3.25), shape (n, n_classes).

    One rows pass per class over that class's keys: the pairs are visited once in
    all. `log_weights` are those of `class_log_weights`. A point with nobody in
    reach (compact support) has the class of its nearest neighbor.
    """
    log_mass = np.empty((len(log_weights), len(queries)))
    for c, log_weight in enumerate(log_weights):
        pairs = Pairs(queries, keys[labels == c])
        rows = engine.rows(pairs, law, moments=False).finish()
        log_mass[c] = log_weight + rows.log_mass[0]
    alone = np.isneginf(log_mass).all(axis=0)
    if alone.any():
        nearest = labels[NearestNeighbors(n_neighbors=1).fit(keys).kneighbors(queries[alone])[1]]
        log_mass[nearest[:, 0], np.flatnonzero(alone)] = 0.0
    return (log_mass - np.logaddexp.reduce(log_mass, axis=0)).T
