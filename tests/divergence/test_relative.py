"""γ relative to the data: what it is, and that units and rotations change nothing."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import ortho_group
from sklearn.covariance import oas
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from vicinal import DivergenceEmbedding, DivergenceNeighbors
from vicinal.divergence import local_gaussians, pairwise
from vicinal.divergence.covariance import Relative, Spectrum
from vicinal.divergence.gaussians import _MOST_ROWS, KINDS, relative_to
from vicinal.divergence.local import LocalModel

every_dtype = pytest.mark.parametrize("dtype", [np.float64, np.float32])


@pytest.fixture
def wine():
    return StandardScaler().fit_transform(load_wine().data)


def naive(X, m):
    """Scatters of neighborhoods, the share and the usual variance, by dense matrices."""
    D = np.linalg.norm(X[:, None] - X, axis=2)
    near = np.argsort(D, axis=1, kind="stable")[:, 1 : m + 1]
    C = np.array([(X[j] - x).T @ (X[j] - x) / m for x, j in zip(X, near, strict=True)])
    traces, d = np.trace(C, axis1=1, axis2=2), X.shape[1]
    roundness = np.mean([np.trace(S @ S) / t**2 for S, t in zip(C, traces, strict=True)])
    share = min(1.0, (roundness + 1) / ((m + 1) * (roundness - 1 / d)))
    return C, share, np.median(traces / d)


@pytest.mark.parametrize("m", [4, 12])
@every_dtype
def test_covariances_are_those_of_the_definition(m, dtype):
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(dtype) * [1, 2, 5]
    X = X.astype(dtype)
    C, share, variance = naive(X.astype(float), m)
    model = DivergenceNeighbors(m).fit(X)
    assert_allclose([model.share_, model.variance_], [share, variance], rtol=1e-6)
    own = np.trace(C, axis1=1, axis2=2) / 3
    expected = (1 - share) * C + share * np.sqrt(own * variance)[:, None, None] * np.eye(3)
    assert_allclose(local_gaussians(X, m)[1], expected, rtol=1e-5, atol=1e-9)
    assert_allclose(model.gaussians_.covariances(), expected, rtol=1e-5, atol=1e-9)


def test_the_share_of_one_neighborhood_is_that_of_scikit_learn():
    differences = np.random.default_rng(0).normal(size=(20, 3)) * [1.0, 2.0, 4.0]
    values = np.linalg.eigvalsh(differences.T @ differences / 20)[None]
    found = Relative.to(Spectrum(values, 3, np.array([20]), np.zeros(1)))
    assert_allclose(found.share, oas(differences, assume_centered=True)[1], rtol=1e-9)
    assert_allclose(found.variance, values.mean())


@pytest.mark.parametrize("unit", [1e-30, 1e-3, 7.0, 1e30])
@pytest.mark.parametrize("covariance", ["ridge", "shrunk", "ledoit-wolf", "oas"])
def test_units_change_nothing(wine, unit, covariance):
    options = {"covariance": covariance}
    one, other = DivergenceNeighbors(**options), DivergenceNeighbors(**options)
    assert_allclose(other.fit_transform(unit * wine), one.fit_transform(wine), rtol=1e-8, atol=1e-9)
    assert_allclose(other.share_, one.share_)
    assert_allclose(other.variance_, unit**2 * one.variance_)
    new = wine[:9] + 0.1
    assert_allclose(other.transform(unit * new), one.transform(new), rtol=1e-8)


@pytest.mark.parametrize("covariance", ["ridge", "shrunk", "ledoit-wolf", "oas"])
def test_rotations_and_shifts_change_nothing(wine, covariance):
    turn = ortho_group.rvs(13, random_state=0)
    one, other = (DivergenceNeighbors(covariance=covariance) for _ in range(2))
    D = one.fit_transform(wine)
    assert_allclose(other.fit_transform(wine @ turn + 3.0), D, rtol=1e-8, atol=1e-9)
    assert_allclose([other.share_, other.variance_], [one.share_, one.variance_])


def test_the_order_of_rows_changes_nothing(wine):
    order = np.random.default_rng(0).permutation(len(wine))
    D = DivergenceNeighbors().fit_transform(wine)
    shuffled = DivergenceNeighbors().fit_transform(wine[order])
    assert_allclose(shuffled, D[np.ix_(order, order)], rtol=1e-9, atol=1e-9)


def test_neighbors_are_at_moderate_divergences(wine):
    """γ = 1e-4 put the nearest two at 19 and usual ones at 42 000: nothing to cluster."""
    D = DivergenceNeighbors().fit_transform(wine)
    nearest = np.sort(D, axis=1)[:, 1]
    assert np.median(D) < 20 * np.median(nearest) < 20 * 13
    absolute = DivergenceNeighbors(gamma=1e-4).fit_transform(wine)
    assert np.median(absolute) > 30_000


def test_a_number_is_absolute():
    X = load_iris().data
    model = DivergenceNeighbors(gamma=1e-4)
    assert_allclose(model.fit_transform(X)[0, 1], 24.1572289797, rtol=1e-11)
    assert not hasattr(model, "share_")
    assert_allclose(pairwise(X, gamma=1e-4)[0, 1], 24.1572289797, rtol=1e-11)
    # Also after a fit that had none.
    assert_allclose(DivergenceNeighbors().fit(X).set_params(gamma=1e-4).fit_transform(X)[0, 1],
                    24.1572289797, rtol=1e-11)  # fmt: skip


def test_new_points_are_shrunk_as_the_training_points_are(wine):
    X, new = wine[:150], wine[150:152]
    model = DivergenceNeighbors(6).fit(X)
    w, s = model.share_, model.variance_
    near = np.argsort(np.linalg.norm(X - new[0], axis=1))[:6]
    C = (X[near] - new[0]).T @ (X[near] - new[0]) / 6
    S = (1 - w) * C + w * np.sqrt(np.trace(C) / 13 * s) * np.eye(13)
    T = model.gaussians_.covariances()
    u, P, Q = new[0] - X[5], np.linalg.inv(S), np.linalg.inv(T[5])
    expected = 0.5 * u @ (P + Q) @ u + 0.5 * np.trace(P @ T[5] + Q @ S) - 13
    assert_allclose(model.transform(new)[0, 5], expected, rtol=1e-9)


@pytest.mark.parametrize("covariance", [kind for kind in KINDS if kind != "shrunk-diagonal"])
@pytest.mark.filterwarnings("ignore:covariance=.frank-wolfe. stopped before")
def test_twins_have_a_covariance(covariance):
    rng = np.random.default_rng(0)
    X = np.vstack([np.ones((20, 3)), rng.normal(size=(30, 3))])
    D = DivergenceNeighbors(5, covariance=covariance).fit_transform(X)
    assert np.isfinite(D).all()
    assert np.isfinite(DivergenceNeighbors(5, covariance=covariance).fit_transform(X[:20])).all()


def test_one_feature_has_no_shape_to_keep():
    model = DivergenceNeighbors(5).fit(np.random.default_rng(0).normal(size=(40, 1)))
    assert model.share_ == 1.0


def test_lines_keep_their_shape_and_balls_do_not():
    rng = np.random.default_rng(0)
    t = rng.uniform(size=(200, 1))
    line = DivergenceNeighbors().fit(t * [[1.0, 1.0, 0.5]] + 1e-3 * rng.normal(size=(200, 3)))
    ball = DivergenceNeighbors().fit(rng.normal(size=(200, 3)))
    assert line.share_ < 0.3 < 0.6 < ball.share_


def test_many_rows_are_looked_at_evenly():
    X = np.repeat(np.random.default_rng(0).normal(size=(_MOST_ROWS // 2, 2)), 4, axis=0)
    X += 1e-3 * np.random.default_rng(1).normal(size=X.shape)
    local = LocalModel(4, gamma="auto")
    near = local.neighborhoods(X)
    found = relative_to(X, near)
    assert found == local.settled(X, near).gamma
    whole = np.square(X[near.positions] - X[:, None]).sum(axis=(1, 2)) / 4 / 2
    assert_allclose(found.variance, np.median(whole), rtol=0.05)


def test_embeddings_do_not_depend_on_units(wine):
    one, other = (DivergenceEmbedding(random_state=0).fit_transform(c * wine) for c in (1.0, 1e4))
    assert_allclose(np.abs(other), np.abs(one), rtol=1e-6, atol=1e-6 * np.abs(one).max())
