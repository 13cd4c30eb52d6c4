"""The fitted mixture: evaluate it, draw from it, climb it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from vicinal.inputs.copies import distinct_points
from vicinal.inputs.places import in_place
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.density import ParzenDensity
from vicinal.local_components.equations import Shape
from vicinal.local_components.frame import global_moments
from vicinal.local_components.mixture.equations import Parts, look_around, responsibilities
from vicinal.local_components.shapes import KernelShape
from vicinal.neighborhood import Engine, law_named, namespace
from vicinal.neighborhood.arrays import Array, beside, is_numpy

__all__ = ["LEAST_FLOOR", "MixtureDensity"]

# Variance, in units of the columns, that any part has at least: repeated rows and constant columns
# have a density, then.
LEAST_FLOOR = 1e-6

# Keys of a part below which it is none any more.
_FEWEST_KEYS = 1e-3

# Of what is behind all parts: a value that a column never had costs the logarithm of how far off it
# is, where a Gaussian has the square.
_BEHIND = law_named("student", degrees_of_freedom=3.0)

# That are held at a time while points climb.
_MOST_NUMBERS = 10_000_000


@dataclass(frozen=True)
class MixtureDensity:
    """Several densities, each as likely as its weight says.

    Attributes
    ----------
    points : WeightedPoints
        Centers of the kernels of all parts, as the user has them.
    mean : ndarray of shape (d,)
        Of the data.
    shape : Shape
        Kernels of the covariance that those of the parts have in the mean.
    parts : list of ParzenDensity
    weights : ndarray of shape (K,)
        They sum to one.
    memberships : ndarray of shape (n, K)
        How much of each center belongs to each part.
    background : ParzenDensity
        One Student's t for all of the data, behind the parts.
    background_share : float
        How much of the density it is.
    """

    points: WeightedPoints
    mean: NDArray
    shape: Shape
    parts: list[ParzenDensity]
    weights: NDArray
    memberships: NDArray
    background: ParzenDensity
    background_share: float

    @classmethod
    def of(
        cls,
        points: WeightedPoints,
        parts: Parts,
        mean: NDArray,
        units: NDArray,
        background_share: float | None = None,
    ) -> "MixtureDensity":
        """From parameters where points are centered and columns in units; points are not yet.

        The background counts as one point more, unless its share is given.
        """
        keys = points.counts @ parts.memberships
        parts = parts.some(np.flatnonzero(keys > _FEWEST_KEYS))  # the others died
        means = mean + units * parts.means
        shapes = [shape.moved(np.diag(units)) for shape in parts.shapes]
        weights = points.counts @ parts.memberships / points.total
        covariance = sum(w * shape.covariance for w, shape in zip(weights, shapes, strict=True))
        if background_share is None:
            background_share = 1.0 / (1.0 + points.total)
        return cls(
            points,
            mean,
            Shape.of(covariance),
            _each_part(points, parts.memberships, means, shapes),
            weights,
            parts.memberships,
            _background(points, units),
            background_share,
        )

    def log_density(self, X: NDArray, engine: Engine) -> NDArray:
        """Logarithm of the density, shape (n,)."""
        log_p: NDArray = np.logaddexp.reduce(self._log_joint(X, engine), axis=1)
        return self._with_background(log_p, X, engine)

    def part_probabilities(self, X: NDArray, engine: Engine) -> NDArray:
        """How likely each point comes from each part, shape (n, K)."""
        return responsibilities(self._log_joint(X, engine))

    def sample(self, n: int, rng: np.random.RandomState) -> NDArray:
        """Draws from as many parts as chance will have it."""
        which = rng.choice(len(self.parts) + 1, n, p=self.all_weights)
        draws = np.empty((n, len(self.mean)))
        for k, part in enumerate(self.all_parts):
            mine = which == k
            draws[mine] = part.sample(int(mine.sum()), rng)
        return draws

    def placed(self, engine: Engine) -> Self:
        """The density with its kernels where an engine computes, if it has room there."""
        points = in_place(engine, self.points.at(self.points.X.astype(np.float64, copy=False)))[0]
        parts = [part.placed(engine) for part in self.all_parts]
        # All of them, or none.
        if any(is_numpy(each.X) for each in (points, *(part.points for part in parts))):
            return self
        return replace(self, points=points, parts=parts[:-1], background=parts[-1])

    def climb(self, X: Array, engine: Engine) -> Array:
        """To where the steps of all parts meet, each as stiff as its kernels are narrow."""
        d, inverses = len(self.mean), [part.shape.inverse for part in self.all_parts]
        stiff = beside(X, np.stack([inverse.T @ inverse for inverse in inverses]))
        n_tiles = -(-len(X) * d * max(d, len(stiff)) // _MOST_NUMBERS)
        step = -(-len(X) // max(1, n_tiles))
        tiles = [X[start : start + step] for start in range(0, len(X), step)]
        return namespace(X).concatenate([self._climbed(tile, stiff, engine) for tile in tiles])

    def _climbed(self, X: Array, stiff: Array, engine: Engine) -> Array:
        xp, mean = namespace(X), beside(X, self.mean)
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.all_weights)
        heights = [part.log_density(X, engine) for part in self.all_parts]
        shares = responsibilities(xp.stack(heights, axis=1) + beside(X, log_weights))
        shares[:, -1] *= self._hold_of_background(X)
        goals = xp.stack([part.climb(X, engine) - mean for part in self.all_parts], axis=1)
        stiffness = xp.einsum("nk,kij->nij", shares, stiff)
        pull = xp.einsum("nki,nk->ni", xp.einsum("nkj,kij->nki", goals, stiff), shares)
        return mean + xp.linalg.solve(stiffness, pull[:, :, None])[:, :, 0]

    def merged(self, most: int, rng: np.random.Generator) -> Self:
        """The density with a kernel for every row, copies counted, or for so many of them."""
        positions = np.arange(len(self.points))
        if len(positions) > most:
            positions = rng.choice(positions, most, replace=False)
        some, q = self.points[positions], self.memberships[positions]
        distinct, which = distinct_points(some)
        sums = [np.bincount(which, some.counts * part) for part in q.T]
        q = np.stack(sums, axis=1) / distinct.counts[:, None]
        means, shapes = [part.mean for part in self.parts], [part.shape for part in self.parts]
        parts = _each_part(distinct, q, means, shapes)
        return replace(self, points=distinct, parts=parts, memberships=q)

    def left_out(self, engine: Engine) -> NDArray:
        """Log-density at every center without that center, but for the background, shape (n,)."""
        points = self.points
        if len(points) == 1:
            return self.log_density(points.X, engine)
        options = {"moments": False, "copies_count": False}
        looks = [
            look_around(part.shape, engine, points, part.mean, q, **options)
            for part, q in zip(self.parts, self.memberships.T, strict=True)
        ]
        log_mass: NDArray = np.logaddexp.reduce([look.log_mass for look in looks], axis=0)
        log_p = log_mass - np.log(points.total - points.counts)
        return self._with_background(log_p, points.X, engine)

    def for_gradients(self) -> Self:
        """The density to climb: kernels are as wide as its gradient, not its height, needs them."""
        return replace(self, parts=[part.for_gradients() for part in self.parts])

    def log_squares(self, X: NDArray, engine: Engine) -> NDArray:
        """log Σ_j f_j(x)² over what points add to the density, Σ_j f_j(x), shape (n,).

        A point that belongs to several parts is as many, each for its share.
        """
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.all_weights)
        each = zip(log_weights, self.all_parts, strict=True)
        columns = [2.0 * log_weight + part.log_squares(X, engine) for log_weight, part in each]
        log_squares: NDArray = np.logaddexp.reduce(columns, axis=0)
        return log_squares

    def _with_background(self, log_p: NDArray, X: NDArray, engine: Engine) -> NDArray:
        """Log-density of points from what it is for the parts."""
        if self.background_share == 0:
            return log_p
        behind = np.log(self.background_share) + self.background.log_density(X, engine)
        return np.logaddexp(log_p + np.log1p(-self.background_share), behind)

    def _hold_of_background(self, X: Array) -> Array | float:
        """How stiff it is at points, beside a Gaussian of its scale matrix: (ν + d) / (ν + s)."""
        shape = self.background.shape
        s = namespace(X).square(shape.for_law(X - beside(X, self.background.mean))).sum(axis=1)
        return 2.0 * shape.law.decay(s, shape.n_local) / shape.law.squared_width

    @property
    def all_parts(self) -> list[ParzenDensity]:
        """The parts, and what is behind them."""
        return [*self.parts, self.background]

    @property
    def all_weights(self) -> NDArray:
        """Shares of the parts, and of what is behind them."""
        return np.append((1.0 - self.background_share) * self.weights, self.background_share)

    def _log_joint(self, X: NDArray, engine: Engine) -> NDArray:
        """log of π_k p_k(x), shape (n, K)."""
        each = zip(self.weights, self.parts, strict=True)
        columns = [np.log(weight) + part.log_density(X, engine) for weight, part in each]
        return np.stack(columns, axis=1)


def _each_part(
    points: WeightedPoints,
    memberships: NDArray,
    means: Sequence[NDArray] | NDArray,
    shapes: Sequence[KernelShape],
) -> list[ParzenDensity]:
    """Parts of points that belong to each as `memberships`, of shape (n, K), have it."""
    parts = []
    for q, mean, shape in zip(memberships.T, means, shapes, strict=True):
        keys = np.flatnonzero(q)
        centers = WeightedPoints(points.X[keys], points.counts[keys] * q[keys])
        parts.append(ParzenDensity(centers, mean, shape))
    return parts


def _background(points: WeightedPoints, units: NDArray) -> ParzenDensity:
    """One Student's t for all points: a row that no part expects is not infinitely unlikely."""
    mean, covariance = global_moments(points)
    covariance = covariance + np.diag(LEAST_FLOOR * np.square(units))
    return ParzenDensity(WeightedPoints(mean[None]), mean, Shape.of(covariance, _BEHIND))
