"""New points among those of a picture: stars, with lines to their nearest neighbors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from vicinal.inputs.checks import check_count
from vicinal.report.drawing.labels import Label
from vicinal.report.names import shortened
from vicinal.report.numbers.plane import Plane
from vicinal.voting import nearest_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection

__all__ = ["STAR_SIZE", "Queries", "nearest_rows"]

_LIFT = 18.0  # of a query's name above its star, in points of 1/72 inch
STAR_SIZE = 20.0  # width of a star in its ring, in points of 1/72 inch
MAX_NAMED = 12


def nearest_rows(embedding: ArrayLike, queries: ArrayLike | None, k: int) -> NDArray | None:
    """The k nearest rows of every query, shape (n_queries, k); None where nothing is asked for."""
    check_count("n_neighbors", k, 0)
    if k == 0:
        return None
    if queries is None:
        raise ValueError(f"n_neighbors={k} are those of queries: give queries, too.")
    points = check_array(embedding, dtype=np.float64, input_name="embedding")
    check_count("n_neighbors", k, 0, len(points), " (number of points)")
    return nearest_points(points, _checked(queries, points.shape[1]), k)[1]


def _checked(queries: ArrayLike, n_components: int) -> NDArray:
    array = check_array(queries, dtype=np.float64, input_name="queries")
    if array.shape[1] != n_components:
        raise ValueError(
            f"queries has {array.shape[1]} components, but embedding has {n_components}."
        )
    return array


@dataclass(frozen=True)
class Queries:
    """Queries in the plane.

    Attributes
    ----------
    stars : ndarray of shape (m, 2)
    names : list of str
    neighbors : ndarray of int, shape (m, k)
        Rows that lines lead to.
    """

    stars: NDArray
    names: list[str]
    neighbors: NDArray

    @classmethod
    def of(
        cls,
        queries: ArrayLike | None,
        names: Sequence[str] | None,
        neighbors: ArrayLike | None,
        plane: Plane,
        n_points: int,
    ) -> "Queries":
        """Read what a display was given; there may be none."""
        if queries is None:
            if names is not None or neighbors is not None:
                what = "query_names" if names is not None else "query_neighbors"
                raise ValueError(f"{what} are given without queries: give queries, too.")
            return cls(np.empty((0, 2)), [], np.empty((0, 0), dtype=np.intp))
        stars = plane.project(_checked(queries, plane.directions.shape[1]))
        if stars.shape[1] == 1:  # above the strips of the classes
            stars = np.column_stack([stars, np.ones(len(stars))])
        if names is None:
            names = ["query"] if len(stars) == 1 else [str(i + 1) for i in range(len(stars))]
        if len(names) != len(stars):
            raise ValueError(
                f"query_names has {len(names)} names, but there are {len(stars)} queries."
            )
        rows = _checked_rows(neighbors, len(stars), n_points)
        return cls(stars, [shortened(name) for name in names], rows)

    @property
    def note(self) -> str:
        """What stars and lines mean."""
        if not len(self.stars):
            return ""
        k = self.neighbors.shape[1]
        whose = "its" if len(self.stars) == 1 else "their"
        lines = f", lines and small rings: {whose} {k} nearest points"
        unnamed = f" (the first {MAX_NAMED} are named)" if len(self.stars) > MAX_NAMED else ""
        many = "s: queries" if len(self.stars) > 1 else ": the query"
        return f"star{many}{unnamed}{lines if k else ''}"

    def labels(self) -> list[Label]:
        """Names of the first ones."""
        named = zip(self.names[:MAX_NAMED], self.stars[:MAX_NAMED], strict=True)
        return [Label(name, star, lift=_LIFT) for name, star in named]

    def draw(
        self, ax: "Axes", points: NDArray
    ) -> "tuple[PathCollection | None, LineCollection | None]":
        """Stars in rings, and the lines from them to points."""
        from vicinal.report.drawing.colors import background, ink

        if not len(self.stars):
            return None, None
        lines, (x, y) = self._draw_lines(ax, points), self.stars.T
        ax.scatter(x, y, s=230, facecolors="none", edgecolors=[ink()], linewidths=1.4, zorder=3)
        ground = background(ax) or "none"
        stars = ax.scatter(
            x, y, s=150, marker="*", c=[ink()], edgecolors=ground, linewidths=0.8, zorder=3.1
        )
        return stars, lines

    def _draw_lines(self, ax: "Axes", points: NDArray) -> "LineCollection | None":
        """Lines from stars to their neighbors, and rings around these."""
        from matplotlib.collections import LineCollection

        from vicinal.report.drawing.colors import ink

        if not self.neighbors.size:
            return None
        ends = points[self.neighbors]  # (m, k, 2)
        starts = np.broadcast_to(self.stars[:, None], ends.shape)
        segments = np.stack([starts, ends], axis=2).reshape(-1, 2, 2)
        lines = LineCollection(list(segments), colors=[ink(0.6)], linewidths=0.9, zorder=2.5)
        ax.add_collection(lines, autolim=False)
        x, y = ends.reshape(-1, 2).T
        ax.scatter(x, y, s=36, facecolors="none", edgecolors=[ink()], linewidths=0.9, zorder=2.6)
        return lines


def _checked_rows(neighbors: ArrayLike | None, n_queries: int, n_points: int) -> NDArray:
    if neighbors is None:
        return np.empty((n_queries, 0), dtype=np.intp)
    rows = np.asarray(neighbors)
    if rows.ndim != 2 or len(rows) != n_queries or not np.issubdtype(rows.dtype, np.integer):
        raise ValueError(
            f"query_neighbors has shape {rows.shape} and type {rows.dtype}: whole numbers of shape "
            f"({n_queries}, k) are needed, rows of embedding."
        )
    if rows.size and (rows.min() < 0 or rows.max() >= n_points):
        raise ValueError(
            f"query_neighbors names rows from {rows.min()} to {rows.max()}, but embedding has "
            f"{n_points} rows."
        )
    return rows
