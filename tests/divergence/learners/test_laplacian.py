"""Affinities that vanish: points far from all others, twins, eigenvalues of 0."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris

from vicinal import DivergenceNeighbors
from vicinal.divergence.graph import from_edges, symmetric
from vicinal.divergence.learners.laplacian import (
    LaplacianMap,
    _without_loops,
    laplacian_eigenmaps,
)


def complete_graph(D):
    row, column = np.triu_indices(len(D), 1)
    return from_edges(row, column, D[row, column], len(D))


def line(positions):
    return complete_graph(np.square(np.subtract.outer(positions, positions)))


def embed(graph, n_components=2, scale=None):
    return laplacian_eigenmaps(graph, n_components, scale, np.random.default_rng(0))


def test_the_scale_is_the_median_but_for_twins():
    positions = np.repeat([0.0, 1.0, 2.0], 10)
    assert embed(line(positions)).scale == 1.0  # 200 pairs at 1, 100 at 4, 135 twins
    assert embed(line(np.zeros(5))).scale == 1.0


def test_the_scale_of_one_group_of_twins_is_that_of_the_others():
    graph = line(np.r_[np.zeros(30), 10.0, 20.0])  # 435 pairs of twins, 61 of others
    assert embed(graph).scale == 100.0


def test_a_point_far_from_all_others_lies_where_its_neighbors_do():
    """exp(-d/σ) is 0 for it: it had a degree of 0, and NaN for coordinates."""
    near = np.linspace(0.0, 1.0, 12)
    graph = line(np.r_[near, 1e6])
    found = embed(graph, scale=0.1)
    assert np.isfinite(found.coordinates).all()
    assert_allclose(found.coordinates[:12], embed(line(near), scale=0.1).coordinates, atol=1e-9)
    # Of all neighbors only the nearest counts: D⁻¹ W φ = μ φ.
    expected = found.coordinates[11] / found.eigenvalues[1:]
    assert_allclose(found.coordinates[12], expected, rtol=1e-6)


def test_a_chain_of_far_points_is_placed_one_after_the_other():
    near, far = np.linspace(0.0, 1.0, 12), np.array([1e3, 1e4, 1e5])
    D = np.square(np.subtract.outer(np.r_[near, far], np.r_[near, far]))
    row, column = np.triu_indices(15, 1)
    kept = (column < 12) | (column == row + 1)
    found = embed(from_edges(row[kept], column[kept], D[row, column][kept], 15), scale=0.1)
    expected = found.coordinates[11] / found.eigenvalues[1:] ** [[1], [2], [3]]
    assert_allclose(found.coordinates[12:], expected, rtol=1e-6)


def test_new_points_far_away_lie_where_their_nearest_do():
    """They were put at 0."""
    found = embed(line(np.linspace(0.0, 1.0, 12)), scale=0.1)
    new = csr_matrix((np.square(1e6 - np.linspace(0, 1, 12))[::-1], np.arange(12)[::-1], [0, 12]))
    expected = found.coordinates[11] / found.eigenvalues[1:]
    assert_allclose(found.extended(new)[0], expected, rtol=1e-6)


def test_a_scale_that_leaves_no_affinities_is_refused():
    with pytest.raises(ValueError, match=r"scale=1e-09 makes all affinities 0.*least.*is 1\. "):
        embed(line(np.arange(9.0)), scale=1e-9)


def test_an_eigenvalue_of_0_says_nothing_about_new_points():
    graph = csr_matrix(np.ones((3, 3)))
    found = LaplacianMap(np.ones((3, 2)), np.array([1.0, 0.5, 0.0]), 1.0, graph)
    with pytest.raises(ValueError, match=r"n_components=2 takes in .* eigenvalue 0.*fewer"):
        found.extended(csr_matrix(np.ones((1, 3))))


def test_laplacian_coordinates_are_eigenvectors_and_nystrom_keeps_them():
    graph = symmetric(DivergenceNeighbors(n_graph_neighbors=60).fit_transform(load_iris().data))
    found = laplacian_eigenmaps(graph, 3, None, np.random.default_rng(0))
    assert_allclose(found.eigenvalues[0], 1.0)
    # The extension is the equation D⁻¹ W φ = μ φ itself: training points stay where they are.
    extended = found.extended(_without_loops(graph))
    assert_allclose(extended, found.coordinates, rtol=1e-8, atol=1e-12)


def test_twins_stay_neighbors():
    graph = csr_matrix(([0.0, 2.0, 3.0, 0.0], ([0, 0, 1, 2], [1, 2, 2, 2])), shape=(3, 3))
    both = symmetric(graph)
    assert both.nnz == 7
    assert (both != both.T).nnz == 0
    found = laplacian_eigenmaps(both, 1, 1.0, np.random.default_rng(0))
    # The twins have the strongest edge of all, exp(0) = 1: without it they would drift apart.
    W = np.exp(-np.array([[np.inf, 0, 2], [0, np.inf, 3], [2, 3, np.inf]]))
    degrees = W.sum(axis=1)
    values = np.linalg.eigvalsh(W / np.sqrt(np.outer(degrees, degrees)))
    assert_allclose(found.eigenvalues, values[::-1][:2], atol=1e-12)
