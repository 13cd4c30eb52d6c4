"""Work that repeats, recorded once and then started by a single call: CUDA graphs.

A small update is some two hundred operations of microseconds, and Python takes longer to start
them than the device to do them. What the host has to be told in between (`told`: how far points
reach) cuts a recording into segments: its answer decides what follows, so that a recording holds
for the answers it was made with, and others are made for others.
"""

import gc
import math
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

import torch
from torch import Tensor

__all__ = ["Repeated", "is_recording", "told"]

Function = Callable[..., tuple[Tensor, ...]]
Answer = TypeVar("Answer", bound=Hashable)

# Calls of a shape that are made plainly: few are not worth a recording.
_PLAIN_CALLS = 2

# Recordings that are kept for arguments of one shape; each has memory of its own.
_MOST_RECORDINGS = 8


@dataclass
class _Segment:
    """What the device does without asking, and the question at its end, if there is one."""

    graph: torch.cuda.CUDAGraph
    asked: Tensor | None = None
    decide: Callable[[list[float]], Hashable] | None = None
    answer: Hashable = None

    def replay(self) -> bool:
        """Whether the device's answer is the one that the next segment was recorded for."""
        self.graph.replay()
        if self.asked is None or self.decide is None:
            return True
        return self.decide(self.asked.tolist()) == self.answer


@dataclass
class _Recorder:
    """Takes down what a function starts; done at once, segment by segment."""

    segments: list[_Segment] = field(default_factory=list)
    pool: Any = field(default_factory=torch.cuda.graph_pool_handle)

    def __enter__(self) -> Self:
        self.begin()
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        if error is None:
            self.end()
        elif torch.cuda.is_current_stream_capturing():
            with suppress(RuntimeError):  # what went wrong before is on its way to the caller
                self.segments[-1].graph.capture_end()

    def begin(self) -> None:
        """A new segment."""
        self.segments.append(_Segment(torch.cuda.CUDAGraph()))
        self.segments[-1].graph.capture_begin(self.pool, capture_error_mode="thread_local")

    def end(self) -> None:
        """End it, and do what it holds."""
        self.segments[-1].graph.capture_end()
        self.segments[-1].graph.replay()

    def ask(self, values: Tensor, decide: Callable[[list[float]], Answer]) -> Answer:
        """What is decided for the present values; what comes next is another segment."""
        self.end()
        answer = decide(values.tolist())
        last = self.segments[-1]
        last.asked, last.decide, last.answer = values, decide, answer
        self.begin()
        return answer


_RECORDER: ContextVar[_Recorder | None] = ContextVar("recorder", default=None)


def told(values: Tensor, decide: Callable[[list[float]], Answer]) -> Answer:
    """What the host decides by some values of the device, for which it waits.

    Parameters
    ----------
    values : Tensor
    decide : callable
        From the values to all that what follows depends on.
    """
    recorder = _RECORDER.get()
    return decide(values.tolist()) if recorder is None else recorder.ask(values, decide)


def is_recording() -> bool:
    """Whether what is started now is taken down for later."""
    return _RECORDER.get() is not None


@contextmanager
def _no_collection() -> Iterator[None]:
    """While nothing is freed by chance: to end a graph is not allowed while another is recorded."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass
class _Recording:
    """What a function does with arguments in one place, given the device's answers."""

    arguments: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    segments: list[_Segment]

    @classmethod
    def of(cls, function: Function, arguments: tuple[Tensor, ...]) -> "_Recording":
        """Take down a function; what it does is done, too."""
        kept = tuple(each.clone() for each in arguments)
        function(*kept)  # compiles and keeps what it may: nothing of that can be recorded
        recorder, stream, caller = _Recorder(), torch.cuda.Stream(), torch.cuda.current_stream()
        stream.wait_stream(caller)
        token = _RECORDER.set(recorder)
        try:
            with _no_collection(), torch.cuda.stream(stream), recorder:
                results = function(*kept)
        finally:
            _RECORDER.reset(token)
        caller.wait_stream(stream)
        return cls(kept, results, recorder.segments)

    def holds(self, arguments: tuple[Tensor, ...]) -> bool:
        """Do it with other arguments; False where an answer is new and the results are void."""
        for mine, given in zip(self.arguments, arguments, strict=True):
            mine.copy_(given)
        return all(segment.replay() for segment in self.segments)


class Repeated:
    """A function of tensors that is called many times with arguments of few shapes.

    Parameters
    ----------
    function : callable
        From tensors on a CUDA device to some; all else that it looks at stays as and where it is.
        It waits for the device through `told` only, and draws no random numbers.
    """

    def __init__(self, function: Function) -> None:
        self._function = function
        self._plain_calls: dict[Hashable, float] = {}  # still to be made, for each kind
        self._recordings: dict[Hashable, list[_Recording]] = {}

    def __call__(self, *arguments: Tensor) -> tuple[Tensor, ...]:
        """What the function returns."""
        kind = tuple((each.shape, each.dtype) for each in arguments)
        left = self._plain_calls.setdefault(kind, _PLAIN_CALLS)
        if left > 0:
            self._plain_calls[kind] = left - 1
            return self._function(*arguments)
        known = self._recordings.setdefault(kind, [])
        latest = next((each for each in known if each.holds(arguments)), None)
        if latest is None:
            latest = self._new_recording(kind, arguments)
            if latest is None:
                return self._function(*arguments)
        others = [each for each in known if each is not latest]
        self._recordings[kind] = [latest, *others][:_MOST_RECORDINGS]
        return tuple(each.clone() for each in latest.results)

    def _new_recording(self, kind: Hashable, arguments: tuple[Tensor, ...]) -> _Recording | None:
        """None where there is no room for it: such calls are plain ones from now on."""
        try:
            return _Recording.of(self._function, arguments)
        except torch.OutOfMemoryError:
            self._plain_calls[kind] = math.inf
            self._recordings[kind] = []
            return None
