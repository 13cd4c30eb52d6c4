"""An engine that computes on a device, as far as models can tell, and who waits for it.

The device is torch's on the CPU: what is there are tensors, and to read one on the host is to wait.
"""

from contextlib import contextmanager
from dataclasses import fields, replace

import numpy as np
import pytest

from vicinal.neighborhood import Abilities, ColumnSums, RowSums
from vicinal.neighborhood.blocked import BlockedEngine

torch = pytest.importorskip("torch")

# What brings a value from a device to the host.
READING = (
    "item", "tolist", "numpy", "cpu", "nonzero", "__float__", "__int__", "__bool__", "__index__",
    "__array__", "__iter__", "__contains__",
)  # fmt: skip


class Waits:
    """Counts values that the host reads from tensors, but for those that the engine reads."""

    def __init__(self):
        self.readings, self.sizes = [], []
        self.is_inside = False

    def __len__(self):
        return len(self.readings)

    @contextmanager
    def inside(self):
        """While the engine computes."""
        before, self.is_inside = self.is_inside, True
        try:
            yield
        finally:
            self.is_inside = before


@contextmanager
def counted_waits(monkeypatch):
    """Count what is read from tensors in the block."""
    waits = Waits()

    def counting(name, original):
        def read(tensor, *args, **options):
            if not waits.is_inside:
                waits.readings.append(name)
                waits.sizes.append(0 if name == "__array__" else tensor.numel())  # "cpu" came first
            with waits.inside():  # one reading may use another
                return original(tensor, *args, **options)

        return read

    with monkeypatch.context() as patch:
        for name in READING:
            patch.setattr(torch.Tensor, name, counting(name, getattr(torch.Tensor, name)))
        Elsewhere.waits = waits
        try:
            yield waits
        finally:
            Elsewhere.waits = Waits()


class Elsewhere:
    """Tensors in, tensors out; NumPy's arrays in, NumPy's out. Each pass is that of "blocked"."""

    name = "elsewhere"
    can = Abilities(takes=lambda law: True, devices=("cpu", "cuda"))
    waits = Waits()
    full = False  # whether it has no room for the rows of a table

    def __init__(self, n_jobs=None):
        self.inner = BlockedEngine(n_jobs, compiled=False)

    def place(self, array):
        if isinstance(array, torch.Tensor):
            return array
        if self.full and np.ndim(array) == 2 and len(array) > 100:
            raise torch.OutOfMemoryError("no room")
        return torch.tensor(array)

    def rows(self, pairs, law, *, moments=True):
        with self.waits.inside():
            found = self.inner.rows(on_host(pairs), law, moments=moments)
            return RowSums(*(like(pairs, part) for part in found._arrays()))

    def columns(self, pairs, law, log_slope, coefficients, *, moments=True):
        with self.waits.inside():
            terms = np.asarray(log_slope), np.asarray(coefficients)
            found = self.inner.columns(on_host(pairs), law, *terms, moments=moments)
            return ColumnSums(like(pairs, found.total), like(pairs, found.moment))


def on_host(pairs):
    values = {field.name: getattr(pairs, field.name) for field in fields(pairs)}
    tensors = {name: v.numpy() for name, v in values.items() if isinstance(v, torch.Tensor)}
    return replace(pairs, **tensors) if tensors else pairs


def like(pairs, array):
    return torch.tensor(array) if isinstance(pairs.queries, torch.Tensor) else array
