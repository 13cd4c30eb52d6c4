import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import gammaln

from vicinal.neighborhood import LAWS


@pytest.mark.parametrize("law", LAWS.values(), ids=lambda law: law.name)
@given(s=st.floats(1e-3, 3.0))
def test_slope_is_minus_the_derivative(law, s):
    h = 1e-6
    numeric = -(law.mass(np.array(s + h)) - law.mass(np.array(s - h))) / (2 * h)
    np.testing.assert_allclose(law.slope(np.array(s)), numeric, atol=1e-5)


@pytest.mark.parametrize("law", LAWS.values(), ids=lambda law: law.name)
@pytest.mark.parametrize("d", [1, 2, 3, 7, 20])
def test_the_normalizer_makes_it_a_density(law, d):
    log_sphere = np.log(2) + 0.5 * d * np.log(np.pi) - gammaln(0.5 * d)

    def radial(r):
        return np.exp(log_sphere + law.log_normalizer(d)) * law.mass(np.array(r * r)) * r ** (d - 1)

    reach = 1.0 if law.name == "compact" else 12.0
    np.testing.assert_allclose(quad(radial, 0, reach)[0], 1.0, rtol=1e-7)


def test_the_thesis_constant_holds_in_one_dimension():
    np.testing.assert_allclose(np.exp(LAWS["compact"].log_normalizer(1)), 15 / 16)
