"""UMAP, of umap-learn, on a graph of divergences."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from vicinal.compiling.libraries import importing
from vicinal.divergence.graph import pieces_of
from vicinal.divergence.learners.learner import Embedded, Learner, Settings
from vicinal.divergence.learners.params import check_names, further_params
from vicinal.divergence.space import Space

__all__ = ["UMAP"]

# Distances farther than so many usual ones are as far for UMAP, which has float32 only.
_FAR = 1e30


def _embed(
    space: Space, graph: csr_matrix, settings: Settings, rng: np.random.Generator
) -> Embedded:
    """UMAP takes the neighbors of the graph; of the points only where its components are."""
    indices, distances = _unit_neighbors(space.distances(graph))
    params: dict[str, Any] = {
        "n_components": settings.n_components,
        "random_state": int(rng.integers(2**31)),
        "n_jobs": 1,  # with a random state it uses one anyway, and says so
        **further_params(settings),
    }
    estimator = _umap_class()(
        n_neighbors=indices.shape[1], precomputed_knn=(indices, distances), **params
    )
    with warnings.catch_warnings():  # that it cannot transform: nor do we
        warnings.filterwarnings("ignore", "precomputed_knn.* will be unavailable")
        # That it starts at random: graphs of few points, or of twins, have no better start.
        warnings.filterwarnings("ignore", "Spectral initialisation failed")
        estimator.fit(_places(space, graph))
    return Embedded(np.asarray(estimator.embedding_), estimator=estimator)


def _places(space: Space, graph: csr_matrix) -> NDArray:
    """Where components are: the points, in their unit, or, of distances only, their numbers."""
    points = space.points
    if not points.shape[1]:
        points = pieces_of(graph)[1][:, None].astype(float)
    return points / (np.abs(points).max() or 1.0)


def _check_params(settings: Settings, n_samples: int) -> None:
    """Refuse what UMAP would, in our words, and before any work."""
    check_names(further_params(settings), _umap_class()().get_params(), "umap")
    n_components = settings.n_components
    if n_samples < n_components + 3:
        raise ValueError(
            f'method="umap" needs {n_components + 3} points at least for n_components='
            f"{n_components}, and X has {n_samples}: lower n_components, or use another method."
        )


def _umap_class() -> Any:
    with importing("umap-learn", "umap", 'method="umap"'):
        from umap import UMAP
    return UMAP


def _unit_neighbors(graph: csr_matrix) -> tuple[NDArray, NDArray]:
    """Neighbors and distances, fewer than there are points, in units of a usual distance."""
    n = graph.shape[0]
    indices, distances = (part.reshape(n, -1)[:, : n - 1] for part in (graph.indices, graph.data))
    some = distances[distances > 0]
    unit = float(np.median(some)) if len(some) else 1.0
    return indices.copy(), np.minimum(distances / unit, _FAR).astype(np.float32)


# UMAP's object has compiled functions and all of the data.
UMAP = Learner(
    "umap", _embed, check_params=_check_params, saves_estimator=False, seconds_a_point=1e-3
)
