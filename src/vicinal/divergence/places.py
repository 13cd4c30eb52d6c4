"""Where Gaussians are compared: on the CPU, tile by tile on threads, or on a GPU, in batches.

Either way in double precision: eigenvalues of a covariance may be 1e24 apart, and divergences of
neighbors are small differences of large numbers.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from vicinal.divergence.divergences import Divergence
from vicinal.divergence.gaussians import LocalGaussians
from vicinal.neighborhood.arrays import Array
from vicinal.neighborhood.devices import current_device
from vicinal.neighborhood.gpu import DeviceLostError, device_for_cuda, has_gpu
from vicinal.neighborhood.threads import effective_n_threads

__all__ = ["HOST", "Device", "Place", "choose_place"]

# Products of eigenvectors held at a time by every thread, and the largest side of a tile.
_TILE_NUMBERS, _TILE = 1_000_000, 128

# Numbers held at a time on a device, at least and at most (4 GB, and about as much again for what
# is on its way), the bytes that must be free there for each of them, and the largest side of a
# tile. Small pieces keep a large device waiting for Python.
_LEAST_NUMBERS, _MOST_NUMBERS, _FREE_BYTES, _DEVICE_TILE = 16_000_000, 512_000_000, 256, 2048

# Pairs from which a GPU pays: an H200 takes a half to a fifth of the time of sixteen cores for so
# many (benchmarks/results/gpu.md), but hardly less where eigenvalues of few rows are needed.
GPU_PAIRS = 4_000_000


class Place(Protocol):
    """Where, and how many at a time."""

    @property
    def told(self) -> str:
        """What the work there is called."""

    @property
    def in_batches(self) -> bool:
        """Whether given pairs are computed by an equation, many at once."""

    def n_threads(self, n_jobs: int | None) -> int:
        """Threads that work on tiles."""

    def side(self, divergence: Divergence, rank: int, n_features: int) -> int:
        """Points on each side of a tile, for Gaussians that are compared in frames of this rank."""

    def working(self) -> AbstractContextManager[None]:
        """Around all work there: who has no room says so in words."""

    def sent(self, gaussians: LocalGaussians) -> LocalGaussians:
        """Gaussians where they are compared."""

    def tile(
        self, divergence: Divergence, P: LocalGaussians, Q: LocalGaussians, upper: bool
    ) -> Array:
        """Values of all pairs there; see `Divergence.tile`."""


@dataclass(frozen=True)
class Host:
    """The CPU, with NumPy's arrays."""

    told: str = "divergences"
    in_batches: bool = False

    def n_threads(self, n_jobs: int | None) -> int:
        """As many as are asked for."""
        return effective_n_threads(n_jobs)

    def side(self, divergence: Divergence, rank: int, n_features: int) -> int:
        """Points on each side of a tile."""
        return int(np.clip(np.sqrt(_TILE_NUMBERS) / rank, 1, _TILE))

    def working(self) -> AbstractContextManager[None]:
        """Nothing is to be said."""
        return nullcontext()

    def sent(self, gaussians: LocalGaussians) -> LocalGaussians:
        """The Gaussians themselves."""
        return gaussians

    def tile(
        self, divergence: Divergence, P: LocalGaussians, Q: LocalGaussians, upper: bool
    ) -> Array:
        """Values of all pairs, by what the divergence has for tiles."""
        return divergence.tile(P, Q, upper)


@dataclass(frozen=True)
class Device:
    """A GPU, with torch's tensors.

    Attributes
    ----------
    name : str
        As torch knows it.
    """

    name: str
    told: str = "divergences, on a GPU"
    in_batches: bool = True

    @property
    def numbers(self) -> int:
        """Numbers held at a time: as free memory has it."""
        import torch

        device = torch.device(self.name)
        free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else 0
        return int(np.clip(free // _FREE_BYTES, _LEAST_NUMBERS, _MOST_NUMBERS))

    def n_threads(self, n_jobs: int | None) -> int:
        """One, which waits for the device."""
        return 1

    def side(self, divergence: Divergence, rank: int, n_features: int) -> int:
        """Points on each side of a tile: its square is the size of a batch, too."""
        pairs = self.numbers / divergence.batch_numbers(rank, n_features)
        return int(np.clip(np.sqrt(pairs), 1, _DEVICE_TILE))

    @contextmanager
    def working(self) -> Iterator[None]:
        """A device that fails or has no room is a `DeviceLostError`."""
        import torch

        try:
            yield
        except torch.OutOfMemoryError as error:
            raise DeviceLostError(
                f"Divergences are computed in pieces of about {16e-9 * self.numbers:.1g} GB, "
                f'and {self.name} has no room for one: free some, or use engine="dense" or '
                f'"low-rank", on the CPU. {error}'
            ) from error
        except torch.AcceleratorError as error:
            raise DeviceLostError(f"The device {self.name} failed: {error}") from error

    def sent(self, gaussians: LocalGaussians) -> LocalGaussians:
        """The Gaussians in tensors on the device."""
        import torch

        def send(array: Any) -> torch.Tensor:
            # A copy, though the device may be the CPU: arrays may not be for writing.
            return torch.tensor(np.ascontiguousarray(array), device=self.name)

        with self.working():
            return gaussians.map(send)

    def tile(
        self, divergence: Divergence, P: LocalGaussians, Q: LocalGaussians, upper: bool
    ) -> Array:
        """Values of all pairs, by the equation."""
        return divergence.in_batch(P, Q, is_tile=True)


HOST = Host()


def choose_place(engine: str, divergence: Divergence, n_pairs: int) -> Place:
    """Where so many pairs are compared: a GPU if it is asked for, has the data, or pays."""
    if engine == "cuda":
        if divergence.equation is None:
            raise ValueError(
                f'engine="cuda" has no equation for divergence={divergence.name!r}, which is '
                'computed on the CPU: use engine="auto".'
            )
        return Device(device_for_cuda())
    if engine != "auto" or divergence.equation is None:
        return HOST
    pays = n_pairs >= GPU_PAIRS and divergence.shapes
    if current_device() == "cuda" or (pays and has_gpu()):
        return Device("cuda")
    return HOST
