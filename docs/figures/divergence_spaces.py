"""Two crossing strips of points: Gaussians around some of them, and the neighbors of one."""

import numpy as np
from matplotlib.patches import Ellipse
from style import BLUE, INK, ORANGE, panels, write

from vicinal.divergence import local_gaussians, pairwise


def strips(n, rng):
    """Points along two crossing lines, and the line of each."""
    along = rng.uniform(-3, 3, size=(2, n))
    across = rng.normal(0, 0.02, size=(2, n))
    angles = np.radians([25, -25])
    axes = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    normals = np.stack([-np.sin(angles), np.cos(angles)], axis=1)
    X = along[:, :, None] * axes[:, None] + across[:, :, None] * normals[:, None]
    return X.reshape(-1, 2), np.repeat([0, 1], n)


def ellipses(ax, X, rows):
    """The Gaussian of a neighborhood, at one standard deviation."""
    means, covariances = local_gaussians(X, n_neighbors=10)
    for mean, covariance in zip(means[rows], covariances[rows], strict=True):
        values, vectors = np.linalg.eigh(covariance)
        angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
        sizes = 2 * np.sqrt(values[::-1])
        ax.add_patch(Ellipse(mean, *sizes, angle=angle, fill=False, ec=BLUE, lw=1.6))


def nearest(ax, X, D, line, point, title):
    """The 15 nearest neighbors of a point, and how many are on its line."""
    near = np.argsort(D[point])[1:16]
    ax.scatter(*X.T, s=10, color=INK, alpha=0.5, linewidths=0)
    ax.scatter(*X[near].T, s=30, color=ORANGE, linewidths=0)
    ax.scatter(*X[point], s=110, facecolors="none", edgecolors=BLUE, linewidths=2.2)
    own = np.count_nonzero(line[near] == line[point])
    ax.set_title(f"{title}\n{own} of 15 on its own line", fontsize=12)


def share_on_own_line(seed, divergence):
    """Percentage of the 15 nearest neighbors, for points within 1 of the crossing."""
    X, line = strips(120, np.random.default_rng(seed))
    around = (np.abs(X) < 1).all(axis=1)
    near = np.argsort(pairwise(X, divergence=divergence)[around], axis=1)[:, 1:16]
    return 100 * np.mean(line[near] == line[around][:, None])


def main():
    """Gaussians, then nearest neighbors by Euclidean distance and by Jeffreys divergence."""
    X, line = strips(120, np.random.default_rng(3))
    on_first = np.flatnonzero(line == 0)
    point = on_first[np.abs(X[on_first, 0] - 0.25).argmin()]
    figure, (shapes, euclid, jeffreys) = panels(3, 3.6, 2.9)
    shapes.scatter(*X.T, s=10, color=INK, alpha=0.5, linewidths=0)
    ellipses(shapes, X, slice(None, None, 12))
    shapes.set_title("a Gaussian for\nevery neighborhood", fontsize=12)
    nearest(
        euclid, X, pairwise(X, divergence="euclidean"), line, point, "nearest by Euclidean distance"
    )
    nearest(
        jeffreys,
        X,
        pairwise(X, divergence="jeffreys"),
        line,
        point,
        "nearest by Jeffreys divergence",
    )
    for ax in (shapes, euclid, jeffreys):
        ax.set_aspect("equal")
    for ax in (euclid, jeffreys):
        ax.set_xlim(-1.0, 1.5)
        ax.set_ylim(-0.7, 0.85)
    write(figure, "divergence-spaces")
    for divergence in ("euclidean", "jeffreys"):
        shares = [share_on_own_line(seed, divergence) for seed in range(4)]
        print(f"{divergence}:", *(f"{share:.0f} %" for share in shares), "on their own line")


if __name__ == "__main__":
    main()
