"""Eigenvectors where an iteration finds none."""

from unittest.mock import patch

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix, identity
from scipy.sparse.linalg import ArpackNoConvergence

from vicinal import DivergenceEmbedding
from vicinal.divergence.spectral import largest_eigenpairs, smallest_eigenpairs


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
        patch("vicinal.divergence.spectral._DENSE_UP_TO", 0),
        patch("vicinal.divergence.spectral.eigsh", side_effect=error),
    ):
        found = solver(matrix, 3, np.random.default_rng(0))
        for one, other in zip(found, expected, strict=True):
            assert_allclose(one, other, atol=1e-10)
        with (
            patch("vicinal.divergence.limits.MOST_BYTES", 100),
            pytest.raises(ValueError, match=r"did not converge.*raise n_graph_neighbors"),
        ):
            solver(matrix, 3, np.random.default_rng(0))
