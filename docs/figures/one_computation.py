"""The one computation, drawn: points, a rows pass, a columns pass, and a gradient."""

import numpy as np
from matplotlib.patches import FancyBboxPatch
from style import BLUE, GREEN, INK, ORANGE, panels, write

SIZES = (5, 4, 5)  # points of three classes


def weights(rng):
    """Weights of all pairs of points on a line, class by class, and whether they share a class."""
    places = np.concatenate([rng.normal(c, 0.7, n) for c, n in enumerate(SIZES)])
    labels = np.repeat(np.arange(len(SIZES)), SIZES)
    return np.exp(-np.square(places[:, None] - places)), labels[:, None] == labels


def matrix(ax, k, same):
    """Pairs as squares: blue for the same class, orange for another, none on the diagonal."""
    n = len(k)
    for i in range(n):
        for j in range(n):
            if i != j:
                color = BLUE if same[i, j] else ORANGE
                ax.add_patch(square(j, n - 1 - i, color, 0.12 + 0.88 * k[i, j]))


def square(x, y, color, alpha):
    """One pair."""
    return FancyBboxPatch(
        (x + 0.1, y + 0.1), 0.8, 0.8, "square,pad=0", fc=color, ec="none", alpha=alpha
    )


def arrow(ax, start, end, color):
    """The direction of a pass."""
    style = {"arrowstyle": "-|>", "color": color, "lw": 2.6, "mutation_scale": 18}
    ax.annotate("", end, start, arrowprops=style)


def words(ax, x, y, text, color=INK, **options):
    """Text beside the matrix."""
    ax.text(x, y, text, color=color, fontsize=12, va="center", **options)


def main():
    """The matrix that is never stored, and what two passes over it give."""
    k, same = weights(np.random.default_rng(2))
    n = len(k)
    figure, (ax,) = panels(1, 10.5, 5.6)
    matrix(ax, k, same)
    row, column = n - 7, 9.5
    arrow(ax, (-0.3, row + 0.5), (n + 0.9, row + 0.5), GREEN)
    arrow(ax, (column, n + 0.3), (column, -0.9), GREEN)
    words(ax, -0.5, n - 0.4, r"queries $z_i$", ha="right")
    words(ax, 0.0, n + 0.9, r"keys $z_j$ with weights $u_j$")
    words(ax, n + 1.2, row + 0.9, "rows pass", GREEN, weight="bold")
    words(ax, n + 1.2, row - 0.2, r"$M_{pi} = \sum_j u_j\,k(s_{ij})$   and the mean of the keys")
    words(ax, n + 1.2, row - 1.3, "in each part $p$ of a row")
    words(ax, n + 1.2, n - 0.6, "another class (part 0)", ORANGE)
    words(ax, n + 1.2, n - 1.7, "the same class (part 1)", BLUE)
    words(ax, n + 1.2, n - 2.8, "the point itself: left out")
    words(ax, n + 1.2, row - 3.0, "model: objective, coefficients $c_{pi}$")
    words(ax, column + 0.7, -0.8, "columns pass", GREEN, weight="bold")
    words(
        ax,
        column + 0.7,
        -1.9,
        r"$\sum_i C_{ij}$,  $\sum_i C_{ij} z_i$   then the gradient, $d \times D$",
    )
    ax.set_xlim(-4.2, n + 13.5)
    ax.set_ylim(-2.8, n + 1.7)
    ax.set_aspect("equal")
    for side in ax.spines.values():
        side.set_visible(False)
    write(figure, "one-computation")


if __name__ == "__main__":
    main()
