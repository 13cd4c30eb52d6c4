"""L-BFGS and conjugate gradients: scipy's, run in the one loop."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize

from vicinal.fitting.loop import Method, Report

__all__ = ["ValueAndGradient", "conjugate_gradients", "lbfgs"]

# Parameters to the objective (maximized) and its gradient, of the parameters' shape.
ValueAndGradient = Callable[[NDArray], tuple[float, NDArray]]

# The loop decides on convergence by the objective; scipy only by a vanished gradient.
_GRADIENT_TOLERANCE = 1e-10


def lbfgs(value_and_gradient: ValueAndGradient) -> Method:
    """Limited-memory BFGS."""
    options = {"ftol": 0.0, "gtol": _GRADIENT_TOLERANCE, "maxls": 50}
    return _scipy_method(value_and_gradient, "L-BFGS-B", options)


def conjugate_gradients(value_and_gradient: ValueAndGradient) -> Method:
    """Nonlinear conjugate gradients (Polak and Ribière)."""
    return _scipy_method(value_and_gradient, "CG", {"gtol": _GRADIENT_TOLERANCE})


def _scipy_method(
    value_and_gradient: ValueAndGradient, name: str, options: dict[str, Any]
) -> Method:
    def method(start: NDArray, report: Report) -> tuple[bool, str]:
        loss = _Loss(value_and_gradient, start.shape)
        value, gradient = loss(start.ravel())
        if report(start, -value, gradient):
            return False, "stopped at the start"

        def after_update(intermediate_result: OptimizeResult) -> None:
            flat = intermediate_result.x
            value, gradient = loss(flat)  # kept from the line search, as a rule
            if report(flat.reshape(start.shape), -value, gradient):
                raise StopIteration

        result = minimize(
            loss,
            start.ravel(),
            jac=True,
            method=name,
            callback=after_update,
            # The loop counts the updates and stops them.
            options={**options, "maxiter": np.iinfo(np.int32).max, **_no_call_limit(name)},
        )
        return bool(result.success), str(result.message).rstrip(".")

    return method


def _no_call_limit(name: str) -> dict[str, int]:
    return {"maxfun": np.iinfo(np.int32).max} if name == "L-BFGS-B" else {}


class _Loss:
    """Minus the objective on flat parameters; the last value is kept, as scipy asks twice."""

    def __init__(self, value_and_gradient: ValueAndGradient, shape: tuple[int, ...]) -> None:
        self._value_and_gradient = value_and_gradient
        self._shape = shape
        self._last: tuple[NDArray, tuple[float, NDArray]] | None = None

    def __call__(self, flat: NDArray) -> tuple[float, NDArray]:
        if self._last is None or not np.array_equal(flat, self._last[0]):
            value, gradient = self._value_and_gradient(flat.reshape(self._shape))
            loss = -float(value), -np.asarray(gradient, dtype=np.float64).ravel()
            self._last = flat.copy(), loss
        return self._last[1]
