"""Eigenvectors: in order, from either solver, and where an iteration finds none."""

from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix, identity
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.datasets import make_s_curve
from sklearn.exceptions import ConvergenceWarning

from vicinal import DivergenceEmbedding, DivergenceNeighbors
from vicinal.divergence.graph import symmetric
from vicinal.divergence.learners.laplacian import laplacian_eigenmaps
from vicinal.divergence.learners.lle import embedded_by, gram_of_coordinates, weights_of
from vicinal.divergence.learners.spectral import largest_eigenpairs, smallest_eigenpairs


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_a_large_matrix_of_zeros(kind):
    values, vectors = largest_eigenpairs(kind(np.zeros((1200, 1200))), 2, np.random.default_rng(0))
    assert_array_equal(values, 0.0)
    assert_allclose(vectors.T @ vectors, np.eye(2))


@pytest.mark.parametrize("method", ["isomap", "laplacian", "lle", "mds"])
def test_more_than_a_thousand_twins_have_an_embedding(method):
    Z = DivergenceEmbedding(method=method, random_state=0).fit_transform(np.ones((1200, 2)))
    assert np.isfinite(Z).all()


@pytest.mark.parametrize("solver", [largest_eigenpairs, smallest_eigenpairs])
def test_where_the_iteration_does_not_converge_a_dense_solver_does(solver):
    rng = np.random.default_rng(0)
    root = csr_matrix(rng.normal(size=(30, 30)))
    matrix = (root @ root.T + identity(30)).tocsc()
    expected = solver(matrix, 3, np.random.default_rng(0))
    error = ArpackNoConvergence("no convergence", np.empty(0), np.empty((30, 0)))
    with (
        patch("vicinal.divergence.learners.spectral._DENSE_UP_TO", 0),
        patch("vicinal.divergence.learners.spectral.eigsh", side_effect=error),
    ):
        found = solver(matrix, 3, np.random.default_rng(0))
        for one, other in zip(found, expected, strict=True):
            assert_allclose(one, other, atol=1e-10)
        with (
            patch("vicinal.divergence.learners.spectral._DENSE_AT_LAST", 0),
            pytest.warns(ConvergenceWarning, match=r"of 30 points stopped.*Raise n_graph_neigh"),
        ):
            values, _ = solver(matrix, 3, np.random.default_rng(0))
        assert_allclose(values, expected[0], rtol=1e-3)


def test_sparse_and_dense_eigensolvers_agree():
    X, _ = make_s_curve(150, random_state=0)
    graph = symmetric(DivergenceNeighbors(n_graph_neighbors=12, gamma=0.05).fit_transform(X))
    near = DivergenceNeighbors(n_graph_neighbors=12, gamma=0.05).fit_transform(X)
    near = near.indices.reshape(150, -1)[:, 1:]
    weights = weights_of(gram_of_coordinates(X, X, near)).ravel()
    weights = csr_matrix((weights, near.ravel(), np.arange(0, weights.size + 1, 12)), (150, 150))

    def both():
        rng = np.random.default_rng(0)
        return (
            laplacian_eigenmaps(graph, 2, None, rng).coordinates,
            embedded_by(weights, 2, rng)[0],
        )

    dense = both()
    with patch("vicinal.divergence.learners.spectral._DENSE_UP_TO", 0):
        for one, other in zip(dense, both(), strict=True):
            assert_allclose(one, other, atol=1e-6)


def test_eigenpairs_are_in_order_with_signs_fixed():
    rng = np.random.default_rng(0)
    F = rng.normal(size=(20, 20))
    A = F @ F.T
    values, vectors = largest_eigenpairs(A, 3, rng)
    assert (np.diff(values) < 0).all()
    assert_allclose(A @ vectors, vectors * values, atol=1e-9)
    assert (vectors[np.abs(vectors).argmax(axis=0), range(3)] > 0).all()
    values, _ = smallest_eigenpairs(A, 3, rng)
    assert (np.diff(values) > 0).all()
