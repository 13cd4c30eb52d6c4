"""A line of text that changes: rewritten in place on a terminal, else a new one now and then."""

import sys
import time
from typing import TextIO

__all__ = ["StatusLine"]

_SECONDS_BETWEEN_LINES = 5.0


class StatusLine:
    """What is going on, in one line.

    Parameters
    ----------
    stream : text stream, default=sys.stderr
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stderr
        self._in_place = self.stream.isatty()
        self._written = 0
        self._next_line = 0.0

    def show(self, line: str) -> None:
        """Say how it is now."""
        if self._in_place:
            self.stream.write("\r" + line.ljust(self._written))
            self._written = len(line)
        elif time.perf_counter() >= self._next_line:
            self._next_line = time.perf_counter() + _SECONDS_BETWEEN_LINES
            self.stream.write(line + "\n")
        self.stream.flush()

    def close(self, message: str) -> None:
        """Say how it ended, on a line of its own."""
        before = "\n" if self._in_place else ""
        self.stream.write(f"{before}{message}\n")
        self.stream.flush()
