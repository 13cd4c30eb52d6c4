"""Covariances that are given: what they may be, and the kernels they make."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vicinal.inputs.units import SQUARES
from vicinal.local_components.equations import Form
from vicinal.local_components.settings import LocalSettings
from vicinal.local_components.shapes import DiagonalShape, KernelShape, Shape
from vicinal.neighborhood import GAUSSIAN, Law, law_named

__all__ = ["RULES", "check_given", "given_shape", "is_given", "matrix_width"]

# Names of covariances that are computed from the rows, and not learned.
RULES = ("scott", "silverman", "isj")

# Squares of the smallest and largest widths to compute with.
_VARIANCES = tuple(bound * bound for bound in SQUARES[8])

# What belongs to learning, and what it must be where nothing is learned.
_WITHOUT_LEARNING: dict[str, Any] = {
    "gaussian": None,
    "n_mixture": 1,
    "batch_size": None,
    "n_neighbors": None,
    "early_stopping": False,
}


def is_given(covariance: Any) -> bool:
    """Whether a covariance is an array, a number or the name of a rule, and nothing is learned."""
    return not isinstance(covariance, str) or covariance in RULES


def matrix_width(settings: LocalSettings, n_rows: int, n_features: int) -> int:
    """Number of columns of the largest matrix that a fit computes, but for that of the rows."""
    if not isinstance(settings.covariance, str) or Form(settings.covariance).is_diagonal:
        return 0
    law = law_named(settings.kernel, degrees_of_freedom=settings.degrees_of_freedom)
    spanned = Form(settings.covariance, law=law).fits_a_span
    return min(n_rows, n_features) if spanned else n_features


def check_given(settings: LocalSettings, n_features: int) -> None:
    """Refuse covariances that are none, and what only a covariance that is learned can have."""
    covariance, kind = settings.covariance, "given"
    if isinstance(covariance, str):
        kind = f"by the rule {covariance!r}"
        _check_rule(covariance, n_features)
    else:
        given_shape(covariance, n_features)
    for name, wanted in _WITHOUT_LEARNING.items():
        value = getattr(settings, name)
        if value != wanted:
            raise ValueError(
                f"{name}={value!r} is for a covariance that is learned, but covariance is {kind}: "
                f"set {name}={wanted!r}, or covariance='full'."
            )


def given_shape(covariance: Any, d: int, law: Law = GAUSSIAN) -> KernelShape:
    """Kernels of a covariance given as a number, (d,) or (d, d).

    Parameters
    ----------
    covariance : float, array-like of shape (d,) or (d, d)
    d : int
        Number of features.
    law : Law, default=GAUSSIAN
        Of the kernels.
    """
    try:
        array = np.asarray(covariance, dtype=np.float64)
    except (TypeError, ValueError):
        raise _refusal(covariance, "be made of numbers") from None
    if array.shape not in ((), (d,), (d, d)):
        raise ValueError(
            f"covariance has shape {array.shape}, expected a number, ({d},) or ({d}, {d}): one "
            "variance for all features, one for each, or the whole matrix."
        )
    if not np.isfinite(array).all():
        raise _refusal(covariance, "be finite: replace entries that are not")
    variances = np.diag(array) if array.ndim == 2 else np.broadcast_to(array, d)
    low, high = _VARIANCES
    if not ((variances >= low) & (variances <= high)).all():
        why = f"have variances from {low:g} to {high:g}: scale X, or change the variances"
        raise _refusal(covariance, f"be symmetric and positive definite, and {why}")
    if array.ndim < 2:
        return DiagonalShape(np.sqrt(variances), law)
    return Shape.of(_definite(array, covariance), law)


def _check_rule(rule: str, n_features: int) -> None:
    if rule == "isj" and n_features > 1:
        raise ValueError(
            f"covariance='isj' is a rule for one column, but X has {n_features}: widths that suit "
            "each column alone are too narrow for all of them together. Use covariance='scott', "
            "'silverman' or 'diag', or fit one column at a time."
        )


def _definite(array: NDArray, covariance: Any) -> NDArray:
    """The matrix, if it is symmetric and positive definite to rounding, whatever the units."""
    units = np.sqrt(np.diag(array))
    correlations = array / units[:, None] / units
    if not np.allclose(correlations, correlations.T):
        raise _refusal(covariance, "be symmetric and positive definite: use (C + C.T) / 2")
    if np.linalg.eigvalsh(correlations)[0] <= len(array) * np.finfo(float).eps:
        what = "be symmetric and positive definite: add a small variance to its diagonal"
        raise _refusal(covariance, what)
    return array


def _refusal(covariance: Any, what: str) -> ValueError:
    shown = np.array2string(np.asarray(covariance, dtype=object), threshold=10, max_line_width=80)
    return ValueError(f"covariance={shown} must {what}.")
