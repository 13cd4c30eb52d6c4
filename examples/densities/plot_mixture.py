"""
Local components beside a Gaussian mixture
==========================================

A Gaussian mixture describes a bent cloud by many straight pieces. In a mixture of local components,
each part is a kernel density with a shape of its own, so a part may bend.
"""

# %%
# A pinwheel of three bent arms. Each points another way, so no single kernel shape suits them all.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.mixture import GaussianMixture

from vicinal import LocalComponents


def pinwheel(n, rng):
    """Points of three arms that bend with the distance from the center."""
    arm = rng.integers(3, size=n)
    along, across = rng.normal(1.0, 0.35, n), rng.normal(0.0, 0.06, n)
    angle = 2 * np.pi * arm / 3 + 1.2 * along
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([along * cos - across * sin, along * sin + across * cos], axis=1)


rng = np.random.default_rng(0)
X_train, X_test = pinwheel(400, rng), pinwheel(2000, rng)

# %%
# Both choose the number of parts from the training rows alone: the Gaussian mixture among 1 to 25,
# by the Bayesian information criterion and with three starts each; vicinal by rows that it holds
# back.


def gaussian_mixture(rows):
    """The one with the best BIC."""
    tried = [GaussianMixture(k, n_init=3, random_state=0).fit(rows) for k in range(1, 26)]
    return min(tried, key=lambda model: model.bic(rows))


def local_mixture(rows):
    """The default for densities."""
    return LocalComponents(n_mixture="auto", random_state=0).fit(rows)


gaussians, local = gaussian_mixture(X_train), local_mixture(X_train)
scores = {
    f"GaussianMixture, {gaussians.n_components} parts": gaussians.score(X_test),
    f"LocalComponents, {local.n_mixture_} parts": local.score(X_test),
}

# %%
# The higher the mean log-density of new points, the better.

grid = np.mgrid[-2.1:2.1:160j, -2.1:2.1:160j]
nodes = grid.reshape(2, -1).T
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.8), layout="constrained", sharey=True)
for ax, (name, score), model in zip(axes, scores.items(), (gaussians, local), strict=True):
    heights = model.score_samples(nodes).reshape(grid[0].shape)
    ax.contourf(*grid, heights, levels=np.arange(-8, 1), cmap="cividis", extend="both")
    ax.plot(*X_train.T, ".", color="white", ms=2, alpha=0.6)
    ax.set(title=f"{name}\n{score:.2f} nats per new point", aspect="equal", xticks=[], yticks=[])
    print(f"{name}: {score:.3f} nats per new point")
plt.show()

# %%
# Where Gaussians meet, their straight pieces stick out of the arms, and new points fall beside
# them. Local components follow the bend, because each part is a sum of kernels, one on every point.
# At the thin ends of the arms, where points are few, both can only guess.
#
# On nine real data sets, the same defaults give new rows a higher density than Gaussian mixtures
# do, on iris and pima by less than the standard error (``benchmarks/results/density.md``).
