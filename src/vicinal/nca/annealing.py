"""Dimensionality annealing (thesis 3.3.6): start at full rank and fade dimensions out."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vicinal.fitting import ValueAndGradient, lbfgs
from vicinal.fitting.loop import few_updates

__all__ = ["ORDERS", "anneal"]

# How often the penalty of a dimension on its way out grows, and for how many updates each.
_RAISES, _UPDATES = 5, 3

# At most this share of the dimensions still to go is faded out at a time.
_AT_ONCE = 0.1


def _direction_variance(A: NDArray, covariance: NDArray) -> NDArray:
    return _projected_variance(A, covariance) / np.maximum(_row_norm(A, covariance), 1e-300)


def _projected_variance(A: NDArray, covariance: NDArray) -> NDArray:
    return np.einsum("ij,jk,ik->i", A, covariance, A)


def _row_norm(A: NDArray, covariance: NDArray) -> NDArray:
    return np.square(A).sum(axis=1)


# Which dimension goes next: the one with the least ...
ORDERS: dict[str, Callable[[NDArray, NDArray], NDArray]] = {
    "variance": _direction_variance,
    "projected": _projected_variance,
    "row": _row_norm,
}


def anneal(
    objective: ValueAndGradient,
    A: NDArray,
    P: NDArray,
    n_components: int,
    covariance: NDArray,
    order: str,
) -> NDArray:
    """Map of `n_components` rows from one of more (algorithm 3.2).

    Parameters
    ----------
    objective : callable
        Mean objective and gradient of a map of any number of rows.
    A : ndarray of shape (m, D)
    P : ndarray of shape (D, D)
        Coordinates B with A = B P that suit a solver.
    n_components : int
    covariance : ndarray of shape (D, D)
        Of the points.
    order : {"variance", "projected", "row"}
        By what dimensions are put in order; the least go first.

    Returns
    -------
    ndarray of shape (n_components, D)
    """
    while len(A) > n_components:
        k = max(1, int(_AT_ONCE * (len(A) - n_components)))
        going = np.argsort(ORDERS[order](A, covariance), kind="stable")[:k]
        A = np.delete(_fade(objective, A, P, going), going, axis=0)
    return A


def _fade(objective: ValueAndGradient, A: NDArray, P: NDArray, going: NDArray) -> NDArray:
    """Raise the penalty on some rows step by step while the others adjust (3.26, 3.27)."""
    penalties = np.zeros((len(A), 1))
    # At the end the penalty of a row as it was outweighs a whole mean objective.
    norms = np.square(A[going]).sum(axis=1, keepdims=True)
    raise_by = 1.0 / (_RAISES * np.maximum(norms, 1e-300))

    def penalized_rows(B: NDArray) -> tuple[float, NDArray]:
        A = B @ P
        value, gradient = objective(A)
        value -= float((penalties * np.square(A)).sum())  # (3.26)
        return value, (gradient - 2.0 * penalties * A) @ P.T  # (3.27)

    B = np.linalg.solve(P.T, A.T).T
    for _ in range(_RAISES):
        penalties[going] += raise_by
        B = few_updates(lbfgs(penalized_rows), B, _UPDATES)[0]
    return B @ P
