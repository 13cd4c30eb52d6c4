"""What has no room: refused before any work, with its size and what to do instead."""

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["MOST_BYTES", "check_room", "in_precision"]

# Largest size of one array; some steps hold two or three of that size.
MOST_BYTES = 8e9


def check_room(what: str, shape: tuple[int, ...], remedy: str) -> None:
    """Refuse an array of float64 of more than `MOST_BYTES`."""
    size = 8.0 * float(np.prod([float(side) for side in shape]))
    if size > MOST_BYTES:
        raise ValueError(
            f"{what} would take {size / 1e9:.3g} GB ({' × '.join(map(str, shape))} numbers), more "
            f"than {MOST_BYTES / 1e9:g} GB: {remedy}."
        )


def in_precision(values: NDArray, dtype: DTypeLike, what: str) -> NDArray:
    """Values in the precision of the points, where they have room in it."""
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    if largest > float(np.finfo(dtype).max):
        raise ValueError(
            f"{what} reach {largest:.3g}, too large for {np.dtype(dtype)}: give X as float64, "
            "scale it, or raise gamma."
        )
    return values.astype(dtype, copy=False)
