"""How many directions are Gaussian: a search that plain EM stops short of (LCA-Gauss-Red)."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from vicinal.fitting import EM, CollapseError, Step, few_updates
from vicinal.local_components.equations import Form

__all__ = ["search"]

# Updates of EM before each transfer (40 in the paper), and the objective a transfer must gain:
# it is monotone, so that the search comes to an end.
N_UPDATES, LEAST_GAIN = 40, 1e-6

# Any variance above that of the data makes a direction Gaussian.
_WIDE = 2.0


def search(step: Step, form: Form, start: NDArray, least_gain: float = -np.inf) -> NDArray:
    """Transfer local directions to the Gaussian for as long as the likelihood gains.

    Those whose kernels are widest go first: half of them, then, whenever that
    does not pay, half as many as tried before.

    Parameters
    ----------
    step : Step
        Of EM in white coordinates.
    form : Form
    start : ndarray of shape (d, d)
    least_gain : float, default=-inf
        What an update must gain, or the next transfer is tried at once.

    Returns
    -------
    ndarray of shape (d, d)
        Where plain EM converges from.
    """
    best, objective = _some_updates(step, start, least_gain)
    n_moved = form.shape(best).n_local // 2
    while n_moved >= 1:
        trial, reached = _some_updates(step, _transfer(best, form, n_moved), least_gain)
        if reached > objective + LEAST_GAIN:
            best, objective = trial, reached
        else:
            n_moved //= 2
        n_moved = min(n_moved, form.shape(best).n_local - 1)  # one stays
    return best


def _some_updates(step: Step, start: NDArray, least_gain: float) -> tuple[NDArray, float]:
    try:
        return few_updates(EM(step), start, N_UPDATES, least_gain)
    except CollapseError:
        return start, -np.inf


def _transfer(scatter: NDArray, form: Form, n_moved: int) -> NDArray:
    """The scatter with the widest of its local directions made Gaussian."""
    variances, directions = eigh(scatter)
    variances[form.shape(scatter).n_local - n_moved :] = _WIDE
    return (directions * variances) @ directions.T
