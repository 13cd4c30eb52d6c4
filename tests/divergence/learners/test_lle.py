"""Weights that rebuild points from their neighbors."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from vicinal.divergence.learners.lle import gram_of_coordinates, gram_of_distances, weights_of


def test_weights_rebuild_what_can_be_rebuilt():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 2))
    true = np.array([0.2, 0.3, 0.5])
    queries = (true @ X[:3])[None]
    near = np.array([[0, 1, 2]])
    weights = weights_of(gram_of_coordinates(X, queries, near))
    assert_allclose(weights.sum(), 1.0)
    assert_allclose(weights[0] @ X[:3], queries[0], atol=0.02)
    squared, between = cdist(queries, X[:3]) ** 2, cdist(X[:3], X[:3])[None] ** 2
    assert_allclose(
        gram_of_distances(squared, between), gram_of_coordinates(X, queries, near), atol=1e-12
    )


def test_gram_of_no_distances_is_positive():
    squared = np.ones((1, 3))
    between = 9.0 * (1 - np.eye(3))[None]  # neighbors farther from each other than allowed
    assert np.linalg.eigvalsh(gram_of_distances(squared, between)).min() >= -1e-12
