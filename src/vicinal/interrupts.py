"""Ctrl-C that ends all of a piece of work, not only the fit that hears it."""

import signal
import sys
import threading
from types import FrameType
from typing import Any

__all__ = ["Interrupted", "Interrupts"]


class Interrupted(BaseException):
    """Ctrl-C, where a fit would take a KeyboardInterrupt as a wish to keep the best so far."""


class Interrupts:
    """Lets Ctrl-C end the work of a block, even inside a fit.

    An exception that a signal raises inside a finalizer or a callback from C
    (numba has both) is lost, but for a traceback. So it is remembered, and the
    traceback is not shown.
    """

    def __init__(self) -> None:
        self.happened = False

    def __enter__(self) -> "Interrupts":
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        self._installed = usual and threading.current_thread() is threading.main_thread()
        if self._installed:
            signal.signal(signal.SIGINT, self._stop)
            self._show, sys.unraisablehook = sys.unraisablehook, self._unraisable
        return self

    def __exit__(self, *error: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            sys.unraisablehook = self._show
        self.check()  # an error that came after it came of it

    def _stop(self, signum: int, frame: FrameType | None) -> None:
        self.happened = True
        self.check()

    def _unraisable(self, lost: Any) -> None:
        if not isinstance(lost.exc_value, Interrupted):
            self._show(lost)

    def check(self) -> None:
        """Stop here if Ctrl-C was pressed."""
        if self.happened:
            raise Interrupted
