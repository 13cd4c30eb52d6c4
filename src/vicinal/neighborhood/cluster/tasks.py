"""What a worker does: both passes over a block of queries or of keys, by an engine of its own."""

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.neighborhood.abilities import Workload
from vicinal.neighborhood.cluster.presence import as_worker
from vicinal.neighborhood.cluster.running import Parcel, value_of_task
from vicinal.neighborhood.engine import Engine, choose_engine
from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.sums import ColumnSums, RowSums
from vicinal.neighborhood.threads import computing

__all__ = [
    "Held",
    "answered",
    "applied",
    "applied_held",
    "column_sums",
    "key_block",
    "key_part",
    "key_pulls",
    "key_slice",
    "local_engine",
    "merged",
    "moment_of",
    "query_part",
    "query_slice",
    "row_sums",
    "summed",
    "task_holding",
    "term_part",
    "total_of",
]


def query_part(pairs: Pairs, where: slice) -> Parcel:
    """Some queries, to be sent."""
    return Parcel(
        queries=pairs.queries[where],
        query_labels=_some(pairs.query_labels, where),
        own=_some(pairs.own, where),
    )


def key_part(pairs: Pairs, where: slice) -> Parcel:
    """Some keys, to be sent."""
    return Parcel(
        keys=pairs.keys[where],
        key_labels=_some(pairs.key_labels, where),
        key_log_weights=_some(pairs.key_log_weights, where),
    )


def query_slice(points: Parcel, start: int, stop: int) -> Parcel:
    """Some queries of a single set, which was sent as keys, each of them its own key."""
    where = slice(start, stop)
    return Parcel(
        queries=points.keys[where],
        query_labels=_some(points.key_labels, where),
        own=np.arange(start, stop),
    )


def key_slice(points: Parcel, start: int, stop: int) -> Parcel:
    """Some keys of those that were sent."""
    where = slice(start, stop)
    return Parcel(
        keys=points.keys[where],
        key_labels=_some(points.key_labels, where),
        key_log_weights=_some(points.key_log_weights, where),
    )


def term_part(terms: Parcel, where: slice) -> Parcel:
    """What the columns pass needs to know of some queries."""
    return Parcel(log_slope=terms.log_slope[:, where], coefficients=terms.coefficients[:, where])


def total_of(sums: ColumnSums) -> NDArray:
    """Σ_i C_ij of a block of keys."""
    return sums.total


def moment_of(sums: ColumnSums) -> NDArray:
    """Σ_i C_ij z_i of a block of keys."""
    return sums.moment


def key_block(keys: NDArray, labels: NDArray | None, log_weights: NDArray | None) -> Parcel:
    """Keys that live on a worker, and what was sent there about them."""
    return Parcel(keys=keys, key_labels=labels, key_log_weights=log_weights)


def row_sums(job: Parcel, queries: Parcel, keys: Parcel, first_key: int) -> RowSums:
    """Sums over some keys, for some queries."""
    with as_worker(), computing(1):
        pairs = _pairs(job, queries, keys, first_key)
        engine = local_engine(job.work, job.tolerance, pairs, 1)
        return engine.rows(pairs, job.work.law, moments=job.moments)


def column_sums(
    job: Parcel, queries: Parcel, keys: Parcel, first_key: int, terms: Parcel
) -> ColumnSums:
    """Sums over some queries, for some keys."""
    with as_worker(), computing(1):
        pairs = _pairs(job, queries, keys, first_key)
        engine = local_engine(job.work, job.tolerance, pairs, 1)
        given = pairs, job.work.law, terms.log_slope, terms.coefficients
        return engine.columns(*given, moments=job.moments)


def key_pulls(job: Parcel, queries: Parcel, keys: Parcel, first_key: int, terms: Parcel) -> NDArray:
    """What some queries do to some keys: c ∘ Z_k - Cᵀ Z_q."""
    sums = column_sums(job, queries, keys, first_key, terms)
    return sums.total[:, None] * keys.keys - sums.moment


def local_engine(work: Workload, tolerance: float, pairs: Pairs, n_jobs: int | None) -> Engine:
    """What "auto" chooses on this machine for some of the pairs: a GPU where there is one."""
    n, m, _ = pairs.shape
    mine = replace(work, n_queries=n, n_keys=m, device="cpu")
    known = {"tolerance": tolerance, "precision": work.precision}
    return choose_engine("auto", mine, n_jobs=n_jobs, **known)[0]  # type: ignore[arg-type]


def merged(*sums: Any) -> Any:
    """Sums over all of several sets that have no pair in common, in their order."""
    return reduce(lambda one, other: one.merge(other), sums)


def summed(*values: NDArray) -> NDArray:
    """The sum of arrays, in their order."""
    return reduce(add, values)


def applied(function: Callable[..., Any], *values: Any) -> Any:
    """What a function makes of values, on one thread and without asking other workers."""
    with as_worker(), computing(1):
        return function(*values)


class Held:
    """A function as a value, for tasks that share it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


def task_holding(function: Callable[..., Any]) -> Any:
    """A function as the value of a task, which goes to every worker once."""
    return value_of_task(Held(function), "function")


def applied_held(held: Held, *values: Any) -> Any:
    """What a function that tasks share makes of values."""
    return applied(held.function, *values)


def answered(block: NDArray, held: Held) -> NDArray:
    """What a model says about a block, by itself: on a worker it asks no other one."""
    with as_worker():
        return held.function(block)


def _pairs(job: Parcel, queries: Parcel, keys: Parcel, first_key: int) -> Pairs:
    own = queries.own
    if own is not None:
        own = own - first_key
        own = np.where((own >= 0) & (own < len(keys.keys)), own, -1)
    return Pairs(
        queries.queries,
        keys.keys,
        queries.query_labels,
        keys.key_labels,
        keys.key_log_weights,
        own,
        job.n_near,
    )


def _some(values: NDArray | None, where: slice) -> NDArray | None:
    return None if values is None else values[where]
