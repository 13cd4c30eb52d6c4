"""Tables too large to learn from all of their rows: a sample of them, and of those with pairs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from vicinal.fitting.progress import say
from vicinal.inputs.units import check_units
from vicinal.neighborhood.arrays import Array, is_chunked, on_host, picked
from vicinal.rows.cluster import ends_of, labeled_there

__all__ = ["MOST_ANCHORS", "MOST_IMPOSTORS", "MOST_ROWS", "SamplesRows", "some_of", "some_rows"]

# Rows among which neighbors are looked for, and rows whose neighbors are. A map has some thousand
# numbers, and an anchor makes half a dozen pairs.
MOST_ROWS, MOST_ANCHORS = 100_000, 20_000

# Of an anchor in a table as large as that: rare classes would have thousands.
MOST_IMPOSTORS = 30

# Of each class in a sample of rows, where it has as many.
_LEAST_OF_CLASS = 50


def some_of(n: int, most: int, rng: np.random.Generator) -> NDArray | None:
    """Sorted positions of `most` of n, or None where these are all."""
    return None if n <= most else np.sort(rng.choice(n, most, replace=False))


def some_rows(labels: NDArray, rng: np.random.Generator) -> NDArray | None:
    """Sorted positions of rows to learn from, some of every class; None: all."""
    if len(labels) <= MOST_ROWS:
        return None
    order = rng.permutation(len(labels))
    by_class = order[np.argsort(labels[order], kind="stable")]
    counts = np.bincount(labels)
    rank = np.arange(len(labels)) - (np.cumsum(counts) - counts)[labels[by_class]]
    return np.union1d(order[:MOST_ROWS], by_class[rank < _LEAST_OF_CLASS])


class SamplesRows:
    """An estimator that learns from a sample of the rows where there are many."""

    verbose: int

    # Rows of a Dask array stay on the workers, but for those learned from.
    _learns_where_rows_are = ("fit",)

    def _labeled(self, X: Any, y: Any) -> tuple[Array, NDArray]:
        """Rows, which may be on the workers of a cluster, and their labels."""
        if is_chunked(X):
            points, targets = labeled_there(self, X, y, 2)
        else:
            dtypes = np.float64, np.float32
            points, targets = validate_data(self, X, y, dtype=dtypes, ensure_min_samples=2)
        check_units(ends_of(points))
        return points, targets

    def _known(
        self, points: Array, labels: NDArray, rng: np.random.Generator
    ) -> tuple[NDArray, NDArray]:
        """Rows to learn from, on this machine, and their labels."""
        rows = some_rows(labels, rng)
        known = on_host(points if rows is None else picked(points, rows))
        return known, labels if rows is None else labels[rows]

    def _say_what_is_left_out(self, n_used: int, n_rows: int) -> None:
        if n_used < n_rows:
            say(type(self).__name__, f"learns from {n_used} of {n_rows} rows", self.verbose)
