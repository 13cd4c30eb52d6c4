"""EM as the poster has it, on lists of labeled pairs, and the pairs of section 3.2."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vicinal.coincidence.equations import (
    CoincidenceData,
    LatentMap,
    em_differences,
    em_endpoints,
    exponents,
    odds,
)
from vicinal.coincidence.learning import likeliest_scales
from vicinal.coincidence.neighbors import LabeledPoints, labeled_pairs
from vicinal.coincidence.starts import latent_start
from vicinal.neighborhood import times
from vicinal.neighborhood.pair_list import PairList

# From a map to its log-likelihood and to the next map.
Step = Callable[[CoincidenceData, LatentMap], tuple[float, LatentMap]]


def em_as_printed(data: CoincidenceData, latent: LatentMap) -> tuple[float, LatentMap]:
    """One step of the poster to the letter: its variance for y = 0 lacks -ν(1 + ν) b² δ²."""
    value, following = em_endpoints(data, latent)
    squared = data.pairs.squared_distances(times(data.X, latent.W.T))
    kappa2, p = latent.kappa2[data.anchors], len(latent.W)
    nu = odds(exponents(squared, p, latent.sigma2, kappa2))
    b = latent.sigma2 / (kappa2 + 2 * latent.sigma2)
    lacks = np.where(data.coincide, 0.0, nu * (1 + nu) * b**2 * squared)
    sigma2 = following.sigma2 + float(lacks.sum()) / (p * len(data))
    return value, replace(following, sigma2=sigma2)


class Variant(NamedTuple):
    """A form of EM, and whether every point that has pairs has a length scale of its own."""

    step: Step
    local: bool


VARIANTS = {
    "local": Variant(em_endpoints, True),
    "local-printed": Variant(em_as_printed, True),
    "shared": Variant(em_endpoints, False),
    "shared-printed": Variant(em_as_printed, False),
    "shared-differences": Variant(em_differences, False),
}


def pairs_of(X: NDArray, y: NDArray, n_targets: int, *, local: bool) -> CoincidenceData:
    """Points with their targets and impostors, if they have any of these (section 3.2)."""
    first, second, coincide = labeled_pairs(LabeledPoints(X, y), n_targets, "impostors")
    if not len(first):
        raise ValueError(f"none of {len(X)} points has an impostor: there is nothing to learn from")
    anchors = np.unique(first, return_inverse=True)[1] if local else np.zeros(len(first), int)
    return CoincidenceData(X, PairList(first, second, len(X)), coincide, anchors)


def principal_start(data: CoincidenceData, n_components: int) -> LatentMap:
    """Principal components, coincident pairs at a mean squared distance of 1, σ² = 0.1."""
    return latent_start("pca", data, n_components, np.random.default_rng(0))


def maps(data: CoincidenceData, variant: Variant, start: LatentMap) -> Iterator[LatentMap]:
    """The start, and the map after each step; before it, scales are found by line search."""
    latent = start
    while True:
        yield latent
        if variant.local:
            scales = likeliest_scales(data, latent.W, latent.sigma2)
            latent = LatentMap(latent.W, latent.sigma2, scales)
        _, latent = variant.step(data, latent)
