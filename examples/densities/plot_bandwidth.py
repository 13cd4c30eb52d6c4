"""
A bandwidth matrix instead of a bandwidth
=========================================

A kernel density puts a bump on every point. scikit-learn's bumps are round, and you choose their
width. The bumps of :class:`~vicinal.LocalComponents` learn both their width *and* their shape.
"""

# %%
# Two measurements of breast tumors that say nearly the same thing: the radius of the cell nuclei
# and their area. Half of the tumors are held out.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KernelDensity
from sklearn.preprocessing import StandardScaler

from vicinal import LocalComponents

columns = ["mean radius", "mean area"]
data = load_breast_cancer()
X = data.data[:, [list(data.feature_names).index(name) for name in columns]]
X_train, X_test = train_test_split(X, test_size=0.5, random_state=0)
scaler = StandardScaler().fit(X_train)
X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)

# %%
# Both get scaled columns. scikit-learn's kernel density gets the best of 30 bandwidths by five-fold
# cross-validation. For vicinal there is nothing to choose.

widths = {"bandwidth": np.geomspace(0.01, 1, 30)}
search = GridSearchCV(KernelDensity(), widths, cv=5).fit(X_train)
bandwidth = search.best_params_["bandwidth"]
learned = LocalComponents().fit(X_train)

scores = {
    f"KernelDensity, bandwidth {bandwidth:.2f}": search.score(X_test) / len(X_test),
    "LocalComponents, learned matrix": learned.score(X_test),
}
for name, score in scores.items():
    print(f"{name}: {score:.3f} nats per new tumor")

# %%
# The picture
# -----------
# One kernel is drawn in the corner of each panel, as an ellipse of two standard deviations. A round
# kernel has to be narrow, or it would smear the band, and so it leaves wrinkles along it. The
# learned kernel is stretched along the data, and can be wide without harm. Both panels have the
# same contour levels.

densities = (search.best_estimator_.score_samples, learned.score_samples)
covariances = (bandwidth**2 * np.eye(2), learned.covariance_)
grid = np.mgrid[-2.4:4.2:150j, -2.2:4.4:150j]
nodes = grid.reshape(2, -1).T


def kernel(covariance):
    """An ellipse of two standard deviations."""
    variances, directions = np.linalg.eigh(covariance)
    angle = np.degrees(np.arctan2(*directions[::-1, 1]))
    height, width = 4 * np.sqrt(variances)
    return Ellipse((3.0, -1.3), width, height, angle=angle, color="#D55E00", alpha=0.8)


figure, axes = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained", sharey=True)
parts = zip(axes, scores.items(), densities, covariances, strict=True)
for ax, (name, score), log_density, covariance in parts:
    heights = log_density(nodes).reshape(grid[0].shape)
    ax.contourf(*grid, heights, levels=np.arange(-9, 0.5), cmap="cividis", extend="min")
    ax.plot(*X_test.T, ".", color="white", ms=3, alpha=0.7)
    ax.add_patch(kernel(covariance))
    ax.text(3.0, -2.05, "one kernel", color="white", ha="center")
    ax.set(title=f"{name}\n{score:.3f} nats per new tumor", xlabel=f"{columns[0]} (scaled)")
axes[0].set_ylabel(f"{columns[1]} (scaled)")
plt.show()

# %%
# The white points are tumors that neither density has seen.
#
# Where columns depend less on each other, there is less to gain: for the perimeter and the concave
# points of the same tumors, the pair that we tried first, the gain is 0.04 nats on the same split.
# We show these two columns because they make the difference visible.
