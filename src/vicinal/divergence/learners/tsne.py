"""scikit-learn's t-SNE on a graph of divergences."""

from numbers import Real
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.manifold import TSNE

from vicinal.divergence.graph import with_lengths
from vicinal.divergence.learners.learner import Embedded, Learner, Settings
from vicinal.divergence.learners.params import check_names, further_params
from vicinal.divergence.space import Space
from vicinal.fitting.checkpoints import remembered

__all__ = ["T_SNE"]

# Coordinates that scikit-learn's t-SNE has.
_MOST_COMPONENTS = 3


def _embed(
    space: Space, graph: csr_matrix, settings: Settings, rng: np.random.Generator
) -> Embedded:
    params: dict[str, Any] = {
        "n_components": settings.n_components,
        "init": "random",  # the only one for distances
        "random_state": int(rng.integers(2**31)),
        "n_jobs": settings.n_jobs,
        "perplexity": _perplexity(settings, graph.shape[0]),
        **further_params(settings),
    }
    estimator = TSNE(metric="precomputed", **params)
    vars(estimator).update(remembered(lambda: _learned(estimator, space.distances(graph))))
    return Embedded(np.asarray(estimator.embedding_), estimator=estimator)


def _learned(estimator: TSNE, distances: csr_matrix) -> dict[str, Any]:
    """All attributes that a fit gives the estimator."""
    before = set(vars(estimator))
    estimator.fit(_relative(distances))
    return {name: value for name, value in vars(estimator).items() if name not in before}


def _perplexity(settings: Settings, n_samples: int) -> float:
    """The perplexity that the user gives, or the usual one: at most a third of the points."""
    return further_params(settings).get("perplexity", min(30.0, (n_samples - 1) / 3.0))


def _graph_neighbors(settings: Settings, n_samples: int) -> int:
    """How many neighbors t-SNE asks for."""
    return min(int(3.0 * _perplexity(settings, n_samples) + 1.0), n_samples - 1)


def _check_params(settings: Settings, n_samples: int) -> None:
    """Refuse what t-SNE would, in our words, and before any work."""
    check_names(further_params(settings), TSNE().get_params(), "tsne")
    if settings.n_components > _MOST_COMPONENTS:
        raise ValueError(
            f'n_components={settings.n_components} is too many for method="tsne", which has at '
            f"most {_MOST_COMPONENTS}."
        )
    perplexity = _perplexity(settings, n_samples)
    is_number = isinstance(perplexity, Real) and not isinstance(perplexity, bool)
    if not (is_number and 0 < perplexity < n_samples):
        raise ValueError(
            f'method_params["perplexity"]={perplexity!r} must be a number above 0 and below '
            f"{n_samples}, the number of points."
        )
    k, wanted = settings.n_graph_neighbors, _graph_neighbors(settings, n_samples)
    if k is not None and k < wanted:
        raise ValueError(
            f'n_graph_neighbors={k} are too few for method="tsne": perplexity {perplexity:g} needs '
            f"{wanted}. Raise it, or lower method_params={{'perplexity': ...}}."
        )


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


T_SNE = Learner(
    "tsne",
    _embed,
    check_params=_check_params,
    graph_neighbors=_graph_neighbors,
    seconds_a_point=6e-3,
)
