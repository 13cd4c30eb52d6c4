"""Mean shift in the learned metric, on an image: what the paper's conclusion proposes."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.datasets import load_sample_image

from reproduce.experiment import Measured, Unit, drawable
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
    means = in_mean_colors(colors, labels)
    return float(means.var(axis=0).sum() / colors.var(axis=0).sum())


def draw(all_measured: Sequence[Measured]) -> Figure:
    """Every image, and its segments in their mean color."""
    shown = [found for _, found in drawable(all_measured, "image")]
    figure = Figure(figsize=(10, 2.5 * len(shown)), layout="constrained")
    for axes, found in zip(figure.subplots(len(shown), 3, squeeze=False), shown, strict=True):
        image = np.array(found["image"])
        _show(axes[0], image, "image")
        for ax, name in zip(axes[1:], DENSITIES, strict=True):
            labels = np.array(found[f"{name}-labels"])
            title = f"{TITLES[name]}: {labels.max() + 1} segments"
            _show(ax, in_mean_colors(image, labels), title)
    return figure


def in_mean_colors(image: NDArray, labels: NDArray) -> NDArray:
    """Every pixel in the mean color of its segment."""
    colors = image.reshape(-1, 3)
    means = np.array([colors[labels == label].mean(axis=0) for label in range(labels.max() + 1)])
    return means[labels].reshape(image.shape)


def _show(ax: Axes, image: NDArray, title: str) -> None:
    ax.imshow(image)
    ax.set_title(title)
    ax.set_axis_off()
