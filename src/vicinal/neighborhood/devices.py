"""Where the data of whoever computes are: on the host, or on a device beside it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from vicinal.neighborhood.arrays import Array, is_numpy

__all__ = ["current_device", "data_on", "device_of"]

# Of the estimator or function that computes.
_device: ContextVar[str] = ContextVar("device", default="cpu")


def device_of(array: Array) -> str:
    """The kind of device that holds an array: "cpu", "cuda"."""
    return "cpu" if is_numpy(array) else str(getattr(array.device, "type", array.device))


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
