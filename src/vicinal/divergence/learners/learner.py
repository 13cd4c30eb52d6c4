"""What a learner is: a way from divergences to coordinates, as a value."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from vicinal.divergence.space import Divergences, Space
from vicinal.fitting.loop import warn_user

__all__ = ["Embedded", "Graph", "Learner", "Settings"]

# What takes longer is said before.
_MANY_MINUTES = 5

# Neighbors in the graph, where nothing is said.
_GRAPH_NEIGHBORS = 15


class Settings(Protocol):
    """Parameters of `DivergenceEmbedding` that learners read."""

    n_components: int
    n_graph_neighbors: int | None
    scale: float | None
    scale_quantile: float
    lle_weights: str
    method_params: dict[str, Any] | None
    n_jobs: int | None


class Graph(Enum):
    """What a learner asks of the graph of nearest neighbors."""

    ANY = "any number of components"
    JOINED = "one component: several are joined, or embedded each for itself"


@dataclass(frozen=True)
class Embedded:
    """What a learner has found.

    Attributes
    ----------
    coordinates : ndarray of shape (n, n_components)
    map : object, optional
        What new points need besides; it is kept, and saved, with the model. A class of its own is
        to be listed in `vicinal.saving.trusted` and `vicinal.saving.contracts`.
    eigenvalues : ndarray, optional
        For users to look at.
    estimator : BaseEstimator, optional
        A fitted estimator of another library, for users to look at.
    reconstruction_error : float, optional
        What the coordinates leave unexplained.
    """

    coordinates: NDArray
    map: Any = None
    eigenvalues: NDArray | None = None
    estimator: BaseEstimator | None = None
    reconstruction_error: float | None = None


def _usual_neighbors(settings: Settings, n_samples: int) -> int:
    return _GRAPH_NEIGHBORS


@dataclass(frozen=True)
class Learner:
    """A way to make coordinates from divergences.

    Attributes
    ----------
    name : str
        What users type.
    embed : callable
        ``embed(space, divergences, settings, rng)`` returns the training points' `Embedded`. Of
        `divergences` it gets those that it asks for with `graph`; `space`, a `Space`, has the
        points themselves, and makes distances, or their squares, of divergences.
    extend : callable, optional
        ``extend(space, divergences, points, embedded)`` returns the coordinates of new points from
        their divergences from the training points: all of them, or the k nearest in a graph. The
        coordinates in `embedded` have the precision of the training points. None: there is no way.
    graph : Graph or None
        What kind of graph it needs; None: divergences of all pairs instead of a graph. In a
        graph each point itself is the first of its row; edges that join components are the last,
        so that rows may differ in length.
    all_pairs : bool
        Whether it holds a number for every pair of points: refused where these have no room.
    check_params : callable, optional
        ``check_params(settings, n_samples)`` refuses further parameters (``method_params``) that
        make no sense. None: it takes no further ones.
    graph_neighbors : callable
        ``graph_neighbors(settings, n_samples)`` says how many neighbors the graph has where users
        do not say it; there may be fewer other points than that.
    saves_estimator : bool
        Whether the estimator that it found may be saved in a file.
    seconds_a_point : float
        About how long it takes on one core, at least: told before any work where there are many.
    """

    name: str
    embed: Callable[[Space, Divergences, Settings, np.random.Generator], Embedded]
    extend: Callable[[Space, Divergences, NDArray, Embedded], NDArray] | None = None
    graph: Graph | None = Graph.ANY
    all_pairs: bool = False
    check_params: Callable[[Settings, int], None] | None = None
    graph_neighbors: Callable[[Settings, int], int] = _usual_neighbors
    saves_estimator: bool = True
    seconds_a_point: float = 0.0

    def warn_of_time(self, n_samples: int) -> None:
        """Say at once that many points will take long."""
        minutes = n_samples * self.seconds_a_point / 60
        if minutes > _MANY_MINUTES:
            others = "embed fewer points" + (", and transform the others" if self.extend else "")
            warn_user(
                f'method="{self.name}" of {n_samples} points takes about {minutes:.0f} minutes '
                f"and more on one core: {others}, to be done sooner.",
                UserWarning,
            )
