"""Local Gaussians of fitted models, and which of them a picture has room for."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from vicinal.report.numbers.marginals import frame_limits

__all__ = ["far_apart", "local_gaussians", "spread_out"]

# Squared distance of two centers in the sum of their covariances; 2: equal circles touch.
_APART = 1.2


def local_gaussians(model: BaseEstimator) -> tuple[NDArray, Callable[[NDArray], NDArray], str]:
    """Centers (n, d), covariances (m, d, d) of chosen ones, and what there is to say of them."""
    model = getattr(model, "neighbors_", model)
    if hasattr(model, "gaussians_"):
        gaussians = model.gaussians_
        return gaussians.means, lambda rows: gaussians[rows].covariances(), ""
    if hasattr(model, "local_covariances_"):
        local = model.local_covariances_
        return model._density.points.X, lambda rows: local[rows], ""
    if getattr(model, "n_mixture_", 1) > 1:
        points, each = model._density.points.X, model.mixture_covariances_
        note = "each kernel with the covariance of the part it most likely comes from"
        return points, lambda rows: each[model.part_probabilities(points[rows]).argmax(1)], note
    if hasattr(model, "gaussian_components_"):
        shared = model.covariance_
        wide = f"; in {model.n_gaussian_} Gaussian directions as wide as the data"
        note = f"one covariance for all kernels{wide if model.n_gaussian_ else ''}"
        return model._density.points.X, lambda rows: np.tile(shared, (len(rows), 1, 1)), note
    raise TypeError(
        f"estimator is a {type(model).__name__}, which has no local Gaussians: a fitted "
        "DivergenceNeighbors, DivergenceEmbedding or LocalComponents is needed."
    )


def spread_out(points: NDArray, n: int) -> NDArray:
    """At most n rows of points spread over the plane, one in each of the fullest cells of a grid.

    Examples
    --------
    >>> import numpy as np
    >>> from vicinal.report.numbers.shapes import spread_out
    >>> points = np.random.default_rng(0).normal(size=(1000, 2))
    >>> len(spread_out(points, 20))
    20
    """
    low, high = frame_limits(points)
    side = int(np.ceil(np.sqrt(2 * n)))
    scaled = side * (points - low) / (high - low)
    cells = np.clip(scaled.astype(int), 0, side - 1)
    off_center = np.square(scaled - cells - 0.5).sum(axis=1)
    order = np.lexsort((off_center, cells[:, 1], cells[:, 0]))
    _, first, counts = np.unique(cells[order] @ (side, 1), return_index=True, return_counts=True)
    fullest = np.argsort(-counts, kind="stable")[:n]
    return order[first[fullest]]


def far_apart(centers: NDArray, covariances: NDArray) -> NDArray:
    """Positions of ellipses that hardly overlap those before them, the first one included."""
    kept: list[int] = []
    for i, center in enumerate(centers):
        gaps = center - centers[kept]
        inverse = np.linalg.pinv(covariances[i] + covariances[kept])
        if (np.einsum("ni,nij,nj->n", gaps, inverse, gaps) >= _APART).all():
            kept.append(i)
    return np.array(kept)
