import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from vicinal.neighborhood import ColumnSums, RowSums, log_shares


@st.composite
def row_sums(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    peak = rng.uniform(-1000, 10, (2, 4))
    peak[rng.random((2, 4)) < 0.2] = -np.inf
    there = ~np.isneginf(peak)
    mass = there * rng.uniform(1, 5, (2, 4))
    moment = there[..., None] * rng.normal(size=(2, 4, 3))
    return RowSums(peak, mass, 2 * mass, moment)


def assert_same(a, b):
    x, y = a.finish(), b.finish()
    assert_allclose(x.log_mass, y.log_mass, rtol=1e-13)
    assert_allclose(x.log_slope, y.log_slope, rtol=1e-13)
    assert_allclose(x.centroid, y.centroid, rtol=1e-10, atol=1e-12)


@given(row_sums(), row_sums(), row_sums())
def test_merging_is_associative(a, b, c):
    assert_same(a.merge(b).merge(c), a.merge(b.merge(c)))


@given(row_sums(), row_sums())
def test_merging_is_commutative_to_the_bit(a, b):
    ab, ba = a.merge(b), b.merge(a)
    assert_array_equal(ab.mass, ba.mass)
    assert_array_equal(ab.moment, ba.moment)


@given(row_sums())
def test_the_empty_sum_is_neutral_to_the_bit(a):
    merged = RowSums.empty(2, 4, 3).merge(a)
    assert_array_equal(merged.peak, a.peak)
    assert_array_equal(merged.mass, a.mass)
    assert_array_equal(merged.moment, a.moment)


def test_finishing_nothing_gives_no_nan():
    rows = RowSums.empty(1, 2, 3).finish()
    assert np.isneginf(rows.log_mass).all()
    assert np.isneginf(rows.log_total).all()
    assert_array_equal(rows.centroid, 0.0)


def test_columns_add():
    a = ColumnSums(np.array([1.0]), np.array([[2.0, 3.0]]))
    merged = ColumnSums.empty(1, 2).merge(a).merge(a)
    assert_array_equal(merged.total, [2.0])
    assert_array_equal(merged.moment, [[4.0, 6.0]])


@given(st.integers(0, 2**32 - 1), st.sampled_from([1.0, 1e20, 1e200]))
def test_shares_sum_to_one_however_small_the_masses(seed, far):
    rng = np.random.default_rng(seed)
    log_mass = rng.normal(size=(3, 20)) - far
    log_mass[rng.random((3, 20)) < 0.3] = -np.inf
    total = np.exp(log_shares(log_mass, axis=0)).sum(axis=0)
    assert_allclose(total, np.where(np.isneginf(log_mass).all(axis=0), 0.0, 1.0))
