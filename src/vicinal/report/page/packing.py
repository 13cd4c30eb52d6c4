"""Numbers in as few characters as a page can carry them."""

from base64 import b64encode

import numpy as np
from numpy.typing import NDArray

from vicinal.report.numbers.plane import CORE

__all__ = ["on_a_grid", "pack"]

_WHOLE = ("u1", "u2", "i2", "i4")  # the shortest first

# What a float32 keeps with all the digits that are shown, 0 aside: smaller numbers lose theirs, and
# of larger whole ones the last.
_LEAST, _LARGEST = 2.0**-120, 2.0**24

_STEPS = 32_000  # of a coordinate to either side, more than any screen has
_FINE_STEPS = 2**30  # where a few far points leave all others but a small part of the picture
_CROWDED = 0.1


def pack(array: NDArray | None) -> dict[str, str] | None:
    """The bytes of an array, little-endian, as text: in the shortest type that holds its numbers.

    Parameters
    ----------
    array : ndarray of int or float, or None

    Returns
    -------
    dict with "dtype" and "bytes", or None

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.page.packing import pack
    >>> pack(np.array([1, 258]))
    {'dtype': 'u2', 'bytes': 'AQACAQ=='}
    """
    if array is None:
        return None
    kind = _whole_kind(array) if array.dtype.kind in "iu" else _float_kind(array)
    text = b64encode(np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()).decode()
    return {"dtype": kind, "bytes": text}


def _whole_kind(array: NDArray) -> str:
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    for kind in _WHOLE:
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return kind
    raise OverflowError(f"numbers from {low} to {high} are more than a page carries.")


def _float_kind(array: NDArray) -> str:
    sizes = np.abs(array[array != 0])
    return "f4" if ((sizes >= _LEAST) & (sizes <= _LARGEST)).all() else "f8"


def on_a_grid(points: NDArray) -> tuple[NDArray, NDArray]:
    """Both coordinates as whole numbers, on the same scale.

    Parameters
    ----------
    points : ndarray of shape (n, 2)

    Returns
    -------
    tuple of two ndarray of int, shape (n,)
    """
    low, high = points.min(axis=0), points.max(axis=0)
    reach = float((high / 2 - low / 2).max()) or 1.0  # of points at one place nothing is to see
    places = (points - (low / 2 + high / 2)) / reach
    bulk = np.ptp(np.quantile(places, CORE, axis=0), axis=0).max()
    steps = np.rint(places * (_FINE_STEPS if bulk < _CROWDED else _STEPS)).astype(np.int64)
    return steps[:, 0], steps[:, 1]
