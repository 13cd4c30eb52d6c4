"""Local Gaussians: every covariance against its definition, what is stored, what is refused."""

import tracemalloc
from dataclasses import fields
from unittest.mock import patch

import mpmath
import numpy as np
import pytest
from divergence.reference import naive_matrix
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr
from sklearn.covariance import ledoit_wolf
from sklearn.covariance import oas as oracle_approximating
from sklearn.datasets import load_iris

from vicinal.divergence.comparison import Comparison
from vicinal.divergence.divergences import DIVERGENCES
from vicinal.divergence.gaussians import KINDS, LocalGaussians, Neighborhoods, fit_gaussians
from vicinal.inputs.nearest import nearest

# Features and neighbors: d ≤ m, d = m and d > m.
SIZES = [(1, 3), (3, 8), (5, 5), (9, 4), (30, 6)]
DEFINED = ("ridge", "shrunk", "shrunk-diagonal", "ledoit-wolf", "oas")
seeds = st.integers(0, 2**32 - 1)
every_size = pytest.mark.parametrize(("d", "m"), SIZES)
every_kind = pytest.mark.parametrize("kind", KINDS)


def naive_covariance(X, query, positions, kind, gamma):
    """From dense matrices."""
    differences = X[positions].astype(float) - query
    d = len(query)
    C = differences.T @ differences / max(len(positions), 1)
    return {
        "ridge": lambda: C + gamma * np.eye(d),
        "shrunk": lambda: (1 - gamma) * C + gamma * np.trace(C) / d * np.eye(d),
        "shrunk-diagonal": lambda: (1 - gamma) * C + gamma * np.diag(np.diag(C)),
        "ledoit-wolf": lambda: (
            ledoit_wolf(differences, assume_centered=True)[0] + gamma * np.eye(d)
        ),
        "oas": lambda: (
            oracle_approximating(differences, assume_centered=True)[0] + gamma * np.eye(d)
        ),
    }[kind]()


def random_neighborhoods(rng, n, d, m):
    X = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d)) + 10 * rng.normal(size=d)
    positions, _ = nearest(X, X, m, np.arange(n))
    return X, Neighborhoods(positions, np.full(n, m))


def fitted(kind, d, m, n=20, gamma=0.1, seed=0):
    X, near = random_neighborhoods(np.random.default_rng(seed), n, d, m)
    return X, near, fit_gaussians(X, X, near, kind, gamma)


def assert_covariances(gaussians, X, queries, near, kind, gamma):
    for i, covariance in enumerate(gaussians.covariances()):
        expected = naive_covariance(X, queries[i], near.positions[i, : near.counts[i]], kind, gamma)
        assert_allclose(covariance, expected, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("kind", DEFINED)
@every_size
@given(seed=seeds, gamma=st.sampled_from([1e-4, 0.1, 1.0]))
@examples(5)
def test_covariances_are_those_of_the_definition(kind, d, m, seed, gamma):
    X, near = random_neighborhoods(np.random.default_rng(seed), 12, d, m)
    gaussians = fit_gaussians(X, X, near, kind, gamma)
    assert_covariances(gaussians, X, X, near, kind, gamma)


@pytest.mark.parametrize("kind", DEFINED)
@every_size
def test_neighborhoods_of_different_sizes(kind, d, m):
    """What stands after the last neighbor is none."""
    rng = np.random.default_rng(0)
    X, near = random_neighborhoods(rng, 30, d, m)
    least = 0 if kind == "ridge" else 2
    near = Neighborhoods(near.positions, rng.integers(least, m + 1, 30))
    gaussians = fit_gaussians(X, X, near, kind, 0.1)
    assert_covariances(gaussians, X, X, near, kind, 0.1)


@pytest.mark.parametrize("kind", DEFINED)
def test_new_points_among_old_ones(kind):
    rng = np.random.default_rng(0)
    X, queries = rng.normal(size=(40, 6)), rng.normal(size=(7, 6))
    near = Neighborhoods(nearest(X, queries, 4)[0], np.full(7, 4))
    gaussians = fit_gaussians(X, queries, near, kind, 0.1)
    assert_array_equal(gaussians.means, queries)
    assert_covariances(gaussians, X, queries, near, kind, 0.1)


@pytest.mark.parametrize("kind", ["trace", "frank-wolfe"])
@pytest.mark.parametrize(("d", "m"), [(3, 8), (9, 4)])
def test_the_precision_of_trace_one(kind, d, m):
    X, near, gaussians = fitted(kind, d, m)
    ridge = fit_gaussians(X, X, near, "ridge", 0.1).covariances()
    covariances = gaussians.covariances()
    assert_allclose(np.trace(np.linalg.inv(covariances), axis1=1, axis2=2), 1.0, rtol=1e-9)
    # S⁻¹ - R = μ I; Frank-Wolfe stops before.
    atol = (1e-10 if kind == "trace" else 1e-2) * np.abs(covariances).max()
    for covariance, R in zip(covariances, ridge, strict=True):
        mu = np.trace(covariance - R) / d
        assert_allclose(covariance - R, mu * np.eye(d), atol=atol)


@every_kind
def test_the_mean_is_the_point_itself(kind):
    X, _, gaussians = fitted(kind, 9, 4)
    assert_array_equal(gaussians.means, X)


def test_single_precision_is_computed_in_double():
    X, near = random_neighborhoods(np.random.default_rng(0), 20, 4, 6)
    X = X.astype(np.float32)
    gaussians = fit_gaussians(X, X, near, "ridge", 0.1)
    assert gaussians.means.dtype == gaussians.vectors.dtype == gaussians.values.dtype == np.float64
    exact = X.astype(np.float64)
    assert_covariances(gaussians, exact, exact, near, "ridge", 0.1)


# ----------------------------------------------------------------------------------- what is stored


@every_kind
@every_size
def test_no_more_is_stored_than_directions_of_the_neighborhoods(kind, d, m):
    n = 20
    _, _, gaussians = fitted(kind, d, m, n)
    q = min(d, m)
    sizes = {
        field.name: value.shape
        for field in fields(gaussians)
        if (value := getattr(gaussians, field.name)) is not None
    }
    diagonal = sizes.pop("diagonal", None)
    assert sizes == {"means": (n, d), "vectors": (n, q, d), "values": (n, q), "rest": (n,)}
    assert diagonal == ((n, d) if kind == "shrunk-diagonal" and m < d else None)
    assert (gaussians.rank, gaussians.n_features, len(gaussians)) == (q, d, n)


@every_kind
@every_size
def test_all_directions_give_the_same_covariances(kind, d, m):
    _, _, gaussians = fitted(kind, d, m)
    complete = gaussians.complete()
    assert complete.diagonal is None
    assert complete.vectors.shape == (20, d, d)
    identity = np.broadcast_to(np.eye(d), (20, d, d))
    assert_allclose(complete.vectors @ np.swapaxes(complete.vectors, 1, 2), identity, atol=1e-13)
    covariances = gaussians.covariances()
    assert_allclose(complete.covariances(), covariances, atol=1e-12 * np.abs(covariances).max())
    # As eigenvectors, too, and not only through `rest`.
    spectral = np.swapaxes(complete.vectors * complete.values[:, :, None], 1, 2) @ complete.vectors
    assert_allclose(spectral, covariances, atol=1e-12 * np.abs(covariances).max())


@pytest.mark.parametrize("rank", [4, 5, 9])
def test_more_directions_give_the_same_covariances(rank):
    _, _, gaussians = fitted("ridge", 9, 4)
    more = gaussians.of_rank(rank)
    assert (more.rank, more.values.shape) == (rank, (20, rank))
    identity = np.broadcast_to(np.eye(rank), (20, rank, rank))
    assert_allclose(more.vectors @ np.swapaxes(more.vectors, 1, 2), identity, atol=1e-13)
    assert_allclose(more.covariances(), gaussians.covariances(), atol=1e-12)


def test_more_directions_take_no_more_room_than_that():
    """A basis of all dimensions would be 32 MB for each point."""
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(rng.normal(size=(3, 2000, 4)))[0].swapaxes(1, 2)
    few = LocalGaussians(np.zeros((3, 2000)), vectors, np.ones((3, 4)), np.ones(3))
    tracemalloc.start()
    more = few.of_rank(6)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert more.rank == 6
    assert peak < 8 * 2000 * 2000


@every_kind
def test_the_least_and_largest_variances(kind):
    for d, m in SIZES:
        _, _, gaussians = fitted(kind, d, m)
        values = np.linalg.eigvalsh(gaussians.covariances())
        least, largest = gaussians.least_variances(), gaussians.largest_variances()
        if gaussians.diagonal is None:
            assert_allclose(least, values[:, 0], rtol=1e-9)
            assert_allclose(largest, values[:, -1], rtol=1e-9)
        assert (least <= values[:, 0] * (1 + 1e-9)).all()
        assert (largest >= values[:, -1] * (1 - 1e-9)).all()


@every_kind
def test_rows_are_those_of_the_whole(kind):
    _, _, gaussians = fitted(kind, 9, 4)
    for rows in (slice(3, 8), np.array([5, 1, 1])):
        part = gaussians[rows]
        assert_array_equal(part.means, gaussians.means[rows])
        assert_array_equal(part.covariances(), gaussians.covariances()[rows])


@every_kind
@pytest.mark.parametrize("scale", [1.0, 100.0])
@pytest.mark.filterwarnings("ignore:covariance=.frank-wolfe. stopped before")
def test_whatever_is_stored_can_be_compared(kind, scale):
    """The divergence of what is stored, complete or not; any other warning is an error."""
    X, near = random_neighborhoods(np.random.default_rng(0), 30, 3, 8)
    X = scale * X
    gaussians = fit_gaussians(X, X, near, kind, 0.5)
    assert (gaussians.rest >= 0).all()
    expected = naive_matrix("jeffreys", gaussians)
    np.fill_diagonal(expected, 0.0)
    assert_allclose(Comparison(DIVERGENCES["jeffreys"]).matrix(gaussians), expected, rtol=1e-9)


@every_kind
def test_blocks_and_threads_change_nothing(kind):
    X, near, whole = fitted(kind, 9, 4)
    with patch("vicinal.divergence.gaussians._BLOCK_NUMBERS", 100):
        blocks = [fit_gaussians(X, X, near, kind, 0.1, n_jobs) for n_jobs in (1, 2)]
    for field in fields(LocalGaussians):
        one, two = (getattr(part, field.name) for part in blocks)
        assert_array_equal(one, two)
    # Frank-Wolfe goes on until the last point of a block is within its tolerance.
    rtol = 1e-3 if kind == "frank-wolfe" else 1e-12
    covariances = whole.covariances()
    atol = rtol * np.abs(covariances).max()
    assert_allclose(blocks[0].covariances(), covariances, atol=atol)


# ---------------------------------------------------------------------------------- what is refused


def duplicates(d, m):
    """Row 7 and those after are one point."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7 + m + 1, d))
    X[7:] = X[7]
    return X, Neighborhoods(nearest(X, X, m, np.arange(len(X)))[0], np.full(len(X), m))


@pytest.mark.parametrize(("d", "m"), [(3, 5), (9, 4)])
def test_a_neighborhood_of_duplicates(d, m):
    X, near = duplicates(d, m)
    gamma = 0.05
    for kind, expected in (("ridge", gamma), ("ledoit-wolf", gamma), ("oas", gamma),
                           ("trace", d), ("frank-wolfe", d)):  # fmt: skip
        covariance = fit_gaussians(X, X, near, kind, gamma).covariances()[-1]
        assert_allclose(covariance, expected * np.eye(d), atol=1e-12 * d, err_msg=kind)


@pytest.mark.parametrize("kind", ["shrunk", "shrunk-diagonal"])
@pytest.mark.parametrize(("d", "m"), [(3, 5), (9, 4)])
def test_shrinking_nothing_is_refused(kind, d, m):
    X, near = duplicates(d, m)
    message = rf'{m + 1} of {len(X)} local .* singular.* row 7: .* gamma=0.05 .*covariance="ridge"'
    with pytest.raises(ValueError, match=message):
        fit_gaussians(X, X, near, kind, 0.05)


@pytest.mark.parametrize("kind", ["ridge", "shrunk", "shrunk-diagonal"])
@pytest.mark.parametrize("flat", [False, True])
def test_without_gamma_all_directions_must_be_there(kind, flat):
    """Fewer neighbors than features, or all in a plane."""
    rng = np.random.default_rng(0)
    d, m = (3, 8) if flat else (9, 4)
    X, near = random_neighborhoods(rng, 20, d, m)
    if flat:
        X = X @ rng.normal(size=(d, d - 1)) @ rng.normal(size=(d - 1, d))
    with pytest.raises(ValueError, match=r"20 of 20 local .* Raise gamma=0 or n_neighbors"):
        fit_gaussians(X, X, near, kind, 0.0)


@pytest.mark.parametrize("kind", ["ledoit-wolf", "oas", "trace", "frank-wolfe"])
def test_other_estimates_need_no_gamma(kind):
    _, _, gaussians = fitted(kind, 9, 4, gamma=0.0)
    assert (np.linalg.eigvalsh(gaussians.covariances()) > 0).all()


def test_without_gamma_enough_neighbors_do():
    X, near, gaussians = fitted("ridge", 3, 8, gamma=0.0)
    assert_covariances(gaussians, X, X, near, "ridge", 0.0)


# ----------------------------------------------------------------------------------------- accuracy


@pytest.mark.parametrize("smallest", [1e-3, 1e-6])
def test_small_eigenvalues_keep_their_digits(smallest):
    """Those of C itself, a sum of squares, would keep none of the smallest."""
    rng = np.random.default_rng(0)
    d, m = 4, 9
    lengths = np.geomspace(1.0, smallest, d)
    left, right = (np.linalg.qr(rng.normal(size=(k, d)))[0] for k in (m, d))
    X = np.vstack([np.zeros(d), (left * lengths) @ right.T * np.sqrt(m)])
    near = Neighborhoods(np.arange(1, m + 1)[None], np.array([m]))
    gaussians = fit_gaussians(X, X[:1], near, "ridge", 0.0)
    with mpmath.workdps(40):
        differences = mpmath.matrix(X[1:].tolist())
        truth = mpmath.eigsy(differences.T * differences / m, eigvals_only=True)
        truth = np.sort([float(value) for value in truth])[::-1]
    errors = np.abs(np.sort(gaussians.values[0])[::-1] / truth - 1)
    assert (errors < 10 * np.finfo(float).eps / lengths).all()  # 3e-10 of an eigenvalue of 1e-12
    assert_allclose(truth, np.square(lengths), rtol=1e-8)  # what was meant


def test_one_far_from_all_others_has_divergences_of_all_digits():
    """Its variances are 1e16 and 1e-4: squares of singular values know both."""
    X = np.vstack([load_iris().data[::5], [[1e8, 3e7, 7e7, 2e7]]])
    n, m, gamma = len(X), 10, 1e-4
    near = Neighborhoods(nearest(X, X, m, np.arange(n))[0], np.full(n, m))
    gaussians = fit_gaussians(X, X, near, "ridge", gamma)
    with mpmath.workdps(60):
        found = [mpmath.matrix((X[near.positions[i]] - X[i]).tolist()) for i in (0, n - 1)]
        here, there = (D.T * D / m + mpmath.mpf(gamma) * mpmath.eye(4) for D in found)
        u = mpmath.matrix((X[0] - X[-1]).tolist())
        middle = (here + there) / 2
        ratio = mpmath.det(middle) / mpmath.sqrt(mpmath.det(here) * mpmath.det(there))
        bhattacharyya = (u.T * middle**-1 * u)[0] / 8 + mpmath.log(ratio) / 2
        trace = here**-1 * there + there**-1 * here
        squares = (u.T * (here**-1 + there**-1) * u)[0]
        jeffreys = (squares + sum(trace[t, t] for t in range(4))) / 2 - 4
    for name, expected, rtol in (
        ("jeffreys", jeffreys, 1e-12),
        ("bhattacharyya", bhattacharyya, 1e-6),
    ):
        D = Comparison(DIVERGENCES[name]).matrix(gaussians)
        assert_allclose(D[0, -1], float(expected), rtol=rtol, err_msg=name)


def test_the_literal_problem_wipes_out_the_shape():
    """On iris its divergences rank pairs as Euclid does; those of C + γ I do not."""
    X = load_iris().data
    near = Neighborhoods(nearest(X, X, 10, np.arange(150))[0], np.full(150, 10))
    agreement = {}
    for kind in ("ridge", "trace"):
        D = Comparison(DIVERGENCES["jeffreys"]).matrix(fit_gaussians(X, X, near, kind, 1e-4))
        agreement[kind] = spearmanr(squareform(D, checks=False), pdist(X)).statistic
    assert agreement["trace"] > 0.9995
    assert agreement["ridge"] < 0.95
