"""Where blocks live: tasks go to them, so that rows stay where they are.

Every thread of a cluster has a share of the blocks, and computes with all of it in one task: none
of its work waits, which an idle worker would take away, and rows with it. Blocks move only where a
worker holds more than its share: another one was lost, or has come. No bit of a result depends on
any of it (`merging`).
"""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from vicinal.neighborhood.cluster.failures import telling_what_failed
from vicinal.neighborhood.cluster.presence import needed

__all__ = ["Home", "are_persisted", "homes_for", "homes_of", "pins", "shared_out"]


class Home(NamedTuple):
    """A thread of a worker."""

    worker: str
    thread: int


def homes_of(rows: Any) -> list[Home | None]:
    """Where the blocks of rows that the workers hold live, and are to be worked on.

    None where there is no saying: rows that nobody holds, a scheduler of Dask's on this machine.
    """
    n, client = len(rows.chunks[0]), _client()
    if client is None:
        return [None] * n
    keys = [(rows.name, i, *(0 for _ in rows.chunks[1:])) for i in range(n)]
    with telling_what_failed():
        holders, threads = _holders(client, rows, keys), client.nthreads()
    return shared_out(holders, threads) if all(holders) and threads else [None] * n


def are_persisted(rows: Any) -> bool:
    """Whether workers hold the blocks of rows, or are about to; also where there are none to."""
    if _client() is None:
        return True
    asked = {future.key for future in needed("distributed").futures_of(rows)}
    return asked.issuperset((rows.name, *place) for place in np.ndindex(rows.numblocks))


def homes_for(n_blocks: int) -> list[Home | None]:
    """Where to put so many blocks: neighbors together, as their sums are added up first."""
    client = _client()
    with telling_what_failed():
        threads = {} if client is None else client.nthreads()
    return shared_out([()] * n_blocks, threads) if threads else [None] * n_blocks


def shared_out(holders: Sequence[Iterable[str]], threads: Mapping[str, int]) -> list[Home | None]:
    """A home for every block: with one who holds it, as long as nobody has more than a share.

    Parameters
    ----------
    holders : sequence of addresses, for each block
    threads : mapping
        Of every worker.

    Examples
    --------
    >>> [home.worker for home in shared_out([["a"], ["a"], ["a"], ["b"]], {"a": 1, "b": 1})]
    ['a', 'a', 'b', 'b']
    """
    workers = _workers_for(holders, threads)
    share = {w: -(-n // threads[w]) for w, n in Counter(workers).items()}
    taken: Counter[str] = Counter()
    homes: list[Home | None] = []
    for worker in workers:
        homes.append(Home(worker, taken[worker] // share[worker]))
        taken[worker] += 1
    return homes


def _workers_for(holders: Sequence[Iterable[str]], threads: Mapping[str, int]) -> list[str]:
    """A worker for every block, that of the block before where it can be."""
    total, last = sum(threads.values()), ""
    room = Counter({worker: -(-len(holders) * n // total) for worker, n in threads.items()})
    workers = []
    for some in holders:
        able = [w for w in some if room[w] > 0] or [w for w in sorted(threads) if room[w] > 0]
        last = last if last in able else max(able, key=lambda worker: room[worker])
        room[last] -= 1
        workers.append(last)
    return workers


def pins(keys: Iterable[Any], homes: Iterable[Home | None]) -> dict[str, Any]:
    """Annotations of Dask: tasks run at home, or anywhere if that is gone; others run anywhere."""
    found = zip(keys, homes, strict=True)
    workers = {key: [home.worker] for key, home in found if home is not None}
    return {"workers": partial(_of_key, workers), "allow_other_workers": True} if workers else {}


def _of_key(workers: Mapping[Any, list[str]], key: Any) -> list[str]:
    return workers.get(key, [])


def _holders(client: Any, rows: Any, keys: Sequence[Any]) -> list[tuple[str, ...]]:
    """Who holds each block; those that are on their way are waited for."""
    found = client.who_has(rows)
    if not all(found.get(key) for key in keys):
        needed("distributed").wait(rows)
        found = client.who_has(rows)
    return [tuple(found.get(key, ())) for key in keys]


def _client() -> Any:
    """The client by which Dask computes, if it does by one."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    scheduler = needed("dask").config.get("scheduler", None)
    if scheduler not in (None, "distributed", "dask.distributed"):
        return None
    try:
        return distributed.default_client()
    except ValueError:  # there is none
        return None
