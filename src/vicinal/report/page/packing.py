"""Numbers in as few characters as a page can carry them."""

from base64 import b64encode

import numpy as np
from numpy.typing import NDArray

__all__ = ["on_a_grid", "pack"]

_KINDS = {"int16": "i2", "int32": "i4", "uint8": "u1", "uint16": "u2", "float32": "f4"}
_STEPS = 32_000  # of a coordinate, more than any screen has


def pack(array: NDArray | None) -> dict[str, str] | None:
    """The bytes of an array, little-endian, as text.

    Parameters
    ----------
    array : ndarray of int16, int32, uint8, uint16 or float32, or None

    Returns
    -------
    dict with "dtype" and "bytes", or None

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.page.packing import pack
    >>> pack(np.array([1, 258], dtype=np.uint16))
    {'dtype': 'u2', 'bytes': 'AQACAQ=='}
    """
    if array is None:
        return None
    kind = _KINDS[array.dtype.name]
    text = b64encode(np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()).decode()
    return {"dtype": kind, "bytes": text}


def on_a_grid(points: NDArray) -> tuple[NDArray, NDArray]:
    """Both coordinates as int16, on the same scale.

    Parameters
    ----------
    points : ndarray of shape (n, 2)

    Returns
    -------
    tuple of two ndarray of int16, shape (n,)
    """
    low, high = points.min(axis=0), points.max(axis=0)
    spread = float((high - low).max())
    # Of points at one place, or nearly, nothing is left to see.
    unit = 2 * _STEPS / spread if spread > 1e-300 else 0.0
    steps = np.rint((points - (low / 2 + high / 2)) * unit).astype(np.int16)
    return steps[:, 0], steps[:, 1]
