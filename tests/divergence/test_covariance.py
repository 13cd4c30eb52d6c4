"""What each estimate makes of eigenvalues: the likeliest precision of trace 1, and Frank-Wolfe."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from vicinal.divergence.covariance import (
    COVARIANCES,
    Spectrum,
    frank_wolfe,
    ledoit_wolf,
    oas,
    of_trace_one,
    shrunk,
)

# Few steps are what some tests ask for.
pytestmark = pytest.mark.filterwarnings("ignore:covariance=.frank-wolfe. stopped before")

# Features and eigenvalues: neighborhoods of at least d points, and of fewer.
SIZES = [(1, 1), (4, 4), (9, 4)]
every_size = pytest.mark.parametrize(("d", "q"), SIZES)
seeds = st.integers(0, 2**32 - 1)


def random_spectrum(rng, d, q, n=5, scale=1.0):
    values = scale * rng.exponential(size=(n, q))
    kurtosis = rng.uniform(1, 3, n)
    return Spectrum(values, d, rng.integers(q, 20, n), kurtosis)


def whole(values, rest, d):
    """All d of them."""
    more = np.broadcast_to(rest[:, None], (len(values), d - values.shape[1]))
    return np.concatenate([values, more], axis=1)


def regularized(spectrum, gamma):
    """Eigenvalues of R = C + γ I."""
    zeros = np.zeros(len(spectrum.values))
    return whole(spectrum.values, zeros, spectrum.n_features) + gamma


def objective(precision, R):
    """log |S| - tr(S R) of diagonal matrices: problem 6."""
    return np.log(precision).sum(axis=-1) - (precision * R).sum(axis=-1)


# ----------------------------------------------------------------------------------- closed form


@every_size
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
@given(seed=seeds, gamma=st.sampled_from([0.0, 1e-4, 1.0]))
def test_the_closed_form_has_trace_one_and_is_stationary(d, q, scale, seed, gamma):
    spectrum = random_spectrum(np.random.default_rng(seed), d, q, scale=scale)
    inverse = whole(*of_trace_one(spectrum, gamma), d)
    assert_allclose((1 / inverse).sum(axis=1), 1.0, rtol=1e-12)
    R = regularized(spectrum, gamma)
    multipliers = inverse - R  # S⁻¹ - R = μ I
    mu = multipliers[:, :1]
    assert_allclose(multipliers, np.broadcast_to(mu, R.shape), atol=1e-12 * (d + R.max()))
    lowest, slack = R.min(axis=1), 1e-12 * (d + R.max())
    assert (mu[:, 0] >= 1 - lowest - slack).all()
    assert (mu[:, 0] <= d - lowest + slack).all()


def test_the_bounds_of_the_multiplier_are_reached():
    """Equal eigenvalues: μ = d - r; one far below all others: μ = 1 - r."""
    d = 5
    spectrum = Spectrum(
        np.array([[2.0] * d, [2.0, *[1e12] * (d - 1)]]), d, np.full(2, 9), np.ones(2)
    )
    values, _ = of_trace_one(spectrum, 0.0)
    assert_allclose(values[:, 0], [d, 1.0], rtol=1e-10)


@every_size
@given(seed=seeds)
def test_the_closed_form_is_the_likeliest(d, q, seed):
    rng = np.random.default_rng(seed)
    spectrum = random_spectrum(rng, d, q, n=1, scale=float(np.exp(2 * rng.normal())))
    R = regularized(spectrum, 0.1)
    best = objective(1 / whole(*of_trace_one(spectrum, 0.1), d), R)[0]
    for _ in range(10):  # any other of trace 1, with other eigenvectors, too
        root = rng.normal(size=(d, d))
        S = root @ root.T + 1e-3 * np.eye(d)
        S /= np.trace(S)
        other = np.linalg.slogdet(S)[1] - np.trace(S * R[0])
        assert other <= best + 1e-12 * (1 + abs(best))


# ----------------------------------------------------------------------------------- Frank-Wolfe


@every_size
def test_frank_wolfe_starts_at_the_identity(d, q):
    spectrum = random_spectrum(np.random.default_rng(0), d, q)
    assert_allclose(whole(*frank_wolfe(spectrum, 0.1, max_iter=0), d), d, rtol=1e-14)


@every_size
@given(seed=seeds)
def test_frank_wolfe_never_descends_and_keeps_the_trace(d, q, seed):
    spectrum = random_spectrum(np.random.default_rng(seed), d, q)
    R = regularized(spectrum, 0.1)
    before = np.full(len(R), -np.inf)
    for steps in (0, 1, 2, 3, 5, 10, 30):
        S = 1 / whole(*frank_wolfe(spectrum, 0.1, max_iter=steps), d)
        assert_allclose(S.sum(axis=1), 1.0, rtol=1e-12)
        value = objective(S, R)
        assert (value >= before - 1e-12 * (1 + np.abs(value))).all()
        before = value


@every_size
@pytest.mark.parametrize("scale", [1e-2, 1.0, 1e2])
def test_frank_wolfe_reaches_the_closed_form(d, q, scale):
    spectrum = random_spectrum(np.random.default_rng(0), d, q, scale=scale)
    R, expected = regularized(spectrum, 0.1), whole(*of_trace_one(spectrum, 0.1), d)
    best = objective(1 / expected, R)
    for max_iter, tol, rtol in ((300, 1e-6, 1e-2), (1000, 1e-11, 1e-6)):
        found = whole(*frank_wolfe(spectrum, 0.1, max_iter=max_iter, tol=tol), d)
        missing = best - objective(1 / found, R)
        # The gap bounds what is missing.
        assert ((missing >= -1e-12 * np.abs(best)) & (missing <= tol + 1e-12 * np.abs(best))).all()
        assert_allclose(found, expected, rtol=rtol)


def test_frank_wolfe_stops_at_its_tolerance():
    spectrum = random_spectrum(np.random.default_rng(0), 4, 4)
    loose = frank_wolfe(spectrum, 0.1, tol=1e9)
    assert_allclose(loose[0], 4.0, rtol=1e-14)


# ------------------------------------------------------------------------------------- shrinkage


@every_size
@pytest.mark.parametrize("estimate", [shrunk, ledoit_wolf, oas])
@given(seed=seeds)
def test_shrinkage_keeps_the_trace(estimate, d, q, seed):
    """And moves no eigenvalue past their mean."""
    spectrum = random_spectrum(np.random.default_rng(seed), d, q)
    gamma = 0.2
    found = whole(*estimate(spectrum, gamma), d) - (0.0 if estimate is shrunk else gamma)
    before = regularized(spectrum, 0.0)
    assert_allclose(found.sum(axis=1), before.sum(axis=1), rtol=1e-12)
    mean = spectrum.mean[:, None]
    assert ((found - mean) * (before - mean) >= -1e-12).all()
    assert (np.abs(found - mean) <= np.abs(before - mean) + 1e-12).all()


@pytest.mark.parametrize("kind", COVARIANCES)
@pytest.mark.parametrize(("d", "q"), [(4, 4), (9, 4)])
def test_points_do_not_know_of_each_other(kind, d, q):
    spectrum = random_spectrum(np.random.default_rng(0), d, q)
    together = whole(*COVARIANCES[kind](spectrum, 0.1), d)
    for row in range(len(together)):
        one = Spectrum(*(part if np.isscalar(part) else part[row : row + 1] for part in spectrum))
        alone = whole(*COVARIANCES[kind](one, 0.1), d)[0]
        # Frank-Wolfe goes on until the last of them is within its tolerance.
        rtol = 1e-2 if kind == "frank-wolfe" else 1e-12
        assert_allclose(alone, together[row], rtol=rtol)


def test_frank_wolfe_says_when_it_has_not_converged():
    spectrum = random_spectrum(np.random.default_rng(0), 9, 4, scale=100.0)
    with pytest.warns(ConvergenceWarning, match='after 3 steps.*covariance="trace"'):
        frank_wolfe(spectrum, 0.1, max_iter=3)


def test_frank_wolfe_of_a_point_does_not_depend_on_its_companions():
    spectrum = random_spectrum(np.random.default_rng(0), 9, 4, n=20, scale=5.0)
    alone = Spectrum(spectrum.values[:1], 9, spectrum.counts[:1], spectrum.kurtosis[:1])
    for whole_set, one in zip(frank_wolfe(spectrum, 0.1), frank_wolfe(alone, 0.1), strict=True):
        assert_allclose(whole_set[:1], one, rtol=1e-14)
