"""Neighborhood component analysis in equations (Oneață's thesis, chapters 3 and 4).

Pure functions of the finished sums; nothing here loops over pairs. One reading
covers every variant: class c has the density

    p(x | c) = β N(z | A μ_c, A Σ_c Aᵀ) + (1 - β) / N_c · Σ_{j in c} w_j k(|z - z_j|²)     (4.22)

and p_i = π_c p(x_i | c) / Σ_c' π_c' p(x_i | c') with the point itself left out.
β = 0 is NCA without background, π_c = N_c / N classic NCA.

Arrays are NumPy's or tensors, and what comes of them is of the same library on the same device.
Without a background nothing here waits for a device.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
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
    log_sum,
    namespace,
    scatter,
    times,
)
from vicinal.neighborhood.arrays import (
    Array,
    as_number,
    in_dtype_of,
    is_chunked,
    on_host,
    placed_like,
    positions,
    totals,
)

__all__ = [
    "Evaluation",
    "Looked",
    "Objective",
    "Response",
    "class_counts",
    "class_log_priors",
    "class_log_weights",
    "evaluate",
    "look_around",
    "own_class_log_probabilities",
    "penalized",
    "response",
]


@dataclass(frozen=True)
class Objective:
    """What is maximized.

    Attributes
    ----------
    law : Law
    criterion : Criterion
        What each point adds, p_i or log p_i as a rule.
    prior : {"empirical", "uniform"} or array of shape (n_classes,)
    n_classes : int
    background : ClassGaussians, optional
        The Gaussian of each class.
    """

    law: Law
    criterion: Criterion
    prior: str | Array
    n_classes: int
    background: ClassGaussians | None = None


class Evaluation(NamedTuple):
    """The objective, its gradient in A, and in b where β = sigmoid(b) mixes a background in.

    Numbers are floats, or of tensors arrays without dimensions on their device.
    """

    value: Array
    gradient: Array
    logit_gradient: Array


class _Parts(NamedTuple):
    """Logarithms of what each part of a row adds up to, shape (2, n) each.

    factor: what turns sums over keys into densities times priors; kernel: the
    keys' part of the mass; total: with the background.
    """

    factor: Array
    kernel: Array
    total: Array


class Looked(NamedTuple):
    """What projected points see of each other.

    Attributes
    ----------
    pairs : Pairs
    rows : Rows
        Finished rows pass.
    parts : _Parts
    log_p, log_q : array of shape (n,)
        log p_i of the own class (3.2) and log (1 - p_i). Both are -inf for a point without any
        neighbor in reach: it is sure of nothing.
    """

    pairs: Pairs
    rows: Rows
    parts: _Parts
    log_p: Array
    log_q: Array


class Response(NamedTuple):
    """What the objective makes of log p_i.

    Attributes
    ----------
    value : float, or array without dimensions
        Sum over the queries of what each adds.
    signed : array of shape (2, n)
        Derivatives in the log masses of both parts.
    coefficients : array of shape (2, n)
        Row sums of C in each part: the gradient in Z is twice its pulls, that in A twice its
        scatter (`neighborhood/scatter.py`).
    """

    value: Array
    signed: Array
    coefficients: Array


def class_log_weights(objective: Objective, counts: Array) -> Array:
    """log(π_c / N_c) of each class, up to a constant (3.11, 3.12, with 1/N_c' inside the sum).

    The empirical prior π_c = N_c / N cancels against 1 / N_c: that is classic
    NCA, where every key weighs the same.
    """
    xp = namespace(counts)
    if isinstance(objective.prior, str) and objective.prior == "empirical":
        return xp.zeros_like(counts) - xp.log(counts.sum())
    positive = xp.where(counts > 0, counts, 1.0)
    weights = class_log_priors(objective, counts) - xp.log(positive)
    return xp.where(counts > 0, weights, -np.inf)


def class_log_priors(objective: Objective, counts: Array) -> Array:
    """log π_c."""
    xp = namespace(counts)
    if not isinstance(objective.prior, str):
        return xp.log(placed_like(objective.prior, counts))
    if objective.prior == "uniform":
        return xp.zeros_like(counts) - np.log(len(counts))
    return _log(counts) - xp.log(counts.sum())


def class_counts(points: LabeledPoints, n_classes: int) -> Array:
    """N_c, copies counted, shape (n_classes,)."""
    return totals(points.labels, points.weights, n_classes)


def evaluate(
    A: Array,
    objective: Objective,
    engine: Engine,
    queries: LabeledPoints,
    keys: LabeledPoints | None = None,
    own: Array | None = None,
    logit: float = 0.0,
) -> Evaluation:
    """Sum over the queries of what each adds (p_i in 3.3), its gradient (3.5, 4.20, 4.23, 4.24).

    Parameters
    ----------
    A : array of shape (d, D)
    objective : Objective
    engine : Engine
    queries : LabeledPoints
    keys : LabeledPoints, optional
        None: the queries, each against all others. Otherwise rows against
        other points (4.1 to 4.4).
    own : array of int, optional
        With `keys`: the position of each query among them.
    logit : float, default=0.0
        b of the share β = sigmoid(b) of the background, where there is one.
    """
    gaussian = _background_log_masses(A, objective, queries, keys, logit)
    projected = _project_here(queries, A), None if keys is None else _project(keys, A)
    looked = look_around(objective, engine, *projected, own, gaussian, logit)
    found = response(objective, looked, queries.weights)
    pairs, rows, key_X = looked.pairs, looked.rows, None if keys is None else keys.X
    columns = engine.columns(pairs, objective.law, rows.log_slope, found.coefficients)
    gradient = 2.0 * scatter(pairs, rows, found.coefficients, columns, queries.X, key_X)
    if objective.background is None or gaussian is None:
        return Evaluation(found.value, gradient, 0.0)
    responsibility = _responsibilities(gaussian, queries.labels, found.signed, looked.parts.total)
    gradient = gradient + objective.background.gradient(A, queries.X, responsibility)
    # d log β / db = 1 - β, d log(1 - β) / db = -β: the shares of both add to one.
    beta = float(expit(logit))
    kernel = (found.signed * _ratio(looked.parts.kernel, looked.parts.total)).sum()
    logit_gradient = as_number((1.0 - beta) * responsibility.sum() - beta * kernel)
    return Evaluation(found.value, gradient, logit_gradient)


def own_class_log_probabilities(
    A: Array,
    objective: Objective,
    engine: Engine,
    queries: LabeledPoints,
    keys: LabeledPoints | None = None,
    own: Array | None = None,
    logit: float = 0.0,
) -> Array:
    """log p_i of each query's own class (3.2), shape (n,); arguments as for `evaluate`."""
    gaussian = _background_log_masses(A, objective, queries, keys, logit)
    projected = _project_here(queries, A), None if keys is None else _project(keys, A)
    return look_around(objective, engine, *projected, own, gaussian, logit, moments=False).log_p


def look_around(
    objective: Objective,
    engine: Engine,
    queries: LabeledPoints,
    keys: LabeledPoints | None = None,
    own: Array | None = None,
    gaussian: Array | None = None,
    logit: float = 0.0,
    *,
    moments: bool = True,
) -> Looked:
    """The rows pass over projected points, and the probabilities of their own classes (3.2).

    Parameters
    ----------
    objective : Objective
    engine : Engine
    queries, keys : LabeledPoints
        Under the map. Without keys each query looks at all others.
    own : array of int, optional
        With `keys`: the position of each query among them.
    gaussian : array of shape (n, n_classes), optional
        Log masses of the background.
    logit : float, default=0.0
        b of the share β = sigmoid(b) of the background, where there is one.
    moments : bool, default=True
        Whether a gradient will be asked for.
    """
    pairs = _pairs(objective, queries, keys, own)
    rows = engine.rows(pairs, objective.law, moments=moments).finish()
    source = queries if keys is None else keys
    parts = _parts(rows, objective, pairs, queries, source, gaussian, logit)
    shares = log_shares(parts.total, axis=0)
    return Looked(pairs, rows, parts, shares[SAME], shares[DIFFERENT])


def response(objective: Objective, looked: Looked, weights: Array | None) -> Response:
    """The objective from log p_i (3.3), and its derivatives in what the parts add up to."""
    xp, parts = namespace(looked.log_p), looked.parts
    each, slope = objective.criterion.terms(looked.log_p)
    counts = 1.0 if weights is None else in_dtype_of(looked.log_p, weights)
    # d log p_i = (1 - p_i) (d log same - d log different)
    pull = counts * slope * xp.exp(looked.log_q)
    signed = xp.stack([-pull, pull])  # DIFFERENT, SAME
    coefficients = -signed * _ratio(parts.factor + looked.rows.log_slope, parts.total)
    return Response(as_number((counts * each).sum()), signed, coefficients)


def penalized(
    value: Array, gradient: Array, A: Array, regularization: float
) -> tuple[Array, Array]:
    """g(A) = f(A) - λ Σ A_ij² and its gradient (3.22, 3.23)."""
    squares = as_number(namespace(A).square(A).sum())
    return value - regularization * squares, gradient - 2 * regularization * A


def _pairs(
    objective: Objective,
    queries: LabeledPoints,
    keys: LabeledPoints | None,
    own: Array | None,
) -> Pairs:
    """Every query against every key, keys weighed by their copies and their class's prior."""
    source = queries if keys is None else keys
    log_weights = source.log_counts
    if not _is_classic(objective):
        counts = class_counts(source, objective.n_classes)
        by_class = class_log_weights(objective, counts)[source.labels]
        log_weights = by_class if log_weights is None else by_class + log_weights
    if keys is None:
        return Pairs.among(queries.X, queries.labels, log_weights)
    return Pairs(queries.X, keys.X, queries.labels, keys.labels, log_weights, own)


def _project(points: LabeledPoints, A: Array) -> LabeledPoints:
    return points.at(times(points.X, in_dtype_of(points.X, A.T)))


def _project_here(points: LabeledPoints, A: Array) -> LabeledPoints:
    """Queries under the map: those on a cluster come back, a few numbers for each."""
    projected = _project(points, A)
    return projected.at(on_host(projected.X)) if is_chunked(projected.X) else projected


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
    gaussian: Array | None,
    logit: float,
) -> _Parts:
    """Masses of both parts: keys, copies of the query itself, background."""
    xp, kernel = namespace(rows.log_mass), rows.log_mass
    factor, counts = xp.zeros_like(kernel), None
    if not _is_classic(objective):
        counts = class_counts(keys, objective.n_classes)
        same = in_dtype_of(kernel, _log_share_of_others(counts, pairs, queries))
        factor = xp.stack([factor[DIFFERENT], same])
    if queries.weights is not None and pairs.own is not None:
        copies = in_dtype_of(kernel, _log_copies(objective, counts, pairs.own, queries))
        kernel = xp.stack([kernel[DIFFERENT], xp.logaddexp(kernel[SAME], copies)])
    if gaussian is None:
        total = kernel + factor
        return _Parts(factor, total, total)
    # log(1 - β), and the constant that makes the kernel a density.
    constant = float(objective.law.log_normalizer(pairs.shape[2]) - np.logaddexp(0.0, logit))
    factor = factor + constant
    kernel = kernel + factor
    return _Parts(factor, kernel, xp.logaddexp(kernel, _by_part(gaussian, queries.labels)))


def _log_copies(
    objective: Objective, counts: Array | None, own: Array, queries: LabeledPoints
) -> Array:
    """Log mass of a query's further copies among the keys, at distance 0, where k = 1."""
    further = namespace(queries.weights).where(own >= 0, queries.counts - 1.0, 0.0)
    if counts is None:
        return _log(further)
    return _log(further) + class_log_weights(objective, counts)[queries.labels]


def _log_share_of_others(counts: Array, pairs: Pairs, queries: LabeledPoints) -> Array:
    """log N_c / (N_c - 1) of the own class for queries that are keys: of the others' density."""
    xp, n = namespace(counts), counts[queries.labels]
    if pairs.own is None:
        return xp.zeros_like(n)
    one = xp.ones_like(n)
    if queries.weights is not None:
        one = xp.where(queries.weights < 1.0, queries.weights, one)
    others = n - xp.where(pairs.own >= 0, one, 0.0)
    return xp.log(xp.where(others > 0, n / xp.where(others > 0, others, 1.0), 1.0))


def _background_log_masses(
    A: Array,
    objective: Objective,
    queries: LabeledPoints,
    keys: LabeledPoints | None,
    logit: float,
) -> Array | None:
    """log(β π_c N(z_i | A μ_c, A Σ_c Aᵀ)), shape (n, n_classes)."""
    if objective.background is None:
        return None
    counts = class_counts(queries if keys is None else keys, objective.n_classes)
    log_beta = -float(np.logaddexp(0.0, -logit))
    densities = objective.background.log_densities(A, queries.X)
    return densities + class_log_priors(objective, counts) + log_beta


def _by_part(by_class: Array, labels: Array) -> Array:
    """Log masses of all classes but the own one, and of the own one, shape (2, n)."""
    xp = namespace(by_class)
    others = xp.where(_is_own(by_class, labels), -np.inf, by_class)
    return xp.stack([log_sum(others, axis=1), by_class[positions(labels), labels]])


def _responsibilities(gaussian: Array, labels: Array, signed: Array, log_total: Array) -> Array:
    """d objective / d log N(z_i | class c), shape (n, n_classes)."""
    xp, own = namespace(gaussian), _is_own(gaussian, labels)
    part_total = xp.where(own, log_total[SAME][:, None], log_total[DIFFERENT][:, None])
    part_signed = xp.where(own, signed[SAME][:, None], signed[DIFFERENT][:, None])
    return part_signed * _ratio(gaussian, part_total)


def _is_own(by_class: Array, labels: Array) -> Array:
    """Whether a class is that of the point, shape (n, n_classes)."""
    return labels[:, None] == positions(by_class.T)


def _ratio(log_part: Array, log_total: Array) -> Array:
    """exp(part - total), and 0 where there is nothing at all."""
    xp, nothing = namespace(log_total), log_total == -np.inf
    return xp.where(nothing, 0.0, xp.exp(log_part - xp.where(nothing, 0.0, log_total)))


def _log(values: Array) -> Array:
    """log, and -inf of what is not positive."""
    xp = namespace(values)
    with np.errstate(divide="ignore"):
        return xp.log(xp.where(values > 0.0, values, 0.0))
