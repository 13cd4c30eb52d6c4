"""Wine before and after learning a map: the neighbors that one point picks, and the classes."""

import numpy as np
from sklearn.datasets import load_wine
from style import CLASSES, INK, panels, write

from vicinal import NeighborhoodComponents


def draw(ax, Z, y, point, title):
    """Points by class, and lines from one to those that it picks; a thicker line is more likely."""
    squares = np.square(Z - Z[point]).sum(axis=1)
    squares[point] = np.inf
    picks = np.exp(-(squares - squares.min()))
    picks /= picks.sum()
    for other in np.flatnonzero(picks > 0.005):
        ends = Z[[point, other]].T
        ax.plot(*ends, color=INK, lw=0.6 + 8 * picks[other], alpha=0.7, zorder=1)
    for c, color in enumerate(CLASSES):
        ax.scatter(*Z[y == c].T, s=14, color=color, alpha=0.85, linewidths=0, zorder=2)
    ax.scatter(*Z[point], s=90, facecolors="none", edgecolors=INK, linewidths=2, zorder=3)
    ax.set_title(f"{title}\nown class picked: {picks[y == y[point]].sum():.0%}", fontsize=12)


def main():
    """Two columns of wine, and two learned from all thirteen."""
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = NeighborhoodComponents(n_components=2).fit(X, y)
    figure, (before, after) = panels(2, 4.2, 3.9)
    point = 72
    draw(before, 2.0 * X[:, [0, 2]], y, point, "two of 13 columns")
    draw(after, model.transform(X), y, point, "two learned directions")
    write(figure, "neighborhood-components")


if __name__ == "__main__":
    main()
