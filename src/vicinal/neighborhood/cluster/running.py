"""Graphs of tasks in, values out: by whatever scheduler Dask has been given."""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from vicinal.neighborhood.cluster.presence import needed

__all__ = [
    "ClusterError",
    "Parcel",
    "Tasks",
    "fresh_name",
    "gathered",
    "kept",
    "persisted",
    "telling_what_failed",
    "value_of_task",
]

# Sums that are merged by one task.
FAN_IN = 8


class ClusterError(RuntimeError):
    """A cluster, not what was computed there, has failed."""


class Parcel:
    """Values that travel together, none of which Dask is to look into."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"nothing that is called {name!r} was sent")


def fresh_name(what: str) -> str:
    """A name for tasks that no others have."""
    return f"vicinal-{what}-{uuid4().hex}"


class Tasks:
    """A graph in the making: what is to be done, in blocks, after what is there already.

    Parameters
    ----------
    what : str
        For the names of tasks, which users see on a dashboard.
    after : sequence of collections of Dask
        That tasks refer to.
    """

    def __init__(self, what: str, after: Sequence[Any] = ()) -> None:
        self.name, self._after = fresh_name(what), list(after)
        self._graph: dict[Any, Any] = {}
        self.keys: list[Any] = []

    def constant(self, what: str, value: Any) -> str:
        """The key of a value that tasks share."""
        key = f"{self.name}-{what}"
        self._graph[key] = value
        return key

    def add(self, *task: Any) -> Any:
        """The key of one more task: a function, and keys or values of its arguments."""
        self.keys.append((self.name, len(self.keys)))
        self._graph[self.keys[-1]] = task
        return self.keys[-1]

    @property
    def graph(self) -> Any:
        """All of it."""
        highlevelgraph = needed("dask.highlevelgraph")
        layer = highlevelgraph.HighLevelGraph.from_collections
        return layer(self.name, dict(self._graph), dependencies=self._after)

    def computed(self) -> list[Any]:
        """Values of the tasks, on this machine."""
        return _computed(self.keys, self.graph, self.name)

    def held(self) -> list[Any]:
        """The tasks, whose values the workers hold from now on."""
        return list(persisted(*_delayed(self.keys, self.graph, self.name)))

    def merged(self, merge: Callable[..., Any]) -> Any:
        """The sum of the values, neighbors first, so that it is the same whoever adds up."""
        level, depth = self.keys, 0
        while len(level) > 1:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = [(self.name, "sum", depth, place) for place in range(len(groups))]
            for key, group in zip(level, groups, strict=True):
                self._graph[key] = (merge, *group)
            depth += 1
        return _computed(level, self.graph, self.name)[0]


def kept(value: Any, what: str) -> Any:
    """A value as a task of its own: sent once, and again where a worker is lost with it."""
    return persisted(value_of_task(value, what))[0]


def value_of_task(value: Any, what: str) -> Any:
    """A value as a task of its own, to be sent when somebody needs it."""
    tasks = Tasks(what)
    key = tasks.constant("value", value)
    return _delayed([key], tasks.graph, tasks.name)[0]


def persisted(*collections: Any) -> tuple[Any, ...]:
    """Collections that the workers hold from now on; they work on them while we go on."""
    with telling_what_failed():
        return tuple(needed("dask").persist(*collections, optimize_graph=False))


def gathered(collection: Any) -> Any:
    """The value of a collection, on this machine."""
    with telling_what_failed():
        return needed("dask").compute(collection)[0]


def _computed(keys: Sequence[Any], graph: Any, name: str) -> list[Any]:
    with telling_what_failed():
        return list(needed("dask").compute(*_delayed(keys, graph, name), optimize_graph=False))


def _delayed(keys: Sequence[Any], graph: Any, name: str) -> list[Any]:
    make = needed("dask.delayed").Delayed
    return [make(key, graph, layer=name) for key in keys]


@contextmanager
def telling_what_failed() -> Iterator[None]:
    """Say what is wrong with a cluster in words of ours; errors of tasks pass as they are."""
    # Arrays of the user go to the workers as parts of a graph, so that they can be sent again.
    # Not before distributed is loaded: with this setting its own would be taken away again.
    loud = "distributed.admin.large-graph-warning-threshold"
    quiet = {loud: "1TB"} if "distributed" in sys.modules else {}
    try:
        with needed("dask").config.set(quiet):
            yield
    except (CancelledError, Exception) as error:
        told = _in_words(error)
        if told is None:
            raise
        raise ClusterError(told) from error


def _in_words(error: BaseException) -> str | None:
    """What to say of an error of the cluster; None for errors of what was computed there."""
    is_theirs = type(error).__module__.partition(".")[0] == "distributed"
    if type(error).__name__ == "KilledWorker":
        return (
            "several workers in a row were lost while they worked on the same block, as a rule "
            "because they were out of memory: give workers more memory (memory_limit of the "
            f"cluster), or fewer threads each. Dask says: {error}"
        )
    if is_theirs or isinstance(error, CancelledError | TimeoutError):
        return (
            "the connection to the cluster was lost, or nobody answered in time: look whether its "
            "scheduler runs, open a new Client and fit again (the model is as it was before); "
            "distributed.comm.timeouts in Dask's configuration says how long to wait. "
            f"Dask says: {type(error).__name__}: {error}"
        )
    return None
