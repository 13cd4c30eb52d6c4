"""Where the data of whoever computes are, on the host or on a device beside it; how precise."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["current_device", "current_precision", "data_on"]

# Of the estimator or function that computes.
_device: ContextVar[str] = ContextVar("device", default="cpu")
_precision: ContextVar[str | None] = ContextVar("precision", default=None)


@contextmanager
def data_on(device: str, precision: str | None = None) -> Iterator[None]:
    """Let engines be chosen, in the block, for data on a kind of device, and for their precision.

    None: nobody has chosen one.
    """
    tokens = _device.set(device), _precision.set(precision)
    try:
        yield
    finally:
        _device.reset(tokens[0])
        _precision.reset(tokens[1])


def current_device() -> str:
    """Where the data of whoever computes here are."""
    return _device.get()


def current_precision() -> str | None:
    """Precision of the tensors that were given to whoever computes here; None of NumPy's arrays."""
    return _precision.get()
