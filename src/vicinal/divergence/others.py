"""Learners of others on a graph of ours: scikit-learn's t-SNE, and UMAP."""

import warnings
from collections.abc import Collection
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.manifold import TSNE

from vicinal.compiling.libraries import importing
from vicinal.divergence.graph import with_lengths

__all__ = ["check_tsne", "check_umap", "most_tsne_neighbors", "tsne", "umap"]

# What the graph decides, and what it cannot be combined with.
_OURS = ("metric", "method", "n_components", "precomputed_knn", "n_neighbors")

# Coordinates that scikit-learn's t-SNE has.
_MOST_COMPONENTS = 3

# Distances farther than so many usual ones are as far for UMAP, which has float32 only.
_FAR = 1e30


def tsne(graph: csr_matrix, **params: Any) -> TSNE:
    """A t-SNE fitted to a graph of distances, rows in order, each point itself first."""
    estimator = TSNE(metric="precomputed", **params)
    estimator.fit(_relative(graph))
    return estimator


def umap(graph: csr_matrix, X: NDArray, **params: Any) -> Any:
    """A UMAP fitted to a graph of distances; of X it takes where components are."""
    indices, distances = _unit_neighbors(graph)
    estimator = _umap_class()(
        n_neighbors=indices.shape[1], precomputed_knn=(indices, distances), **params
    )
    with warnings.catch_warnings():  # that it cannot transform: nor do we
        warnings.filterwarnings("ignore", "precomputed_knn.* will be unavailable")
        # That it starts at random: graphs of few points, or of twins, have no better start.
        warnings.filterwarnings("ignore", "Spectral initialisation failed")
        estimator.fit(X / (np.abs(X).max() or 1.0))
    return estimator


def most_tsne_neighbors(perplexity: float, n_samples: int) -> int:
    """How many neighbors t-SNE asks for."""
    return min(int(3.0 * perplexity + 1.0), n_samples - 1)


def check_tsne(
    params: dict[str, Any], perplexity: float, n_components: int, k: int, n_samples: int
) -> None:
    """Refuse what t-SNE would, in our words, and before any work."""
    _check_names(params, TSNE().get_params(), "tsne")
    if n_components > _MOST_COMPONENTS:
        raise ValueError(
            f'n_components={n_components} is too many for method="tsne", which has at most '
            f"{_MOST_COMPONENTS}."
        )
    is_number = isinstance(perplexity, Real) and not isinstance(perplexity, bool)
    if not (is_number and 0 < perplexity < n_samples):
        raise ValueError(
            f'method_params["perplexity"]={perplexity!r} must be a number above 0 and below '
            f"{n_samples}, the number of points."
        )
    wanted = most_tsne_neighbors(perplexity, n_samples)
    if k < wanted:
        raise ValueError(
            f'n_graph_neighbors={k} are too few for method="tsne": perplexity {perplexity:g} needs '
            f"{wanted}. Raise it, or lower method_params={{'perplexity': ...}}."
        )


def check_umap(params: dict[str, Any], n_components: int, n_samples: int) -> None:
    """The same of UMAP."""
    _check_names(params, _umap_class()().get_params(), "umap")
    if n_samples < n_components + 3:
        raise ValueError(
            f'method="umap" needs {n_components + 3} points at least for n_components='
            f"{n_components}, and X has {n_samples}: lower n_components, or use another method."
        )


def _check_names(params: dict[str, Any], known: Collection[str], method: str) -> None:
    for name in params:
        if name in _OURS and name in known:
            raise ValueError(
                f'method_params["{name}"] is decided by the graph of divergences and cannot be set '
                f'for method="{method}".'
            )
        if name not in known:
            raise ValueError(
                f'method_params[{name!r}] is unknown: method="{method}" takes '
                f"{', '.join(sorted(set(known) - set(_OURS)))}."
            )


def _umap_class() -> Any:
    with importing("umap-learn", "umap", 'method="umap"'):
        from umap import UMAP
    return UMAP


def _relative(graph: csr_matrix) -> csr_matrix:
    """Squared distances from 0, the nearest, to 1, the farthest of each row, as roots again.

    For t-SNE that is the same: it fits a shift and a unit to every point. But it computes in
    float32, where large squares would be no numbers and small differences of large ones none.
    """
    squares = np.square(graph.data).reshape(graph.shape[0], -1)[:, 1:]
    low, high = squares[:, :1], squares[:, -1:]
    shares = np.divide(squares - low, high - low, out=np.zeros_like(squares), where=high > low)
    lengths = np.concatenate([np.zeros_like(low), np.sqrt(shares)], axis=1)
    return with_lengths(graph, lengths.ravel())


def _unit_neighbors(graph: csr_matrix) -> tuple[NDArray, NDArray]:
    """Neighbors and distances, fewer than there are points, in units of a usual distance."""
    n = graph.shape[0]
    indices, distances = (part.reshape(n, -1)[:, : n - 1] for part in (graph.indices, graph.data))
    some = distances[distances > 0]
    unit = float(np.median(some)) if len(some) else 1.0
    return indices.copy(), np.minimum(distances / unit, _FAR).astype(np.float32)
