"""Neighborhood component analysis in equations (Oneață's thesis, chapters 3 and 4).

Pure functions of the finished sums; nothing here loops over pairs. One reading
covers every variant: class c has the density

    p(x | c) = β N(z | A μ_c, A Σ_c Aᵀ) + (1 - β) / N_c · Σ_{j in c} w_j k(|z - z_j|²)     (4.22)

and p_i = π_c p(x_i | c) / Σ_c' π_c' p(x_i | c') with the point itself left out.
β = 0 is NCA without background, π_c = N_c / N classic NCA.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from vicinal.inputs.points import LabeledPoints
from vicinal.nca.background import ClassGaussians
from vicinal.nca.criteria import Criterion
from vicinal.neighborhood import (
    DIFFERENT,
    SAME,
    Engine,
    Law,
    Pairs,
    Rows,
    log_shares,
    scatter,
    times,
)

__all__ = [
    "Evaluation",
    "Objective",
    "class_counts",
    "class_log_priors",
    "class_log_weights",
    "evaluate",
    "own_class_log_probabilities",
    "penalized",
]


@dataclass(frozen=True)
class Objective:
    """What is maximized.

    Attributes
    ----------
    law : Law
    criterion : Criterion
        What each point adds, p_i or log p_i as a rule.
    prior : {"empirical", "uniform"} or ndarray of shape (n_classes,)
    n_classes : int
    background : ClassGaussians, optional
        The Gaussian of each class.
    """

    law: Law
    criterion: Criterion
    prior: str | NDArray
    n_classes: int
    background: ClassGaussians | None = None


class Evaluation(NamedTuple):
    """The objective, its gradient in A, and in b where β = sigmoid(b) mixes a background in."""

    value: float
    gradient: NDArray
    logit_gradient: float


class _Parts(NamedTuple):
    """Logarithms of what each part of a row adds up to, shape (2, n) each.

    factor: what turns sums over keys into densities times priors; kernel: the
    keys' part of the mass; total: with the background.
    """

    factor: NDArray
    kernel: NDArray
    total: NDArray


def class_log_weights(objective: Objective, counts: NDArray) -> NDArray:
    """log(π_c / N_c) of each class, up to a constant (3.11, 3.12, with 1/N_c' inside the sum).

    The empirical prior π_c = N_c / N cancels against 1 / N_c: that is classic
    NCA, where every key weighs the same.
    """
    if isinstance(objective.prior, str) and objective.prior == "empirical":
        return np.full(len(counts), -np.log(counts.sum()))
    weights = class_log_priors(objective, counts) - np.log(np.maximum(counts, np.finfo(float).tiny))
    return np.where(counts > 0, weights, -np.inf)


def class_log_priors(objective: Objective, counts: NDArray) -> NDArray:
    """log π_c."""
    if not isinstance(objective.prior, str):
        return np.log(objective.prior)
    if objective.prior == "uniform":
        return np.full(len(counts), -np.log(len(counts)))
    return _log(counts) - np.log(counts.sum())


def class_counts(points: LabeledPoints, n_classes: int) -> NDArray:
    """N_c, copies counted, shape (n_classes,)."""
    return np.bincount(points.labels, points.weights, minlength=n_classes).astype(np.float64)


def evaluate(
    A: NDArray,
    objective: Objective,
    engine: Engine,
    queries: LabeledPoints,
    keys: LabeledPoints | None = None,
    own: NDArray | None = None,
    logit: float = 0.0,
) -> Evaluation:
    """Sum over the queries of what each adds (p_i in 3.3), its gradient (3.5, 4.20, 4.23, 4.24).

    Parameters
    ----------
    A : ndarray of shape (d, D)
    objective : Objective
    engine : Engine
    queries : LabeledPoints
    keys : LabeledPoints, optional
        None: the queries, each against all others. Otherwise rows against
        other points (4.1 to 4.4).
    own : ndarray of int, optional
        With `keys`: the position of each query among them.
    logit : float, default=0.0
        b of the share β = sigmoid(b) of the background, where there is one.
    """
    pairs = _pairs(A, objective, queries, keys, own)
    rows = engine.rows(pairs, objective.law).finish()
    source = queries if keys is None else keys
    gaussian = _background_log_masses(A, objective, queries, source, logit)
    parts = _parts(rows, objective, pairs, queries, source, gaussian, logit)
    log_p, log_q = _own_and_other(parts)
    each, slope = objective.criterion.terms(log_p)
    weights = 1.0 if queries.weights is None else queries.weights
    # d log p_i = (1 - p_i) (d log same - d log different)
    pull = weights * slope * np.exp(log_q)
    signed = np.stack([-pull, pull])  # DIFFERENT, SAME
    coefficients = -signed * _ratio(parts.factor + rows.log_slope, parts.total)
    columns = engine.columns(pairs, objective.law, rows.log_slope, coefficients)
    key_X = None if keys is None else keys.X
    gradient = 2.0 * scatter(pairs, rows, coefficients, columns, queries.X, key_X)
    logit_gradient = 0.0
    if objective.background is not None and gaussian is not None:
        responsibility = _responsibilities(gaussian, queries.labels, signed, parts.total)
        gradient = gradient + objective.background.gradient(A, queries.X, responsibility)
        # d log β / db = 1 - β, d log(1 - β) / db = -β: the shares of both add to one.
        beta = float(expit(logit))
        kernel = (signed * _ratio(parts.kernel, parts.total)).sum()
        logit_gradient = float((1.0 - beta) * responsibility.sum() - beta * kernel)
    return Evaluation(float(np.sum(weights * each)), gradient, logit_gradient)


def own_class_log_probabilities(
    A: NDArray,
    objective: Objective,
    engine: Engine,
    queries: LabeledPoints,
    keys: LabeledPoints | None = None,
    own: NDArray | None = None,
    logit: float = 0.0,
) -> NDArray:
    """log p_i of each query's own class (3.2), shape (n,); arguments as for `evaluate`."""
    pairs = _pairs(A, objective, queries, keys, own)
    rows = engine.rows(pairs, objective.law, moments=False).finish()
    source = queries if keys is None else keys
    gaussian = _background_log_masses(A, objective, queries, source, logit)
    parts = _parts(rows, objective, pairs, queries, source, gaussian, logit)
    return _own_and_other(parts)[0]


def penalized(
    value: float, gradient: NDArray, A: NDArray, regularization: float
) -> tuple[float, NDArray]:
    """g(A) = f(A) - λ Σ A_ij² and its gradient (3.22, 3.23)."""
    return value - regularization * float(np.square(A).sum()), gradient - 2 * regularization * A


def _pairs(
    A: NDArray,
    objective: Objective,
    queries: LabeledPoints,
    keys: LabeledPoints | None,
    own: NDArray | None,
) -> Pairs:
    """Every query against every key, keys weighed by their copies and their class's prior."""
    Zq = _project(queries, A)
    source = queries if keys is None else keys
    log_weights = source.log_counts
    if not _is_classic(objective):
        counts = class_counts(source, objective.n_classes)
        by_class = class_log_weights(objective, counts)[source.labels]
        log_weights = by_class if log_weights is None else by_class + log_weights
    if keys is None:
        return Pairs.among(Zq, queries.labels, log_weights)
    return Pairs(Zq, _project(keys, A), queries.labels, keys.labels, log_weights, own)


def _project(points: LabeledPoints, A: NDArray) -> NDArray:
    return times(points.X, A.T.astype(points.X.dtype))


def _is_classic(objective: Objective) -> bool:
    """Whether constants of the density cancel, and with them who is left out of N_c."""
    empirical = isinstance(objective.prior, str) and objective.prior == "empirical"
    return empirical and objective.background is None


def _parts(
    rows: Rows,
    objective: Objective,
    pairs: Pairs,
    queries: LabeledPoints,
    keys: LabeledPoints,
    gaussian: NDArray | None,
    logit: float,
) -> _Parts:
    """Masses of both parts: keys, copies of the query itself, background."""
    factor = np.zeros(rows.log_mass.shape)
    kernel = rows.log_mass.copy()
    counts = class_counts(keys, objective.n_classes)
    is_key = np.zeros(len(queries), dtype=bool) if pairs.own is None else pairs.own >= 0
    weight = np.ones(len(queries)) if queries.weights is None else queries.weights
    if queries.weights is not None:
        copies = _log(np.where(is_key, weight - 1.0, 0.0))  # at distance 0, k = 1
        if not _is_classic(objective):
            copies = copies + class_log_weights(objective, counts)[queries.labels]
        kernel[SAME] = np.logaddexp(kernel[SAME], copies)
    if not _is_classic(objective):
        n = counts[queries.labels]
        others = n - np.where(is_key, np.minimum(weight, 1.0), 0.0)
        factor[SAME] += np.log(n / np.where(others > 0, others, n))
    if gaussian is None:
        return _Parts(factor, kernel + factor, kernel + factor)
    # log(1 - β), and the constant that makes the kernel a density.
    factor += objective.law.log_normalizer(pairs.shape[2]) - np.logaddexp(0.0, logit)
    kernel = kernel + factor
    return _Parts(factor, kernel, np.logaddexp(kernel, _by_part(gaussian, queries.labels)))


def _own_and_other(parts: _Parts) -> tuple[NDArray, NDArray]:
    """log p_i of the own class (3.2) and log (1 - p_i), shape (n,) each.

    Both are -inf for a point without any neighbor in reach: it is sure of nothing.
    """
    shares = log_shares(parts.total, axis=0)
    return shares[SAME], shares[DIFFERENT]


def _background_log_masses(
    A: NDArray, objective: Objective, queries: LabeledPoints, keys: LabeledPoints, logit: float
) -> NDArray | None:
    """log(β π_c N(z_i | A μ_c, A Σ_c Aᵀ)), shape (n, n_classes)."""
    if objective.background is None:
        return None
    counts = class_counts(keys, objective.n_classes)
    log_beta = -np.logaddexp(0.0, -logit)
    densities = objective.background.log_densities(A, queries.X)
    return densities + class_log_priors(objective, counts) + log_beta


def _by_part(by_class: NDArray, labels: NDArray) -> NDArray:
    """Log masses of all classes but the own one, and of the own one, shape (2, n)."""
    rows = np.arange(len(labels))
    same = by_class[rows, labels]
    others = by_class.copy()
    others[rows, labels] = -np.inf
    return np.stack([np.logaddexp.reduce(others, axis=1), same])


def _responsibilities(
    gaussian: NDArray, labels: NDArray, signed: NDArray, log_total: NDArray
) -> NDArray:
    """d objective / d log N(z_i | class c), shape (n, n_classes)."""
    own = np.zeros(gaussian.shape, dtype=bool)
    own[np.arange(len(labels)), labels] = True
    part_total = np.where(own, log_total[SAME][:, None], log_total[DIFFERENT][:, None])
    part_signed = np.where(own, signed[SAME][:, None], signed[DIFFERENT][:, None])
    return part_signed * _ratio(gaussian, part_total)


def _ratio(log_part: NDArray, log_total: NDArray) -> NDArray:
    """exp(part - total), and 0 where there is nothing at all."""
    nothing = np.isneginf(log_total)
    return np.where(nothing, 0.0, np.exp(log_part - np.where(nothing, 0.0, log_total)))


def _log(values: NDArray) -> NDArray:
    """log, and -inf of what is not positive."""
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(values, 0.0))
