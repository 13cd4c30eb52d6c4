"""Graphs of tasks in, values out: by whatever scheduler Dask has been given."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from vicinal.neighborhood.cluster.failures import ClusterError, telling_what_failed
from vicinal.neighborhood.cluster.homes import Home, pins
from vicinal.neighborhood.cluster.merging import alone, joined, whole
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

# Parts of a sum that are joined by one task.
FAN_IN = 8


class Parcel:
    """Values that travel together, none of which Dask is to look into."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"nothing that is called {name!r} was sent")

    def __sizeof__(self) -> int:  # Dask asks, before it sends one somewhere
        return sum(getattr(value, "nbytes", 0) for value in vars(self).values())


def fresh_name(what: str) -> str:
    """A name for tasks that no others have."""
    return f"vicinal-{what}-{uuid4().hex}"


class Tasks:
    """A graph in the making: what is to be done, in blocks, after what is there already.

    What is to be done at one home is one task, where values are asked for or their sum.

    Parameters
    ----------
    what : str
        For the names of tasks, which users see on a dashboard.
    after : sequence of collections of Dask, default=()
        That tasks refer to.
    homes : sequence of Home or None, optional
        Where each task is to run. None: anywhere, for itself.
    suffix : tuple, default=()
        Of keys: (0,) where values that are held are blocks of an array of two dimensions.
    """

    def __init__(
        self,
        what: str,
        after: Sequence[Any] = (),
        homes: Sequence[Home | None] | None = None,
        suffix: tuple[int, ...] = (),
    ) -> None:
        self.name, self._after = fresh_name(what), list(after)
        self._homes, self._suffix = homes, suffix
        self._graph: dict[Any, Any] = {}
        self._pins: dict[Any, Home | None] = {}
        self._tasks: list[Any] = []
        self.keys: list[Any] = []

    def constant(self, what: str, value: Any) -> str:
        """The key of a value that tasks share."""
        key = f"{self.name}-{what}"
        self._graph[key] = value
        return key

    def add(self, *task: Any) -> Any:
        """The key of one more task: a function, and keys or values of its arguments."""
        self.keys.append((self.name, len(self.keys), *self._suffix))
        self._tasks.append(task)
        return self.keys[-1]

    @property
    def graph(self) -> Any:
        """All of it."""
        make = needed("dask.highlevelgraph").HighLevelGraph.from_collections
        with needed("dask").annotate(**pins(self._pins, self._pins.values())):
            return make(self.name, dict(self._graph), dependencies=self._after)

    def computed(self) -> list[Any]:
        """Values of the tasks, on this machine."""
        shares = self._shares()
        keys = [self._put("share", home, (_together, *self._of(some))) for home, some in shares]
        found: list[Any] = [None] * len(self._tasks)
        for (_, some), values in zip(shares, self._computed(keys), strict=True):
            for i, value in zip(some, values, strict=True):
                found[i] = value
        return found

    def held(self) -> list[Any]:
        """The tasks, whose values the workers hold from now on."""
        self._put_each()
        return list(persisted(*_delayed(self.keys, self.graph, self.name)))

    def held_as_rows(self, chunks: tuple[tuple[int, ...], ...], dtype: Any) -> Any:
        """An array of Dask, of the values of the tasks, which the workers hold from now on."""
        self._put_each()
        return persisted(needed("dask.array").Array(self.graph, self.name, chunks, dtype=dtype))[0]

    def merged(self, merge: Callable[..., Any]) -> Any:
        """The sum of the values, in one order whoever adds up: see `merging`."""
        n = len(self._tasks)
        level = [self._put("part", home, self._part(merge, some)) for home, some in self._shares()]
        while len(level) > 1:
            groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
            level = [self._put("sum", None, (joined, merge, n, *group)) for group in groups]
        return whole(self._computed(level)[0])

    def _part(self, merge: Callable[..., Any], some: Sequence[int]) -> Any:
        """Sums over some blocks, added up as they come: no more than a few are there at a time."""
        if len(some) == 1:
            return alone, some[0], self._tasks[some[0]]
        half, n = len(some) // 2, len(self._tasks)
        return joined, merge, n, self._part(merge, some[:half]), self._part(merge, some[half:])

    def _shares(self) -> list[tuple[Home | None, list[int]]]:
        """Tasks by home; those that have none each for itself."""
        shares: dict[Any, list[int]] = {}
        for i, home in enumerate(self._all_homes()):
            shares.setdefault(i if home is None else home, []).append(i)
        return [(None if isinstance(home, int) else home, some) for home, some in shares.items()]

    def _all_homes(self) -> Sequence[Home | None]:
        return [None] * len(self._tasks) if self._homes is None else self._homes

    def _put_each(self) -> None:
        self._graph.update(zip(self.keys, self._tasks, strict=True))
        self._pins.update(zip(self.keys, self._all_homes(), strict=True))

    def _put(self, what: str, home: Home | None, task: Any) -> Any:
        key = (self.name, what, len(self._graph))
        self._graph[key], self._pins[key] = task, home
        return key

    def _of(self, some: Sequence[int]) -> list[Any]:
        return [self._tasks[i] for i in some]

    def _computed(self, keys: Sequence[Any]) -> list[Any]:
        delayed = _delayed(keys, self.graph, self.name)
        with telling_what_failed():
            return list(needed("dask").compute(*delayed, optimize_graph=False))


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


def _together(*values: Any) -> tuple[Any, ...]:
    return values


def _delayed(keys: Sequence[Any], graph: Any, name: str) -> list[Any]:
    make = needed("dask.delayed").Delayed
    return [make(key, graph, layer=name) for key in keys]
