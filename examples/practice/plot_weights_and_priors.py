"""
Sample weights and class priors
===============================

Training data often do not have the mix of classes that a model will meet. There are two ways to say
so: ``prior`` tells the model which classes to expect, and ``sample_weight`` how often each row
counts. This page shows what each does, on data for which the best possible answer is known.
"""

# %%
# One class in twenty
# -------------------
#
# Two round clouds overlap. In the training rows the second class is rare (5 %); later both will be
# equally frequent. The best border for that is the straight line halfway between them, and nobody
# can be right more often than that line is.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss

from vicinal import NeighborhoodComponents

COLORS = ("#0072B2", "#E69F00")  # safe for color-blind eyes
rng = np.random.default_rng(0)


def clouds(n_first: int, n_second: int) -> tuple[np.ndarray, np.ndarray]:
    """Two Gaussians, two standard deviations apart."""
    y = np.repeat([0, 1], [n_first, n_second])
    return rng.normal(size=(len(y), 2)) + np.column_stack([2 * y, 0 * y]), y


X, y = clouds(950, 50)
X_test, y_test = clouds(5000, 5000)
best = np.mean((X_test[:, 0] > 1) == y_test)

# %%
# Tell it, or not
# ---------------
#
# "empirical" expects the mix of the training rows, "uniform" all classes equally often. An array
# can name any other mix.

models = {
    "told nothing": NeighborhoodComponents(prior="empirical", random_state=0).fit(X, y),
    'prior="uniform"': NeighborhoodComponents(prior="uniform", random_state=0).fit(X, y),
    "weights": NeighborhoodComponents(random_state=0).fit(X, y, np.where(y == 1, 19, 1)),
}
grid = np.stack(np.meshgrid(np.linspace(-4, 6, 120), np.linspace(-4, 4, 100)), axis=-1)
figure, axes = plt.subplots(1, 3, figsize=(12.5, 4.2), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    accuracy = model.score(X_test, y_test)
    loss = log_loss(y_test, model.predict_proba(X_test))
    rare = model.score(X_test[y_test == 1], y_test[y_test == 1])
    print(f"{name}: {accuracy:.1%} right, {rare:.1%} of the rare class found, log-loss {loss:.2f}")
    share = model.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(grid.shape[:2])
    shades = ax.contourf(
        grid[..., 0], grid[..., 1], share, np.linspace(0, 1, 11), cmap="cividis", alpha=0.7
    )
    ax.contour(grid[..., 0], grid[..., 1], share, [0.5], colors="black", linewidths=2)
    ax.axvline(1, color="white", linestyle="--", linewidth=2)
    for label, marker in ((0, "o"), (1, "^")):
        ax.scatter(
            *X[y == label].T, s=12, marker=marker, color=COLORS[label], edgecolor="white", lw=0.3
        )
    ax.set(title=f"{name}: {accuracy:.1%}", xlim=(-4, 6), ylim=(-4, 4))
figure.colorbar(shades, ax=axes, label="probability of the rare class")
figure.suptitle(f"Border learned (black) and best border (dashed, {best:.1%})")
print(f"best possible: {best:.1%}")

# %%
# A weight is a number of copies
# ------------------------------
#
# Told in either way, the model puts the border about where it should be. But a weight of k means
# exactly what k copies of the row would mean, and that is not the same as a prior: copies of a rare
# row are also *neighbors* of each other, so a weighted row trusts itself. To state a mix of
# classes, use ``prior``. To state that rows were merged, or sampled unequally, use weights.

X_small, y_small = clouds(60, 30)
copies = rng.integers(1, 4, size=len(X_small))
settings = {"n_components": 2, "regularization": 0.01, "random_state": 0}
weighted = NeighborhoodComponents(**settings).fit(X_small, y_small, sample_weight=copies)
copied = NeighborhoodComponents(**settings).fit(
    X_small.repeat(copies, axis=0), y_small.repeat(copies)
)
apart = np.abs(weighted.predict_proba(X_test) - copied.predict_proba(X_test)).max()
print(f"weights or copies: probabilities of test rows differ by at most {apart:.0e}")
plt.show()
