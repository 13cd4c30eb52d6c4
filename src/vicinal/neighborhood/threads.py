"""Tiles on threads: the same tiles and the same order of merging at any number of threads."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

__all__ = ["effective_n_threads", "one_blas_thread", "run_in_order"]

Task = TypeVar("Task")
Result = TypeVar("Result")


def effective_n_threads(n_jobs: int | None) -> int:
    """Number of threads for `n_jobs`.

    None means every core this process may use, less where ``OMP_NUM_THREADS``
    says so (as joblib's workers do), like scikit-learn's own compiled loops.
    Negative numbers count back from all cores, as in joblib.
    """
    cores = joblib.cpu_count()
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning: use None, a positive number, or -1 for all.")
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def run_in_order(
    work: Callable[[Task], Result], tasks: Sequence[Task], n_threads: int
) -> Iterator[Result]:
    """Results of `work` in the order of `tasks`, computed on `n_threads` threads.

    The pool lives only as long as the call: nothing to inherit across a fork,
    nothing left behind by an interrupt.
    """
    if n_threads == 1 or len(tasks) <= 1:
        yield from map(work, tasks)
        return
    pool = ThreadPoolExecutor(min(n_threads, len(tasks)), thread_name_prefix="vicinal")
    try:
        yield from pool.map(work, tasks)
    finally:
        pool.shutdown(cancel_futures=True)


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep BLAS to one thread while our own threads fill the cores."""
    return _blas().limit(limits=1)
