"""EM for the shape of the density, in coordinates where the data as a whole are white.

There the start is the identity, units and (for full covariances) any affine
map of the data drop out, and directions in which a kernel is as wide as the
data are those with variance 1. Parameters are the expected scatter C_L + ν I.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from vicinal.fitting import EM, SQUAREM, Draws, Solver, Step, Validation, split
from vicinal.fitting.numbers import average
from vicinal.inputs.places import in_place, placed_points
from vicinal.inputs.points import WeightedPoints
from vicinal.inputs.splits import MOST_VALIDATION_KEYS
from vicinal.local_components.bounds import collapse
from vicinal.local_components.equations import (
    Form,
    expected_scatter,
    log_density,
)
from vicinal.local_components.frame import GlobalFrame
from vicinal.local_components.shapes import KernelShape
from vicinal.neighborhood import Engine, has_place
from vicinal.neighborhood.arrays import Array, is_numpy, placed_like, positions

__all__ = [
    "Batching",
    "LocalProblem",
    "Penalty",
]

# Variance of the kernel, relative to that of the data, below which it is on its way to zero. So
# little because a few far outliers may make out all of the latter.
COLLAPSED = 1e-13

# Width of a column, relative to another's, below which one variance for both tells nothing.
ALIKE = 1e-5

# Validation checks over a batched fit; how many in a row may bring nothing in an exact one.
N_CHECKS, PATIENCE = 40, 5


@dataclass(frozen=True)
class Penalty:
    """ν of the penalties (ν_G/2) tr B_GᵀB_G + (ν_L/2) tr B_LᵀB_L on the negative mean likelihood.

    A variance that is added to the global and to the local covariance, in every direction.

    Attributes
    ----------
    global_, local : float
        ν_G and ν_L.
    units : ndarray of shape (d,), optional
        Variances of the columns that ν counts in. None: 1, those of the user.
    least : ndarray of shape (d,), optional
        Variances that are added to both whatever ν is. None: nothing.
    is_all : bool, default=False
        Whether kernels have these variances and no others: nothing is learned from pairs.
    """

    global_: float = 0.0
    local: float = 0.0
    units: NDArray | None = None
    least: NDArray | None = None
    is_all: bool = False

    @property
    def global_variances(self) -> float | NDArray:
        """What is added to the global covariance of every column, shape (d,) or one for all."""
        return self._variances(self.global_)

    @property
    def local_variances(self) -> float | NDArray:
        """What is added to the covariance of kernels, shape (d,) or one for all."""
        return self._variances(self.local)

    def _variances(self, nu: float) -> float | NDArray:
        scaled = nu if self.units is None else nu * self.units
        return scaled if self.least is None else scaled + self.least


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
    copies_count : bool, default=True
        Whether copies of a point help to explain it. If not, it is left out with all of them.
    """

    points: WeightedPoints
    frame: GlobalFrame
    form: Form
    penalty: Penalty
    engine: Engine
    copies_count: bool = True

    @cached_property
    def white(self) -> WeightedPoints:
        """All points in white coordinates, where the engine computes if it has room."""
        return in_place(self.engine, self.frame.inward(self.points))[0]

    @property
    def start(self) -> NDArray:
        """The global covariance; or that of kernels for which nothing is learned."""
        if self.penalty.is_all:
            return self.form.restrict(self._local_penalty)
        return self.frame.start(self.form)

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
        own = positions(self.white.X)[:n]
        return self._visit(scatter, self.white[own], self.white, own)

    def shape(self, scatter: NDArray) -> KernelShape:
        """Shape of the density in the coordinates of the user."""
        return self.frame.shape(self.form, scatter)

    def validation(
        self, held_back: WeightedPoints, every: int, patience: int | None, rng: np.random.Generator
    ) -> Validation:
        """Mean log-density of points held back, under the points to learn from."""
        inward = self.frame.inward
        keys = inward(self.points.some(MOST_VALIDATION_KEYS, rng))
        queries, keys = in_place(self.engine, inward(held_back), keys)
        return Validation(lambda scatter: self._score(scatter, queries, keys), every, patience)

    def log_likelihood_of(self, held_back: WeightedPoints, scatter: NDArray) -> float:
        """Mean log-density of points held back, under the points to learn from."""
        queries = self.frame.inward(held_back)
        if not is_numpy(self.white.X):
            queries = placed_points(self.engine, queries)
        return self._score(scatter, queries, self.white)

    def _score(self, scatter: NDArray, queries: WeightedPoints, keys: WeightedPoints) -> float:
        log_p = log_density(self.form.shape(scatter), self.engine, queries.X, keys)
        return float(average(log_p, queries.weights)) - self.frame.log_volume

    def _visit(
        self,
        scatter: NDArray,
        queries: WeightedPoints,
        keys: WeightedPoints | None = None,
        own: Array | None = None,
    ) -> tuple[float, NDArray]:
        self._check_alive(scatter)
        shape = self.form.shape(scatter)
        found = expected_scatter(shape, self.engine, queries, keys, own, self.copies_count)
        penalty = shape.penalty(self._local_penalty, self._global_penalty)
        value = found.log_likelihood - self.frame.log_volume - penalty
        learned = 0.0 if self.penalty.is_all else found.scatter
        return value, self.form.restrict(learned + self._local_penalty)

    def _drawn(
        self, drawn: NDArray, n_keys: int, rng: np.random.Generator
    ) -> tuple[WeightedPoints, WeightedPoints, Array]:
        """Queries at the positions drawn, keys drawn now, and where each query is among these."""
        n = len(self.points)
        if n_keys >= n:
            there = placed_like(drawn, self.white.X)
            return self.white[there], self.white, there
        chosen = np.sort(rng.choice(n, n_keys, replace=False, shuffle=False))
        own = np.minimum(np.searchsorted(chosen, drawn), n_keys - 1)
        own = np.where(chosen[own] == drawn, own, -1)
        if has_place(self.engine) and not is_numpy(white := self.white.X):
            there = partial(placed_like, reference=white)
            return self.white[there(drawn)], self.white[there(chosen)], there(own)
        # Only now in white coordinates: the points may be as many as memory holds.
        inward = self.frame.inward
        return inward(self.points[drawn]), inward(self.points[chosen]), own

    @cached_property
    def _local_penalty(self) -> NDArray:
        """Variances added to the kernels, as white coordinates see them."""
        return self.frame.variances_inward(self.penalty.local_variances)

    @cached_property
    def _global_penalty(self) -> NDArray:
        """Variances added to the global covariance, as white coordinates see them."""
        return self.frame.variances_inward(self.penalty.global_variances)

    def _check_alive(self, scatter: NDArray) -> None:
        variances = scatter if scatter.ndim == 1 else np.linalg.eigvalsh(scatter)
        least, most = variances.min(), variances.max()
        # Beside one so wide, rounding makes the least one any number: an extrapolation too far.
        if least > COLLAPSED * max(1.0, most) and most < 1.0 / COLLAPSED:
            return
        n, d = self.points.X.shape
        widths = self.frame.widths
        why = "in some direction nearly every point has a twin (a binary feature, repeated rows)"
        if n <= 2 * d - 2:
            why = f"{n} points in {d} dimensions are too few"
        elif self.form.structure not in ("full", "diag") and widths.min() < ALIKE * widths.max():
            why = (
                f"the columns of X have widths from {widths.min():.1e} to {widths.max():.1e}, so "
                "that the narrow ones count for nothing; scale them alike"
            )
        raise collapse(why)


def matrix_logarithm(covariance: NDArray) -> NDArray:
    """log Σ; of variances alone where it is diagonal."""
    # Rounding may leave a collapsed direction below 0; `_check_alive` will see it.
    return _function(covariance, lambda values: np.log(np.maximum(values, np.finfo(float).tiny)))


def matrix_exponential(logarithm: NDArray) -> NDArray:
    """exp of a symmetric matrix; without overflow, for `_check_alive` to see what is too large."""
    return _function(logarithm, lambda values: np.exp(np.minimum(values, 100.0)))


def _function(symmetric: NDArray, function: Callable[[NDArray], NDArray]) -> NDArray:
    if symmetric.ndim == 1:  # the diagonal of one
        return function(symmetric)
    values, vectors = eigh(symmetric)
    return (vectors * function(values)) @ vectors.T
