"""Tiles on threads: the same tiles and the same order of merging at any number of threads.

BLAS divides a product among its own threads in ways that change the last bits, so it gets one
thread wherever we compute (`computing`), and large products are cut into tiles of ours.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import lru_cache, wraps
from numbers import Integral
from typing import Any, TypeVar

import joblib
import threadpoolctl
from threadpoolctl import ThreadpoolController

__all__ = [
    "computing",
    "current_n_threads",
    "effective_n_threads",
    "on_own_threads",
    "one_blas_thread",
    "openmp_threads",
    "run_in_order",
]

Task = TypeVar("Task")
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])

# Of the estimator or function that computes; threads of a pool begin with 1.
_n_threads: ContextVar[int] = ContextVar("n_threads", default=1)


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
    is_whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if not is_whole or n_jobs == 0:
        kind = ValueError if is_whole else TypeError
        raise kind(f"n_jobs={n_jobs!r} must be a number of threads, -1 for all cores, or None.")
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

    def alone(task: Task) -> Result:
        with one_blas_thread():
            return work(task)

    try:
        yield from pool.map(alone, tasks)
    finally:
        pool.shutdown(cancel_futures=True)


@lru_cache(maxsize=2)
def _blas(shared: bool) -> ThreadpoolController:
    """BLAS libraries with one number of threads for the process, or one per calling thread."""
    found = ThreadpoolController().select(user_api="blas")
    found.lib_controllers = [
        library
        for library in found.lib_controllers
        if shared is (getattr(library, "threading_layer", None) != "openmp")
    ]
    return found


def _take_control() -> None:
    """Let this thread set what another one set last.

    threadpoolctl (seen in 3.8) lets only the first thread that limits OpenBLAS change it, which
    leaves the process with one thread for good where that thread is not the last to leave.
    """
    library = getattr(threadpoolctl, "OpenBLASController", None)
    clear = getattr(library, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


class _OneBlasThread:
    """A limit that holds from the first to come until the last to go, whatever thread they are on.

    Where BLAS has one number of threads for the whole process, limits that are set and restored
    on several threads at once would restore each other's.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._lock, self._inside = threading.Lock(), 0
        self._limit: Any = None
        self._own = threading.local()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                _take_control()
                self._limit = _blas(shared=True).limit(limits=1)
            self._inside += 1
        if _blas(shared=False).lib_controllers:
            self._own_limits.append(_blas(shared=False).limit(limits=1))

    def __exit__(self, *_: object) -> None:
        if self._own_limits:
            self._own_limits.pop().restore_original_limits()
        with self._lock:
            self._inside = max(0, self._inside - 1)
            if self._inside == 0:
                self._restore()

    @property
    def _own_limits(self) -> list[Any]:
        """Of this thread, where libraries have a number of threads for each."""
        if not hasattr(self._own, "limits"):
            self._own.limits = []
        return self._own.limits

    def _restore(self) -> None:
        limit, self._limit = self._limit, None
        if limit is not None:
            _take_control()
            limit.restore_original_limits()
            _take_control()

    def after_fork(self) -> None:
        """In a child nobody is inside but for the thread that forked, which may not return."""
        limit = self._limit
        self._begin()
        self._limit = limit
        self._restore()


_one_blas_thread = _OneBlasThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_one_blas_thread.after_fork)


def one_blas_thread() -> _OneBlasThread:
    """Keep BLAS to one thread, as long as anybody is inside."""
    return _one_blas_thread


@lru_cache(maxsize=1)
def _openmp() -> ThreadpoolController:
    """Libraries whose loops run on threads of OpenMP, scikit-learn's among them."""
    return ThreadpoolController().select(user_api="openmp")


def openmp_threads(n_threads: int) -> AbstractContextManager[None]:
    """Keep loops on threads of OpenMP to so many, which changes no bit of theirs.

    Small ones are many times slower on all cores than on one where others use these, too.
    """
    return _openmp().limit(limits=n_threads)


@contextmanager
def computing(n_jobs: int | None = None) -> Iterator[None]:
    """BLAS on one thread, and tiles of ours on `n_jobs`, which changes no bit."""
    token = _n_threads.set(effective_n_threads(n_jobs))
    try:
        with one_blas_thread():
            yield
    finally:
        _n_threads.reset(token)


def current_n_threads() -> int:
    """Number of threads that whoever computes here was given."""
    return _n_threads.get()


def on_own_threads(function: Function) -> Function:
    """A method of an estimator, or a function, that computes on its `n_jobs` threads."""

    @wraps(function)
    def computes(*args: Any, **kwargs: Any) -> Any:
        n_jobs = getattr(args[0], "n_jobs", None) if args else None  # of an estimator
        with computing(kwargs.get("n_jobs", n_jobs)):
            return function(*args, **kwargs)

    return computes  # type: ignore[return-value]
