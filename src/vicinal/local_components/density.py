"""The fitted density: evaluate it, draw from it, climb it."""

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from vicinal.inputs.copies import distinct_points
from vicinal.inputs.places import in_place
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.equations import each_left_out, log_density
from vicinal.local_components.shapes import KernelShape
from vicinal.neighborhood import Engine, Pairs
from vicinal.neighborhood.arrays import Array, beside, new_zeros

__all__ = ["Density", "ParzenDensity", "gradient_widening"]


class Density(Protocol):
    """What an estimator asks of its density; points come and go in the user's coordinates."""

    @property
    def points(self) -> WeightedPoints:
        """Centers of the kernels."""
        ...

    @property
    def mean(self) -> NDArray:
        """Of the data, shape (d,)."""
        ...

    @property
    def shape(self) -> KernelShape:
        """The one kernels share, or are held to."""
        ...

    def log_density(self, X: NDArray, engine: Engine) -> NDArray:
        """Logarithm of the density, shape (n,)."""
        ...

    def sample(self, n: int, rng: np.random.RandomState) -> NDArray:
        """Exact draws, shape (n, d)."""
        ...

    def placed(self, engine: Engine) -> Self:
        """The density to climb where an engine computes, if it has room there."""
        ...

    def climb(self, X: Array, engine: Engine) -> Array:
        """One step of mean shift from each point; the density never falls.

        Points are where the kernels are: see `placed`.
        """
        ...

    def merged(self, most: int, rng: np.random.Generator) -> Self:
        """The density with a kernel for every row, copies counted, or for so many of them."""
        ...

    def left_out(self, engine: Engine) -> NDArray:
        """Log-density at the center of every kernel without that kernel, shape (n,)."""
        ...

    def for_gradients(self) -> Self:
        """The density to climb: kernels are as wide as its gradient, not its height, needs them.

        In directions that all rows have one Gaussian in, which has one mode, they are moved to
        its mean, so that saddles between rows are those of the other directions.
        """
        ...

    def log_squares(self, X: NDArray, engine: Engine) -> NDArray:
        """log Σ_j f_j(x)² over what points add to the density, Σ_j f_j(x), shape (n,)."""
        ...


@dataclass(frozen=True)
class ParzenDensity:
    """Kernels of one shape at all points, times a Gaussian in the directions it has.

    Attributes
    ----------
    points : WeightedPoints
        Centers of the kernels, as the user has them.
    mean : ndarray of shape (d,)
        μ, of the Gaussian part.
    shape : KernelShape
    """

    points: WeightedPoints
    mean: NDArray
    shape: KernelShape

    def log_density(self, X: Array, engine: Engine) -> Array:
        """Logarithm of the density, shape (n,)."""
        mean = beside(X, self.mean)
        centers = self.points.at(self.points.X - mean)
        return log_density(self.shape, engine, X - mean, centers)

    def sample(self, n: int, rng: np.random.RandomState) -> NDArray:
        """A center, moved by a draw from its kernel; around the mean in Gaussian directions."""
        Z, local = self._coordinates(draw_centers(self.points, n, rng)), slice(self.shape.n_local)
        Z[:, self.shape.n_local :] = 0.0
        noise = rng.standard_normal(Z.shape)
        noise[:, local] *= self.shape.law.draw_widths(n, rng)
        return self._points(Z + noise)

    def placed(self, engine: Engine) -> Self:
        """The density with its kernels where an engine computes, if it has room there."""
        points = self.points.at(self.points.X.astype(np.float64, copy=False))
        return replace(self, points=in_place(engine, points)[0])

    def climb(self, X: Array, engine: Engine) -> Array:
        """To the mean of the kernels around, and of the Gaussian, which is 0."""
        if self.shape.n_local == 0:
            return new_zeros(X, X.shape) + beside(X, self.mean)
        local = slice(self.shape.n_local)
        queries, keys = self._coordinates(X), self._coordinates(self.points.X)
        pairs = Pairs(
            queries[:, local] / self.shape.unit,
            keys[:, local] / self.shape.unit,
            key_log_weights=self.points.log_counts,
        )
        Z = new_zeros(queries, queries.shape)
        rows = engine.rows(pairs, self.shape.law).finish()
        Z[:, local] = beside(Z, self.shape.unit * rows.centroid[0])
        return self._points(Z)

    def merged(self, most: int, rng: np.random.Generator) -> Self:
        """The density with a kernel for every row, copies counted, or for so many of them."""
        return replace(self, points=distinct_points(self.points.some(most, rng))[0])

    def left_out(self, engine: Engine) -> NDArray:
        """Log-density at the center of every kernel without that kernel, shape (n,)."""
        if len(self.points) == 1:
            return self.log_density(self.points.X, engine)
        return each_left_out(self.shape, engine, self.points.at(self.points.X - self.mean))

    def for_gradients(self) -> Self:
        """The density to climb: wider kernels, and rows at the mean in Gaussian directions."""
        factor = gradient_widening(self.points.total, self.shape.n_local)
        Z = self._coordinates(self.points.X)
        Z[:, self.shape.n_local :] = 0.0
        points = self.points.at(self._points(Z))
        return replace(self, points=points, shape=self.shape.widened(factor))

    def log_squares(self, X: NDArray, engine: Engine) -> NDArray:
        """log Σ_j f_j(x)² over what points add to the density, Σ_j f_j(x), shape (n,)."""
        shape = self.shape
        if shape.n_local == 0:
            return 2.0 * self.log_density(X, engine) - np.log(self.points.total)
        law, factor = shape.law.squared(shape.n_local)
        unit = np.sqrt(factor) / shape.unit
        queries, keys = self._coordinates(X), self._coordinates(self.points.X)
        pairs = Pairs(
            unit * queries,
            unit * keys,
            key_log_weights=self.points.log_counts,
            n_near=shape.n_local,
        )
        log_sums = engine.rows(pairs, law, moments=False).finish().log_mass[0]
        log_heights = shape.log_normalizer - np.log(self.points.total) + shape.log_gaussian(queries)
        return log_sums + 2.0 * log_heights

    def _coordinates(self, X: Array) -> Array:
        return self.shape.coordinates(X - beside(X, self.mean))

    def _points(self, Z: Array) -> Array:
        return self.shape.points(Z) + beside(Z, self.mean)


def gradient_widening(n: float, d: int) -> float:
    """How much wider kernels are that are best for the gradient of a density than for itself.

    Of n points in d dimensions the best widths fall as n^(-1/(d + 6)) and n^(-1/(d + 4)).
    """
    return float(max(n, 1.0) ** (1.0 / (d + 4) - 1.0 / (d + 6)))


def draw_centers(points: WeightedPoints, n: int, rng: np.random.RandomState) -> NDArray:
    """Points drawn with replacement, as often as they count, shape (n, d)."""
    return points.X[draw_positions(points, n, rng)]


def draw_positions(points: WeightedPoints, n: int, rng: np.random.RandomState) -> NDArray:
    """Positions of points drawn with replacement, as often as they count, shape (n,)."""
    p = None if points.weights is None else points.weights / points.weights.sum()
    return rng.choice(len(points), n, p=p)
