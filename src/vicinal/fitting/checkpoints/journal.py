"""What a fit has found out so far: written now and then, and not computed again.

A fit is a program that does the same with the same data and seed, but for its time. So what takes
long in it, runs of the loop and some calls (`remembered`), is numbered as it comes, and a journal
has the result of each that is done and where each stands that is not. To go on, the fit simply
begins anew: what the journal knows is answered at once, until the present is reached; all else is
short, and done again.

Calls within calls have numbers of their own ("3.1.2"), which nobody needs once the outer one is
done. With every result stands where all random generators stood then.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting.checkpoints.identity import Identity
from vicinal.fitting.checkpoints.packing import pack, unpack
from vicinal.fitting.checkpoints.storage import store
from vicinal.fitting.remarks import warn_user
from vicinal.inputs.checks import check_seed
from vicinal.neighborhood.arrays import Array

__all__ = [
    "Journal",
    "Page",
    "Unwritten",
    "a_page",
    "chance",
    "current",
    "cut_short",
    "remembered",
    "written_by",
]

# Seconds between two writings, and the largest share of the time that writing may take.
LEAST_SECONDS, LARGEST_SHARE = 2.0, 0.05

Result = TypeVar("Result")

# All that its state says, and what takes it back there.
Generator = np.random.Generator | np.random.RandomState

_DONE, _UNDER_WAY = "done", "under way"


class Journal:
    """Results of the calls of one fit.

    Parameters
    ----------
    path : Path
        Of the checkpoint.
    identity : Identity
        Of the fit.
    entries : dict of str to ndarray of uint8
        What an earlier process has written, by the numbers of calls.
    """

    def __init__(self, path: Path, identity: Identity, entries: dict[str, NDArray]) -> None:
        self.path, self._identity, self._entries = path, identity, entries
        self._numbers = [0]  # of the calls under way, the outermost first
        self._under_way: dict[str, Callable[[], NDArray]] = {}
        self._generators: list[Generator] = []
        self._is_closed = self._has_news = False
        self._next_writing = time.perf_counter() + LEAST_SECONDS

    @cached_property
    def chance(self) -> np.random.RandomState:
        """In place of numpy's own generator, which other processes have in another state."""
        seed = remembered(lambda: int(check_seed(None).randint(2**31 - 1)))
        self.watch(found := np.random.RandomState(seed))
        return found

    def watch(self, generator: Generator) -> None:
        """Note where a generator stands after each call, and take it there again."""
        self._generators.append(generator)

    @contextmanager
    def page(self, kinds: Sequence[type] = (), like: Array = None) -> Iterator["Page"]:
        """The page of the next call."""
        self._numbers[-1] += 1
        number = ".".join(map(str, self._numbers))
        self._numbers.append(0)
        try:
            yield Page(self, number, kinds, like)
        except BaseException as error:
            # An error is a result like any other: who goes on will see it again. But after Ctrl-C
            # what comes is not what would have come.
            if not isinstance(error, Exception):
                self.close()
            raise
        finally:
            self._numbers.pop()

    def close(self) -> None:
        """Write all that is known, and no more from here on."""
        if not self._is_closed:
            self.write()
        self._is_closed = True

    def write(self) -> None:
        """Write all that is known, if there is news.

        Neither a full disk nor a device that is lost, and with it where a fit stands, ends a fit.
        """
        if self._is_closed or not self._has_news:
            return
        began = time.perf_counter()
        try:
            entries = self._entries | {number: of() for number, of in self._under_way.items()}
            store(self.path, {"identity": _as_tree(self._identity), "entries": entries})
            self._has_news = False
        except (OSError, RuntimeError) as error:
            message = f"no checkpoint could be written ({error}): the fit goes on without."
            warn_user(message, UserWarning)
        ended = time.perf_counter()
        self._next_writing = ended + max(LEAST_SECONDS, (ended - began) / LARGEST_SHARE)

    def _news(self) -> None:
        self._has_news = True
        if time.perf_counter() >= self._next_writing:
            self.write()

    def _known(self, number: str, kinds: Sequence[type], like: Array) -> tuple[str, Any] | None:
        """Whether a call is done, and its result or where it stands; None: it is new."""
        if self._is_closed or number not in self._entries:
            return None
        standing, value, states = unpack(self._entries[number], kinds, like)
        if standing == _DONE:
            for generator, state in zip(self._generators, states, strict=True):
                _set_state(generator, state)
        return standing, value

    def _note(self, number: str, of: Callable[[], NDArray]) -> None:
        if not self._is_closed:
            self._under_way[number] = of
            self._news()

    def _keep(self, number: str, value: Any, kinds: Sequence[type]) -> None:
        """The result of a call, in place of all that is known of calls within it."""
        if self._is_closed:
            return
        states = [_state(generator) for generator in self._generators]
        within = f"{number}."
        self._entries = {n: e for n, e in self._entries.items() if not n.startswith(within)}
        self._under_way = {n: of for n, of in self._under_way.items() if not n.startswith(within)}
        self._under_way.pop(number, None)
        self._entries[number] = _bytes((_DONE, value, states), kinds)
        self._news()


class Page:
    """What is known of one call.

    Parameters
    ----------
    journal : Journal
    number : str
    kinds : sequence of class
        That may be part of it, beside plain values and arrays.
    like : array, optional
        Where tensors that are part of it belong.
    """

    is_kept = True

    def __init__(self, journal: Journal, number: str, kinds: Sequence[type], like: Array) -> None:
        self._journal, self._number, self._kinds, self._like = journal, number, kinds, like
        self._known = journal._known(number, kinds, like)

    @property
    def result(self) -> tuple[Any] | None:
        """The result, if the call is done."""
        return (self._known[1],) if self._known and self._known[0] == _DONE else None

    @property
    def standing(self) -> Any | None:
        """Where it stands, if it has begun."""
        return self._known[1] if self._known and self._known[0] == _UNDER_WAY else None

    def note(self, standing: Callable[[], Any]) -> None:
        """Tell that there is news, and what to ask for them when they are written."""

        def packed() -> NDArray:
            return _bytes((_UNDER_WAY, standing(), []), self._kinds)

        self._journal._note(self._number, packed)

    def keep(self, result: Any) -> None:
        """The call is done."""
        self._journal._keep(self._number, result, self._kinds)

    def leave(self) -> None:
        """The call was ended from outside: from here on nothing is as it would have been."""
        self._journal.close()


class Unwritten:
    """The page of a call where nobody keeps a journal."""

    is_kept = False
    result = standing = None

    def note(self, standing: Callable[[], Any]) -> None:
        """Nobody wants to know."""

    def keep(self, result: Any) -> None:
        """Nobody wants to know."""

    def leave(self) -> None:
        """Nobody wants to know."""


_current: ContextVar[Journal | None] = ContextVar("journal", default=None)


def current() -> Journal | None:
    """The journal of the fit that is under way, if it has one."""
    return _current.get()


def cut_short() -> None:
    """Tell the journal of a fit of Ctrl-C, where that ends a part of the fit and no more.

    For whoever catches it: from here on nothing is as it would have been, and nothing is kept.
    """
    journal = _current.get()
    if journal is not None:
        journal.close()


@contextmanager
def written_by(journal: Journal | None) -> Iterator[None]:
    """Let a fit write this journal, or none, whatever other fit it is part of."""
    token = _current.set(journal)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def a_page(kinds: Sequence[type] = (), like: Array = None) -> Iterator[Page | Unwritten]:
    """The page of the next call in the journal of the fit.

    Parameters
    ----------
    kinds : sequence of class, default=()
    like : array, optional
    """
    journal = _current.get()
    if journal is None:
        yield Unwritten()
        return
    with journal.page(kinds, like) as page:
        yield page


def chance(random_state: Any) -> Any:
    """The random state of a fit; where it is left open, one that its journal takes along.

    Parameters
    ----------
    random_state : int, RandomState, numpy.random or None
        As the user has it.
    """
    journal = _current.get()
    is_open = random_state is None or random_state is np.random
    return journal.chance if journal is not None and is_open else random_state


def remembered(
    compute: Callable[[], Result], kinds: Sequence[type] = (), like: Array = None
) -> Result:
    """What a call returns, or returned in an earlier process of the same fit.

    Parameters
    ----------
    compute : callable
        Whose result depends on the data and on chance alone, and which changes nothing but random
        generators that are watched.
    kinds : sequence of class, default=()
        That may be part of the result, beside plain values and arrays.
    like : array, optional
        Where tensors that are part of it belong.
    """
    with a_page(kinds, like) as page:
        if page.result is not None:
            return page.result[0]
        found = compute()
        page.keep(found)
        return found


def _bytes(value: Any, kinds: Sequence[type]) -> NDArray:
    return np.frombuffer(b"".join(pack(value, kinds)), np.uint8)


def _as_tree(identity: Identity) -> Any:
    return _bytes(identity, (Identity,))


def _state(generator: Generator) -> Any:
    if isinstance(generator, np.random.RandomState):
        return generator.get_state(legacy=False)
    return generator.bit_generator.state


def _set_state(generator: Generator, state: Any) -> None:
    if isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    else:
        generator.bit_generator.state = state
