"""One picture each: points, images beside their nearest, histograms, a density."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vicinal.report import ProjectionDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Contours", "Histograms", "Images", "Panel", "Points"]

RIGHT, WRONG = "#2e7d32", "#bd1f01"
SAME, DIFFERENT = "#3f90da", "#e76300"
SHARES = (0.5, 0.8, 0.95)  # of the new rows inside the lines


class Panel(Protocol):
    """What can be drawn."""

    def draw(self, ax: "Axes") -> None:
        """Draw into axes that are there."""


@dataclass(frozen=True)
class Points:
    """New rows in the plane, and their classes."""

    points: NDArray
    labels: Sequence[Any]

    def draw(self, ax: "Axes") -> None:
        """Draw into axes that are there."""
        ProjectionDisplay(self.points, np.asarray(self.labels)).plot(ax=ax)
        ax.set_title("")


@dataclass(frozen=True)
class Images:
    """New images over the images that are nearest to them, shape (n, side, side)."""

    new: NDArray
    nearest: NDArray
    is_right: NDArray

    def draw(self, ax: "Axes") -> None:
        """Draw into axes that are there."""
        from matplotlib.patches import Rectangle

        n, side = len(self.new), self.new.shape[1]
        step = side + 2
        for i in range(n):
            box = (i * step, i * step + side)
            ax.imshow(self.new[i], cmap="gray_r", extent=(*box, step, step + side))
            ax.imshow(self.nearest[i], cmap="gray_r", extent=(*box, 0, side))
            color = RIGHT if self.is_right[i] else WRONG
            ax.add_patch(Rectangle((box[0], 0), side, side, fill=False, edgecolor=color, lw=2.5))
        ax.set(xlim=(-1, n * step - 1), ylim=(-1, 2 * step - 1), xticks=[])
        ax.set_yticks([step + side / 2, side / 2], ["new", "nearest"], rotation=90, va="center")
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)


@dataclass(frozen=True)
class Histograms:
    """A number of pairs that belong together, and of pairs that do not."""

    together: NDArray
    apart: NDArray
    name: str

    def draw(self, ax: "Axes") -> None:
        """Draw into axes that are there."""
        everything = np.concatenate([self.together, self.apart])
        bins = np.linspace(everything.min(), everything.max(), 31)
        for values, color, label in (
            (self.together, SAME, "same digit"),
            (self.apart, DIFFERENT, "different digits"),
        ):
            ax.hist(values, bins, color=color, alpha=0.6, label=label)
        ax.set(xlabel=self.name, yticks=[])
        ax.margins(y=0.25)  # room for the legend
        ax.spines[["top", "left", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small", loc="upper center", ncols=2, columnspacing=1)


@dataclass(frozen=True)
class Contours:
    """A density over the plane, and new rows in it.

    Attributes
    ----------
    places : tuple of ndarray
        Coordinates along each axis.
    heights : ndarray of shape (n_y, n_x)
        Log-densities there.
    points : ndarray of shape (n, 2)
    at_points : ndarray of shape (n,)
    names : sequence of str
        Of the axes.
    """

    places: tuple[NDArray, NDArray]
    heights: NDArray
    points: NDArray
    at_points: NDArray
    names: Sequence[str]

    def draw(self, ax: "Axes") -> None:
        """Draw into axes that are there."""
        levels = np.unique(np.quantile(self.at_points, [1 - share for share in SHARES]))
        filled = [*levels, max(self.heights.max(), levels[-1]) + 1]
        colors = ("#d6e6f5", "#8fc0e8", "#3f90da")[-len(levels) :]
        ax.contourf(*self.places, self.heights, filled, colors=colors)
        ax.scatter(*self.points.T, s=7, color="#222222", linewidths=0, zorder=3)
        ax.set(xlabel=self.names[0], ylabel=self.names[1], xticks=[], yticks=[])
        ax.spines[["top", "right"]].set_visible(False)
