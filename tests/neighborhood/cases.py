"""Random problems for the engines, and how far rounding may carry their answers."""

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from vicinal.neighborhood import COMPACT, GAUSSIAN, Law, Pairs, Student

# Every law there is; Student's from Cauchy's to one that is nearly a Gaussian.
LAW_VALUES = (GAUSSIAN, COMPACT, Student(1.0), Student(3.0), Student(1e4))

DIMENSIONS = (1, 2, 3, 4, 5, 8, 17, 64, 300)


@dataclass(frozen=True)
class Case:
    pairs: Pairs
    law: Law
    rng: np.random.Generator

    @property
    def eps(self):
        return float(np.finfo(self.pairs.keys.dtype).eps)

    @property
    def squared_reach(self):
        """Largest squared norm after centering: what a matrix product rounds against."""
        center = np.median(self.pairs.keys.astype(float), axis=0)
        points = np.vstack([self.pairs.queries, self.pairs.keys]).astype(float)
        weights = self.pairs.key_log_weights
        exponent = 0.0 if weights is None else np.abs(weights).max()
        return 1.0 + np.square(points - center).sum(axis=1).max() + exponent

    @property
    def steepness(self):
        """What an error of a squared distance becomes in an exponent, at most."""
        steepest = 1.0 if self.law.has_support else self.law.decay(0.0, self.pairs.near.stop)
        return max(1.0, steepest)

    def exponent_error(self, ulps):
        """The stated bound on the error of any exponent, for an engine that promises these ulps.

        A sum of d squares, each in error by a few ulp, added one after the other.
        """
        d = self.pairs.keys.shape[1]
        return (ulps + d) * self.eps * self.squared_reach * self.steepness


@st.composite
def cases(draw, laws=LAW_VALUES, dimensions=DIMENSIONS):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    law = draw(st.sampled_from(laws))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    d = draw(st.sampled_from(dimensions))
    m = draw(st.integers(1, 40))
    keys = points(draw, rng, m, d, law).astype(dtype)
    own = draw_own(draw, rng, m)
    queries = keys[own] if own is not None else points(draw, rng, draw(st.integers(0, 40)), d, law)
    queries = queries.astype(dtype)
    if own is not None:  # some of the queries are strangers after all
        own = np.where(rng.random(len(own)) < draw(st.sampled_from([0.0, 0.3])), -1, own)
    labels = draw(st.booleans())
    n_classes = draw(st.sampled_from([1, 2, 7]))
    n_near = draw(st.sampled_from([None, 1, 1 + d // 2, d]))
    return Case(
        Pairs(
            queries,
            keys,
            rng.integers(0, n_classes, len(queries)) if labels else None,
            rng.integers(0, n_classes, m) if labels else None,
            rng.normal(size=m) if draw(st.booleans()) else None,
            own,
            n_near,
        ),
        law,
        rng,
    )


def points(draw, rng, n, d, law):
    """Clouds, clusters and lattices with exact duplicates, at scales from tight to far apart."""
    kind = draw(st.sampled_from(["cloud", "clusters", "lattice"]))
    cloud = rng.normal(size=(n, d)) / np.sqrt(d)
    if kind == "clusters":
        cloud = 0.1 * cloud + rng.integers(0, 3, (n, 1))
    if kind == "lattice":
        cloud = np.round(2 * cloud) / 2
    scale = draw(st.sampled_from([0.3, 1.0] if law.has_support else [0.3, 1.0, 10.0]))
    return scale * cloud + draw(st.sampled_from([0.0, 3.0]))


def draw_own(draw, rng, m):
    kind = draw(st.sampled_from(["strangers", "all", "some"]))
    if kind == "strangers":
        return None
    order = rng.permutation(m)
    return order if kind == "all" else order[: draw(st.integers(0, m))]


def key_subset(pairs, keep):
    """The same queries against some of the keys."""
    position = np.full(len(pairs.keys), -1)
    position[keep] = np.arange(len(keep))
    own = pairs.own
    if own is not None:
        own = np.where(own >= 0, position[own], -1)
    return replace(
        pairs,
        keys=pairs.keys[keep],
        key_labels=None if pairs.key_labels is None else pairs.key_labels[keep],
        key_log_weights=None if pairs.key_log_weights is None else pairs.key_log_weights[keep],
        own=own,
    )


def query_subset(pairs, keep):
    """Some of the queries against the same keys."""
    return replace(
        pairs,
        queries=pairs.queries[keep],
        query_labels=None if pairs.query_labels is None else pairs.query_labels[keep],
        own=None if pairs.own is None else pairs.own[keep],
    )
