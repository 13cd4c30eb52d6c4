"""Soft neighborhoods as a loss for networks, for PyTorch.

Here, beside the engine for GPUs, and nowhere else in vicinal torch is imported.
"""

try:
    import array_api_compat as _array_api_compat  # noqa: F401 - the equations need it for tensors
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(f"vicinal.torch needs {error.name}: pip install 'vicinal[torch]'") from error

from vicinal.torch.loss import NeighborhoodLoss

__all__ = ["NeighborhoodLoss"]
