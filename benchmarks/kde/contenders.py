"""Who answers density queries.

Libraries are imported where they run: no environment has to have all of them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

FFT_MOST = {1: 2**20, 2: 2**11, 3: 160}  # points along an axis of the grid
FFT_LEAST_ERROR = 1e-4
TREE_LEAST_CUT = np.exp(-31.9)  # TreeKDE looks for the end of a kernel within 8 bandwidths

# Log-density of rows; a method makes one from points, a bandwidth and a wanted relative error.
Density = Callable[[np.ndarray], np.ndarray]
Method = Callable[[np.ndarray, float, float], Density]


def vicinal(X: np.ndarray, bandwidth: float, error: float) -> Density:
    from vicinal.local_components import log_density

    return lambda Q: log_density(Q, X, covariance=bandwidth**2, tolerance=error)


def scikit_learn(X: np.ndarray, bandwidth: float, error: float) -> Density:
    from sklearn.neighbors import KernelDensity

    model = KernelDensity(bandwidth=bandwidth, algorithm="kd_tree", rtol=error, atol=0.0)
    return model.fit(X).score_samples


def scipy(X: np.ndarray, bandwidth: float, error: float) -> Density:
    """By `evaluate`, nearly four times as fast as `logpdf`."""
    model = isotropic_gaussian_kde(X, bandwidth)
    return lambda Q: log_of(model.evaluate(Q.T))


def isotropic_gaussian_kde(X: np.ndarray, bandwidth: float) -> Any:
    """SciPy's estimator with round kernels, where its own have the covariance of the data."""
    from scipy.stats import gaussian_kde

    class Isotropic(gaussian_kde):
        def _compute_covariance(self) -> None:
            self.covariance = bandwidth**2 * np.eye(self.d)
            self.cho_cov = bandwidth * np.eye(self.d)
            self.log_det = 2 * self.d * np.log(bandwidth * np.sqrt(2 * np.pi))

    return Isotropic(X.T)


def kdepy_tree(X: np.ndarray, bandwidth: float, error: float) -> Density:
    """Kernels end where all n of them together would be `error` of one at its center."""
    from KDEpy import TreeKDE

    cut = max(error / len(X), TREE_LEAST_CUT)
    eps = cut / (bandwidth * np.sqrt(2 * np.pi))  # in units of a kernel in one dimension
    model = TreeKDE(bw=bandwidth).fit(X)
    return lambda Q: log_of_kdepy(model.evaluate(Q, eps=eps))


def kdepy_fft(X: np.ndarray, bandwidth: float, error: float) -> Density:
    """A grid around points and queries, and linear interpolation in it."""
    from KDEpy import FFTKDE
    from scipy.interpolate import RegularGridInterpolator

    def density(Q: np.ndarray) -> np.ndarray:
        axes = grid_axes(X, Q, bandwidth, error)
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
        values = FFTKDE(bw=bandwidth).fit(X).evaluate(grid).reshape([len(axis) for axis in axes])
        return log_of_kdepy(RegularGridInterpolator(axes, values)(Q))

    return density


def grid_axes(X: np.ndarray, Q: np.ndarray, bandwidth: float, error: float) -> list[np.ndarray]:
    """Errors of binning and of interpolation go with the square of the step."""
    low = np.minimum(X.min(axis=0), Q.min(axis=0)) - bandwidth
    high = np.maximum(X.max(axis=0), Q.max(axis=0)) + bandwidth
    wanted = np.ceil((high - low) / (bandwidth * np.sqrt(error)))
    sizes = np.clip(wanted, 16, FFT_MOST[X.shape[1]]).astype(int)
    return [np.linspace(*ends) for ends in zip(low, high, sizes, strict=True)]


def mlpack(algorithm: str) -> Method:
    """One call builds the trees and asks them; it puts the rows it is given in another order."""

    def fit(X: np.ndarray, bandwidth: float, error: float) -> Density:
        from mlpack import kde

        settings: dict[str, str | float] = {"kernel": "gaussian", "tree": "kd-tree"}
        settings |= {"algorithm": algorithm, "bandwidth": bandwidth}
        settings |= {"rel_error": float(error), "abs_error": 0.0}  # an int is refused
        return lambda Q: log_of(kde(reference=X.copy(), query=Q.copy(), **settings)["predictions"])

    return fit


def log_of(densities: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(densities, 0.0))


def log_of_kdepy(densities: np.ndarray) -> np.ndarray:
    """Without the 2e-16 that KDEpy adds to every density "for contour plotting"."""
    return log_of(densities - np.finfo(float).eps)


class Contender(NamedTuple):
    """Somebody who answers density queries."""

    package: str
    method: Method
    applies: Callable[[int, float], bool] = lambda d, error: True
    is_ours: bool = False
    one_thread: bool = False


CONTENDERS = {
    "vicinal": Contender("vicinal", vicinal, is_ours=True),
    "vicinal, 1 thread": Contender("vicinal", vicinal, is_ours=True, one_thread=True),
    "scikit-learn": Contender("scikit-learn", scikit_learn),
    "SciPy": Contender("scipy", scipy, lambda d, error: error == 0),
    "KDEpy TreeKDE": Contender("KDEpy", kdepy_tree),
    "KDEpy FFTKDE": Contender(
        "KDEpy", kdepy_fft, lambda d, error: d in FFT_MOST and error >= FFT_LEAST_ERROR
    ),
    "mlpack dual": Contender("mlpack", mlpack("dual-tree")),
    "mlpack single": Contender("mlpack", mlpack("single-tree")),
}
OURS, OURS_ALONE = "vicinal", "vicinal, 1 thread"
