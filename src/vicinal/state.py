"""What of a model goes into its file, where that is less than what is pickled, and back."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from inspect import signature
from typing import Any

__all__ = ["SavedStateMixin", "writing_a_file"]

_writing = ContextVar("writing", default=False)


@contextmanager
def writing_a_file() -> Iterator[None]:
    """States asked for in this context are for a file, to be read anywhere by anybody."""
    token = _writing.set(True)
    try:
        yield
    finally:
        _writing.reset(token)


def _defaults(kind: type) -> dict[str, Any]:
    """Values of an estimator's parameters where nobody gives others."""
    parameters = signature(kind).parameters.values()
    return {each.name: each.default for each in parameters if each.default is not each.empty}


class SavedStateMixin:
    """Leaves out what is no part of a model, or can be had from the rest of it.

    Copies and pickles keep it all.
    """

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())  # type: ignore[call-overload]
        if _writing.get():
            for name in self._not_in_files():
                state.pop(name, None)
            if "checkpoint" in state:  # a place on the machine that has fitted it
                state["checkpoint"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Parameters that are newer than a file have the values that change nothing: defaults."""
        super().__setstate__({**_defaults(type(self)), **state})  # type: ignore[misc]

    def _not_in_files(self) -> tuple[str, ...]:
        """Names of attributes."""
        # What belongs to the session that set it: callbacks, as a progress bar or a plot, and
        # requests for scikit-learn's metadata routing.
        return ("_skl_callbacks", "_metadata_request")
