"""Densities of fitted models in a plane: exact marginals, on a grid."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import RegularGridInterpolator
from sklearn.base import BaseEstimator

from vicinal.inputs.points import WeightedPoints
from vicinal.local_components import log_density
from vicinal.local_components.density import Density
from vicinal.local_components.equations import Shape
from vicinal.local_components.mixture.density import MixtureDensity
from vicinal.local_components.per_point import PerPointDensity
from vicinal.neighborhood import Workload, choose_engine
from vicinal.report.numbers.features import feature_names_of, feature_positions
from vicinal.report.numbers.fitted import entering, fitted_model, without_names
from vicinal.report.numbers.plane import CORE, MAX_POINTS, Plane

__all__ = [
    "Grid",
    "frame_limits",
    "grid_of",
    "kernel_plane",
    "marginal_log_density",
    "marginal_of",
    "most_points",
    "scores_of",
    "shown_plane",
]

_TOLERANCE = 1e-3  # relative error of densities on a grid, far below what lines can show
_STRETCH = 4.0  # how many times wider than the bulk of the points a frame may get to hold outliers
_MARGIN = 0.1
_LEAST_VARIANCE = 1e-200
# Pairs of points and kernels to look at, at most, and points scored in any case.
_MOST_PAIRS, _LEAST_POINTS = 4_000_000_000, 2_000


@dataclass(frozen=True)
class Grid:
    """Log-densities at places in a plane, or on a line.

    Attributes
    ----------
    axes : tuple of ndarray
        Coordinates along each axis, one or two.
    log_density : ndarray of shape (len(axes[0]),) or (len(axes[0]), len(axes[1]))
    """

    axes: tuple[NDArray, ...]
    log_density: NDArray

    @property
    def limits(self) -> NDArray:
        """First and last places along each axis, shape (2, n_axes)."""
        return np.array([(axis[0], axis[-1]) for axis in self.axes]).T

    def at(self, points: NDArray) -> NDArray:
        """Log-densities at points: linear between the places, -inf outside."""
        between = RegularGridInterpolator(
            self.axes, self.log_density, bounds_error=False, fill_value=-np.inf
        )
        return between(points)


def frame_limits(points: NDArray) -> NDArray:
    """Corners of a frame around points, but for a few that are very far, shape (2, d)."""
    low, high = np.quantile(points, CORE, axis=0)
    reach = (_STRETCH - 1) / 2 * (high - low)
    tight = ~(high > low)  # one value for nearly all: nothing tells what is far
    low = np.maximum(points.min(axis=0), np.where(tight, -np.inf, low - reach))
    high = np.minimum(points.max(axis=0), np.where(tight, np.inf, high + reach))
    margin = np.where(high > low, _MARGIN * (high - low), 1.0)
    return np.array([low - margin, high + margin])


def grid_of(log_density_at: Callable[[NDArray], NDArray], limits: NDArray, size: int) -> Grid:
    """Evaluate a log-density inside a frame."""
    axes = tuple(np.linspace(low, high, size) for low, high in limits.T)
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    values = log_density_at(places.reshape(-1, len(axes)))
    return Grid(axes, values.reshape(places.shape[:-1]))


def shown_plane(
    estimator: BaseEstimator, X: ArrayLike, features: Any, feature_names: Sequence[str] | None
) -> tuple[NDArray, Plane, list[str] | None]:
    """Rows as the model gets them, the plane to show them in, and its axes if they are features."""
    model, rows = fitted_model(estimator), entering(estimator, X)
    d = rows.shape[1]
    names = feature_names_of(estimator, feature_names, d)
    if features is not None:
        chosen = feature_positions(features, names)
        return rows, Plane.of_features(rows, chosen), [names[j] for j in chosen]
    if d <= 2:
        return rows, Plane.of_features(rows, range(d)), names
    if hasattr(model, "gaussian_components_"):
        return rows, kernel_plane(model, rows), None
    return rows, Plane.widest(rows, "features"), None


def marginal_of(model: BaseEstimator, plane: Plane) -> Callable[[NDArray], NDArray] | None:
    """Log-density in a plane as a function of places there; None where it is not known."""
    if hasattr(model, "gaussian_components_"):
        is_drawable = _is_drawable(plane.directions @ model.covariance_ @ plane.directions.T)
        return partial(marginal_log_density, model, plane) if is_drawable else None
    d = plane.directions.shape[1]
    if d <= 2 and np.array_equal(plane.directions, np.eye(d)):
        return partial(scores_of, model)
    return None


def _is_drawable(covariance: NDArray) -> bool:
    """Whether kernels are neither too small nor too large for the unit of a plane."""
    variances = np.diag(covariance)
    return bool(((variances > _LEAST_VARIANCE) & (variances < 1 / _LEAST_VARIANCE)).all())


def scores_of(model: BaseEstimator, rows: NDArray) -> NDArray:
    """Log-densities of rows under a model; -inf where they are too small for a number."""
    with without_names(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return np.asarray(model.score_samples(rows))


def kernel_plane(model: BaseEstimator, X: NDArray) -> Plane:
    """The widest plane of points where the kernels of LocalComponents are round.

    Its unit is the width of a kernel. Gaussian directions, as wide as the data, come last.
    """
    B = np.vstack([model.components_, model.gaussian_components_]).astype(np.float64)
    widest = Plane.widest(X @ B.T, least=1.0)
    note = "plane of widest structure beside the kernels; unit: width of a kernel"
    return Plane(X.mean(axis=0), widest.directions @ B, note)


def marginal_log_density(model: BaseEstimator, plane: Plane, Q: NDArray) -> NDArray:
    """Log-density in a plane of a fitted LocalComponents, at places Q there, shape (n,).

    The model is a mixture of Gaussians of covariance Σ around its points, moved to the mean in
    Gaussian directions: Parzen coordinates N(z_j, I) and Gaussian ones N(0, I) are one Gaussian
    around (z_j, 0). So the marginal is a mixture again, of Gaussians with covariance D Σ Dᵀ; and
    marginals of Student's t are Student's t. Parts of a mixture have a marginal each.
    """
    density = model._density
    if hasattr(model, "local_covariances_"):
        D, placed = plane.directions, _placed(density, plane)
        S = density.shape.covariance
        return _of_local_kernels(placed, D @ model.local_covariances_ @ D.T, D @ S @ D.T, Q)
    parts, weights = [density], np.ones(1)
    if isinstance(density, MixtureDensity):
        parts, weights = density.all_parts, density.all_weights
    each = [
        np.log(weight) + _marginal_of_one(part, plane, Q)
        for weight, part in zip(weights, parts, strict=True)
    ]
    return np.logaddexp.reduce(each, axis=0)


def _marginal_of_one(density: Density, plane: Plane, Q: NDArray) -> NDArray:
    """Log-density in a plane of kernels that share a shape."""
    D, placed, law = plane.directions, _placed(density, plane), density.shape.law
    options: dict[str, Any] = {"weights": placed.weights, "kernel": law.name, **asdict(law)}
    covariance = D @ density.shape.covariance @ D.T
    return log_density(Q, placed.X, covariance=covariance, tolerance=_TOLERANCE, **options)


def _placed(density: Density, plane: Plane) -> WeightedPoints:
    """Centers of kernels in a plane: in Gaussian directions, at the mean."""
    mean, shape = density.mean.astype(np.float64), density.shape
    centered = density.points.X.astype(np.float64) - mean
    G = shape.gaussian_map
    centers = centered - (centered @ G.T) @ (G @ shape.covariance)  # G Σ: what G measures
    return density.points.at((centers + mean - plane.center) @ plane.directions.T)


def _of_local_kernels(
    placed: WeightedPoints, covariances: NDArray, shared: NDArray, Q: NDArray
) -> NDArray:
    """Log-density at places Q of kernels that have a covariance each."""
    shape, mean = Shape.of(shared), placed.X.mean(axis=0)
    round_ = shape.inverse @ covariances @ shape.inverse.T
    d = placed.X.shape[1]
    work = Workload(len(Q), len(placed), d * (d + 3) // 2)
    engine, _ = choose_engine("auto", work, tolerance=_TOLERANCE)
    return PerPointDensity(placed, mean, shape, round_).log_density(Q, engine)


def most_points(model: BaseEstimator) -> int:
    """How many points to score: fewer, where there are many kernels."""
    density = getattr(model, "_density", None)
    n_kernels = 1 if density is None else len(density.points)
    return int(np.clip(_MOST_PAIRS // n_kernels, _LEAST_POINTS, MAX_POINTS))
