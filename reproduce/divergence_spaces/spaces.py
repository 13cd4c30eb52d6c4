"""The pilot space (X, d): points, and distances of all pairs by Euclid or by a divergence."""

import warnings
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from reproduce.divergence_spaces import data
from vicinal.divergence import pairwise
from vicinal.divergence.precomputed import GivenSpace

# Section 6: the ridge of all experiments, in squared units of the data.
GAMMA = 1e-4

DIVERGENCES = (
    "jeffreys",
    "bhattacharyya",
    "hellinger",
    "jeffreys-riemann",
    "bhattacharyya-riemann",
)


@dataclass(frozen=True)
class PilotSpace:
    """Points and their distances, which every learner of the library can be handed.

    The paper takes the divergence itself for the distance (section 4.1), so that learners that
    square distances square it.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    given : ndarray of shape (n, n)
    nearness : ndarray of shape (n, n)
        What neighbors are ranked by: grows with `given`, and is not rounded to 1 where that is.
    is_euclidean : bool
    """

    X: NDArray
    given: NDArray
    nearness: NDArray
    is_euclidean: bool

    @property
    def points(self) -> NDArray:
        """For LLE, whose weights are those of the points' coordinates."""
        return self.X

    def distances(self, lengths: NDArray | csr_matrix) -> NDArray | csr_matrix:
        """As they are."""
        return lengths

    def squares(self, lengths: NDArray) -> NDArray:
        """Squared distances."""
        return np.square(lengths)

    def graph(self, k: int) -> csr_matrix:
        """Each point, and its k nearest others; equally near ones by position."""
        n = len(self.X)
        columns = self._order[:, : min(k, n - 1) + 1]
        lengths = np.take_along_axis(self.given, columns, axis=1)
        starts = np.arange(0, columns.size + 1, columns.shape[1])
        return csr_matrix((lengths.ravel(), columns.ravel(), starts), shape=(n, n))

    def joined(self, k: int) -> csr_matrix:
        """The graph, and the shortest edge between every two of its components."""
        with warnings.catch_warnings():  # it tells of every graph that falls apart
            warnings.simplefilter("ignore")
            return GivenSpace(self.given).joined(self.graph(k))

    @cached_property
    def _order(self) -> NDArray:
        """Other points from near to far, each point itself the first."""
        ranked = self.nearness.copy()
        np.fill_diagonal(ranked, -1.0)
        return np.argsort(ranked, axis=1, kind="stable")


@lru_cache(maxsize=1)
def space(name: str, metric: str, m: int) -> PilotSpace:
    """Of a data set; `m`, the size of neighborhoods, says nothing to Euclid."""
    X = data.load(name).X
    wanted = "bhattacharyya" if metric == "hellinger" else metric
    nearness = pairwise(X, divergence=wanted, n_neighbors=m, gamma=GAMMA)
    given = np.sqrt(-np.expm1(-nearness)) if metric == "hellinger" else nearness
    return PilotSpace(X, given, nearness, metric == "euclidean")
