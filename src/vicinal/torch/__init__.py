"""Neighborhood component analysis as a loss for PyTorch networks.

Torch is imported here, by the engine for GPUs and by `vicinal.layers`, and nowhere else in vicinal.
"""

try:
    import array_api_compat as _array_api_compat  # noqa: F401 - the equations need it for tensors
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "vicinal.torch needs torch and array-api-compat: pip install 'vicinal[gpu]'"
    ) from error

from vicinal.torch.loss import NeighborhoodLoss

__all__ = ["NeighborhoodLoss"]
