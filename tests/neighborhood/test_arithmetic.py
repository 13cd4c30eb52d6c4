import numpy as np
import pytest
from numba import njit

from vicinal.neighborhood.kernels.arithmetic import CUT_DOUBLE, CUT_SINGLE, larger, power_of_two


@njit
def powers(y, out):
    for i in range(y.size):
        out[i] = power_of_two(y[i])


@njit
def largest(x):
    best = x[0]
    for i in range(1, x.size):
        best = larger(best, x[i])
    return best


@pytest.mark.parametrize(
    ("dtype", "cut", "ulps"), [(np.float64, CUT_DOUBLE, 2), (np.float32, CUT_SINGLE, 2)]
)
def test_power_of_two_is_right_to_two_ulp(dtype, cut, ulps):
    rng = np.random.default_rng(0)
    y = np.concatenate(
        [rng.uniform(cut, 0, 20_000), rng.uniform(-2, 2, 20_000), np.arange(-90, 90)]
    )
    y = y.astype(dtype)
    out = np.empty_like(y)
    powers(y, out)
    exact = np.exp2(y.astype(np.longdouble))
    assert (np.abs(out - exact) <= ulps * np.finfo(dtype).eps * exact).all()


@pytest.mark.parametrize(("dtype", "cut"), [(np.float64, CUT_DOUBLE), (np.float32, CUT_SINGLE)])
def test_powers_are_exact_at_integers_and_zero_below_the_cut(dtype, cut):
    whole = np.arange(-64, 1, dtype=dtype)
    out = np.empty_like(whole)
    powers(whole, out)
    np.testing.assert_array_equal(out, np.exp2(whole))
    far = np.array([cut, cut - 1, -1e30, -np.inf, np.nan], dtype=dtype)
    out = np.empty_like(far)
    powers(far, out)
    np.testing.assert_array_equal(out, 0.0)


def test_larger():
    x = np.array([-np.inf, -3.0, 2.0, -7.0])
    assert largest(x) == 2.0
    assert largest(x[:1]) == -np.inf
