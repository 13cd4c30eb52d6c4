"""EM for the shape of the density, in coordinates where the data as a whole are white.

There the start is the identity, units and (for full covariances) any affine
map of the data drop out, and directions in which a kernel is as wide as the
data are those with variance 1. Parameters are the expected scatter C_L + ν I.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, solve_triangular

from vicinal.fitting import EM, SQUAREM, CollapseError, Draws, Solver, Step, Validation, split
from vicinal.inputs.points import WeightedPoints
from vicinal.inputs.splits import MOST_VALIDATION_KEYS
from vicinal.local_components.equations import (
    Form,
    Shape,
    expected_scatter,
    log_density,
)
from vicinal.neighborhood import Engine, gram, times

__all__ = [
    "Batching",
    "GlobalFrame",
    "LocalProblem",
    "Penalty",
    "constant_column",
    "refuse_unbounded",
    "why_unbounded",
]

# Variance of the kernel, relative to that of the data, below which it is on its way to zero. So
# little because a few far outliers may make out all of the latter.
COLLAPSED = 1e-13

# Width of a column, relative to another's, below which one variance for both tells nothing.
ALIKE = 1e-5

# Points tried one by one for an equal one before all are compared.
_TRIES = 10

# Validation checks over a batched fit; how many in a row may bring nothing in an exact one.
N_CHECKS, PATIENCE = 40, 5


@dataclass(frozen=True)
class Penalty:
    """ν of the penalties (ν_G/2) tr B_GᵀB_G + (ν_L/2) tr B_LᵀB_L on the negative mean likelihood.

    A variance that is added to the global and to the local covariance, in every direction.
    """

    global_: float = 0.0
    local: float = 0.0


@dataclass(frozen=True)
class Batching:
    """What an update of stochastic EM looks at (section 5).

    Attributes
    ----------
    size : int
        B, points whose neighborhoods are looked at.
    n_keys : int
        N, points among which their neighbors are; drawn anew for every update.
    discount : float
        γ, the weight that is left of an old scatter after a whole pass.
    """

    size: int
    n_keys: int
    discount: float

    def kept(self, n: int) -> float:
        """γ^(B/n) (equation 7): what an update leaves of the scatter before it."""
        return float(self.discount ** (self.size / n))


@dataclass(frozen=True)
class GlobalFrame:
    """Mean and scale of the data as a whole.

    Attributes
    ----------
    mean : ndarray of shape (d,)
    factor : ndarray of shape (d, d)
        Lower triangular G with G Gᵀ the global covariance, of a structure that
        keeps that of the kernels.
    covariance : ndarray of shape (d, d)
        All of it, ν_G included.
    """

    mean: NDArray
    factor: NDArray
    covariance: NDArray

    @classmethod
    def of(cls, points: WeightedPoints, form: Form, variance: float = 0.0) -> "GlobalFrame":
        """From points as the user has them; `variance` is added in every direction."""
        mean, covariance = global_moments(points)
        return cls.of_moments(mean, covariance, form, variance)

    @classmethod
    def of_moments(
        cls, mean: NDArray, covariance: NDArray, form: Form, variance: float
    ) -> "GlobalFrame":
        """From mean and covariance of the data."""
        covariance = covariance + variance * np.eye(len(mean))
        keeps = {"full": "full", "diag": "diag"}.get(form.structure, "spherical")
        scale = _checked(Form(keeps).restrict(covariance))
        return cls(mean, np.linalg.cholesky(scale), covariance)

    @cached_property
    def inverse(self) -> NDArray:
        """G⁻¹."""
        return solve_triangular(self.factor, np.eye(len(self.factor)), lower=True)

    @property
    def log_volume(self) -> float:
        """log |det G|."""
        return float(np.log(np.diag(self.factor)).sum())

    def inward(self, points: WeightedPoints) -> WeightedPoints:
        """Points in white coordinates."""
        centered = (points.X - self.mean).astype(np.float64, copy=False)
        return points.at(np.ascontiguousarray(times(centered, self.inverse.T)))

    def start(self, form: Form) -> NDArray:
        """The global covariance, of the structure of the kernels, in white coordinates."""
        if form.structure == "full":
            return np.eye(len(self.mean))  # exactly: whether a direction is Gaussian hangs on it
        return form.restrict(self.covariance_inward(self.covariance))

    def covariance_inward(self, covariance: NDArray) -> NDArray:
        """A covariance in white coordinates."""
        return self.inverse @ covariance @ self.inverse.T

    def covariance_outward(self, covariance: NDArray) -> NDArray:
        """A covariance in the coordinates of the user."""
        return self.factor @ covariance @ self.factor.T


@dataclass(frozen=True)
class LocalProblem:
    """EM on points.

    Attributes
    ----------
    points : WeightedPoints
        As the user has them.
    frame : GlobalFrame
    form : Form
    penalty : Penalty
    engine : Engine
    """

    points: WeightedPoints
    frame: GlobalFrame
    form: Form
    penalty: Penalty
    engine: Engine

    @cached_property
    def white(self) -> WeightedPoints:
        """All points in white coordinates."""
        return self.frame.inward(self.points)

    def solver(
        self, accelerate: bool, batching: Batching | None, rng: np.random.Generator
    ) -> Solver:
        """Plain, accelerated or stochastic EM."""
        if batching is not None:
            draws = Draws(rng)
            return EM(self.batched(batching, draws), batching.kept(len(self.points)), draws)
        if accelerate:
            return SQUAREM(self.step, matrix_logarithm, matrix_exponential)
        return EM(self.step)

    def step(self, scatter: NDArray) -> tuple[float, NDArray]:
        """Penalized mean log-likelihood at the shape of a scatter, and the next scatter."""
        return self._visit(scatter, self.white)

    def batched(self, batching: Batching, draws: Draws) -> Step:
        """A step that sees a new batch at every call, against points drawn anew."""

        def new_epoch() -> list[NDArray]:
            return split(draws.rng.permutation(len(self.points)), batching.size)

        def step(scatter: NDArray) -> tuple[float, NDArray]:
            chosen = draws.next_of(new_epoch)
            queries, keys, own = self._drawn(chosen, batching.n_keys, draws.rng)
            objective, found = self._visit(scatter, queries, keys, own)
            if len(queries) >= 2 * len(found):
                self._check_alive(found)  # averaged with the old one it would take long to see
            return objective, found

        return step

    def of_first(self, scatter: NDArray, n: int) -> tuple[float, NDArray]:
        """A step over the first n points only, each against all others."""
        own = np.arange(n)
        return self._visit(scatter, self.white[own], self.white, own)

    def shape(self, scatter: NDArray) -> Shape:
        """Shape of the density in the coordinates of the user."""
        return self.form.shape(scatter).moved(self.frame.factor)

    def validation(
        self, held_back: WeightedPoints, every: int, patience: int | None, rng: np.random.Generator
    ) -> Validation:
        """Mean log-density of points held back, under the points to learn from."""
        queries = self.frame.inward(held_back)
        keys = self.frame.inward(some(self.points, MOST_VALIDATION_KEYS, rng))

        def score(scatter: NDArray) -> float:
            log_p = log_density(self.form.shape(scatter), self.engine, queries.X, keys)
            return float(np.average(log_p, weights=queries.weights)) - self.frame.log_volume

        return Validation(score, every, patience)

    def _visit(
        self,
        scatter: NDArray,
        queries: WeightedPoints,
        keys: WeightedPoints | None = None,
        own: NDArray | None = None,
    ) -> tuple[float, NDArray]:
        self._check_alive(scatter)
        shape = self.form.shape(scatter)
        found = expected_scatter(shape, self.engine, queries, keys, own)
        value = found.log_likelihood - self.frame.log_volume - self._penalty_of(shape)
        return value, self.form.restrict(found.scatter + self.penalty.local * self._precision)

    def _drawn(
        self, rows: NDArray, n_keys: int, rng: np.random.Generator
    ) -> tuple[WeightedPoints, WeightedPoints, NDArray]:
        n = len(self.points)
        if n_keys >= n:
            return self.white[rows], self.white, rows
        chosen = np.sort(rng.choice(n, n_keys, replace=False, shuffle=False))
        own = np.minimum(np.searchsorted(chosen, rows), n_keys - 1)
        own = np.where(chosen[own] == rows, own, -1)
        # Only now in white coordinates: the points may be as many as memory holds.
        inward = self.frame.inward
        return inward(self.points[rows]), inward(self.points[chosen]), own

    def _penalty_of(self, shape: Shape) -> float:
        """½ ν_L tr B_LᵀB_L + ½ ν_G tr B_GᵀB_G of a shape in white coordinates."""
        B = np.einsum("ij,jk,ik->i", shape.inverse, self._precision, shape.inverse)
        n_local = shape.n_local
        return 0.5 * float(
            self.penalty.local * B[:n_local].sum() + self.penalty.global_ * B[n_local:].sum()
        )

    @cached_property
    def _precision(self) -> NDArray:
        """A variance of 1 in every direction, as white coordinates see it."""
        return self.frame.inverse @ self.frame.inverse.T

    def _check_alive(self, scatter: NDArray) -> None:
        least, most = np.linalg.eigvalsh(scatter)[[0, -1]]
        if least > COLLAPSED and most < 1.0 / COLLAPSED:
            return
        n, d = self.points.X.shape
        widths = np.sqrt(np.diag(self.frame.covariance))
        why = "in some direction every point has a twin (a binary feature, repeated rows)"
        if n <= 2 * d - 2:
            why = f"{n} points in {d} dimensions are too few"
        elif self.form.structure not in ("full", "diag") and widths.min() < ALIKE * widths.max():
            why = (
                f"the columns of X have widths from {widths.min():.1e} to {widths.max():.1e}, so "
                "that the narrow ones count for nothing; scale them alike"
            )
        raise _collapse(why)


def constant_column(name: str) -> CollapseError:
    """To be raised where a column has one value only."""
    return CollapseError(
        f"{name} of X is constant: a density has no width there. Drop it, or set regularization "
        "to a small positive variance."
    )


def refuse_unbounded(points: WeightedPoints, form: Form, n_local: int) -> None:
    """Refuse points for which a leave-one-out likelihood has no bound, even where EM would stop."""
    why = why_unbounded(points, form, n_local)
    if why is not None:
        raise _collapse(why)


def why_unbounded(points: WeightedPoints, form: Form, n_local: int) -> str | None:
    """What leaves the leave-one-out likelihood of points without a bound, if anything does.

    Kernels may be flat in a subspace of n_local - 1 dimensions, or of the rank of "low_rank". If
    the differences of n / 2 pairs fit into it, every point has another one at distance 0 across.
    """
    flat = {"full": n_local - 1, "low_rank": min(form.rank, n_local - 1)}.get(form.structure, 0)
    n, d = points.X.shape
    if n <= 2 * flat:
        return f"{n} points in {d} dimensions are too few"
    return "every row has a twin" if _all_have_twins(points) else None


def _all_have_twins(points: WeightedPoints) -> bool:
    """Whether all points occur more than once."""
    X = points.X
    for position in range(min(_TRIES, len(X))):  # one without an equal is enough, and likely
        if (points.counts * (X[position] == X).all(axis=1)).sum() <= 1:
            return False
    _, which = np.unique(X, axis=0, return_inverse=True)
    return bool(np.bincount(which.ravel(), points.counts).min() > 1)


def _collapse(why: str) -> CollapseError:
    return CollapseError(
        f"the kernel covariance collapses, as its likelihood has no upper bound: {why}. Set "
        'regularization to a small positive variance or to "auto", drop the feature, or '
        "reduce the dimension first."
    )


def global_moments(points: WeightedPoints) -> tuple[NDArray, NDArray]:
    """Mean and covariance, divided by n, copies counted; variances of 0 are exactly 0."""
    first = points.X[0].astype(np.float64)
    apart = points.X - first  # a mean of equal numbers need not be that number
    mean = points.counts @ apart / points.total
    centered = apart - mean
    weighted = centered if points.weights is None else points.weights[:, None] * centered
    return first + mean, gram(centered, weighted) / points.total


def some(points: WeightedPoints, most: int, rng: np.random.Generator) -> WeightedPoints:
    """All points, or so many of them at random."""
    if len(points) <= most:
        return points
    return points[np.sort(rng.choice(len(points), most, replace=False))]


def matrix_logarithm(covariance: NDArray) -> NDArray:
    """log Σ."""
    # Rounding may leave a collapsed direction below 0; `_check_alive` will see it.
    return _function(covariance, lambda values: np.log(np.maximum(values, np.finfo(float).tiny)))


def matrix_exponential(logarithm: NDArray) -> NDArray:
    """exp of a symmetric matrix; without overflow, for `_check_alive` to see what is too large."""
    return _function(logarithm, lambda values: np.exp(np.minimum(values, 100.0)))


def _function(symmetric: NDArray, function: Callable[[NDArray], NDArray]) -> NDArray:
    values, vectors = eigh(symmetric)
    return (vectors * function(values)) @ vectors.T


def _checked(covariance: NDArray) -> NDArray:
    """Refuse directions without any variance."""
    variances = np.diag(covariance)
    if not (variances > 0).all():
        raise constant_column("a column")
    scale = np.sqrt(variances)
    if np.linalg.eigvalsh(covariance / np.outer(scale, scale))[0] <= 1e-12:
        raise CollapseError(
            "the columns of X are linearly dependent (or there are fewer rows than columns): a "
            "density has no width in some direction. Reduce the dimension first, or set "
            "regularization to a small positive variance."
        )
    return covariance
