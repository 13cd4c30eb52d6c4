import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighborhood.cases import LAW_VALUES
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.special import gammaln
from scipy.stats import multivariate_t

from vicinal.neighborhood import COMPACT, GAUSSIAN, LAWS, Law, Student, law_named

each_law = pytest.mark.parametrize("law", LAW_VALUES, ids=str)


@each_law
@given(s=st.floats(1e-3, 3.0), d=st.integers(1, 30))
def test_slope_is_minus_the_derivative(law, s, d):
    h = 1e-6
    numeric = -(law.mass(np.array(s + h), d) - law.mass(np.array(s - h), d)) / (2 * h)
    assert_allclose(law.slope(np.array(s), d), numeric, atol=1e-5)


@each_law
@given(s=st.floats(0.0, 0.99), d=st.integers(1, 300))
def test_what_a_law_says_about_itself_agrees(law, s, d):
    """Mass, slope, decay and their logarithms; exponents in the law's own units."""
    s = np.array([s])
    assert_allclose(law.mass(s, d), np.exp(law.log_mass(s, d)), rtol=1e-12)
    assert_allclose(law.slope(s, d), np.exp(law.log_slope(s, d)), rtol=1e-12)
    assert_allclose(law.slope(s, d), law.decay(s, d) * law.mass(s, d), rtol=1e-12)
    in_units = s * law.scale**2
    exponents = law.log_mass(s, d) / np.log(2)
    assert_allclose(law.exponents(in_units, d), exponents, rtol=1e-12, atol=1e-300)
    assert_allclose(law.decays(in_units, d), law.decay(s, d), rtol=1e-12)
    at_zero = law.mass(np.zeros(1), d)
    assert_allclose(at_zero, 1.0)


@each_law
@pytest.mark.parametrize("d", [1, 2, 3, 7, 20])
def test_the_normalizer_makes_it_a_density(law, d):
    log_sphere = np.log(2) + 0.5 * d * np.log(np.pi) - gammaln(0.5 * d)

    def radial(r):
        mass = law.mass(np.array(r * r), d)
        return np.exp(log_sphere + law.log_normalizer(d)) * mass * r ** (d - 1)

    reach = np.sqrt(law.support)
    whole = quad(radial, 0, min(reach, 12.0))[0]
    if not law.has_support:
        whole += quad(radial, 12.0, np.inf)[0]
    assert_allclose(whole, 1.0, rtol=1e-7)


def test_the_thesis_constant_holds_in_one_dimension():
    assert_allclose(np.exp(COMPACT.log_normalizer(1)), 15 / 16)


@pytest.mark.parametrize("nu", [1.0, 3.0, 12.5])
@pytest.mark.parametrize("d", [1, 4])
def test_student_is_the_t_distribution(nu, d):
    Z = np.random.default_rng(0).normal(size=(20, d))
    law = Student(nu)
    found = law.log_mass(np.square(Z).sum(axis=1), d) + law.log_normalizer(d)
    assert_allclose(found, multivariate_t(np.zeros(d), np.eye(d), df=nu).logpdf(Z), rtol=1e-12)


def test_many_degrees_of_freedom_are_a_gaussian_of_its_width():
    s = np.linspace(0.0, 30.0, 50)
    found = Student(1e6).log_mass(s, 3)
    assert_allclose(found, GAUSSIAN.log_mass(s / GAUSSIAN.squared_width, 3), atol=1e-3)


@pytest.mark.parametrize("law", [law for law in LAW_VALUES if law.is_gaussian_mixture], ids=str)
def test_widths_mix_gaussians_to_the_law(law):
    """E exp(-s / (2 width²)) width^-d is the normalized kernel."""
    rng, d = np.random.RandomState(0), 2
    widths = np.broadcast_to(law.draw_widths(400_000, rng), (400_000, 1))[:, 0]
    for s in (0.1, 1.0, 4.0):
        mixed = np.mean(np.exp(-0.5 * s / widths**2) / (2 * np.pi * widths**2) ** (d / 2))
        log_volume = 0.5 * d * np.log(law.squared_width)
        kernel = law.log_mass(np.array(s / law.squared_width), d) + law.log_normalizer(d)
        assert_allclose(np.log(mixed), kernel - log_volume, atol=0.02)


def test_compact_support_is_no_mixture_of_gaussians():
    assert not COMPACT.is_gaussian_mixture
    with pytest.raises(TypeError, match="compact law is no mixture"):
        COMPACT.draw_widths(3, np.random.RandomState(0))


@pytest.mark.parametrize("nu", [0.0, -1.0, np.nan, np.inf, 1e7])
def test_degrees_of_freedom_have_bounds(nu):
    with pytest.raises(ValueError, match=f"degrees_of_freedom={nu!r} must lie between"):
        Student(nu)


@pytest.mark.parametrize("nu", ["3", None, True])
def test_degrees_of_freedom_are_a_number(nu):
    with pytest.raises(TypeError, match=r"degrees_of_freedom=.* must be a number"):
        Student(nu)


def test_a_law_takes_the_numbers_that_are_its_own():
    assert law_named("student", degrees_of_freedom=5.0) == Student(5.0) != Student(3.0)
    assert law_named("gaussian", degrees_of_freedom=5.0) == GAUSSIAN
    assert set(LAWS) == {"gaussian", "compact", "student"}
    with pytest.raises(ValueError, match=r"kernel='cosine' is unknown: use one of 'gaussian'"):
        law_named("cosine")


def test_a_law_without_compiled_kernels_says_so():
    class Bare(Law):
        name = "bare"

        def log_mass(self, s, d):
            return -s

        def decay(self, s, d):
            return 1.0

        def log_normalizer(self, d):
            return 0.0

    with pytest.raises(ValueError, match="no compiled kernels for the bare law"):
        Bare().numbers(2)
