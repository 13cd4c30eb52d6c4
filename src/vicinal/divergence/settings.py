"""What parameters of DivergenceEmbedding must be, together and for the points at hand."""

from typing import Any

from scipy.sparse import issparse

from vicinal.divergence.divergences import check_symmetric, divergence_named
from vicinal.divergence.learners import Learner, learner_named, one_of
from vicinal.divergence.limits import check_room
from vicinal.divergence.space import Divergences
from vicinal.inputs.checks import check_choice, check_count, check_nonnegative, check_share

__all__ = ["check_settings"]


def check_settings(model: Any, points: Divergences) -> None:
    """Refuse parameters of a `DivergenceEmbedding` that make no sense, for these points."""
    n_samples = points.shape[0]
    check_count("n_components", model.n_components, 1, n_samples - 1, " (number of other points)")
    learner = learner_named(model.method)
    check_choice("disconnected", model.disconnected, ("raise", "connect", "separate"))
    check_choice("lle_weights", model.lle_weights, ("distances", "coordinates"))
    if model.scale is not None and check_nonnegative("scale", model.scale) == 0:
        raise ValueError("scale=0 makes every affinity 0: it must be positive.")
    check_share("scale_quantile", model.scale_quantile)
    check_symmetric(model.divergence, "DivergenceEmbedding")
    if learner.graph is None:
        _check_no_graph(model)
    if learner.all_pairs:
        others = one_of(lambda other: not other.all_pairs)
        check_room(
            f'all distances, for method="{model.method}",',
            (n_samples, n_samples),
            f"embed fewer points, and transform the others; or use method={others}",
        )
    _check_method_params(model, learner, n_samples)
    _check_size(model)
    _check_given(model, learner, points)
    learner.warn_of_time(n_samples)


def _check_given(model: Any, learner: Learner, points: Divergences) -> None:
    """Refuse what distances alone do not tell."""
    if model.metric != "precomputed":
        return
    if learner.graph is None and issparse(points):
        raise ValueError(
            f'method="{model.method}" takes all distances, and X is a sparse graph: give them '
            "dense, or use another method."
        )
    if learner.name == "lle" and model.lle_weights == "coordinates":
        raise ValueError(
            'lle_weights="coordinates" needs points, and metric="precomputed" has distances '
            'only: use lle_weights="distances".'
        )


def _check_no_graph(model: Any) -> None:
    """Refuse parameters of a graph where there is none."""
    for name in ("n_graph_neighbors", "n_candidates"):
        if getattr(model, name) is not None:
            raise ValueError(
                f'{name}={getattr(model, name)!r} has no meaning for method="{model.method}", '
                "which takes all distances."
            )


def _check_size(model: Any) -> None:
    """Refuse ways to choose the size of neighborhoods that make no sense."""
    if isinstance(model.n_neighbors, str):
        check_choice("n_neighbors", model.n_neighbors, ("energy", "growth"))
    if model.n_neighbors != "energy":
        return  # `DivergenceNeighbors` checks it
    if learner_named(model.method).graph is None:
        raise ValueError(
            f'n_neighbors="energy" needs a graph, and method="{model.method}" has none.'
        )
    if model.radius is not None:
        raise ValueError(
            f'n_neighbors="energy" has no meaning with radius={model.radius}, which makes the '
            "neighborhoods."
        )
    if model.metric == "precomputed" or not divergence_named(model.divergence).shapes:
        raise ValueError(
            'n_neighbors="energy" compares neighborhoods, and distances that are precomputed '
            "or Euclidean have none: give a number, which does not matter."
        )


def _check_method_params(model: Any, learner: Learner, n_samples: int) -> None:
    params = model.method_params or {}
    if not isinstance(params, dict):
        raise TypeError(f"method_params={params!r} must be a dict of parameters, or None.")
    if learner.check_params is not None:
        learner.check_params(model, n_samples)
    elif params:
        others = one_of(lambda other: other.check_params is not None)
        raise ValueError(
            f'method_params has no meaning for method="{model.method}": it is for {others}.'
        )
