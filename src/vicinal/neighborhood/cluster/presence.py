"""Whether there is a cluster to compute on, and whether we are on one of its workers already."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any

__all__ = [
    "as_worker",
    "asking_workers",
    "asks_workers",
    "check_cluster",
    "has_cluster",
    "is_worker",
    "needed",
]

_is_worker: ContextVar[bool] = ContextVar("is_worker", default=False)

# Of the estimator or function that computes; threads of ours begin without.
_asks_workers: ContextVar[bool] = ContextVar("asks_workers", default=False)

NO_CLUSTER = (
    'engine="dask" needs a cluster, and no client is open: start one by '
    "client = dask.distributed.Client() (or Client(address) for one that runs), and keep it open "
    "while the model is fitted."
)


@contextmanager
def as_worker() -> Iterator[None]:
    """Let everything in the block be computed here: whoever is a worker asks no other ones."""
    token = _is_worker.set(True)
    try:
        yield
    finally:
        _is_worker.reset(token)


def is_worker() -> bool:
    """Whether this is a task of ours on a worker."""
    return _is_worker.get()


@contextmanager
def asking_workers() -> Iterator[None]:
    """Let searches and comparisons in the block that are worth it be made by the workers."""
    token = _asks_workers.set(True)
    try:
        yield
    finally:
        _asks_workers.reset(token)


def asks_workers() -> bool:
    """Whether who computes here wants workers to do what is much; they ask no other ones."""
    return _asks_workers.get() and not is_worker()


def needed(module: str) -> Any:
    """A module of the extra "dask"."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f'engine="dask" needs {package}: pip install "vicinal[dask]"') from error


def has_cluster() -> bool:
    """Whether a client is open, or the user has set a scheduler of Dask's for this machine.

    It loads nothing: who has opened a client has loaded all of it.
    """
    if "dask" not in sys.modules:
        return False
    if sys.modules["dask"].config.get("scheduler", None) is not None:
        return True
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return False
    try:
        return bool(distributed.default_client().status == "running")
    except ValueError:  # there is none
        return False


def check_cluster() -> None:
    """Refuse to compute on a cluster that is not there."""
    needed("dask.array")
    if not has_cluster():
        needed("distributed")  # or nobody can start what the message asks for
        raise ValueError(NO_CLUSTER)
