"""Work in parts that need nothing of each other, as searches do: shared out among the workers."""

from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from numpy.typing import NDArray

from vicinal.neighborhood.cluster.made import blocks_of
from vicinal.neighborhood.cluster.presence import asks_workers
from vicinal.neighborhood.cluster.rows import tasks_on
from vicinal.neighborhood.cluster.running import Parcel, Tasks, kept
from vicinal.neighborhood.cluster.tasks import Held, applied, applied_held
from vicinal.neighborhood.threads import run_in_order

__all__ = ["N_SHARES", "in_order", "said_of_blocks", "shared"]

Part = TypeVar("Part")
Result = TypeVar("Result")

# Tasks that parts make, where there are as many (up to twice that): threads of a usual cluster
# share them evenly. Their number depends on that of the parts alone.
N_SHARES = 64


def in_order(
    work: Callable[[Part], Result],
    parts: Sequence[Part],
    n_threads: int,
    is_much: bool,
    what: str,
) -> Generator[Result, None, None]:
    """Results of `work` in the order of `parts`: by workers, where they are asked, or on threads.

    Parameters
    ----------
    work : callable
        Of one part; it changes nothing around it, and goes to a worker with all that it knows.
    parts : sequence
    n_threads : int
        On this machine; a task has one.
    is_much : bool
        Whether it is worth a cluster.
    what : str
        For the names of tasks, which users see on a dashboard.
    """
    if asks_workers() and is_much:
        yield from shared(work, parts, what)
    else:
        yield from run_in_order(work, parts, n_threads)


def shared(
    work: Callable[[Part], Result], parts: Sequence[Part], what: str, at_a_time: int = 2 * N_SHARES
) -> Generator[Result, None, None]:
    """Results of `work` in the order of `parts`, all of them computed by workers.

    `work` goes to every worker once. Results of `at_a_time` tasks are here at a time.
    """
    held = kept(Held(work), what)
    shares = _in_shares(parts)
    for start in range(0, len(shares), at_a_time):
        tasks = Tasks(what, [held])
        for share in shares[start : start + at_a_time]:
            # A parcel: lists, tuples and slices in a graph are Dask's to look into.
            tasks.add(_of_each, held.key, Parcel(parts=share))
        for results in tasks.computed():
            yield from results


def said_of_blocks(function: Callable[[NDArray], Result], X: Any) -> list[Result]:
    """What a function says of every block of rows that live on the workers, in their order."""
    tasks = tasks_on("asking", X)
    of = tasks.constant("function", Held(function))
    for block in blocks_of(X):
        tasks.add(applied_held, of, block)
    return tasks.computed()


def _in_shares(parts: Sequence[Part]) -> list[list[Part]]:
    step = max(1, len(parts) // N_SHARES)
    return [list(parts[start : start + step]) for start in range(0, len(parts), step)]


def _of_each(held: Held, share: Parcel) -> list[object]:
    """What a worker makes of its share, one part after the other."""
    return [applied(held.function, part) for part in share.parts]
