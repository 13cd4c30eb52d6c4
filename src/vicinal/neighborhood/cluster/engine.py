"""Both passes on the workers of a cluster: one side is cut, the other one goes everywhere."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from vicinal.neighborhood.abilities import Abilities, Workload
from vicinal.neighborhood.arrays import Array, is_chunked
from vicinal.neighborhood.cluster import tasks
from vicinal.neighborhood.cluster.blocks import slices_of
from vicinal.neighborhood.cluster.keys import Beside, columns_there, row_sums_there
from vicinal.neighborhood.cluster.running import Parcel, Tasks, kept
from vicinal.neighborhood.engine import Engine
from vicinal.neighborhood.laws import Law
from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.sums import ColumnSums, RowSums

__all__ = ["FEW_PAIRS", "DaskEngine"]

# Up to so many pairs it takes longer to ask a cluster than to do them here.
FEW_PAIRS = 30_000_000


class DaskEngine:
    """Sums over pairs by tasks of Dask, each of which has an ordinary engine compute a block.

    Keys may live on the workers (arrays of Dask in the blocks of `rows.spread`): then queries are
    sent there, and column sums stay there. All else is NumPy's, as are all sums that come back.
    A problem of few pairs is computed here.

    Parameters
    ----------
    work : Workload
        Of the fit, by which workers choose their engines.
    tolerance : float, default=0.0
    n_jobs : int, optional
        Threads for what is computed here; a task has one.
    few_pairs : int, optional
        What is few; None: `FEW_PAIRS`.
    size : int, optional
        Rows of a block; None: as `blocks` has it.
    """

    name = "dask"
    can = Abilities(takes=lambda law: True, devices=("cpu", "dask"))

    def __init__(
        self,
        work: Workload,
        tolerance: float = 0.0,
        n_jobs: int | None = None,
        few_pairs: int | None = None,
        size: int | None = None,
    ) -> None:
        self._work, self._tolerance, self._n_jobs = work, tolerance, n_jobs
        self._few, self._size = FEW_PAIRS if few_pairs is None else few_pairs, size
        self._here: tuple[Workload, Engine] | None = None
        self._sent: tuple[Pairs, str, Any] | None = None
        self._beside = Beside()

    def spreads_rows(self, n: int) -> bool:
        """Whether to look at each of n rows from all others is more than a few pairs."""
        return n * n > self._few

    def rows(self, pairs: Pairs, law: Law, *, moments: bool = True) -> RowSums:
        """Sums over the keys, for every query."""
        work = self._work_of(pairs, law)
        if self._is_small(pairs):
            return self._engine_here(work, pairs).rows(pairs, law, moments=moments)
        job = self._job(work, pairs, moments)
        n, m, _ = pairs.shape
        if is_chunked(pairs.keys):
            queries = self._everywhere(pairs, "queries")
            return row_sums_there(job, queries, pairs, self._beside.of(pairs))
        if pairs.is_one_set or n >= m:
            return self._by_queries(pairs, job)
        return self._over_keys(pairs, job)

    def columns(
        self,
        pairs: Pairs,
        law: Law,
        log_slope: Array,
        coefficients: Array,
        *,
        moments: bool = True,
    ) -> ColumnSums:
        """Sums over the queries of C_ij, for every key."""
        work = self._work_of(pairs, law)
        if self._is_small(pairs):
            engine = self._engine_here(work, pairs)
            return engine.columns(pairs, law, log_slope, coefficients, moments=moments)
        job = self._job(work, pairs, moments)
        terms = Parcel(log_slope=log_slope, coefficients=coefficients)
        n, m, _ = pairs.shape
        if is_chunked(pairs.keys):
            queries = self._everywhere(pairs, "queries")
            return columns_there(job, queries, pairs, self._beside.of(pairs), terms)
        if pairs.is_one_set or m >= n:
            return self._by_keys(pairs, job, terms)
        return self._over_queries(pairs, job, terms)

    # Queries are cut: their sums stand beside each other.

    def _by_queries(self, pairs: Pairs, job: Parcel) -> RowSums:
        whole, jobs = self._everywhere(pairs, "keys"), self._tasks("rows", job, pairs, "keys")
        for where in self._blocks(len(pairs.queries)):
            jobs.add(tasks.row_sums, jobs.job, _queries(pairs, whole, where), whole.key, 0)
        parts, fields = jobs.computed(), ("peak", "mass", "slope", "moment")
        return RowSums(*(np.concatenate([getattr(p, f) for p in parts], axis=1) for f in fields))

    def _over_queries(self, pairs: Pairs, job: Parcel, terms: Parcel) -> ColumnSums:
        whole, jobs = self._everywhere(pairs, "keys"), self._tasks("columns", job, pairs, "keys")
        for where in self._blocks(len(pairs.queries)):
            queries, mine = tasks.query_part(pairs, where), tasks.term_part(terms, where)
            jobs.add(tasks.column_sums, jobs.job, queries, whole.key, 0, mine)
        return jobs.merged(tasks.merged)

    # Keys are cut: sums of queries merge, those of keys stand one behind the other.

    def _over_keys(self, pairs: Pairs, job: Parcel) -> RowSums:
        whole, jobs = self._everywhere(pairs, "queries"), self._tasks("rows", job, pairs, "queries")
        for where in self._blocks(len(pairs.keys)):
            keys = tasks.key_part(pairs, where)
            jobs.add(tasks.row_sums, jobs.job, whole.key, keys, where.start)
        return jobs.merged(tasks.merged)

    def _by_keys(self, pairs: Pairs, job: Parcel, terms: Parcel) -> ColumnSums:
        side = "keys" if pairs.is_one_set else "queries"
        whole, jobs = self._everywhere(pairs, side), self._tasks("columns", job, pairs, side)
        sent, n = jobs.constant("terms", terms), len(pairs.queries)
        queries = (tasks.query_slice, whole.key, 0, n) if pairs.is_one_set else whole.key
        for where in self._blocks(len(pairs.keys)):
            keys = _keys(pairs, whole, where)
            jobs.add(tasks.column_sums, jobs.job, queries, keys, where.start, sent)
        parts = jobs.computed()
        return ColumnSums(
            np.concatenate([part.total for part in parts]),
            np.concatenate([part.moment for part in parts]),
        )

    # What goes to all workers.

    def _everywhere(self, pairs: Pairs, side: str) -> Any:
        """One side of the pairs, sent for the first pass and still there for the second."""
        if self._sent is None or self._sent[0] is not pairs or self._sent[1] != side:
            part = tasks.key_part if side == "keys" else tasks.query_part
            self._sent = pairs, side, kept(part(pairs, slice(None)), side)
        return self._sent[2]

    def _tasks(self, what: str, job: Parcel, pairs: Pairs, side: str) -> "_Jobs":
        """No tasks yet, after what is on the workers already."""
        return _Jobs(what, job, [self._everywhere(pairs, side)])

    def _blocks(self, n: int) -> list[slice]:
        return slices_of(n, self._size)

    def _is_small(self, pairs: Pairs) -> bool:
        n, m, _ = pairs.shape
        return n * m <= self._few and not is_chunked(pairs.keys)

    def _job(self, work: Workload, pairs: Pairs, moments: bool) -> Parcel:
        return Parcel(work=work, tolerance=self._tolerance, n_near=pairs.n_near, moments=moments)

    def _work_of(self, pairs: Pairs, law: Law) -> Workload:
        dtype = np.result_type(pairs.queries.dtype, pairs.keys.dtype).name
        n, m, _ = pairs.shape
        known = {"n_queries": n, "n_keys": m, "n_dims": pairs.near.stop}
        work = replace(self._work, **known, law=law, dtype=dtype, device="cpu")
        self.can.check(self.name, work)
        return work

    def _engine_here(self, work: Workload, pairs: Pairs) -> Engine:
        """That for few pairs; the one of the first pass in the second, too."""
        if self._here is None or self._here[0] != work:
            found = tasks.local_engine(work, self._tolerance, pairs, self._n_jobs)
            self._here = work, found
        return self._here[1]


class _Jobs(Tasks):
    """Tasks that know what is asked for."""

    def __init__(self, what: str, job: Parcel, after: Sequence[Any]) -> None:
        super().__init__(what, after)
        self.job = self.constant("job", job)


def _queries(pairs: Pairs, whole: Any, where: slice) -> Any:
    """A block of queries: cut out of the keys, where these are the same points, or sent."""
    if pairs.is_one_set:
        return (tasks.query_slice, whole.key, where.start, where.stop)
    return tasks.query_part(pairs, where)


def _keys(pairs: Pairs, whole: Any, where: slice) -> Any:
    """A block of keys: cut out of what is there, where queries are the same points, or sent."""
    if pairs.is_one_set:
        return (tasks.key_slice, whole.key, where.start, where.stop)
    return tasks.key_part(pairs, where)
