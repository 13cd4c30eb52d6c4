"""Modes of the density by mean shift, and the clusters of points that climb to the same ones."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from vicinal.fitting.checkpoints.journal import Page, Unwritten, a_page
from vicinal.fitting.progress import stage
from vicinal.fitting.support import FitSupport
from vicinal.inputs.checks import check_nonnegative
from vicinal.inputs.nearest import nearest
from vicinal.inputs.tensors import answers_in_kind
from vicinal.local_components.density import Density
from vicinal.local_components.shapes import KernelShape
from vicinal.local_components.significance import boundary_of, log_floors, merge
from vicinal.neighborhood import Engine, namespace
from vicinal.neighborhood.arrays import Array, on_host, placed_like
from vicinal.neighborhood.threads import on_own_threads

__all__ = ["SIGNIFICANCE", "Modes", "ModesMixin", "find_modes"]

# In units of the kernel's width: a step that counts as none, and how far apart two points may end
# up and still have climbed to the same mode.
_STILL, _SAME = 1e-5, 1e-1

_MOST_STEPS = 2000

# Standard errors by which a mode rises above its saddle, unless told otherwise.
SIGNIFICANCE = 2.5

# Of more kernels, or points to begin at, a sample is taken.
_MOST_KERNELS, _MOST_STARTS = 20_000, 5000


@dataclass(frozen=True)
class Modes:
    """Modes of a density that count, and points that have climbed to them.

    Attributes
    ----------
    centers : ndarray of shape (n_modes, d)
        The highest first.
    starts : ndarray of shape (n, k)
        Points that climbed, in coordinates of the learned metric.
    labels : ndarray of int, shape (n,)
        The mode each of them belongs to.
    mean : ndarray of shape (d,)
    shape : KernelShape
        Whose local coordinates these are, of what is left of a point less the mean.
    """

    centers: NDArray
    starts: NDArray
    labels: NDArray
    mean: NDArray
    shape: KernelShape

    def labels_of(self, X: NDArray) -> NDArray:
        """The mode of the nearest point that climbed, shape (n,)."""
        Z = _coordinates(X - self.mean, self.shape)
        return self.labels[nearest(self.starts, Z, 1)[0][:, 0]]


class ModesMixin(FitSupport):
    """Modes of the density that an estimator has fitted."""

    verbose: int
    _density: Density

    def _queries(self, X: ArrayLike) -> NDArray:
        """Rows as they are compared with those learned from."""
        raise NotImplementedError

    def _engine_for(self, queries: NDArray) -> Engine:
        """What computes the density at so many points."""
        raise NotImplementedError

    @answers_in_kind
    @on_own_threads
    def modes(
        self, X: ArrayLike | None = None, *, significance: float = SIGNIFICANCE
    ) -> tuple[NDArray, NDArray]:
        """Find the significant modes of the density, and the mode that each point belongs to.

        Starting from the training rows, points climb the density by mean shift, with kernels as
        wide as the gradient of a density needs them. Two modes are distinct if the saddle between
        them is lower than both by `significance` standard errors. `vicinal.ModeClustering` does
        this in one step, and assigns new rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), optional
            Points to be labeled. None: the centers of the kernels, which are the training rows.
        significance : float, default=2.5
            Number of standard errors. 0: every mode of the density as it is fitted; in many
            dimensions that may be one mode per row.

        Returns
        -------
        centers : ndarray of shape (n_modes, n_features)
            The modes, the highest first.
        labels : ndarray of shape (n_samples,)
            Clustering: for each point, the position in `centers` of the mode it belongs to, that of
            the training row nearest to it in the learned metric.

        Examples
        --------
        >>> import numpy as np
        >>> from vicinal import LocalComponents
        >>> X = np.random.default_rng(0).normal(size=(200, 2))
        >>> X[:80] += 10
        >>> centers, labels = LocalComponents(covariance="diag").fit(X).modes()
        >>> len(centers), len(set(labels[:80]) & set(labels[80:]))
        (2, 0)
        """
        check_is_fitted(self)
        check_nonnegative("significance", significance)
        rows = self._density.points.X if X is None else self._queries(X)
        found = self._find_modes(significance, self._generator(), self.verbose)
        return found.centers, found.labels_of(rows)

    def _find_modes(self, significance: float, rng: np.random.Generator, verbose: int) -> Modes:
        """Modes of the density that count."""
        engine = self._engine_for(self._density.points.X)
        return find_modes(self._density, engine, significance, rng, verbose)


def find_modes(
    density: Density,
    engine: Engine,
    significance: float,
    rng: np.random.Generator,
    verbose: int = 0,
) -> Modes:
    """Climb from the centers of the kernels, and keep the modes that are more than chance.

    Parameters
    ----------
    density : Density
    engine : Engine
    significance : float
        Standard errors by which modes of a cluster rise above its saddle. 0: every mode of the
        density as it is counts; else kernels are as wide as gradients need them.
    rng : numpy.random.Generator
        For a sample of many kernels.
    verbose : int, default=0
    """
    density = density.merged(_MOST_KERNELS, rng)
    if significance > 0:
        density = density.for_gradients()
    X = density.points.some(_MOST_STARTS, rng).X.astype(np.float64)
    with stage("Mean shift", len(X), verbose) as tell:
        tops = _climb(density, X, engine, tell, warn=significance == 0)
    centers, reached = _distinct(tops, density, engine)
    Z = _coordinates(X - density.mean, density.shape)
    heights, floors = log_floors(density, centers, significance, engine)
    roots = np.arange(len(centers))
    if significance > 0:
        roots = merge(floors, boundary_of(density, X, Z, reached, engine))
        roots = _join_lost(roots, floors, Z, reached)
    chosen, numbers = _number(roots, heights, floors)
    return Modes(centers[chosen], Z, numbers[reached], density.mean, density.shape)


def _coordinates(apart: Array, shape: KernelShape) -> Array:
    """Where kernels are round, in the directions that are theirs, shape (n, n_local)."""
    return shape.coordinates(apart)[:, : shape.n_local]


def _climb(
    density: Density,
    X: NDArray,
    engine: Engine,
    tell: Callable[[float], None],
    warn: bool,
) -> NDArray:
    """Where mean shift leads from each point; `tell` is told of points that have arrived.

    They climb where the engine computes, as far as the density can: the host is told how many
    have arrived.
    """
    with a_page() as page:
        if page.result is not None:
            tops, moving = page.result[0]
        else:
            tops, moving = _climbed(density.placed(engine), X, engine, tell, page)
            page.keep((tops, moving))
    if warn and len(moving):
        warnings.warn(
            f"{len(moving)} points still climb after {_MOST_STEPS} steps: the density is very flat "
            "around them, and their modes may be too many.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return tops


def _climbed(
    density: Density,
    X: NDArray,
    engine: Engine,
    tell: Callable[[float], None],
    page: Page | Unwritten,
) -> tuple[NDArray, NDArray]:
    """Where points are after the last step, and positions of those that still climb."""
    known = page.standing or (X, np.arange(len(X)), 0)
    tops, moving = (placed_like(each, density.points.X) for each in known[:2])
    xp, n_steps = namespace(tops), known[2]
    tell(len(X) - len(moving))
    while len(moving) and n_steps < _MOST_STEPS:
        before, tops = tops[moving], xp.asarray(tops, copy=True)  # a checkpoint knows the others
        tops[moving] = after = density.climb(before, engine)
        step = xp.sqrt(xp.square(_coordinates(after - before, density.shape)).sum(axis=1))
        left = moving[step > _STILL]
        tell(len(moving) - len(left))
        moving, n_steps = left, n_steps + 1
        page.note(partial(tuple, (tops, moving, n_steps)))
    return on_host(tops), on_host(moving)


def _distinct(tops: NDArray, density: Density, engine: Engine) -> tuple[NDArray, NDArray]:
    """Every mode once, the highest first, and which of them each point has reached."""
    heights = density.log_density(tops, engine)
    Z = _coordinates(tops - density.mean, density.shape)
    reached = np.full(len(tops), -1)
    centers: list[NDArray] = []
    for position in np.argsort(-heights, kind="stable"):
        if reached[position] >= 0:
            continue
        waiting = np.flatnonzero(reached < 0)
        distance = np.linalg.norm(Z[waiting] - Z[position], axis=1)
        reached[waiting[distance <= _SAME]] = len(centers)
        centers.append(tops[position])
    return np.array(centers), reached


def _join_lost(roots: NDArray, floors: NDArray, Z: NDArray, reached: NDArray) -> NDArray:
    """Clusters that chance may have made, and no saddle joins to others, join the nearest one."""
    is_sure = np.isin(roots, roots[floors > -np.inf])
    if not is_sure.any():
        return np.zeros_like(roots)
    joined, sure = roots.copy(), np.flatnonzero(is_sure[reached])
    lost = np.flatnonzero(~is_sure[reached])
    near, squared = nearest(Z[sure], Z[lost], 1)
    for root in np.unique(roots[~is_sure]):
        mine = np.flatnonzero(roots[reached[lost]] == root)
        closest = near[mine[squared[mine, 0].argmin()], 0]
        joined[roots == root] = roots[reached[sure[closest]]]
    return joined


def _number(roots: NDArray, heights: NDArray, floors: NDArray) -> tuple[NDArray, NDArray]:
    """The mode that stands for each cluster, highest first, and the cluster of every mode.

    It is the one that is surest to be high.
    """
    surest = np.lexsort((-heights, -floors))
    chosen = surest[np.unique(roots[surest], return_index=True)[1]]
    chosen = chosen[np.argsort(-heights[chosen], kind="stable")]
    numbers = np.empty(len(roots), dtype=np.intp)
    numbers[roots[chosen]] = np.arange(len(chosen))
    return chosen, numbers[roots]
