"""Tiles on threads: the same tiles and the same order of merging at any number of threads.

BLAS divides a product among its own threads in ways that change the last bits, and loops of OpenMP
(scikit-learn's searches for neighbors) merge in ways that change the order of ties; where little is
to be done both lose more time than they gain. So both get one thread wherever we compute
(`computing`), and what is large is cut into tiles of ours.
"""

import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from contextvars import Context, ContextVar
from functools import cached_property, lru_cache, wraps
from numbers import Integral
from typing import Any, Generic, TypeVar

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
    "threads_worth",
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
    """Results of `work` in the order of `tasks`, computed on up to `n_threads` threads.

    They are those of whoever computes (`computing`), and end with the call otherwise. Nothing of
    this one is left to do behind an interrupt (``contextlib.closing`` where it may come between
    two results).
    """
    if n_threads == 1 or len(tasks) <= 1:
        yield from map(work, tasks)
        return
    shared = _Shared(work, tasks)
    with _pool(n_threads) as pool:
        helpers = [pool.submit(shared.help) for _ in range(min(n_threads, len(tasks)) - 1)]
        try:
            yield from shared.results()
        finally:
            shared.stop()
            wait([helper for helper in helpers if not helper.cancel()])


class _Shared(Generic[Task, Result]):
    """Tasks that several threads work on, each taking the next one.

    Who wants the results works, too: to be woken takes longer than a small task.
    """

    def __init__(self, work: Callable[[Task], Result], tasks: Sequence[Task]) -> None:
        self._work = work
        self._results = deque[Future[Result]](Future() for _ in tasks)
        self._waiting = deque(zip(self._results, tasks, strict=True))

    def help(self) -> None:
        """Work on a thread of ours until nothing is left to begin."""
        _one_library_thread.keep()
        while self._do_one():
            pass

    def results(self) -> Iterator[Result]:
        """Results in the order of the tasks."""
        while self._results:
            result = self._results.popleft()
            # In a context like that of a thread of ours: nobody computes there.
            while not result.done() and Context().run(self._do_one):
                pass
            yield result.result()

    def stop(self) -> None:
        """Begin nothing more."""
        self._waiting.clear()

    def _do_one(self) -> bool:
        try:
            result, task = self._waiting.popleft()
        except IndexError:
            return False
        try:
            result.set_result(self._work(task))
        except Exception as error:
            result.set_exception(error)
        return True


@contextmanager
def _pool(n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """Threads to compute on, while BLAS has one."""
    team = _team.get()
    if team is not None and team.n_threads >= n_threads:
        yield team.pool
        return
    with one_library_thread(), _new_pool(n_threads) as pool:
        yield pool


def _new_pool(n_threads: int) -> ThreadPoolExecutor:
    """Threads to help the one that asks."""
    return ThreadPoolExecutor(n_threads - 1, thread_name_prefix="vicinal")


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
    n_modules = 0  # when it was limited for good


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

    def keep(self) -> None:
        """Limit what counts per thread for as long as this thread lives, which is one of ours.

        To set and restore it around every tile takes as long as a small tile.
        """
        if self._own.n_modules != len(sys.modules):
            _libraries(shared=False).limit(limits=1)
            self._own.n_modules = len(sys.modules)

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
    """The threads that somebody who computes was given, counted and made when first asked for."""

    def __init__(self, n_jobs: int | None) -> None:
        _check_n_jobs(n_jobs)
        self._n_jobs = n_jobs
        self._made: tuple[int, ThreadPoolExecutor] | None = None

    @cached_property
    def n_threads(self) -> int:
        # Cores are counted in longer than small predictions take.
        return effective_n_threads(self._n_jobs)

    @property
    def pool(self) -> ThreadPoolExecutor:
        """One for all passes of a call: sixteen threads start in longer than a small pass takes."""
        made = self._made
        # A child of a fork has none of its parent's threads.
        if made is None or made[0] != os.getpid():
            made = self._made = os.getpid(), _new_pool(self.n_threads)
        return made[1]

    def close(self) -> None:
        """End the threads, and what they have not begun."""
        if self._made is not None and self._made[0] == os.getpid():
            self._made[1].shutdown(cancel_futures=True)


# Of the estimator or function that computes; threads of a pool begin with 1.
_team: ContextVar[_Team | None] = ContextVar("team", default=None)


@contextmanager
def computing(n_jobs: int | None = None) -> Iterator[None]:
    """BLAS and OpenMP on one thread, and tiles of ours on `n_jobs`, which changes no bit."""
    team = _Team(n_jobs)
    token = _team.set(team)
    try:
        with one_library_thread(), closing(team):
            yield
    finally:
        _team.reset(token)


def current_n_threads() -> int:
    """Number of threads that whoever computes here was given."""
    team = _team.get()
    return 1 if team is None else team.n_threads


def threads_worth(n_tasks: int, least: int) -> int:
    """As many of these threads as have `least` tasks each: with fewer they lose time, not gain it.

    Between two calls of compiled code only one thread runs at a time.
    """
    return min(current_n_threads(), max(1, n_tasks // least))


def on_own_threads(function: Function) -> Function:
    """A method of an estimator, or a function, that computes on its `n_jobs` threads."""

    @wraps(function)
    def computes(*args: Any, **kwargs: Any) -> Any:
        n_jobs = getattr(args[0], "n_jobs", None) if args else None  # of an estimator
        with computing(kwargs.get("n_jobs", n_jobs)):
            return function(*args, **kwargs)

    return computes  # type: ignore[return-value]
