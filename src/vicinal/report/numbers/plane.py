"""A plane to show points in, and which of very many are shown."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.extmath import randomized_svd

from vicinal.report.numbers.units import drawing_unit, percent

__all__ = ["CORE", "MAX_POINTS", "Plane", "in_the_plane", "sample", "sample_note"]

MAX_POINTS = 20_000  # more of them make a slow picture, not a better one
_MOST_EXACT = 1_000  # dimensions, or points, up to which all directions are found
CORE = (0.005, 0.995)  # quantiles of each coordinate that are always inside the frame


@dataclass(frozen=True)
class Plane:
    """A plane that points are shown in: x ↦ (x - center) directionsᵀ.

    Attributes
    ----------
    center : ndarray of shape (d,)
    directions : ndarray of shape (2, d), or (1, d) where there is one dimension only
    note : str
        Which plane it is, where that is not plain.
    """

    center: NDArray
    directions: NDArray
    note: str = ""

    @classmethod
    def widest(cls, points: NDArray, what: str = "components", least: float = 0.0) -> "Plane":
        """The plane itself where there are two dimensions, else that of largest variance.

        `least` is a size that is to be seen in any case.
        """
        d = points.shape[1]
        size = max(float(np.abs(points).max()), least) or 1.0
        if d <= 2:
            note = "one component; height has no meaning" if d == 1 else ""
            return cls(np.zeros(d), np.eye(d), note)._in_unit(size)
        # A learned metric knows no first component, only distances: turn it to its widest plane.
        center = (points / size).mean(axis=0)
        directions, share = _widest(points / size - center)
        note = f"plane of largest variance: {percent(share)} of {d:,} {what}"
        return cls(center * size, directions, note)._in_unit(size)

    @classmethod
    def of_features(cls, points: NDArray, features: Sequence[int]) -> "Plane":
        """The plane, or line, of some features."""
        d = points.shape[1]
        size = float(np.abs(points[:, list(features)]).max()) or 1.0
        return cls(np.zeros(d), np.eye(d)[list(features)])._in_unit(size)

    def _in_unit(self, size: float) -> "Plane":
        """The plane in a unit in which points of a size can be drawn."""
        unit, said = drawing_unit(size)
        note = f"{self.note}{said}" if self.note else said.removeprefix("; ")
        return Plane(self.center, self.directions / unit, note)

    def project(self, points: ArrayLike) -> NDArray:
        """Coordinates in the plane, shape (n, 2) or (n, 1)."""
        values = check_array(points, dtype=np.float64)
        return (values - self.center) @ self.directions.T

    def place(self, points: NDArray, codes: NDArray) -> NDArray:
        """Where points are drawn, shape (n, 2).

        In one dimension at random heights, a strip for each class.
        """
        placed = self.project(points)
        if placed.shape[1] == 2:
            return placed
        heights = np.random.default_rng(0).uniform(-0.35, 0.35, len(codes)) - codes
        return np.column_stack([placed[:, 0], heights])


def _widest(centered: NDArray) -> tuple[NDArray, float]:
    """The two directions of largest variance, shape (2, d), and their share of it."""
    n, d = centered.shape
    if d <= _MOST_EXACT:
        variances, columns = np.linalg.eigh(centered.T @ centered)
        directions, widest = columns[:, ::-1][:, :2].T, variances[-2:]
    elif n <= _MOST_EXACT:
        _, values, found = np.linalg.svd(centered, full_matrices=False)
        directions, widest = np.zeros((2, d)), np.square(values[:2])
        directions[: len(widest)] = found[:2]  # a single point has no second one
    else:  # all of so many would take minutes
        _, values, directions = randomized_svd(centered, 2, n_iter=10, random_state=0)
        widest = np.square(values)
    total = float(np.square(centered).sum())
    return directions, min(float(widest.sum()) / (total or 1.0), 1.0)


def in_the_plane(embedding: NDArray, codes: NDArray) -> tuple[NDArray, str]:
    """Points of shape (n, 2), and what was done to get them."""
    plane = Plane.widest(embedding)
    return plane.place(embedding, codes), plane.note


def sample(
    codes: NDArray, most: int = MAX_POINTS, also: ArrayLike = (), *, seed: int = 0
) -> NDArray:
    """Rows to draw, in random order so that no class always covers the others.

    Of more than `most` so many, always the same for a seed, in which every class keeps its share
    and, where there are not too many classes, at least one row; and those in `also`.
    """
    order = np.random.default_rng(seed).permutation(len(codes))
    if len(codes) <= most:
        return order
    by_class = order[np.argsort(codes[order], kind="stable")]
    counts = np.bincount(codes)
    rank = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    chosen = np.zeros(len(codes), dtype=bool)
    chosen[by_class[rank < np.repeat(_kept(counts, most), counts)]] = True
    chosen[np.asarray(also, dtype=np.intp)] = True
    return order[chosen[order]]


def _kept(counts: NDArray, most: int) -> NDArray:
    """How many of each class make up `most`: its share, and one of each unless they are too many.

    Rounding the sums rather than the shares, so that neither more nor fewer come out.
    """
    least = (counts > 0).astype(np.int64) * (np.count_nonzero(counts) <= most)
    rest = np.cumsum(counts - least)
    return least + np.diff(rest * (most - least.sum()) // rest[-1], prepend=0)


def sample_note(n_shown: int, n: int) -> str:
    """That not all points are shown."""
    return "" if n_shown == n else f"a sample of {n_shown:,} of {n:,} points"
