"""Whether there is a GPU to compute on; nothing here loads torch before it is asked."""

import os
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vicinal.neighborhood.engine import Engine

__all__ = [
    "MOST_DIMS",
    "DeviceLostError",
    "cuda_engine",
    "has_gpu",
    "is_device_failure",
    "is_out_of_memory",
    "is_usable",
]

# Beyond this a tile of points has no room beside its sums.
MOST_DIMS = 512

# What the extra "gpu" brings.
_NEEDED = ("torch", "triton", "array_api_compat")


class DeviceLostError(RuntimeError):
    """A device failed or ran out of memory: what was learned before is not lost."""


# By torch, known by their names: it may not be there.
_OUT_OF_MEMORY, _FAILED = "OutOfMemoryError", "AcceleratorError"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the host, or a device, has no room."""
    return isinstance(error, MemoryError) or type(error).__name__ == _OUT_OF_MEMORY


def is_device_failure(error: BaseException) -> bool:
    """Whether a device failed, or has no room; a failure may be heard of anywhere, and late."""
    is_torchs = type(error).__name__ in (_OUT_OF_MEMORY, _FAILED)
    return isinstance(error, DeviceLostError) or is_torchs


@lru_cache(maxsize=1)
def has_gpu() -> bool:
    """Whether there is a CUDA device, and all that is needed to use it."""
    if any(find_spec(name) is None for name in _NEEDED):
        return False
    import torch

    return torch.cuda.is_available()


def _is_interpreted() -> bool:
    """Whether Triton is told to interpret its kernels, slowly, on the CPU."""
    return os.environ.get("TRITON_INTERPRET") == "1"


def is_usable() -> bool:
    """Whether the engine can be made here."""
    return has_gpu() or (_is_interpreted() and all(find_spec(name) for name in _NEEDED))


def cuda_engine(precision: str) -> "Engine":
    """The engine for a GPU; on the CPU where Triton interprets."""
    if any(find_spec(name) is None for name in _NEEDED):
        raise ImportError(
            'engine="cuda" needs torch, triton and array-api-compat: pip install "vicinal[gpu]"'
        )
    if not is_usable():
        raise ValueError('engine="cuda" found no CUDA device: use engine="auto".')
    from vicinal.neighborhood.cuda import CudaEngine

    return CudaEngine(precision=precision, device="cpu" if _is_interpreted() else "cuda")
