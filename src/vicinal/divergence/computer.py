"""How pairs of Gaussians are computed: a tile of them, or a batch of given ones.

dense       frames of all d directions; a pair costs about d³
low-rank    frames of the q directions of the neighborhoods; about q² d and (2q)³
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vicinal.divergence.divergences import Divergence
from vicinal.divergence.gaussians import LocalGaussians, are_twins, may_be_twins
from vicinal.divergence.made import Gaussians
from vicinal.divergence.places import HOST, Place
from vicinal.neighborhood import namespace
from vicinal.neighborhood.arrays import Array, on_host, placed_like

__all__ = ["PairComputer"]

# Features up to which Gaussians are compared in all dimensions: a pair takes a minute there.
_MOST_FEATURES = 4000


@dataclass(frozen=True)
class PairComputer:
    """One divergence, and how it is computed for some pairs.

    Attributes
    ----------
    divergence : Divergence
    engine : {"auto", "dense", "low-rank", "cuda", "dask"}
        "auto": whichever costs less, on a GPU ("cuda") as on the CPU. "dask": the same, by the
        workers of a cluster.
    n_jobs : int or None
    verbose : int
    place : Place
        Where pairs are computed, once it is known how many there are.
    """

    divergence: Divergence
    engine: str = "auto"
    n_jobs: int | None = None
    verbose: int = 0
    place: Place = HOST

    def sent(self, P: LocalGaussians, Q: LocalGaussians) -> tuple[LocalGaussians, LocalGaussians]:
        """Both where they are compared; once, where they are the same."""
        there = self.place.sent(P)
        return there, there if Q is P else self.place.sent(Q)

    def one_batch(
        self, P: LocalGaussians, Q: LocalGaussians, first: NDArray, second: NDArray
    ) -> NDArray:
        """Values of given pairs, on the host, of Gaussians that were sent: gathered there."""
        with self.place.working():
            first, second = (np.ascontiguousarray(each) for each in (first, second))
            P, Q = P[placed_like(first, P.means)], Q[placed_like(second, Q.means)]
            values = self.divergence.in_batch(*self._alike(P, Q), is_tile=False)
            near = namespace(values).nonzero(may_be_twins(values))[0]
            values[near[are_twins(P, Q, near, near)]] = 0.0
            return on_host(values)

    def some_pairs(
        self, P: LocalGaussians, Q: LocalGaussians, first: NDArray, second: NDArray
    ) -> NDArray:
        """Values of given pairs, by what the divergence has for these."""
        assert self.divergence.pairs is not None
        values = self.divergence.pairs(P, Q, first, second)
        near = np.flatnonzero(may_be_twins(values))
        values[near[are_twins(P, Q, first[near], second[near])]] = 0.0
        return values

    def one_with_others(
        self, P: LocalGaussians, Q: LocalGaussians, first: NDArray, second: NDArray
    ) -> NDArray:
        """Values of pairs that have their first in common: a tile."""
        return self.tile(P[first[:1]], Q[second], upper=False)[0]

    def tile(self, P: LocalGaussians, Q: LocalGaussians, upper: bool) -> Array:
        """Values of all pairs of a tile, or of those above its diagonal (0 elsewhere).

        They are where they were computed.
        """
        with self.place.working():
            P, Q = self.sent(P, Q)
            values = self.place.tile(self.divergence, *self._alike(P, Q), upper)
            xp = namespace(values)
            if upper:
                values = xp.triu(values, k=1)
            i, j = xp.nonzero(may_be_twins(values))
            equal = are_twins(P, Q, i, j)
            values[i[equal], j[equal]] = 0.0
            return values

    def _alike(self, P: LocalGaussians, Q: LocalGaussians) -> tuple[LocalGaussians, LocalGaussians]:
        """Both with all the directions that it takes, and with as many."""
        rank = max(P.rank, Q.rank)  # neighborhoods of a radius differ
        if self.is_dense(P, rank):
            return P.complete(), Q.complete()
        return P.of_rank(rank), Q.of_rank(rank)

    def check_room(self, P: Gaussians) -> None:
        """Refuse comparisons in too many dimensions."""
        d = P.n_features
        if d > _MOST_FEATURES and self.is_dense(P, P.rank):
            raise ValueError(
                f"{d} features, at most {_MOST_FEATURES} where Gaussians are compared in all "
                f"dimensions: {8e-9 * d**2:.2g} GB for each of them and {float(d) ** 3:.0e} "
                "operations for each pair. Reduce the features, for example with "
                'sklearn.decomposition.PCA; or use engine="auto", fewer neighbors, and another '
                'covariance than "shrunk-diagonal".'
            )

    def is_dense(self, P: Gaussians, rank: int) -> bool:
        """Whether frames need all directions."""
        if self.engine == "low-rank" and P.has_diagonal:
            raise ValueError(
                'engine="low-rank" needs covariances of low rank plus a multiple of the identity, '
                'and covariance="shrunk-diagonal" has other ones. Use engine="auto".'
            )
        if P.has_diagonal or rank == P.n_features:
            return True
        fits = self.divergence.takes(rank, P.n_features)
        if self.engine == "low-rank" and not fits:
            n_frames = self.divergence.n_frames
            raise ValueError(
                f'engine="low-rank" needs at least {n_frames * rank} features, {n_frames} times '
                f'the rank of a local covariance, for divergence="{self.divergence.name}"; there '
                f'are {P.n_features}. Use engine="auto".'
            )
        return self.engine == "dense" or not fits

    def adds_directions(self, P: Gaussians, rank: int) -> bool:
        """Whether frames are completed for every tile: all at once have no room."""
        return self.is_dense(P, rank) and (P.has_diagonal or rank < P.n_features)

    def side(self, P: Gaussians) -> int:
        """Points on each side of a tile."""
        size = P.n_features if self.is_dense(P, P.rank) else P.rank
        return self.place.side(self.divergence, size, P.n_features)
