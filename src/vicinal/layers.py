"""A learned map as a layer of torch, for networks that begin or end with it."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vicinal.compiling.libraries import importing

if TYPE_CHECKING:
    import torch

__all__ = ["linear_layer"]


def linear_layer(components: NDArray) -> "torch.nn.Linear":
    """A layer without bias that maps rows as a model does; see `LinearMapMixin.to_torch`."""
    with importing("torch", "gpu", "to_torch"):
        import torch
    weight = torch.from_numpy(np.array(components, order="C"))
    d, n_features = components.shape
    # Without weights drawn first, which would move the user's seed.
    layer = torch.nn.utils.skip_init(torch.nn.Linear, n_features, d, bias=False, dtype=weight.dtype)
    layer.weight = torch.nn.Parameter(weight)
    return layer
