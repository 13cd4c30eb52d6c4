"""Whether there is a cluster to compute on, and whether we are on one of its workers already."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any

__all__ = ["as_worker", "check_cluster", "has_cluster", "is_worker", "needed"]

_is_worker: ContextVar[bool] = ContextVar("is_worker", default=False)

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
        raise ValueError(NO_CLUSTER)
