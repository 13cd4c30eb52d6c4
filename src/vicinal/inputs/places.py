"""Points where an engine computes, as far as there is room for them."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import TypeVar

from numpy.typing import NDArray

from vicinal.inputs.points import LabeledPoints, WeightedPoints
from vicinal.neighborhood import Engine, has_place, namespace, placed
from vicinal.neighborhood.arrays import Array
from vicinal.neighborhood.gpu import is_out_of_memory

__all__ = ["in_place", "placed_points", "rows_in_place"]

Points = TypeVar("Points", bound=WeightedPoints)

# Of rows that are sent at a time.
_BLOCK_BYTES = 64_000_000


def placed_points(engine: Engine, points: Points) -> Points:
    """Points, weights and labels where the engine computes."""
    values = {each.name: getattr(points, each.name) for each in fields(points)}
    sent = {name: placed(engine, value) for name, value in values.items() if value is not None}
    return replace(points, **sent)


def in_place(engine: Engine, *points: Points) -> tuple[Points, ...]:
    """Points where the engine computes; all as they are where there is no room for them."""
    try:
        return tuple(placed_points(engine, each) for each in points)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        return points


def rows_in_place(
    engine: Engine,
    load: Callable[[slice], NDArray],
    labels: NDArray,
    weights: NDArray | None,
) -> LabeledPoints | None:
    """All rows where the engine computes, sent in parts: the host need not hold them at once.

    None where it computes with NumPy's arrays, or has no room: the rows stay on the host.

    Parameters
    ----------
    engine : Engine
    load : callable
        From some rows to their values.
    labels : ndarray of shape (n,)
    weights : ndarray of shape (n,) or None
    """
    if not has_place(engine):
        return None
    try:
        X = _sent(engine, load, len(labels))
        return placed_points(engine, LabeledPoints(X, weights, labels=labels))
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        return None


def _sent(engine: Engine, load: Callable[[slice], NDArray], n: int) -> Array:
    """Rows in one array of the engine's own."""
    first = load(slice(0, 1))
    there = placed(engine, first)
    xp, shape = namespace(there), (n, first.shape[1])
    X = xp.empty(shape, dtype=there.dtype, device=there.device)  # or fails before any is sent
    step = max(1, _BLOCK_BYTES // max(1, first.nbytes))
    for start in range(0, n, step):
        rows = slice(start, min(start + step, n))
        X[rows] = placed(engine, load(rows))
    return X
