"""
A million points on one core
============================

Neighborhood component analysis compares all points with each other. A million points make 10¹²
pairs, too many for one core. `NeighborhoodComponents` compares random batches instead, a new one in
each update, so the time of a fit hardly depends on the number of rows. Here it finds the two
directions that matter among 20 in a few seconds.
"""

# %%
# Five petals, hidden
# -------------------
#
# The class of a row shows in an angle in a plane. We add eighteen columns of noise, mix all columns
# by a rotation, and give each a unit of its own. Since we made the data, we know the best that
# anybody can do: read the angle.

import time

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from vicinal import NeighborhoodComponents

N_CLASSES, N_FEATURES = 5, 20
rng = np.random.default_rng(0)
rotation = np.linalg.qr(rng.normal(size=(N_FEATURES, N_FEATURES)))[0]
units = rng.lognormal(sigma=1, size=N_FEATURES)


def hidden_petals(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, classes, and the guesses of one who knows the angle."""
    y = rng.integers(N_CLASSES, size=n)
    angle = 2 * np.pi * y / N_CLASSES + 0.4 * rng.normal(size=n)
    radius = 1 + 0.25 * rng.normal(size=n)
    X = rng.normal(size=(n, N_FEATURES))
    X[:, 0], X[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
    best = np.round(angle * N_CLASSES / (2 * np.pi)).astype(int) % N_CLASSES
    return (X @ rotation * units).astype(np.float32), y, best


X, y, _ = hidden_petals(1_000_000)
X_test, y_test, best = hidden_petals(5000)

# %%
# Fit
# ---
#
# By default a fit makes up to 4000 updates. A quarter of that is enough here, and keeps this page
# quick. ``n_jobs=1`` means one core.

start = time.perf_counter()
nca = NeighborhoodComponents(2, max_iter=1000, n_jobs=1, random_state=0).fit(X, y)
seconds = time.perf_counter() - start
recipe = nca.recipe_
print(f"{len(X):,} rows in {seconds:.1f} s: {recipe['solver']}, {recipe['batching']} batches")

# %%
# How good is it?
# ---------------
#
# Test rows ask their 15 nearest training rows. In the plane, all million can be searched in no
# time. In all 20 standardized columns we search only 20,000 of them, to keep this page quick.

scaler = StandardScaler().fit(X)
few = slice(20_000)
raw = KNeighborsClassifier(15).fit(scaler.transform(X[few]), y[few])
pca = PCA(2, random_state=0).fit(scaler.transform(X))
planes = {
    "PCA": (pca.transform(scaler.transform(X)), pca.transform(scaler.transform(X_test))),
    "learned": (nca.transform(X), nca.transform(X_test)),
}
accuracy = {"20 standardized columns": raw.score(scaler.transform(X_test), y_test)}
for name, (Z, Z_test) in planes.items():
    accuracy[f"2 columns, {name}"] = KNeighborsClassifier(15).fit(Z, y).score(Z_test, y_test)
accuracy["best possible"] = np.mean(best == y_test)
for name, share in accuracy.items():
    print(f"{name}: {share:.1%}")

# %%
# All million points, drawn
# -------------------------
#
# Every pixel counts its points: the hue says which classes they are, the strength how many.

COLORS = np.array([to_rgb(c) for c in ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9")])


def pixels(Z: np.ndarray, size: int = 300) -> np.ndarray:
    """An image of all points between the outermost thousandths of each axis."""
    limits = np.quantile(Z, [0.001, 0.999], axis=0).T
    counts = np.stack([np.histogram2d(*Z[y == k].T, size, limits)[0] for k in range(N_CLASSES)])
    total = counts.sum(axis=0)
    hue = np.einsum("kij,kc->ijc", counts, COLORS) / np.maximum(total, 1)[..., None]
    strength = np.sqrt(np.minimum(total / np.quantile(total, 0.99), 1))[..., None]
    return (1 - strength) + strength * hue


figure, axes = plt.subplots(1, 2, figsize=(9, 4.9), layout="constrained")
for ax, (name, (Z, _)) in zip(axes, planes.items(), strict=True):
    ax.imshow(pixels(Z).transpose(1, 0, 2), origin="lower")
    title = f"{name}: {accuracy[f'2 columns, {name}']:.1%}"
    ax.set(title=title, xticks=[], yticks=[])
best_share = accuracy["best possible"]
figure.suptitle(f"1,000,000 points, one core, {seconds:.0f} s; best possible {best_share:.1%}")
plt.show()

# %%
# On a GPU, exact neighborhoods of a million points take three seconds an update: see
# :ref:`sphx_glr_auto_examples_scale_plot_gpu.py`. Ten million rows of 50 columns in a file
# took 56 and 83 s on two cores that had other work, too (``benchmarks/results/nca_scale.md``).
