"""
The plane in which data are not Gaussian
========================================

Two circles are mixed with Gaussian noise in ten dimensions. No column shows them, and they vary no
more than the noise does. With ``gaussian="search"``, :class:`~vicinal.LocalComponents` sets the
Gaussian directions aside; what is left is the plane of the circles.
"""

# %%
# Two columns for the circles and eight of noise, all of the same variance. A random rotation then
# mixes all ten.

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import subspace_angles
from scipy.stats import ortho_group
from sklearn.decomposition import PCA, FastICA

from vicinal import LocalComponents
from vicinal.datasets import make_noisy_circles

hidden, circle = make_noisy_circles(1000, n_noise=8, random_state=0)
hidden /= hidden.std(axis=0)
rotation = ortho_group.rvs(10, random_state=0)
X = hidden @ rotation
plane = rotation[:2]

# %%
# No method is given labels. PCA and FastICA are told that there are two directions; vicinal finds
# out by itself how many there are. FastICA returns ten components, of which we draw the two whose
# kurtosis is least Gaussian.


def least_gaussian(Z):
    """The two columns whose kurtosis is farthest from a Gaussian's."""
    kurtosis = ((Z - Z.mean(axis=0)) ** 4).mean(axis=0) / Z.var(axis=0) ** 2 - 3
    return np.argsort(-np.abs(kurtosis))[:2]


model = LocalComponents(gaussian="search").fit(X)
ica = FastICA(whiten="unit-variance", max_iter=2000, random_state=0).fit(X)
maps = {
    "PCA": PCA(n_components=2).fit(X).components_,
    "FastICA": ica.components_[least_gaussian(ica.transform(X))],
    "vicinal": model.components_,
}
print("Gaussian directions found:", model.n_gaussian_, "of 8")


def angle(components):
    """Largest angle between the plane found and that of the circles, in degrees."""
    return np.degrees(subspace_angles(components[:2].T, plane.T)[0])


for name, components in maps.items():
    print(f"{name}: {angle(components):.0f}° off")

# %%
# Colors mark the true circles. At 0 degrees the plane is found; at 90 degrees one of its directions
# is missed altogether.

figure, axes = plt.subplots(1, 3, figsize=(11, 4), layout="constrained")
for ax, (name, components) in zip(axes, maps.items(), strict=True):
    Z = X @ components[:2].T
    for label, color in enumerate(("#0072B2", "#E69F00")):
        ax.plot(*Z[circle == label].T, ".", color=color, ms=4)
    ax.set(title=f"{name}: {angle(components):.0f}° off", xticks=[], yticks=[], box_aspect=1)
plt.show()
