"""Modes of the density by mean shift, and the clusters of points that climb to the same one."""

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from vicinal.local_components.density import Density
from vicinal.neighborhood import Engine, times

__all__ = ["find_modes"]

# In units of the kernel's width: a step that counts as none, and how far apart two points may end
# up and still have climbed to the same mode.
_STILL, _SAME = 1e-5, 1e-1

_MOST_STEPS = 2000


def find_modes(
    density: Density, components: NDArray, X: NDArray, engine: Engine
) -> tuple[NDArray, NDArray]:
    """Climb from every point.

    Parameters
    ----------
    density : Density
    components : ndarray of shape (k, d)
        Map to coordinates in which kernels are round.
    X : ndarray of shape (n, d)
    engine : Engine

    Returns
    -------
    centers : ndarray of shape (n_modes, d)
        The highest first.
    labels : ndarray of shape (n,)
        The mode each point climbs to.
    """
    tops = _climb(density, components, X.astype(np.float64), engine)
    heights = density.log_density(tops, engine)
    round_tops = times(tops - density.mean, components.T)  # an offset costs digits
    labels = np.full(len(X), -1)
    centers: list[NDArray] = []
    for position in np.argsort(-heights, kind="stable"):
        if labels[position] >= 0:
            continue
        waiting = np.flatnonzero(labels < 0)
        distance = np.linalg.norm(round_tops[waiting] - round_tops[position], axis=1)
        labels[waiting[distance <= _SAME]] = len(centers)
        centers.append(tops[position])
    return np.array(centers), labels


def _climb(density: Density, components: NDArray, X: NDArray, engine: Engine) -> NDArray:
    tops, moving = X.copy(), np.arange(len(X))
    for _ in range(_MOST_STEPS):
        before = tops[moving]
        tops[moving] = density.climb(before, engine)
        step = np.linalg.norm(times(tops[moving] - before, components.T), axis=1)
        moving = moving[step > _STILL]
        if len(moving) == 0:
            return tops
    warnings.warn(
        f"{len(moving)} points still climb after {_MOST_STEPS} steps: the density is very flat "
        "around them, and their modes may be too many.",
        ConvergenceWarning,
        stacklevel=3,
    )
    return tops
