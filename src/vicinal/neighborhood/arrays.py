"""Arrays of more than one library: the equations are written once, for NumPy and for torch.

NumPy's arrays are served by NumPy itself; torch is never imported here: whoever brings its
tensors has imported it.
"""

from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["is_numpy", "namespace", "on_host", "placed_like"]

# NumPy's arrays, or tensors of another library: all that the equations say holds for either.
Array = Any


def is_numpy(*arrays: Array) -> bool:
    """Whether all of them, but for those that are None or plain numbers, are NumPy's."""
    return all(
        array is None or isinstance(array, np.ndarray | np.generic | int | float)
        for array in arrays
    )


def namespace(*arrays: Array) -> ModuleType:
    """The module whose functions take these arrays, by the standard for arrays in Python."""
    if is_numpy(*arrays):
        return np
    from array_api_compat import array_namespace

    return array_namespace(*(array for array in arrays if not is_numpy(array)))


def on_host(array: Array) -> NDArray:
    """The array as NumPy's, copied where it is on another device."""
    if isinstance(array, np.ndarray):
        return array
    return np.asarray(array.detach().cpu() if hasattr(array, "detach") else array)


def placed_like(values: Array, reference: Array) -> Array:
    """Values as an array of the library and on the device of another one, in their own dtype."""
    if is_numpy(reference):
        return on_host(values)
    if is_numpy(values):
        values = np.asarray(values)
    return namespace(reference).asarray(values, device=reference.device)
