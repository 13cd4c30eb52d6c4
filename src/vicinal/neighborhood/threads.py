"""Tiles on threads: the same tiles and the same order of merging at any number of threads.

BLAS divides a product among its own threads in ways that change the last bits, and loops of OpenMP
(scikit-learn's searches for neighbors) merge in ways that change the order of ties; where little is
to be done both lose more time than they gain. So both get one thread wherever we compute
(`computing`), and what is large is cut into tiles of ours.
"""

import os
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, lru_cache, wraps
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
    "one_library_thread",
    "run_in_order",
]

Task = TypeVar("Task")
Result = TypeVar("Result")
Function = TypeVar("Function", bound=Callable[..., Any])


def effective_n_threads(n_jobs: int | None) -> int:
    """Number of threads for `n_jobs`.

    None means every core this process may use, less where ``OMP_NUM_THREADS``
    says so (as joblib's workers do), like scikit-learn's own compiled loops.
    Negative numbers count back from all cores, as in joblib.
    """
    _check_n_jobs(n_jobs)
    if n_jobs is None:
        cores, limit = joblib.cpu_count(), os.environ.get("OMP_NUM_THREADS", "")
        return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores
    return n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)


def _check_n_jobs(n_jobs: int | None) -> None:
    is_whole = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not is_whole or n_jobs == 0):
        kind = ValueError if is_whole else TypeError
        raise kind(f"n_jobs={n_jobs!r} must be a number of threads, -1 for all cores, or None.")


def run_in_order(
    work: Callable[[Task], Result], tasks: Sequence[Task], n_threads: int
) -> Generator[Result, None, None]:
    """Results of `work` in the order of `tasks`, computed on `n_threads` threads.

    The pool lives only as long as the call: nothing to inherit across a fork,
    nothing left behind by an interrupt (``contextlib.closing`` where it may come
    between two results).
    """
    if n_threads == 1 or len(tasks) <= 1:
        yield from map(work, tasks)
        return
    pool = ThreadPoolExecutor(min(n_threads, len(tasks)), thread_name_prefix="vicinal")

    def alone(task: Task) -> Result:
        with one_library_thread():
            return work(task)

    try:
        yield from pool.map(alone, tasks)
    finally:
        pool.shutdown(cancel_futures=True)


def _libraries(shared: bool) -> ThreadpoolController:
    """BLAS and OpenMP: those with one number of threads for the process, or one per thread."""
    # A library comes with a module: where there are new ones, it is time to look again.
    return _loaded_libraries(shared, len(sys.modules))


@lru_cache(maxsize=2)
def _loaded_libraries(shared: bool, n_modules: int) -> ThreadpoolController:
    found = ThreadpoolController()
    found.lib_controllers = [
        library for library in found.lib_controllers if shared is not _counts_per_thread(library)
    ]
    return found


def _counts_per_thread(library: Any) -> bool:
    """Whether every thread that calls the library has its own number of threads there."""
    return "openmp" in (library.user_api, getattr(library, "threading_layer", None))


def _take_control() -> None:
    """Let this thread set what another one set last.

    threadpoolctl (seen in 3.8) lets only the first thread that limits OpenBLAS change it, which
    leaves the process with one thread for good where that thread is not the last to leave.
    """
    library = getattr(threadpoolctl, "OpenBLASController", None)
    clear = getattr(library, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)


class _Inside(threading.local):
    """How often this thread is inside, and what it found."""

    depth = 0
    limit: Any = None


class _OneLibraryThread:
    """A limit that holds from the first to come until the last to go, whatever thread they are on.

    Where BLAS has one number of threads for the whole process, limits that are set and restored
    on several threads at once would restore each other's. OpenMP has one for each thread.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._lock, self._depth = threading.Lock(), 0
        self._limit: Any = None
        self._own = _Inside()

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                _take_control()
                self._limit = _libraries(shared=True).limit(limits=1)
            self._depth += 1
        if self._own.depth == 0:
            self._own.limit = _libraries(shared=False).limit(limits=1)
        self._own.depth += 1

    def __exit__(self, *_: object) -> None:
        # A child of a fork leaves what only its parent has entered.
        self._own.depth = max(0, self._own.depth - 1)
        if self._own.depth == 0:
            self._restore_own()
        with self._lock:
            self._depth = max(0, self._depth - 1)
            if self._depth == 0:
                self._restore_shared()

    def _restore_own(self) -> None:
        limit, self._own.limit = self._own.limit, None
        if limit is not None:
            limit.restore_original_limits()

    def _restore_shared(self) -> None:
        limit, self._limit = self._limit, None
        if limit is not None:
            _take_control()
            limit.restore_original_limits()
            _take_control()

    def after_fork(self) -> None:
        """In a child nobody is inside but for the thread that forked, which may not return."""
        self._restore_own()
        self._restore_shared()
        self._begin()


_one_library_thread = _OneLibraryThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_one_library_thread.after_fork)


def one_library_thread() -> _OneLibraryThread:
    """Keep BLAS, and OpenMP where this thread calls it, to one thread while anybody is inside."""
    return _one_library_thread


class _Team:
    """The threads that somebody who computes was given, counted when first asked for."""

    def __init__(self, n_jobs: int | None) -> None:
        _check_n_jobs(n_jobs)
        self._n_jobs = n_jobs

    @cached_property
    def n_threads(self) -> int:
        # Cores are counted in longer than small predictions take.
        return effective_n_threads(self._n_jobs)


# Of the estimator or function that computes; threads of a pool begin with 1.
_team: ContextVar[_Team | None] = ContextVar("team", default=None)


@contextmanager
def computing(n_jobs: int | None = None) -> Iterator[None]:
    """BLAS and OpenMP on one thread, and tiles of ours on `n_jobs`, which changes no bit."""
    token = _team.set(_Team(n_jobs))
    try:
        with one_library_thread():
            yield
    finally:
        _team.reset(token)


def current_n_threads() -> int:
    """Number of threads that whoever computes here was given."""
    team = _team.get()
    return 1 if team is None else team.n_threads


def on_own_threads(function: Function) -> Function:
    """A method of an estimator, or a function, that computes on its `n_jobs` threads."""

    @wraps(function)
    def computes(*args: Any, **kwargs: Any) -> Any:
        n_jobs = getattr(args[0], "n_jobs", None) if args else None  # of an estimator
        with computing(kwargs.get("n_jobs", n_jobs)):
            return function(*args, **kwargs)

    return computes  # type: ignore[return-value]
