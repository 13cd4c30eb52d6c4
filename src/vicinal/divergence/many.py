"""What is done with many points where nobody says it: a graph, and Euclidean candidates for it."""

from typing import Any

from vicinal.divergence.divergences import divergence_named
from vicinal.fitting.loop import warn_user

__all__ = ["graph_neighbors", "settled"]

# Points of which all pairs are compared: two minutes for "jeffreys" in 50 dimensions on 2 cores,
# forty for "riemann", and 3.2 GB of results.
_ALL_PAIRS_UP_TO = 20_000

# Neighbors in the graph of more points. Candidates for each: at least so many, and so many times
# the neighbors (recall of 10 neighbors: 0.97 among 50 candidates, 0.99 among 100).
_GRAPH_NEIGHBORS, _LEAST_CANDIDATES, _CANDIDATES_PER_NEIGHBOR = 15, 100, 5

# Seconds of a pair, on one core, of a divergence that finds no help in Euclidean neighbors.
_SECONDS_A_PAIR = 2e-5


def graph_neighbors(given: int | str | None, n_samples: int) -> int | None:
    """Neighbors in the graph, where "auto" may be given; None: there is none."""
    if not isinstance(given, str):
        return given
    return _GRAPH_NEIGHBORS if n_samples > _ALL_PAIRS_UP_TO else None


def settled(params: dict[str, Any], n_samples: int) -> dict[str, Any]:
    """Parameters with numbers for n_graph_neighbors and n_candidates; None: all.

    Warns
    -----
    UserWarning
        If there are so many points that few pairs of them are compared.
    """
    given, c = params["n_graph_neighbors"], params["n_candidates"]
    k, told = graph_neighbors(given, n_samples), []
    if k is not None and k != given:
        told.append(f"the result is a sparse graph of the {k} nearest (n_graph_neighbors)")
    if n_samples > _ALL_PAIRS_UP_TO and k is not None and c is None:
        _check_guided(params["divergence"], n_samples)
        c = min(max(_LEAST_CANDIDATES, _CANDIDATES_PER_NEIGHBOR * k), n_samples - 1)
        told.append(f"the nearest are looked for among {c} Euclidean neighbors (n_candidates)")
    if told:
        warn_user(
            f"X has {n_samples} rows, more than {_ALL_PAIRS_UP_TO}: {', and '.join(told)}. Set "
            "these parameters to choose, and not to be told.",
            UserWarning,
        )
    return params | {"n_graph_neighbors": k, "n_candidates": c}


def _check_guided(divergence: str, n_samples: int) -> None:
    """Refuse to look for what may be anywhere."""
    if divergence_named(divergence).places:
        return
    pairs = 0.5 * n_samples**2
    raise ValueError(
        f"n_candidates=None would compare all pairs of {n_samples} points, {pairs:.0e}, about "
        f"{pairs * _SECONDS_A_PAIR / 3600:.2g} hours of a core: divergence={divergence!r} compares "
        "shapes only, so that the nearest may be anywhere. Take fewer points; or set "
        f"n_candidates={_LEAST_CANDIDATES}, to compare each with so many Euclidean neighbors only."
    )
