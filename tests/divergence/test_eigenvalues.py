"""Eigenvalues of small matrices, beside LAPACK's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.effort import examples
from vicinal.divergence.eigenvalue_kernels import singular_squares


def squares_of(K):
    S, squares, off = np.empty(K.shape), np.empty(len(K)), np.empty(len(K))
    singular_squares(K, S, squares, off)
    return np.sort(squares)


@examples(60)
@given(
    k=st.integers(1, 24),
    rank=st.integers(0, 24),
    decades=st.floats(0, 20),
    seed=st.integers(0, 2**32 - 1),
)
def test_squared_singular_values(k, rank, decades, seed):
    """Of any rank, and of entries that are many decades apart."""
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(k, k)) * np.logspace(-decades, decades, k)[:, None]
    K[:, rank:] = 0.0
    expected = np.linalg.eigvalsh(K @ K.T)
    assert_allclose(squares_of(K), expected, rtol=0, atol=1e-13 * max(expected[-1], 1e-300))


@pytest.mark.parametrize("k", [1, 2, 3, 20])
def test_equal_ones(k):
    assert_array_equal(squares_of(3.0 * np.eye(k)), np.full(k, 9.0))
    assert_array_equal(squares_of(np.zeros((k, k))), np.zeros(k))
    K = np.ones((k, k))
    assert_allclose(squares_of(K), [*np.zeros(k - 1), k**2], atol=1e-14 * k**2)


def test_not_a_number_ends():
    assert np.isnan(squares_of(np.full((5, 5), np.nan))).any()
