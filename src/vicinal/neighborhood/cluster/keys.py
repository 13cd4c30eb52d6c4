"""Both passes over keys that live on the workers: a task for every share of them, and sums back.

A task makes keys of the rows it has at home, and uses up what it finds out about each of them. All
that travels is the queries, what the columns pass needs to know of them, and their sums.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.neighborhood.cluster import tasks
from vicinal.neighborhood.cluster.homes import homes_of
from vicinal.neighborhood.cluster.made import Made, blocks_of, held_of, living
from vicinal.neighborhood.cluster.rows import sent_in_blocks, tasks_on
from vicinal.neighborhood.cluster.running import Parcel, kept
from vicinal.neighborhood.pairs import Pairs
from vicinal.neighborhood.sums import ColumnSums, RowSums

__all__ = ["Beside", "ColumnsThere", "columns_there", "row_sums_there"]


@dataclass
class ColumnsThere(ColumnSums):
    """Sums of keys that live on the workers, made there when something is asked of them.

    Attributes
    ----------
    total, moment : Made
    pulls : Made
        c ∘ Z_k - Cᵀ Z_q, what pairs do to every key.
    """

    pulls: Made


class Beside:
    """Labels and weights of keys, where the keys are: sent once, as long as they stay the same."""

    def __init__(self) -> None:
        self._given: tuple[NDArray | None, ...] = (None, None)
        self._there: tuple[Any, ...] = (None, None)

    def of(self, pairs: Pairs) -> tuple[Any, ...]:
        """Arrays of Dask, or None for what there is not."""
        given = pairs.key_labels, pairs.key_log_weights
        self._there = tuple(
            known if _are_equal(values, old) else _sent(values, pairs.keys)
            for values, old, known in zip(given, self._given, self._there, strict=True)
        )
        self._given = given
        return self._there


def row_sums_there(job: Parcel, queries: Any, pairs: Pairs, beside: tuple[Any, ...]) -> RowSums:
    """Sums over the keys, for every query; what is asked for, and queries as a task's value."""
    jobs = tasks_on("rows", pairs.keys, _present(queries, *beside))
    for keys, start in _blocks_of_keys(pairs, beside):
        jobs.add(tasks.row_sums, job, queries.key, keys, start)
    return jobs.merged(tasks.merged)


def columns_there(
    job: Parcel, queries: Any, pairs: Pairs, beside: tuple[Any, ...], terms: Parcel
) -> ColumnsThere:
    """Sums over the queries, for every key; `terms` are what to know of queries for it."""
    sent, width = kept(terms, "terms"), pairs.shape[2]
    after = [*held_of(pairs.keys)[1:], *_present(queries, sent, *beside)]
    given = [
        (job, queries.key, keys, start, sent.key) for keys, start in _blocks_of_keys(pairs, beside)
    ]

    def made(blocks: list[Any], columns: int | None) -> Made:
        return Made(living(pairs.keys), blocks, columns, np.float64, after)

    sums = [(tasks.column_sums, *each) for each in given]
    return ColumnsThere(
        made([(tasks.total_of, each) for each in sums], None),
        made([(tasks.moment_of, each) for each in sums], width if job.moments else 0),
        made([(tasks.key_pulls, *each) for each in given], width),
    )


def _blocks_of_keys(pairs: Pairs, beside: tuple[Any, ...]) -> Iterator[tuple[Any, int]]:
    """Blocks of keys with what is known of them, as arguments of tasks, and where each begins."""
    start = 0
    known = [None if each is None else blocks_of(each) for each in beside]
    for i, (keys, size) in enumerate(zip(blocks_of(pairs.keys), pairs.keys.chunks[0], strict=True)):
        yield (tasks.key_block, keys, *(each and each[i] for each in known)), start
        start += size


def _present(*collections: Any) -> list[Any]:
    return [each for each in collections if each is not None]


def _are_equal(values: NDArray | None, old: NDArray | None) -> bool:
    if values is None or old is None:
        return values is old
    return values is old or np.array_equal(values, old)


def _sent(values: NDArray | None, keys: Any) -> Any:
    if values is None:
        return None
    return sent_in_blocks(values, keys.chunks[0], homes_of(living(keys)))
