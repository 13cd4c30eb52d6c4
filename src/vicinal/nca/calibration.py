"""How sure class probabilities are: the order of the classes stays, by rows held back."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from vicinal.neighborhood import log_shares

__all__ = ["CERTAIN", "Calibration", "calibrate"]

# Logarithms of temperatures that are looked at, and how near to the best one.
_TEMPERATURES, _NEAR_ENOUGH = (-2.0, 5.0), 0.02

# Floors that are tried, as shares of Laplace's (docs/decisions/0017).
_FLOORS = (1.0, 0.3, 0.1)

# Less than this no probability is told apart from none.
_LEAST = -1e4


@dataclass(frozen=True)
class Calibration:
    """q_c = (1 - ε) p_c^(1/T) / Σ_c' p_c'^(1/T) + ε / C, which keeps the order of the classes.

    Attributes
    ----------
    temperature : float
        T: above 1, probabilities become less sure.
    floor : float
        ε: what a sure prediction leaves for all other cases.
    """

    temperature: float = 1.0
    floor: float = 0.0

    def apply(self, log_p: NDArray) -> NDArray:
        """log q of log p, shape (n, n_classes) each."""
        if self.temperature != 1.0:
            log_p = log_shares(np.maximum(log_p, _LEAST) / self.temperature, axis=1)
        if not self.floor:
            return log_p
        rest = np.log(self.floor / log_p.shape[1])
        return np.logaddexp(np.log1p(-self.floor) + log_p, rest)

    def log_likelihood(self, log_p: NDArray, labels: NDArray, weights: NDArray) -> float:
        """Mean of log q over the classes that are true."""
        own = self.apply(log_p)[np.arange(len(labels)), labels]
        return float(np.average(own, weights=weights))


# Probabilities as they are.
CERTAIN = Calibration()


def calibrate(log_p: NDArray, labels: NDArray, weights: NDArray) -> Calibration:
    """The likeliest temperature and floor for rows held back.

    The floor is at most Laplace's, where every class might have been seen once more.
    """
    n_classes = log_p.shape[1]
    laplace = n_classes / (float(weights.sum()) + n_classes)
    found = [_with_floor(share * laplace, log_p, labels, weights) for share in _FLOORS]
    return max(found, key=lambda tried: tried.log_likelihood(log_p, labels, weights))


def _with_floor(floor: float, log_p: NDArray, labels: NDArray, weights: NDArray) -> Calibration:
    """The likeliest temperature above this floor."""

    def loss(log_temperature: float) -> float:
        tried = Calibration(float(np.exp(log_temperature)), floor)
        return -tried.log_likelihood(log_p, labels, weights)

    found = minimize_scalar(
        loss, bounds=_TEMPERATURES, method="bounded", options={"xatol": _NEAR_ENOUGH}
    )
    return Calibration(float(np.exp(found.x)), floor)
