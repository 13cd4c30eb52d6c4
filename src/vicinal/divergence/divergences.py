"""Divergences between Gaussians (section 4): each is a value, and all stand in one table."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from vicinal.divergence import equations
from vicinal.divergence.equations import Batch, Equation, numbers_of_a_pair
from vicinal.divergence.gaussians import LocalGaussians
from vicinal.divergence.shared_numbers import (
    BHATTACHARYYA,
    BHATTACHARYYA_RIEMANN,
    JEFFREYS_RIEMANN,
    RIEMANN,
    Frames,
)
from vicinal.inputs.checks import check_choice
from vicinal.neighborhood.arrays import Array

__all__ = ["DIVERGENCES", "Divergence", "check_symmetric", "divergence_named"]

# Values of all pairs of two sets of Gaussians, and of given ones; see `Divergence`.
Tile = Callable[[LocalGaussians, LocalGaussians, bool], NDArray]
Pairs = Callable[[LocalGaussians, LocalGaussians, NDArray, NDArray], NDArray]


def _unchanged(values: NDArray) -> NDArray:
    """What `tile` returns is the divergence already."""
    return values


@dataclass(frozen=True)
class Divergence:
    """A divergence between two Gaussians: how pairs are computed, and what others must know of it.

    Attributes
    ----------
    name : str
        What users type.
    tile : callable
        ``tile(P, Q, upper)`` returns the values of all pairs of some Gaussians, shape
        (len(P), len(Q)), not negative. Both are `LocalGaussians` of the same rank whose covariances
        have no `diagonal` of their own. Where `upper` is true, P and Q are the same, and of the
        result only what is above its diagonal is read. Several threads call it at a time.
    pairs : callable, optional
        ``pairs(P, Q, first, second)`` returns the same values of P[first] and Q[second], pair by
        pair. None: pairs that have their first in common are a tile, which takes longer.
    squared : bool
        Whether it is like a squared distance (for equal covariances, a multiple of Mahalanobis'
        squared one): its square root is then what takes the place of a distance.
    finish : callable
        An increasing function that makes the divergence itself of what `tile` returns, elementwise.
        Neighbors are ranked before it, so that it may round differences away.
    degree : int
        Power of the unit of X in what `tile` returns: 0 where a change of units changes nothing,
        2 for a squared distance in these units.
    symmetric : bool
        Whether pairs have the same divergence both ways: each is then computed once.
    places : bool
        Whether it looks at the means: the nearest are then among Euclidean neighbors, mostly.
    shapes : bool
        Whether it looks at covariances: otherwise none are made.
    n_frames : int
        How many frames are joined to compute a pair of Gaussians of low rank q: ``n_frames * q``
        directions must fit into the space, otherwise all directions are given. 1 where each
        Gaussian is looked at in its own frame, 2 where it takes the space that both of them span.
    equation : callable, optional
        ``equation(batch)`` returns the values of all pairs of a `Batch`, in arrays of its library
        on its device: for GPUs. None: `tile` alone, on the CPU.
    """

    name: str
    tile: Tile
    pairs: Pairs | None = None
    squared: bool = False
    finish: Callable[[NDArray], NDArray] = _unchanged
    degree: int = 0
    symmetric: bool = True
    places: bool = True
    shapes: bool = True
    n_frames: int = 1
    equation: Equation | None = None

    def takes(self, rank: int, n_features: int) -> bool:
        """Whether Gaussians of this rank can be compared without their other directions."""
        return self.n_frames * rank <= n_features

    def in_batch(self, P: LocalGaussians, Q: LocalGaussians, *, is_tile: bool) -> Array:
        """Values of all pairs, or of those at the same positions, by the equation."""
        assert self.equation is not None
        return self.equation(Batch(P, Q, is_tile))

    def batch_numbers(self, rank: int, n_features: int) -> int:
        """About how many numbers the equation holds for every pair."""
        return numbers_of_a_pair(rank, n_features, self.n_frames)


# Kernels are imported where they are called: who computes elsewhere needs no compiler.


def _jeffreys(P: LocalGaussians, Q: LocalGaussians, upper: bool) -> NDArray:
    """Jeffreys divergence (eq. 7)."""
    from vicinal.divergence import kernels

    out = np.zeros((len(P), len(Q)))
    kernels.jeffreys_tile(_frames(P), _frames(Q), _products(P, Q), upper, out)
    return out


def _jeffreys_pairs(
    P: LocalGaussians, Q: LocalGaussians, first: NDArray, second: NDArray
) -> NDArray:
    """Jeffreys divergence (eq. 7) of given pairs."""
    from vicinal.divergence import kernels

    out = np.empty(len(first))
    kernels.jeffreys_pairs(_frames(P), _frames(Q), first, second, out)
    return out


def _joint(which: int) -> Tile:
    """Divergences (eq. 8 to 10) that are computed in the space that two frames span."""

    def tile(P: LocalGaussians, Q: LocalGaussians, upper: bool) -> NDArray:
        from vicinal.divergence import kernels

        out = np.zeros((len(P), len(Q)))
        kernels.joint_tile(_frames(P), _frames(Q), _products(P, Q), upper, which, out)
        return out

    return tile


def _euclidean(P: LocalGaussians, Q: LocalGaussians, upper: bool) -> NDArray:
    """Distances of the means, by differences: no shapes."""
    return cdist(P.means, Q.means)


def _hellinger(bhattacharyya: NDArray) -> NDArray:
    """√(1 - e^-B), which is 1 for all pairs that are far apart."""
    return np.sqrt(-np.expm1(-bhattacharyya))


def _frames(gaussians: LocalGaussians) -> Frames:
    """Gaussians as kernels read them."""
    return Frames(
        np.ascontiguousarray(gaussians.means),
        np.ascontiguousarray(gaussians.vectors),
        gaussians.values,
        1.0 / np.sqrt(gaussians.values),
        gaussians.rest,
    )


def _products(P: LocalGaussians, Q: LocalGaussians) -> NDArray:
    """Inner products of all eigenvectors of a tile, shape (len(P), q, len(Q), q)."""
    d = P.n_features
    products = P.vectors.reshape(-1, d) @ Q.vectors.reshape(-1, d).T
    return products.reshape(len(P), P.rank, len(Q), Q.rank)


DIVERGENCES: dict[str, Divergence] = {
    divergence.name: divergence
    for divergence in (
        Divergence(
            "jeffreys", _jeffreys, _jeffreys_pairs, squared=True, equation=equations.jeffreys
        ),
        Divergence(
            "bhattacharyya",
            _joint(BHATTACHARYYA),
            squared=True,
            n_frames=2,
            equation=equations.bhattacharyya,
        ),
        Divergence(
            "hellinger",
            _joint(BHATTACHARYYA),
            finish=_hellinger,
            n_frames=2,
            equation=equations.bhattacharyya,
        ),
        Divergence(
            "jeffreys-riemann",
            _joint(JEFFREYS_RIEMANN),
            n_frames=2,
            equation=equations.jeffreys_riemann,
        ),
        Divergence(
            "bhattacharyya-riemann",
            _joint(BHATTACHARYYA_RIEMANN),
            n_frames=2,
            equation=equations.bhattacharyya_riemann,
        ),
        Divergence(
            "riemann", _joint(RIEMANN), places=False, n_frames=2, equation=equations.riemann
        ),
        Divergence("euclidean", _euclidean, degree=1, shapes=False, equation=equations.euclidean),
    )
}


def divergence_named(name: str) -> Divergence:
    """The divergence that users call so; any other name is refused with the list of all."""
    return DIVERGENCES[check_choice("divergence", name, DIVERGENCES)]


def check_symmetric(name: str, who: str) -> None:
    """Refuse a divergence that is another one the other way round, on behalf of `who`."""
    if not divergence_named(name).symmetric:
        others = ", ".join(repr(other.name) for other in DIVERGENCES.values() if other.symmetric)
        raise ValueError(
            f"divergence={name!r} depends on which of two points comes first, and {who} needs one "
            f"that does not: use one of {others}."
        )
