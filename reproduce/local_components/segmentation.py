"""Mean shift in the learned metric, on an image: what the paper's conclusion proposes."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_sample_image

from reproduce.experiment import Measured, Unit
from vicinal import LocalComponents, ModeClustering

DENSITIES = {"isotropic": "spherical", "lca": "full"}
TITLES = {"isotropic": "isotropic kernels", "lca": "kernels of LCA"}


def measure(unit: Unit) -> dict:
    """Segments of both kinds of kernels, and how well they tell colors apart."""
    image = small_image(unit["image"], unit["height"])
    rows = pixels(image, unit["seed"])
    found: dict = {"image": image.round(3).tolist()} if unit["seed"] == 0 else {}
    for name, shape in DENSITIES.items():
        density = LocalComponents(covariance=shape, regularization=0.0)
        model = ModeClustering(density, max_samples=None).fit(rows)
        found[f"{name}-segments"] = float(model.n_clusters_)
        found[f"{name}-explained"] = explained(image.reshape(-1, 3), model.labels_)
        if unit["seed"] == 0:
            found[f"{name}-labels"] = model.labels_.tolist()
    return found


def small_image(name: str, height: int) -> NDArray:
    """An image that scikit-learn brings along, in means over squares; colors from 0 to 1."""
    image = load_sample_image(name) / 255
    side = image.shape[0] // height
    rows, columns = image.shape[0] // side, image.shape[1] // side
    cut = image[: rows * side, : columns * side]
    return cut.reshape(rows, side, columns, side, 3).mean(axis=(1, 3))


def pixels(image: NDArray, seed: int) -> NDArray:
    """Place and color of every pixel, in units of their deviations.

    Places are drawn within the pixel: rows and columns of a grid are tied, and the likelihood of
    kernels that see ties has no bound.
    """
    height, width, _ = image.shape
    places = np.stack(np.meshgrid(np.arange(height), np.arange(width), indexing="ij"), axis=-1)
    places = places + np.random.default_rng(seed).uniform(size=places.shape)
    rows = np.concatenate([places, image], axis=2).reshape(-1, 5)
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


def explained(colors: NDArray, labels: NDArray) -> float:
    """Share of the variance of colors that is between segments."""
    means = np.array([colors[labels == label].mean(axis=0) for label in range(labels.max() + 1)])
    return float(means[labels].var(axis=0).sum() / colors.var(axis=0).sum())


def draw(all_measured: Sequence[Measured]) -> Figure:
    """The image, and segments in their mean color."""
    found = next(found for _, found in all_measured if "image" in found)
    image = np.array(found["image"])
    figure = Figure(figsize=(10, 2.9), layout="constrained")
    axes = figure.subplots(1, 1 + len(DENSITIES))
    axes[0].imshow(image)
    axes[0].set_title("image")
    for ax, name in zip(axes[1:], DENSITIES, strict=True):
        labels = np.array(found[f"{name}-labels"])
        colors = image.reshape(-1, 3)
        means = np.array([colors[labels == i].mean(axis=0) for i in range(labels.max() + 1)])
        ax.imshow(means[labels].reshape(image.shape))
        ax.set_title(f"{TITLES[name]}: {labels.max() + 1} segments")
    for ax in axes:
        ax.set_axis_off()
    return figure
