"""
How many dimensions?
====================

``n_components="auto"`` tries 1, 2, 3, 5, 8, ... dimensions by cross-validation on the training
rows, and takes the smallest whose accuracy is within one standard error of the best. Here we know
the true number, and see whether it is found.
"""

# %%
# Classes in three dimensions of twelve
# -------------------------------------
#
# Eight classes sit at the corners of a cube. A rotation hides the cube among nine directions of
# noise.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from vicinal import NeighborhoodComponents


def hidden_cube(n: int, n_noise: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Rows, and at which corner each is."""
    rng = np.random.default_rng(0)
    y = rng.integers(8, size=n)
    corners = (y[:, None] >> np.arange(3)) & 1
    X = np.hstack([3.5 * corners + rng.normal(size=(n, 3)), rng.normal(size=(n, n_noise))])
    return X @ np.linalg.qr(rng.normal(size=(3 + n_noise, 3 + n_noise)))[0], y


SETS = {"hidden cube (truth: 3)": hidden_cube(800), "wine": load_wine(return_X_y=True)}

# %%
# Choose by cross-validation, then look at the test rows
# ------------------------------------------------------
#
# ``dimensions_`` holds what the folds said. For the dotted line we fit every dimension once more
# after the choice is made, only to see whether it was a good one.


def fitted(n_components, X: np.ndarray, y: np.ndarray) -> NeighborhoodComponents:
    """A model of that many dimensions, or of as many as folds choose."""
    return NeighborhoodComponents(n_components, random_state=0).fit(X, y)


figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.2), layout="constrained")
for ax, (name, (X, y)) in zip(axes, SETS.items(), strict=True):
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.5, stratify=y, random_state=0
    )
    model = fitted("auto", X_train, y_train)
    tried, chosen = model.dimensions_, len(model.components_)
    test = [fitted(int(d), X_train, y_train).score(X_test, y_test) for d in tried["n_components"]]
    print(f"{name}: {chosen} chosen, {model.score(X_test, y_test):.1%} of {len(X_test)} test rows")
    print(
        "  all tried:", *(f"{d}: {s:.1%}" for d, s in zip(tried["n_components"], test, strict=True))
    )

    best = np.argmax(tried["accuracy"])
    bar = 100 * (tried["accuracy"][best] - tried["accuracy_error"][best])
    ax.errorbar(
        tried["n_components"],
        100 * tried["accuracy"],
        100 * tried["accuracy_error"],
        color="#0072B2",
        marker="o",
        capsize=3,
        label="folds of training rows",
    )
    ax.plot(tried["n_components"], 100 * np.array(test), "s:", color="#E69F00", label="test rows")
    ax.axhline(bar, color="#777777", linewidth=1, label="best minus one standard error")
    ax.axvline(chosen, color="#009E73", linewidth=6, alpha=0.4, label=f"chosen: {chosen}")
    ax.set(title=name, xlabel="dimensions", ylabel="accuracy (%)", xscale="log")
    ax.set_xticks(tried["n_components"], tried["n_components"])
    ax.minorticks_off()
    ax.legend(loc="lower right")
plt.show()

# %%
# For a picture, take 2 dimensions whatever this says. For a vector index, every dimension saved
# saves memory and time: see :ref:`sphx_glr_auto_examples_metrics_plot_retrieval.py`.
