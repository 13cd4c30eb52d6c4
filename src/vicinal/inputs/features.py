"""Points in standard units, converted a block at a time: the data may be larger than memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array

from vicinal.inputs.mapped import soon
from vicinal.inputs.span import has_few_rows, span_of
from vicinal.inputs.units import VALUES, check_reach, check_spread
from vicinal.neighborhood.arrays import is_chunked, on_host, picked
from vicinal.neighborhood.products import gram, times
from vicinal.neighborhood.threads import run_in_order, threads_worth

__all__ = [
    "BLOCK_BYTES",
    "Features",
    "Moments",
    "class_covariances",
    "class_units",
    "moments",
    "standard_units",
]

# Of rows that are converted at a time.
BLOCK_BYTES = 8_000_000

# Of rows that are taken on one thread: they stay in its cache until they are converted.
_TAKEN_BYTES, _PARTS_OF_A_THREAD = 500_000, 8

# What the total variance of a column adds to its variance within classes, before it is a unit:
# a column that tells classes apart without any error keeps a finite one.
_SHARE_OF_TOTAL = 1e-3


@dataclass(frozen=True)
class Features:
    """Rows of X, less the mean, in multiples of `unit`, one for all columns or one for each.

    Attributes
    ----------
    X : array of shape (n, D)
        As the user gave it; never copied as a whole unless asked for. Rows on a cluster stay there.
    center : ndarray of shape (D,)
    unit : float or ndarray of shape (D,)
        A power of two near the largest value, so that no digit is lost; or what each column
        deviates by within classes, so that nothing depends on its units.
    basis : ndarray of shape (r, D), optional
        Of the span of the rows, where these are few beside the columns: the features are then
        coordinates along it.
    """

    X: NDArray
    center: NDArray
    unit: float | NDArray
    basis: NDArray | None = None

    def __len__(self) -> int:
        return len(self.X)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return len(self.X), self.X.shape[1] if self.basis is None else len(self.basis)

    @property
    def dtype(self) -> np.dtype:
        """Precision of the rows."""
        return self.X.dtype

    @cached_property
    def _in_span(self) -> NDArray | None:
        """All rows along the basis, where there is one: few numbers, needed many times."""
        if self.basis is None:
            return None
        return times(replace(self, basis=None)[:], self.basis.T.astype(self.dtype))

    def inward(self, A: NDArray) -> NDArray:
        """A map of the columns as the user has them, for these features."""
        A = self.unit * A
        return A if self.basis is None else A @ self.basis.T

    def outward(self, A: NDArray) -> NDArray:
        """A map of these features, for the columns as the user has them."""
        return (A if self.basis is None else A @ self.basis) / self.unit

    def __getitem__(self, rows: slice | NDArray) -> NDArray:
        if self._in_span is not None:
            return self._in_span[rows].copy()
        block = np.subtract(picked(self.X, rows), self.center)
        block /= np.asarray(self.unit, dtype=block.dtype)
        return block

    def take(self, rows: slice | NDArray, dtype: DTypeLike) -> NDArray:
        """Some rows, in another precision; centered and scaled before digits are dropped."""
        if self._in_span is not None:
            return self._in_span[rows].astype(dtype)
        if is_chunked(self.X):
            return replace(self, X=picked(self.X, rows)).take(slice(None), dtype)
        some = self.X[rows] if isinstance(rows, slice) else rows
        taken = np.empty((len(some), self.X.shape[1]), dtype)
        inverse = np.asarray(1.0 / self.unit, dtype=self.dtype)  # cheaper than dividing

        def convert(part: slice) -> None:
            picked = some[part] if isinstance(rows, slice) else self.X.take(some[part], axis=0)
            block = np.subtract(picked, self.center)
            block *= inverse
            taken[part] = block

        _in_parts(convert, taken)
        return taken

    def spread(self, rows: slice | NDArray, dtype: DTypeLike) -> Any:
        """Some rows, as `take` has them, on the workers of a cluster."""
        from vicinal.neighborhood.cluster.rows import each_block, spread

        if not is_chunked(self.X) or self._in_span is not None:
            return spread(self.take(rows, dtype))
        everything = isinstance(rows, slice) and rows == slice(None)
        X = self.X if everything else spread(self.X[rows])
        plain = replace(self, X=np.empty((0, 0)))  # rows do not travel with it

        def convert(block: NDArray) -> NDArray:
            return replace(plain, X=block).take(slice(None), dtype)

        return each_block(convert, X, self.shape[1], np.dtype(dtype), "converting")

    def summed(self, of: Callable[..., Any], *beside: NDArray | None) -> Any:
        """Σ over blocks of rows, some megabytes at a time; on a cluster, where the rows are.

        Parameters
        ----------
        of : callable
            Of these features for the rows of a block, and of the same rows of what is `beside`.
        *beside : ndarray of shape (n,), or None
        """
        if is_chunked(self.X):
            return self._summed_there(of, *beside)
        parts = (
            of(self._rows(rows), *(_part(each, rows) for each in beside)) for rows in _sweep(self.X)
        )
        return reduce(add, parts)

    def _summed_there(self, of: Callable[..., Any], *beside: NDArray | None) -> Any:
        from vicinal.neighborhood.cluster.rows import summed_over

        plain = replace(self, X=np.empty((0, 0)))  # rows do not travel with it

        def of_block(block: NDArray, *parts: NDArray | None) -> Any:
            return of(replace(plain, X=block), *parts)

        return summed_over(of_block, self.X, *beside)

    def _rows(self, rows: slice) -> "Features":
        """These features for some rows."""
        some = replace(self, X=self.X[rows])
        if self._in_span is not None:
            vars(some)["_in_span"] = self._in_span[rows]  # known already
        return some

    def project(self, A: NDArray) -> NDArray:
        """Z = X Aᵀ for a map A of these units, shape (n, d)."""
        if is_chunked(self.X):
            there = self.spread(slice(None), self.dtype)
            return on_host(times(there, A.T.astype(self.dtype)))
        Z = np.empty((len(self), len(A)), dtype=self.dtype)
        for rows in _sweep(self.X):
            Z[rows] = times(self[rows], A.T.astype(self.dtype))
        return Z


@dataclass(frozen=True)
class Moments:
    """Counts, means and covariances of the classes, copies counted.

    Attributes
    ----------
    counts : ndarray of shape (n_classes,)
    means : ndarray of shape (n_classes, D)
    within : ndarray of shape (D, D)
        S_W, the covariance around class means (thesis 3.17).
    """

    counts: NDArray
    means: NDArray
    within: NDArray

    @property
    def spread(self) -> NDArray:
        """M with S_T = S_W + MᵀM, shape (n_classes, D): how far class means lie from the mean."""
        shares = self.counts / self.counts.sum()
        return np.sqrt(shares)[:, None] * (self.means - shares @ self.means)

    @cached_property
    def axes(self) -> tuple[NDArray, NDArray]:
        """Variances along the principal axes of S_W, and these axes as columns."""
        variances, directions = eigh(self.within)
        return variances, directions

    @property
    def total(self) -> NDArray:
        """S_T, the covariance of all points, shape (D, D)."""
        return self.within + self.spread.T @ self.spread

    @property
    def between(self) -> NDArray:
        """S_B (thesis 3.16), every class counting the same; the text forgets to center it."""
        spread = self.means - self.means.mean(axis=0)
        return spread.T @ spread / len(self.means)


def standard_units(
    X: NDArray, weights: NDArray | None = None, *, is_whole: bool = True
) -> Features:
    """Center and scale: covariances neither overflow nor vanish, whatever the units.

    The solvers' first step then has the right size, too. Where the rows are all there will be
    (`is_whole`) and few beside the columns, the features are coordinates in their span.
    """
    center, spreads = _centers_and_spreads(X, weights)
    return _in_span(Features(X, center, float(_near(spreads.max()))), is_whole)


def class_units(
    X: NDArray,
    labels: NDArray,
    n_classes: int,
    weights: NDArray | None = None,
    *,
    is_whole: bool = True,
) -> Features:
    """Center, and measure every column by how much it deviates within classes.

    What is learned from such features does not depend on the units of a column. Those that vary
    by no more than rounding are left as they are. `is_whole` is that of `standard_units`.
    """
    center, spreads = _centers_and_spreads(X, weights)
    # Neither by rounding alone, nor by so little that its inverse is no number.
    least = np.maximum(8 * np.finfo(X.dtype).eps * np.abs(center), VALUES[X.dtype.itemsize][0])
    varies = spreads > least
    unit = np.where(varies, _near(spreads), float(_near(spreads.max())))
    variances = _variances_within(Features(X, center, unit), labels, n_classes, weights)
    unit *= np.sqrt(np.where(varies & (variances > 0), variances, 1.0))
    return _in_span(Features(X, center, unit), is_whole)


def _centers_and_spreads(X: NDArray, weights: NDArray | None) -> tuple[NDArray, NDArray]:
    """Mean of every column, and how far its values reach from there, shape (D,) each."""
    low, high, mean = _ends_and_mean(X, weights)
    check_reach(np.stack([low, high]), VALUES)
    center = mean.astype(X.dtype)
    spreads = np.maximum(high - center, center - low).astype(np.float64)
    check_spread(float(spreads.max()), X.dtype, VALUES)
    return center, spreads


def _ends_and_mean(X: NDArray, weights: NDArray | None) -> tuple[NDArray, NDArray, NDArray]:
    """Least and largest value and mean of every column; with weights in one sweep over the rows."""
    if is_chunked(X):
        ends = on_host(X.min(axis=0)), on_host(X.max(axis=0))
        return *ends, _mean_there(X, weights)
    if weights is None:
        return X.min(axis=0), X.max(axis=0), X.mean(axis=0, dtype=np.float64)
    low, high, total = X[0], X[0], np.zeros(X.shape[1])
    for rows in _sweep(X):
        block = X[rows]
        low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
        total += weights[rows] @ block.astype(np.float64)
    return low, high, total / weights.sum()


def _mean_there(X: Any, weights: NDArray | None) -> NDArray:
    """Mean of every column of rows on a cluster."""
    from vicinal.neighborhood.cluster.rows import summed_over

    if weights is None:
        return summed_over(lambda block: block.sum(axis=0, dtype=np.float64), X) / len(X)
    total = summed_over(lambda block, part: part @ block.astype(np.float64), X, weights)
    return total / weights.sum()


def _near(spread: NDArray) -> NDArray:
    """The power of two below a spread, 1 for none: to divide by it loses no digit."""
    return 2.0 ** np.floor(np.log2(np.where(spread > 0, spread, 1.0)))


def _in_span(features: Features, is_whole: bool) -> Features:
    if is_whole and has_few_rows(*features.shape):
        return replace(features, basis=span_of(features[:]))
    return features


def _variances_within(
    features: Features, labels: NDArray, n_classes: int, weights: NDArray | None
) -> NDArray:
    """Variance of every column around class means, and a little of that around its own mean."""
    counts, means = _class_means(features, labels, n_classes, weights)

    def squares_of(some: Features, classes: NDArray, part: NDArray | None) -> NDArray:
        apart = _from_means(some, classes, means)
        members = _members(classes, n_classes, part)
        return (members @ np.square(apart, out=apart)).sum(axis=0)

    squares = features.summed(squares_of, labels, weights)
    within, shares = squares / counts.sum(), counts / counts.sum()
    between = shares @ np.square(means - shares @ means)
    return within + _SHARE_OF_TOTAL * (within + between)


def moments(
    features: Features, labels: NDArray, n_classes: int, weights: NDArray | None = None
) -> Moments:
    """Two sweeps over the rows: class means, then the covariance around them."""
    counts, means = _class_means(features, labels, n_classes, weights)

    def scatter_of(some: Features, classes: NDArray, part: NDArray | None) -> NDArray:
        return _scatter(_from_means(some, classes, means), part)

    within = features.summed(scatter_of, labels, weights)
    return Moments(counts, means, within / counts.sum())


def _from_means(features: Features, classes: NDArray, means: NDArray) -> NDArray:
    """Rows, less the means of their classes, in double precision."""
    block = features.take(slice(None), np.float64)

    def subtract(part: slice) -> None:
        block[part] -= means[classes[part]]

    _in_parts(subtract, block)
    return block


def _in_parts(work: Callable[[slice], None], block: NDArray) -> None:
    """Do something with all rows of a block, on threads."""
    parts = list(_slices(block, _TAKEN_BYTES))
    for _ in run_in_order(work, parts, threads_worth(len(parts), _PARTS_OF_A_THREAD)):
        pass


def _class_means(
    features: Features, labels: NDArray, n_classes: int, weights: NDArray | None
) -> tuple[NDArray, NDArray]:
    """Counts, shape (n_classes,), and means, shape (n_classes, D)."""
    counts = np.bincount(labels, weights, minlength=n_classes).astype(np.float64)

    def sums_of(some: Features, classes: NDArray, part: NDArray | None) -> NDArray:
        return _members(classes, n_classes, part) @ some[:]

    sums = features.summed(sums_of, labels, weights)
    return counts, sums / np.where(counts > 0, counts, 1.0)[:, None]


def class_covariances(
    features: Features, labels: NDArray, known: Moments, weights: NDArray | None = None
) -> NDArray:
    """Covariance of every class around its own mean, shape (n_classes, D, D)."""

    def scatters_of(some: Features, classes: NDArray, part: NDArray | None) -> NDArray:
        block, D = some[:], some.shape[1]
        total = np.zeros((len(known.counts), D, D))
        for c in np.unique(classes):
            mine = classes == c
            total[c] += _scatter(block[mine] - known.means[c], _part(part, mine))
        return total

    total = features.summed(scatters_of, labels, weights)
    return total / np.where(known.counts > 0, known.counts, 1.0)[:, None, None]


def _sweep(X: NDArray) -> Iterator[slice]:
    """Blocks of rows, each of which begins to be read while the one before is looked at."""
    for rows in _slices(X):
        soon(X, slice(rows.stop, 2 * rows.stop - rows.start))
        yield rows


def _slices(X: NDArray, most_bytes: int | None = None) -> Iterator[slice]:
    step = max(1, (most_bytes or BLOCK_BYTES) // (X.shape[1] * 8))
    return (slice(start, min(start + step, len(X))) for start in range(0, len(X), step))


def _members(labels: NDArray, n_classes: int, weights: NDArray | None) -> csr_array:
    """Class membership as a sparse (n_classes, n) matrix of weights."""
    values = np.ones(len(labels)) if weights is None else weights
    return csr_array((values, (labels, np.arange(len(labels)))), shape=(n_classes, len(labels)))


def _scatter(block: NDArray, weights: NDArray | None) -> NDArray:
    block = block.astype(np.float64, copy=False)
    return gram(block, block if weights is None else weights[:, None] * block)


def _part(weights: NDArray | None, rows: slice | NDArray) -> NDArray | None:
    return None if weights is None else weights[rows]
