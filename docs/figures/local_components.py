"""Two slanted clouds: kernels of one width in all directions, and kernels of a learned shape."""

import numpy as np
from matplotlib.patches import Ellipse
from style import BLUE, INK, ORANGE, panels, write

from vicinal import LocalComponents


def draw(ax, X, model, title):
    """Levels of the density, the points, and some of the kernels."""
    ticks = [
        np.linspace(low - 2, high + 2, 160) for low, high in zip(X.min(0), X.max(0), strict=True)
    ]
    grid = np.stack(np.meshgrid(*ticks), axis=-1)
    log_density = model.score_samples(grid.reshape(-1, 2)).reshape(grid.shape[:2])
    levels = log_density.max() - np.array([7.0, 5.0, 3.5, 2.2, 1.2, 0.5])
    ax.contour(*ticks, log_density, levels=levels, colors=BLUE, linewidths=1, linestyles="-")
    ax.scatter(*X.T, s=9, color=INK, linewidths=0, alpha=0.8)
    values, vectors = np.linalg.eigh(model.covariance_)
    angle = np.degrees(np.arctan2(vectors[1, 1], vectors[0, 1]))
    for x in X[::25]:
        width, height = 2 * np.sqrt(values[::-1])
        ax.add_patch(Ellipse(x, width, height, angle=angle, fill=False, ec=ORANGE, lw=2))
    ax.set_aspect("equal")
    ax.set_title(title, fontsize=12)


def main():
    """One covariance for all kernels: round, then of any shape."""
    rng = np.random.default_rng(0)
    slant = np.array([[2.0, 1.6], [0.0, 0.5]])
    clouds = [rng.normal(size=(100, 2)) @ slant + [0, shift] for shift in (-1.5, 1.5)]
    X = np.vstack(clouds)
    X_new = np.vstack([rng.normal(size=(5000, 2)) @ slant + [0, shift] for shift in (-1.5, 1.5)])
    figure, axes = panels(2, 4.2, 4.4)
    kernels = {"spherical": "round kernels", "full": "learned kernels"}
    for ax, (shape, words) in zip(axes, kernels.items(), strict=True):
        model = LocalComponents(covariance=shape).fit(X)
        draw(ax, X, model, f"{words}\n{model.score(X_new):.2f} nats per new row")
    write(figure, "local-components")


if __name__ == "__main__":
    main()
