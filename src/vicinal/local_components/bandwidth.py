"""Rules for the width of kernels: Scott's, Silverman's, and Botev's fixed point (ISJ).

The first two are optimal for data that are Gaussian, and far too wide for clusters. The last one
makes no such assumption. It is for one column: widths that are best for each of several columns
alone are too narrow for all of them together.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct
from scipy.optimize import brentq

from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.frame import global_moments

__all__ = ["FACTORS", "effective_number", "fixed_point_width", "unbiased_covariance"]

# Cells of the grid on which a density is transformed, and how far that reaches beyond the data on
# both sides, in units of their range.
_N_CELLS, _MARGIN = 2**14, 0.5

# ℓ, the derivative whose norm the fixed point begins with.
_FIRST_DERIVATIVE = 7

# Squared widths, in units of the grid, between which the fixed point is looked for.
_BOUNDS = np.append(0.0, np.geomspace(1e-12, 0.1, 45))


def _scott(n: float, d: int) -> float:
    return float(n ** (-1.0 / (d + 4)))


def _silverman(n: float, d: int) -> float:
    return float((n * (d + 2) / 4.0) ** (-1.0 / (d + 4)))


# By which the width of the data is multiplied, from the effective number of rows and columns.
FACTORS: dict[str, Callable[[float, int], float]] = {"scott": _scott, "silverman": _silverman}


def effective_number(points: WeightedPoints) -> float:
    """(Σ w)² / Σ w², the number of rows where all weigh alike."""
    return points.total**2 / float(np.square(points.counts).sum())


def unbiased_covariance(points: WeightedPoints) -> NDArray:
    """Covariance of the data, weights being those of reliability, shape (d, d); 0 of one row."""
    n = effective_number(points)
    covariance = global_moments(points)[1]
    return covariance * (n / (n - 1.0)) if n > 1.0 else np.zeros_like(covariance)


def fixed_point_width(points: WeightedPoints) -> float | None:
    """The width of kernels by the improved rule of Sheather and Jones, or None if there is none.

    Botev, Grotowski and Kroese (2010), algorithm 1: the squared width t solves t = ξ γ^[ℓ](t) for
    the density of the data on a grid, whose derivatives a cosine transform gives. Few rows, or
    values of which there are few, may leave no such t.

    Parameters
    ----------
    points : WeightedPoints
        Of one column, in which there are several values.
    """
    values, n = points.X[:, 0].astype(np.float64), effective_number(points)
    width = (1.0 + 2.0 * _MARGIN) * np.ptp(values)
    shares = _on_grid(
        (values - values.min()) / width + _MARGIN / (1.0 + 2.0 * _MARGIN), points.counts
    )
    squares = np.square(0.5 * dct(shares)[1:])

    def excess(t: float) -> float:
        return t - _next_squared_width(t, squares, n)

    signs = np.array([excess(t) for t in _BOUNDS]) >= 0.0
    crossings = np.flatnonzero(~signs[:-1] & signs[1:])
    if len(crossings) == 0:
        return None
    # Values that were rounded have a narrow solution as well, around each of them.
    low, high = _BOUNDS[crossings[-1]], _BOUNDS[crossings[-1] + 1]
    return float(width * np.sqrt(brentq(excess, low, high, xtol=1e-18, rtol=1e-12)))


def _on_grid(places: NDArray, weights: NDArray) -> NDArray:
    """Shares of the cells, each value divided between the two whose middles are nearest."""
    position = places * _N_CELLS - 0.5
    cell = np.floor(position).astype(int)
    to_next = position - cell
    shares = np.bincount(cell, weights * (1.0 - to_next), _N_CELLS)
    shares += np.bincount(cell + 1, weights * to_next, _N_CELLS)
    return shares / weights.sum()


def _next_squared_width(t: float, squares: NDArray, n: float) -> float:
    """ξ γ^[ℓ](t): from the norm of a high derivative down to that of the second, and its width."""
    norm = _squared_norm(_FIRST_DERIVATIVE, t, squares)
    for order in range(_FIRST_DERIVATIVE - 1, 1, -1):
        odd = float(np.prod(np.arange(1, 2 * order, 2)))
        share = (1.0 + 0.5 ** (order + 0.5)) / 3.0
        if norm == 0.0:  # smoothed until nothing is left
            return np.inf
        stage = (2.0 * share * odd / (np.sqrt(2.0 * np.pi) * n * norm)) ** (2.0 / (3 + 2 * order))
        norm = _squared_norm(order, stage, squares)
    return float((2.0 * n * np.sqrt(np.pi) * norm) ** -0.4) if norm else np.inf


def _squared_norm(order: int, t: float, squares: NDArray) -> float:
    """Squared norm of a derivative of the density after smoothing with squared width t."""
    k = np.square(np.arange(1.0, len(squares) + 1.0))
    terms = np.exp(order * np.log(k) - k * np.pi**2 * t) * squares
    return float(2.0 * np.pi ** (2 * order) * terms.sum())
