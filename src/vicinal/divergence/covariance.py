"""Eigenvalues of the local covariances: what each estimate makes of those of C (section 3).

All but one of the estimates share the eigenvectors of C, the scatter of a neighborhood, so that
only its q eigenvalues change, and the one of all directions in which the neighborhood has no
extent.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

__all__ = ["COVARIANCES", "Relative", "Spectrum", "estimated", "frank_wolfe", "of_trace_one"]

# Least variance of a neighborhood that `Relative` reckons with, as a share of the usual one: twins
# have none of their own.
_LEAST_VARIANCE = 1e-6

# γ beside estimates that find their own share, as a share of the usual variance.
_LITTLE = 1e-3

# Eigenvalues, shape (n, q), and that of the other directions, shape (n,).
Eigenvalues = tuple[NDArray, NDArray]


class Spectrum(NamedTuple):
    """What is known of C = (1/m) Σ (x - x_i)(x - x_i)ᵀ of every point.

    Attributes
    ----------
    values : ndarray of shape (n, q)
        Its eigenvalues, but for zeros.
    n_features : int
        d.
    counts : ndarray of shape (n,)
        m.
    kurtosis : ndarray of shape (n,)
        (1/m) Σ |x - x_i|⁴ / tr(C)²; 0 where C is 0.
    """

    values: NDArray
    n_features: int
    counts: NDArray
    kurtosis: NDArray

    @property
    def mean(self) -> NDArray:
        """Mean eigenvalue, tr(C) / d."""
        return self.values.sum(axis=1) / self.n_features

    @property
    def roundness(self) -> NDArray:
        """tr(C²) / tr(C)², from 1 of a line to 1/d of a ball; 0 where C is 0.

        Shares are computed from this, as they do not depend on units: tr(C²) itself might be no
        number any more.
        """
        traces = self.values.sum(axis=1, keepdims=True)
        shares = np.divide(self.values, traces, out=np.zeros_like(self.values), where=traces > 0)
        return np.square(shares).sum(axis=1)


@dataclass(frozen=True)
class Relative:
    """γ relative to the data: ``gamma="auto"``.

    Attributes
    ----------
    share : float
        w, how far covariances are shrunk.
    variance : float
        s, the usual variance of a neighborhood in one direction.
    """

    share: float
    variance: float

    @staticmethod
    def to(spectrum: Spectrum) -> "Relative":
        """What neighborhoods tell, without labels.

        s is the median of tr(C)/d over neighborhoods of more than twins. w is the shrinkage of
        Chen et al. (2010), which weighs how far a covariance of m points in d directions is from
        a ball against how far chance alone takes it, for the mean neighborhood.
        """
        variances, alive = spectrum.mean, spectrum.mean > 0
        if not alive.any():
            return Relative(1.0, 1.0)
        d, m = spectrum.n_features, float(spectrum.counts[alive].mean())
        roundness = float(spectrum.roundness[alive].mean())
        noise, spread = roundness + 1.0, (m + 1.0) * (roundness - 1.0 / d)
        share = noise / spread if spread > noise else 1.0
        return Relative(share, float(np.median(variances[alive])))


def ridge(spectrum: Spectrum, gamma: float) -> Eigenvalues:
    """C + γ I."""
    return spectrum.values + gamma, np.full(len(spectrum.values), gamma)


def shrunk(spectrum: Spectrum, gamma: float) -> Eigenvalues:
    """(1 - γ) C + γ tr(C)/d I (footnote 5)."""
    return _towards_identity(spectrum, np.full(len(spectrum.values), gamma))


def ledoit_wolf(spectrum: Spectrum, gamma: float) -> Eigenvalues:
    """The shrinkage of Ledoit and Wolf (2004) about a known mean, + γ I."""
    d, square = spectrum.n_features, spectrum.roundness
    spread = np.maximum(square / d - 1.0 / d**2, 0.0)
    noise = np.maximum(spectrum.kurtosis - square, 0.0) / (d * np.maximum(spectrum.counts, 1))
    return _raised(_towards_identity(spectrum, _share(noise, spread)), gamma)


def oas(spectrum: Spectrum, gamma: float) -> Eigenvalues:
    """The oracle approximating shrinkage of Chen et al. (2010), as scikit-learn has it, + γ I."""
    d, square = spectrum.n_features, spectrum.roundness
    noise, spread = square + 1.0, (spectrum.counts + 1.0) * (square - 1.0 / d)
    return _raised(_towards_identity(spectrum, _share(noise, spread)), gamma)


def of_trace_one(spectrum: Spectrum, gamma: float) -> Eigenvalues:
    """Inverse of the likeliest S of trace 1 (problem 6), in closed form: C + (γ + μ) I.

    Σ 1 / (r_k + μ) = 1 over all d eigenvalues r of C + γ I. Newton's method climbs to the root
    without ever passing it, as the sum is convex and decreasing.
    """
    values, rest, n_rest = _all_values(spectrum, gamma)
    if not n_rest:  # no such direction, any value will do
        rest = values[:, 0]
    lowest = np.minimum(values.min(axis=1), rest)
    values, rest = values - lowest[:, None], rest - lowest
    shift = np.ones(len(values))  # μ + the smallest r: from 1 to d
    for _ in range(100):
        inverse, inverse_rest = 1.0 / (values + shift[:, None]), 1.0 / (rest + shift)
        excess = inverse.sum(axis=1) + n_rest * inverse_rest - 1.0
        slope = np.square(inverse).sum(axis=1) + n_rest * np.square(inverse_rest)
        step = excess / slope
        shift += step
        if (np.abs(step) <= 1e-15 * shift).all():
            break
    return values + shift[:, None], rest + shift


def frank_wolfe(
    spectrum: Spectrum, gamma: float, max_iter: int = 1000, tol: float = 1e-4
) -> Eigenvalues:
    """Inverse of the likeliest S of trace 1 (problem 6), by Algorithm 1, step by step.

    S moves towards the leading eigenvectors of S⁻¹ - R.

    It starts at I/d, where the gradient is defined, and goes as far as is best. Of equally
    leading eigenvectors none is preferred, so that S keeps the eigenvectors of R, and one value
    for all directions without extent. A point is done when its gap, a bound on what is missing of
    the objective, is at most `tol`.

    Warns
    -----
    ConvergenceWarning
        If some are not after `max_iter` steps: many are needed where C is large.
    """
    values, rest, n_rest = _all_values(spectrum, gamma)
    r = np.column_stack([values, rest]) if n_rest else values
    copies = np.append(np.ones(values.shape[1]), [n_rest] if n_rest else [])
    S = np.full(r.shape, 1.0 / spectrum.n_features)
    rows = np.arange(len(r))
    for step in range(max_iter + 1):
        gradient = 1.0 / S - r
        leading = gradient.argmax(axis=1)
        gap = gradient[rows, leading] - (copies * S * gradient).sum(axis=1)
        done = gap <= tol
        if done.all() or step == max_iter:
            break
        towards = -S
        towards[rows, leading] += 1.0 / copies[leading]
        towards[done] = 0.0
        S += _best_step(S, towards, r, copies)[:, None] * towards
    if not done.all():
        warnings.warn(
            f'covariance="frank-wolfe" stopped before convergence after {max_iter} steps, at '
            f'gaps up to {gap.max():.1e}; covariance="trace" has the same end in closed form.',
            ConvergenceWarning,
            stacklevel=2,
        )
    inverse = 1.0 / S
    q = values.shape[1]
    return inverse[:, :q], inverse[:, q] if n_rest else np.ones(len(r))


def _best_step(S: NDArray, towards: NDArray, r: NDArray, copies: NDArray) -> NDArray:
    """Step in [0, 1) at which the objective log det S - tr(S R) is largest, by bisection."""
    low, high = np.zeros(len(S)), np.ones(len(S))
    for _ in range(45):
        middle = 0.5 * (low + high)
        slope = copies * towards * (1.0 / (S + middle[:, None] * towards) - r)
        rises = slope.sum(axis=1) > 0
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    return low


def _all_values(spectrum: Spectrum, gamma: float) -> tuple[NDArray, NDArray, int]:
    """Eigenvalues of C + γ I, the last one, and how often it comes."""
    return *ridge(spectrum, gamma), spectrum.n_features - spectrum.values.shape[1]


def _share(noise: NDArray, spread: NDArray) -> NDArray:
    """noise / spread, 1 at most and where there is no spread."""
    return np.divide(np.minimum(noise, spread), spread, out=np.ones(len(spread)), where=spread > 0)


def _towards_identity(spectrum: Spectrum, intensity: NDArray) -> Eigenvalues:
    rest = intensity * spectrum.mean
    return (1.0 - intensity)[:, None] * spectrum.values + rest[:, None], rest


def _raised(eigenvalues: Eigenvalues, gamma: float) -> Eigenvalues:
    return eigenvalues[0] + gamma, eigenvalues[1] + gamma


COVARIANCES: dict[str, Callable[[Spectrum, float], Eigenvalues]] = {
    "ridge": ridge,
    "shrunk": shrunk,
    "ledoit-wolf": ledoit_wolf,
    "oas": oas,
    "trace": of_trace_one,
    "frank-wolfe": frank_wolfe,
}


def towards_the_usual(spectrum: Spectrum, relative: Relative) -> Eigenvalues:
    """(1 - w) C + w √(s_i s) I, with s_i = tr(C)/d, the point's own variance, and s the usual one.

    So dense and sparse regions are told apart, half as much as they differ.
    """
    own = np.maximum(spectrum.mean, _LEAST_VARIANCE * relative.variance)
    rest = relative.share * np.sqrt(own) * np.sqrt(relative.variance)
    return (1.0 - relative.share) * spectrum.values + rest[:, None], rest


def estimated(kind: str, spectrum: Spectrum, gamma: "float | Relative") -> Eigenvalues:
    """Eigenvalues of the estimate that users call so, γ given or relative to the data."""
    if not isinstance(gamma, Relative):
        return COVARIANCES[kind](spectrum, gamma)
    if kind == "ridge":
        return towards_the_usual(spectrum, gamma)
    if kind == "shrunk":
        return _raised(shrunk(spectrum, gamma.share), _LITTLE * gamma.share * gamma.variance)
    return COVARIANCES[kind](spectrum, _LITTLE * gamma.variance)
