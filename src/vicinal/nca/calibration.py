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
    held_back = _HeldBack.of(log_p, labels, weights)
    found = [held_back.likeliest(share * laplace) for share in _FLOORS]
    return Calibration(*min(found)[1:])


@dataclass(frozen=True)
class _HeldBack:
    """What the likelihood of a calibration takes, settled once: it is asked for many times.

    Attributes
    ----------
    apart : ndarray of shape (n, n_classes)
        log p, less that of the likeliest class.
    own : ndarray of shape (n,)
        The same of the true class.
    shares : ndarray of shape (n,)
        Weights of the rows, of sum 1.
    """

    apart: NDArray
    own: NDArray
    shares: NDArray

    @classmethod
    def of(cls, log_p: NDArray, labels: NDArray, weights: NDArray) -> "_HeldBack":
        apart = np.maximum(log_p, _LEAST)
        apart -= apart.max(axis=1, keepdims=True)
        return cls(apart, apart[np.arange(len(labels)), labels], weights / weights.sum())

    def loss(self, log_temperature: float, floor: float) -> float:
        """-Σ log q of the true classes, as `Calibration.log_likelihood` has it."""
        rate = np.exp(-log_temperature)
        p = np.exp(rate * self.own) / np.exp(rate * self.apart).sum(axis=1)
        q = (1.0 - floor) * p + floor / self.apart.shape[1]
        return -float(self.shares @ np.log(q))

    def likeliest(self, floor: float) -> tuple[float, float, float]:
        """Loss, temperature and floor, at the likeliest temperature above this floor."""
        found = minimize_scalar(
            self.loss,
            bounds=_TEMPERATURES,
            args=(floor,),
            method="bounded",
            options={"xatol": _NEAR_ENOUGH},
        )
        return float(found.fun), float(np.exp(found.x)), floor
