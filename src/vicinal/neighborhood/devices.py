"""Where the data of whoever computes are: on the host, or on a device beside it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["current_device", "data_on"]

# Of the estimator or function that computes.
_device: ContextVar[str] = ContextVar("device", default="cpu")


@contextmanager
def data_on(device: str) -> Iterator[None]:
    """Let engines be chosen, in the block, for data on a kind of device."""
    token = _device.set(device)
    try:
        yield
    finally:
        _device.reset(token)


def current_device() -> str:
    """Where the data of whoever computes here are."""
    return _device.get()
