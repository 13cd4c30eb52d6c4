import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from neighborhood.cases import cases
from numpy.testing import assert_allclose

from vicinal.neighborhood import GAUSSIAN, Pairs, diagonal_scatter, scatter, symmetric_scatter
from vicinal.neighborhood.oracle import OracleEngine, coefficient_matrix


def naive_scatter(C, Zq, Zk, Xq, Xk):
    return sum(
        C[i, j] * np.outer(Zq[i] - Zk[j], Xq[i] - Xk[j])
        for i in range(len(Zq))
        for j in range(len(Zk))
    )


@given(case=cases(dimensions=(1, 2, 3)), n_features=st.integers(1, 4))
def test_identity_holds_for_any_queries_and_keys(case, n_features):
    pairs, law = case.pairs, case.law
    Xq = case.rng.normal(size=(len(pairs.queries), n_features))
    Xk = case.rng.normal(size=(len(pairs.keys), n_features))
    rows = OracleEngine().rows(pairs, law).finish()
    coefficients = case.rng.normal(size=rows.log_slope.shape)
    coefficients[np.isneginf(rows.log_slope)] = 0.0
    columns = OracleEngine().columns(pairs, law, rows.log_slope, coefficients)
    C = coefficient_matrix(pairs, law, rows.log_slope, coefficients)
    Zq, Zk = pairs.queries.astype(float), pairs.keys.astype(float)
    expected = naive_scatter(C, Zq, Zk, Xq, Xk)
    result = scatter(pairs, rows, coefficients, columns, Xq, Xk)
    size = 1 + np.abs(Zk).max() + np.abs(Zq).max(initial=0)
    atol = 1e-11 * size * len(Xk) * (1 + len(Xq))
    assert_allclose(result, expected, rtol=1e-9, atol=atol)
    both = symmetric_scatter(pairs, rows, coefficients, columns.total)
    assert_allclose(both, naive_scatter(C, Zq, Zk, Zq, Zk), rtol=1e-9, atol=atol * size)
    squares = diagonal_scatter(pairs, rows, coefficients, columns.total)
    assert_allclose(squares, np.diag(both), rtol=1e-9, atol=atol * size)


def test_one_set_of_points_needs_one_product():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4))
    pairs = Pairs.among(X[:, :2].copy(), rng.integers(0, 3, 20))
    rows = OracleEngine().rows(pairs, GAUSSIAN).finish()
    coefficients = rng.normal(size=(2, 20))
    columns = OracleEngine().columns(pairs, GAUSSIAN, rows.log_slope, coefficients)
    once = scatter(pairs, rows, coefficients, columns, X)
    assert_allclose(once, scatter(pairs, rows, coefficients, columns, X, X), rtol=1e-12)


def test_float32_features_are_not_copied_to_float64():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4)).astype(np.float32)
    pairs = Pairs.among(X[:, :2].copy())
    rows = OracleEngine().rows(pairs, GAUSSIAN).finish()
    columns = OracleEngine().columns(pairs, GAUSSIAN, rows.log_slope, np.ones((1, 20)))
    assert scatter(pairs, rows, np.ones((1, 20)), columns, X).dtype == np.float32
