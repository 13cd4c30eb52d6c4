"""Whether there is a GPU to compute on; nothing here loads torch before it is asked."""

import os
from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vicinal.neighborhood.engine import Engine

__all__ = ["DeviceLostError", "cuda_engine", "has_gpu"]

# What the extra "gpu" brings.
_NEEDED = ("torch", "triton", "array_api_compat")


class DeviceLostError(RuntimeError):
    """A device failed or ran out of memory: what was learned before is not lost."""


@lru_cache(maxsize=1)
def has_gpu() -> bool:
    """Whether there is a CUDA device, and all that is needed to use it."""
    if any(find_spec(name) is None for name in _NEEDED):
        return False
    import torch

    return torch.cuda.is_available()


def cuda_engine(precision: str) -> "Engine":
    """The engine for a GPU; on the CPU, slowly, where Triton is told to interpret its kernels."""
    if any(find_spec(name) is None for name in _NEEDED):
        raise ImportError(
            'engine="cuda" needs torch, triton and array-api-compat: pip install "vicinal[gpu]"'
        )
    is_interpreted = os.environ.get("TRITON_INTERPRET") == "1"
    if not (has_gpu() or is_interpreted):
        raise ValueError('engine="cuda" found no CUDA device: use engine="auto".')
    from vicinal.neighborhood.cuda import CudaEngine

    return CudaEngine(precision=precision, device="cpu" if is_interpreted else "cuda")
