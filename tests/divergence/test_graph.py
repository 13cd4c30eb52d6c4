"""Graphs: edges of length 0 are edges, rows keep their order, components are connected."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, shortest_path

from vicinal import DivergenceNeighbors
from vicinal.divergence.graph import rooted, symmetric, with_lengths, without_last
from vicinal.divergence.neighbors import space_of

every_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@pytest.fixture
def discrete():
    """27 places for 300 points: every one has twins."""
    return np.random.default_rng(0).integers(0, 3, (300, 3)).astype(float)


@pytest.fixture
def unsorted():
    """Neighbors by length, not by column, twins among them."""
    return csr_matrix(([0.0, 1.0, 2.0, 0.0, 0.0, 4.0], [2, 0, 1, 1, 2, 0], [0, 3, 6, 6]), (3, 3))


def edges(graph):
    whole = graph.tocoo()
    return {(int(i), int(j)): v for i, j, v in zip(whole.row, whole.col, whole.data, strict=True)}


@every_dtype
def test_other_lengths_leave_edges_and_their_order(unsorted, dtype):
    for other in (with_lengths(unsorted, unsorted.data.astype(dtype)), rooted(unsorted)):
        assert_array_equal(other.indices, unsorted.indices)
        assert_array_equal(other.indptr, unsorted.indptr)
    assert with_lengths(unsorted, unsorted.data.astype(dtype)).dtype == dtype
    assert_array_equal(rooted(unsorted).data, np.sqrt(unsorted.data))


@every_dtype
def test_the_farthest_goes_whatever_its_column(dtype):
    lengths = np.array([0.0, 0.0, 2.0, 0.0, 1.0, 3.0], dtype)
    graph = csr_matrix((lengths, [1, 2, 0, 2, 0, 1], [0, 3, 6]), (2, 3))
    assert without_last(graph).dtype == dtype
    assert edges(without_last(graph)) == {(0, 1): 0, (0, 2): 0, (1, 2): 0, (1, 0): 1}


@every_dtype
def test_symmetric_keeps_edges_of_length_0(unsorted, dtype):
    unsorted = with_lengths(unsorted, unsorted.data.astype(dtype))
    assert symmetric(unsorted).dtype == dtype
    both = edges(symmetric(unsorted))
    assert both == {(0, 2): 0, (0, 0): 1, (0, 1): 2, (1, 1): 0, (1, 2): 0, (1, 0): 4,
                    (2, 0): 0, (2, 1): 0} | {(0, 1): 4}  # fmt: skip


def test_what_scipy_makes_of_edges_of_length_0():
    """We rely on it: paths lead over them, and they connect."""
    graph = csr_matrix(([0.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
    assert connected_components(graph, directed=False)[0] == 1
    for method in ("D", "FW"):
        paths = shortest_path(graph, method=method, directed=False)
        assert_array_equal(paths, [[0, 0, 1], [0, 0, 1], [1, 1, 0]])


@pytest.mark.parametrize("k", [2, 5, 9])
@every_dtype
def test_connecting_adds_the_shortest_edges_and_drops_none(discrete, k, dtype):
    discrete = discrete.astype(dtype)
    model = DivergenceNeighbors(5, n_graph_neighbors=k)
    graph = model.fit_transform(discrete)
    n, labels = connected_components(graph, directed=False)
    assert n > 1
    with pytest.warns(UserWarning, match=f"has {n} components"):
        whole = space_of(model).joined(graph)
    assert connected_components(whole, directed=False)[0] == 1
    before, after = edges(graph), edges(whole)
    assert set(before) <= set(after)
    assert sum(value == 0 for value in before.values()) > len(discrete)
    D = DivergenceNeighbors(5).fit_transform(discrete)
    for a in range(n):
        for b in range(a):
            between = {e: v for e, v in after.items() if (labels[e[0]], labels[e[1]]) == (a, b)}
            assert len(between) == 1
            (length,) = between.values()
            rtol = 1e-9 if dtype == np.float64 else 1e-5
            assert_allclose(length, D[np.ix_(labels == a, labels == b)].min(), rtol=rtol)


@every_dtype
@pytest.mark.parametrize("options", [{}, {"n_candidates": 40}, {"square_root": True}])
def test_neighbors_come_in_the_order_of_their_divergences(discrete, dtype, options):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(80, 3)), discrete[:40]]).astype(dtype)
    model = DivergenceNeighbors(5, n_graph_neighbors=7, **options)
    graph, new = model.fit_transform(X), model.transform(X[:30] + dtype(0.1))
    assert graph.dtype == new.dtype == dtype
    for found in (graph, new):
        lengths = found.data.reshape(found.shape[0], 8)
        assert (np.diff(lengths, axis=1) >= 0).all()
        assert (np.diff(found.indices.reshape(lengths.shape), axis=1) < 0).any()  # not by column
    assert_array_equal(graph.indices.reshape(-1, 8)[:, 0], np.arange(len(X)))
