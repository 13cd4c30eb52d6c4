"""One picture each: points, images beside their nearest, histograms, samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vicinal.report import ProjectionDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Histograms", "Images", "Panel", "Points", "Samples"]

RIGHT, WRONG = "#2e7d32", "#bd1f01"
SAME, DIFFERENT = "#3f90da", "#e76300"
INK = "#222222"


class Panel(Protocol):
    """What can be drawn."""

    def draw(self, ax: "Axes") -> None:
        """Draw into axes that are there."""


@dataclass(frozen=True)
class Points:
    """New rows in the plane, and their classes."""

    points: NDArray
    labels: Sequence[Any]
    x_name: str = ""

    def draw(self, ax: "Axes") -> None:
        """Draw into axes that are there."""
        ProjectionDisplay(self.points, np.asarray(self.labels)).plot(ax=ax)
        ax.set(title="", xlabel=self.x_name)


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
        ax.set(xlim=(-1, n * step - 1), xticks=[])
        # Pixels stay square and the frame as large as those beside it.
        ax.set_ylim(step - 1 - n * step / 2 * 0.9, step - 1 + n * step / 2 * 0.9)
        ax.set_aspect("auto")
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
            ax.hist(values, list(bins), color=color, alpha=0.6, label=label)
        ax.set(xlabel=self.name, yticks=[])
        ax.margins(y=0.25)  # room for the legend
        ax.spines[["top", "left", "right"]].set_visible(False)
        ax.legend(frameon=False, fontsize="small", loc="upper center", ncols=2, columnspacing=1)


@dataclass(frozen=True)
class Samples:
    """Rows drawn from a density, and new rows, in two columns of them."""

    drawn: NDArray
    new: NDArray
    names: Sequence[str]

    def draw(self, ax: "Axes") -> None:
        """Draw into axes that are there."""
        drawn = ax.scatter(
            self.drawn[:, 0], self.drawn[:, 1], s=14, color=DIFFERENT, alpha=0.55, linewidths=0
        )
        new = ax.scatter(self.new[:, 0], self.new[:, 1], s=12, color=INK, linewidths=0, zorder=3)
        # The same frame for every density: that of the new rows.
        low, high = self.new.min(axis=0), self.new.max(axis=0)
        margin = 0.12 * (high - low)
        ax.set_xlim(low[0] - margin[0], high[0] + margin[0])
        ax.set_ylim(low[1] - margin[1], high[1] + margin[1])
        ax.set(xlabel=self.names[0], ylabel=self.names[1], xticks=[], yticks=[])
        ax.spines[["top", "right"]].set_visible(False)
        names = ["drawn from the density", "new tumors"]
        ax.legend([drawn, new], names, frameon=False, fontsize="small", loc="upper left")
