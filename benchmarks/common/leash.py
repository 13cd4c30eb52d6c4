"""Processes that end with this one, however it ends: Ctrl-C, SIGTERM, SIGKILL or a crash.

Every child leads a process group of its own, in which its own children are ended with it. Linux is
asked to kill a child as soon as its parent is gone. Other systems cannot be asked, and Linux would
not kill the child's children: a guard does that. It is a small process that is told over a pipe
which groups there are, and kills them when the pipe closes, which the system does for the dead.
Windows has no process groups of this kind, and is not supported.
"""

import atexit
import contextlib
import ctypes
import functools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>

GUARD = """
import os, signal, sys
groups = set()
for line in sys.stdin:
    keep = groups.add if line[0] == "+" else groups.discard
    keep(int(line[1:]))
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass
"""


@contextlib.contextmanager
def tied(
    command: Sequence[str], prepare: Callable[[], None] | None = None, **options: Any
) -> Iterator[subprocess.Popen]:
    """A process that is killed, with all it has started, when the block or this process ends.

    `prepare` runs in the child before the command; `options` are those of `subprocess.Popen`.
    """
    guard = the_guard()
    steps = [step for step in (dies_with(os.getpid()), prepare) if step is not None]

    def first() -> None:
        for step in steps:
            step()

    with subprocess.Popen(command, process_group=0, preexec_fn=first, **options) as child:
        guard.watch(child.pid)
        try:
            yield child
        finally:
            kill_group(child.pid)
            guard.forget(child.pid)


def dies_with(parent: int) -> Callable[[], None] | None:
    """What a child has to do on Linux in order to be killed as soon as its parent is gone.

    For Linux that is the thread that started the child; here it waits for the child in any case.
    """
    if sys.platform != "linux":
        return None
    libc = ctypes.CDLL(None)  # before the fork: nothing should be loaded after it

    def ask() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it was gone before the kernel knew of the wish
            os._exit(1)

    return ask


def kill_group(group: int) -> None:
    """End a process and all it has started, where they have not ended already."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


class Guard:
    """The process that outlives this one for a moment, to end what is left of its children."""

    def __init__(self) -> None:
        # A session of its own: what ends a whole group or terminal must not end the guard.
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", GUARD],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
        atexit.register(self._end)

    def watch(self, group: int) -> None:
        """Kill the group at the end of this process."""
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        """The group has ended."""
        self._tell(f"-{group}\n")

    def _end(self) -> None:
        """Close the pipe, upon which the guard ends, too."""
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate()

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        # Somebody may have killed the guard; hours of measurements need not end with it.
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(line.encode())


@functools.cache
def the_guard() -> Guard:
    """One for all children, started with the first of them."""
    return Guard()
