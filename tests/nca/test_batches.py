import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from vicinal.nca.batches import (
    BATCHINGS,
    Batches,
    farthest_point_clusters,
    projection_clusters,
    split,
)


@st.composite
def clouds(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 200)), draw(st.integers(1, 3))
    Z = rng.normal(size=(n, d))
    if draw(st.booleans()):
        Z = np.round(Z)  # many ties
    if draw(st.booleans()):
        Z[:] = 0.0  # nothing but ties
    return Z, draw(st.integers(1, 60)), rng


@pytest.mark.parametrize("kind", BATCHINGS)
@given(cloud=clouds())
def test_an_epoch_is_a_partition_into_balanced_batches(kind, cloud):
    Z, size, rng = cloud
    batches = Batches(kind, len(Z), size, rng, lambda A: Z)
    for _ in range(2):
        epoch = [batches.next(np.eye(1))]
        while sum(map(len, epoch)) < len(Z):
            epoch.append(batches.next(np.eye(1)))
        assert_array_equal(np.sort(np.concatenate(epoch)), np.arange(len(Z)))
        sizes = np.array([len(batch) for batch in epoch])
        assert sizes.max() <= size
        if kind == "projection":
            # Halving leaves parts of at least half the size asked for, rounded down.
            assert len(Z) <= size or sizes.min() >= size // 2
            assert sizes.max() - sizes.min() <= max(1, sizes.min())
        elif kind != "farthest":
            assert sizes.max() - sizes.min() <= 1
        else:
            assert len(sizes) == -(-len(Z) // size)


@pytest.mark.parametrize("cluster", [projection_clusters, farthest_point_clusters])
def test_clusters_are_tighter_than_random_batches(cluster):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(4000, 3))

    def spread(batches):
        return np.mean([Z[batch].var(axis=0).sum() for batch in batches])

    assert spread(cluster(Z, 200, rng)) < 0.5 * spread(split(rng.permutation(4000), 200))


def test_farthest_points_find_far_apart_groups():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(4), 50)
    Z = 100 * np.eye(4)[groups] + rng.normal(size=(200, 4))
    for batch in farthest_point_clusters(Z, 50, rng):
        assert len(np.unique(groups[batch])) == 1


def test_clusters_follow_the_map_of_the_moment():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    maps = []

    def project(A):
        maps.append(A)
        return X @ A.T

    batches = Batches("projection", 100, 50, rng, project)
    for scale in (1.0, 2.0, 3.0):
        batches.next(scale * np.eye(2))
    assert [A[0, 0] for A in maps] == [1.0, 3.0]  # once per epoch of two
