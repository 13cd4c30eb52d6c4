"""Which points an update looks at (thesis 4.1 to 4.3): every kind is a partition per epoch."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from vicinal.fitting import Draws, split
from vicinal.inputs.nearest import search
from vicinal.neighborhood.arrays import Array

__all__ = ["BATCHINGS", "Batches", "farthest_point_clusters", "projection_clusters"]

# Kinds that give a new batch at every update.
BATCHINGS = ("random", "farthest", "projection", "stochastic")


class Batches(Draws):
    """Batches of one epoch after the other, of a kind.

    Parameters
    ----------
    kind : {"random", "stochastic", "farthest", "projection"}
        The last two cluster the points anew, under the map of the moment, in
        every epoch (algorithm 4.1).
    n : int
        Number of points.
    size : int
        Largest batch.
    rng : numpy.random.Generator
    project : callable
        From the parameters of a map to all n projected points; asked only by clusters.
    """

    def __init__(
        self,
        kind: str,
        n: int,
        size: int,
        rng: np.random.Generator,
        project: Callable[[Array], NDArray],
    ) -> None:
        super().__init__(rng)
        self._kind, self._n, self._size, self._project = kind, n, size, project

    def next(self, parameters: Array) -> NDArray:
        """Positions of the points of the next batch, under the map of the moment."""
        return self.next_of(lambda: self._new_epoch(parameters))

    def _new_epoch(self, parameters: Array) -> list[NDArray]:
        if self._kind == "farthest":
            batches = farthest_point_clusters(self._project(parameters), self._size, self.rng)
        elif self._kind == "projection":
            batches = projection_clusters(self._project(parameters), self._size, self.rng)
        else:
            return split(self.rng.permutation(self._n), self._size)
        self.rng.shuffle(batches)  # neighboring clusters should not follow each other
        return batches


def projection_clusters(Z: NDArray, size: int, rng: np.random.Generator) -> list[NDArray]:
    """Recursive projection clustering (algorithm 4.3), split by rank: ties stay balanced.

    Each set is cut into two halves across the line through two of its points,
    until at most `size` are left.
    """
    done, todo = [], [np.arange(len(Z))]
    while todo:
        members = todo.pop()
        if len(members) <= size:
            done.append(members)
            continue
        one, other = rng.choice(members, 2, replace=False)
        along = Z[members] @ (Z[one] - Z[other])
        half = len(members) // 2
        ranked = members[np.argpartition(along, half)]
        todo += [ranked[:half], ranked[half:]]
    return done


def farthest_point_clusters(Z: NDArray, size: int, rng: np.random.Generator) -> list[NDArray]:
    """Farthest point clustering (algorithm 4.2) with room for at most `size` points each.

    The thesis notes that its clusters can be very unbalanced. Here a full one
    turns away those farthest from its center, who go to the next nearest.
    """
    n_clusters = -(-len(Z) // size)
    centers = _farthest_points(Z, n_clusters, rng)
    cluster = np.full(len(Z), -1)
    room = np.full(n_clusters, -(-len(Z) // n_clusters))
    while (cluster < 0).any():
        waiting, open_ = np.flatnonzero(cluster < 0), np.flatnonzero(room > 0)
        neighbors = NearestNeighbors(n_neighbors=1).fit(Z[centers[open_]])
        distance, nearest = search(neighbors, Z[waiting], 1)
        choice = open_[nearest[:, 0]]
        order = np.lexsort((distance[:, 0], choice))
        first = np.searchsorted(choice[order], choice[order])
        admitted = order[np.arange(len(order)) - first < room[choice[order]]]
        cluster[waiting[admitted]] = choice[admitted]
        room -= np.bincount(choice[admitted], minlength=n_clusters)
    by_cluster = np.argsort(cluster, kind="stable")
    sizes = np.bincount(cluster, minlength=n_clusters)
    return [part for part in np.split(by_cluster, np.cumsum(sizes)[:-1]) if len(part)]


def _farthest_points(Z: NDArray, k: int, rng: np.random.Generator) -> NDArray:
    """Positions of k points, each the farthest from all before it, the first one at random."""
    centers = [int(rng.integers(len(Z)))]
    distance = np.full(len(Z), np.inf)
    while len(centers) < k:
        distance = np.minimum(distance, np.square(Z - Z[centers[-1]]).sum(axis=1))
        centers.append(int(distance.argmax()))
    return np.array(centers)
