"""Arrays of more than one library: the equations are written once, for NumPy and for torch.

NumPy's arrays are served by NumPy itself; torch is never imported here: whoever brings its
tensors has imported it. Nothing here, but for `on_host`, waits for a device.
"""

from types import ModuleType, NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Array",
    "as_number",
    "beside",
    "device_of",
    "dtype_of",
    "in_dtype_of",
    "is_chunked",
    "is_numpy",
    "joined",
    "namespace",
    "new_zeros",
    "on_host",
    "ones",
    "picked",
    "placed_like",
    "positions",
    "sums_are_here",
    "totals",
]

# NumPy's arrays, or tensors of another library: all that the equations say holds for either.
Array = Any

_NUMPY = (np.ndarray, np.generic, int, float, NoneType)


def is_numpy(*arrays: Array) -> bool:
    """Whether all of them, but for those that are None or plain numbers, are NumPy's."""
    # Not all(...): small fits ask so often that a generator would be felt.
    for array in arrays:  # noqa: SIM110
        if not isinstance(array, _NUMPY):
            return False
    return True


def is_chunked(array: Array) -> bool:
    """Whether an array is one of Dask, whose rows live on the workers of a cluster, or made of one.

    Sums over its rows are NumPy's, as is everything else about a fit to them.
    """
    if isinstance(array, _NUMPY):
        return False
    kind = type(array)
    return kind.__module__.startswith("dask.array") or getattr(kind, "lives_there", False)


def sums_are_here(X: Array) -> bool:
    """Whether sums over rows are NumPy's: over those here, and over a cluster's."""
    return is_numpy(X) or is_chunked(X)


def picked(X: Array, which: Array | slice) -> Array:
    """Some rows where they are; those of a cluster are gathered as NumPy's."""
    if not is_chunked(X):
        return X[which]
    from vicinal.neighborhood.cluster.rows import picked_rows

    return picked_rows(X, which)


def joined(rows: NDArray, others: Array) -> Array:
    """Rows and then the others; on the workers, where these are there."""
    if not is_chunked(others):
        return np.concatenate([rows, others])
    from vicinal.neighborhood.cluster.rows import joined_rows

    return joined_rows(rows, others)


def namespace(*arrays: Array) -> ModuleType:
    """The module whose functions take these arrays, by the standard for arrays in Python."""
    if is_numpy(*arrays):
        return np
    try:
        from array_api_compat import array_namespace
    except ImportError as error:
        raise ImportError(
            "Computations with tensors need array-api-compat: pip install 'vicinal[gpu]'."
        ) from error
    return array_namespace(*(array for array in arrays if not is_numpy(array)))


def on_host(array: Array) -> NDArray:
    """The array as NumPy's, copied where it is on another device or on a cluster."""
    if isinstance(array, np.ndarray):
        return array
    if is_chunked(array):
        from vicinal.neighborhood.cluster.rows import here

        return here(array)
    return np.asarray(array.detach().cpu() if hasattr(array, "detach") else array)


def placed_like(values: Array, reference: Array) -> Array:
    """Values as an array of the library and on the device of another one, in their own dtype."""
    if is_numpy(reference):
        return on_host(values)
    if is_numpy(values):
        values = np.asarray(values)
    return namespace(reference).asarray(values, device=reference.device)


def in_dtype_of(reference: Array, values: Array) -> Array:
    """Values in the precision of another array, on its device; themselves where they are."""
    if is_numpy(reference):
        return on_host(values).astype(reference.dtype, copy=False)
    if is_chunked(reference):
        return values.astype(reference.dtype, copy=False)  # here or there, as it is
    xp = namespace(reference)
    return xp.astype(placed_like(values, reference), reference.dtype, copy=False)


def beside(reference: Array, values: Array) -> Array:
    """Values for computing with an array: on its device, and where it is a tensor as precise.

    NumPy's stay as they are; a tensor that meets more precise ones would become so, too.
    """
    return values if is_numpy(reference, values) else in_dtype_of(reference, values)


def as_number(value: Array) -> Array:
    """NumPy's scalar as a float; another library's as it is: a float would wait for the device."""
    return float(value) if is_numpy(value) else value


def dtype_of(*arrays: Array) -> str:
    """Name of the precision that arrays are computed with together: "float64"."""
    if is_numpy(*arrays):
        return np.result_type(*arrays).name
    return str(namespace(*arrays).result_type(*arrays)).rpartition(".")[2]


def device_of(array: Array) -> str:
    """The kind of device an array is on: "cpu" or "cuda"."""
    return "cpu" if is_numpy(array) else str(array.device.type)


def positions(reference: Array) -> Array:
    """0 to n - 1 for an array of n rows, on its device."""
    if is_numpy(reference):
        return np.arange(len(reference))
    return namespace(reference).arange(len(reference), device=reference.device)


def ones(reference: Array) -> Array:
    """A one for each row of an array, in its precision on its device; NumPy's in float64."""
    if sums_are_here(reference):
        return np.ones(len(reference))
    xp = namespace(reference)
    return xp.ones(len(reference), dtype=reference.dtype, device=reference.device)


def new_zeros(reference: Array, shape: tuple[int, ...]) -> Array:
    """Zeros in the precision of another array, on its device."""
    if is_numpy(reference):
        return np.zeros(shape, reference.dtype)
    return namespace(reference).zeros(shape, dtype=reference.dtype, device=reference.device)


def totals(labels: Array, weights: Array | None, n_classes: int) -> Array:
    """Sums of weights, or numbers of points, by class, in float64, shape (n_classes,)."""
    if is_numpy(labels):
        return np.bincount(labels, weights, minlength=n_classes).astype(np.float64)
    xp, place = namespace(labels), {"dtype": namespace(labels).float64, "device": labels.device}
    each = xp.ones(len(labels), **place) if weights is None else xp.astype(weights, xp.float64)
    # Not bincount, which waits to hear how many classes there are.
    return xp.zeros(n_classes, **place).index_put((labels,), each, accumulate=True)
