import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighborhood.cases import points
from neighborhood.conformance import EngineConformance
from numpy.testing import assert_allclose, assert_array_equal

from vicinal.neighborhood import COMPACT, GAUSSIAN, Pairs, Student, scatter
from vicinal.neighborhood.fused import FusedEngine
from vicinal.neighborhood.kernels import trees
from vicinal.neighborhood.oracle import OracleEngine
from vicinal.neighborhood.tree import TreeEngine

ORACLE = OracleEngine()
TOLERANCES = (1e-1, 1e-2, 1e-4, 1e-8)

smooth_laws = pytest.mark.parametrize(
    "law", [GAUSSIAN, Student(1.0), Student(5.0)], ids=["gaussian", "cauchy", "student"]
)


class TestTree(EngineConformance):
    """Without a tolerance the tree is exact."""

    def make(self, n_jobs=1, tile=None):
        return TreeEngine(n_jobs=n_jobs, leaf=tile or 64)


def hostile(draw, rng, n, d):
    """Points made to mislead a walk over boxes."""
    kind = draw(st.sampled_from(["one", "far", "shell", "steps", "line", "heap"]))
    cloud = rng.normal(size=(n, d))
    if kind == "one":  # all at one place
        return np.zeros((n, d))
    if kind == "far":  # two heaps, nobody between them
        return 0.1 * cloud + 20.0 * rng.integers(0, 2, (n, 1))
    if kind == "shell":  # all equally far from the center, where a query may be
        return 4.0 * cloud / np.linalg.norm(cloud, axis=1, keepdims=True)
    if kind == "steps":  # distances over many orders of magnitude
        return np.sign(cloud) * 2.0 ** rng.integers(-20, 7, (n, 1))
    if kind == "line":  # boxes that are flat, or thin and long
        return np.outer(np.linspace(-9, 9, n), np.ones(d))
    return np.where(rng.random((n, 1)) < 0.9, 1e-6 * cloud, 9.0 * cloud)  # a heap and strays


@st.composite
def problems(draw):
    """Points of one set or of two, with labels and weights or without, tight to far apart."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    d = draw(st.sampled_from([1, 2, 3, 5]))

    def some(n):
        return (
            hostile(draw, rng, n, d) if draw(st.booleans()) else points(draw, rng, n, d, GAUSSIAN)
        )

    keys = some(draw(st.integers(2, 300)))
    labels = rng.integers(0, draw(st.sampled_from([1, 3])), len(keys))
    labels = labels if draw(st.booleans()) else None
    weights = 5 * rng.normal(size=len(keys)) if draw(st.booleans()) else None
    kind = draw(st.sampled_from(["one set", "two sets", "own elsewhere"]))
    if kind == "one set":
        return Pairs.among(keys, labels, weights), rng
    queries = some(50)
    classes = None if labels is None else rng.integers(0, 3, 50)
    own = None
    if kind == "own elsewhere":  # the input to leave out need not be where the output is
        own = np.full(50, -1)
        own[: min(50, len(keys))] = rng.permutation(len(keys))[:50]
    return Pairs(queries, keys, classes, labels, weights, own), rng


@smooth_laws
@given(problem=problems(), tolerance=st.sampled_from(TOLERANCES), leaf=st.sampled_from([2, 8, 64]))
def test_every_sum_is_within_the_tolerance(law, problem, tolerance, leaf):
    """The promise itself: |computed - true| ≤ τ · true, and rounding."""
    pairs, _ = problem
    rows = TreeEngine(1, tolerance=tolerance, leaf=leaf).rows(pairs, law).finish()
    true = ORACLE.rows(pairs, law).finish()
    assert_array_equal(np.isneginf(rows.log_mass), np.isneginf(true.log_mass))
    some = ~np.isneginf(true.log_mass)
    rounding = 1e-12 * (1 + np.abs(true.log_mass[some]))
    for kind in ("log_mass", "log_slope"):
        found, expected = (getattr(each, kind)[some] for each in (rows, true))
        assert (np.abs(np.expm1(found - expected)) <= tolerance + rounding).all()
    if pairs.n_parts == 2:
        p, q = (np.exp(each.log_mass[1] - each.log_total) for each in (rows, true))
        known = np.isfinite(q) & (q > 0)
        assert (np.abs(p[known] / q[known] - 1) <= tolerance + 1e-9).all()


@smooth_laws
@given(problem=problems(), tolerance=st.sampled_from(TOLERANCES), leaf=st.sampled_from([2, 8, 64]))
def test_moments_are_within_their_bound(law, problem, tolerance, leaf):
    """About the query: τ · mass · (1 + reach + extent), in units of the kernel."""
    pairs, _ = problem
    sums = TreeEngine(1, tolerance=tolerance, leaf=leaf).rows(pairs, law).finish()
    true = ORACLE.rows(pairs, law).finish()
    every = np.vstack([pairs.queries, pairs.keys])
    reach = np.linalg.norm(np.ptp(every, axis=0))
    some = ~np.isneginf(true.log_mass)
    error = np.linalg.norm(sums.centroid - true.centroid, axis=-1)[some]
    assert (error <= 4 * tolerance * (1 + 2 * reach) + 1e-9 * (1 + reach)).all()


@smooth_laws
@given(problem=problems(), tolerance=st.sampled_from(TOLERANCES), leaf=st.sampled_from([2, 8, 64]))
def test_columns_are_within_their_bound(law, problem, tolerance, leaf):
    """Every key: τ times what a key gets on average, of either part."""
    pairs, rng = problem
    rows = ORACLE.rows(pairs, law).finish()
    signs = np.array([[1.0], [-1.0]])[: pairs.n_parts]
    coefficients = signs * rng.exponential(size=rows.log_slope.shape)
    found = TreeEngine(1, tolerance=tolerance, leaf=leaf).columns(
        pairs, law, rows.log_slope, coefficients
    )
    true = ORACLE.columns(pairs, law, rows.log_slope, coefficients)
    given_away = np.abs(np.where(np.isneginf(rows.log_slope), 0.0, coefficients)).sum()
    bound = tolerance * given_away / len(pairs.keys)
    assert (np.abs(found.total - true.total) <= bound + 1e-9 * given_away).all()


def test_mixed_signs_are_no_reason_to_err():
    rng = np.random.default_rng(0)
    pairs = Pairs.among(rng.normal(size=(300, 2)))
    rows = ORACLE.rows(pairs, GAUSSIAN).finish()
    coefficients = rng.normal(size=rows.log_slope.shape)
    found = TreeEngine(1, tolerance=1e-2, leaf=8).columns(
        pairs, GAUSSIAN, rows.log_slope, coefficients
    )
    true = ORACLE.columns(pairs, GAUSSIAN, rows.log_slope, coefficients)
    assert np.abs(found.total - true.total).max() <= 1e-2 * np.abs(coefficients).mean()


@pytest.mark.filterwarnings("error")
def test_shares_whose_mean_is_less_than_any_number_are_nothing_to_warn_of():
    """Gradients of fits that have all but ended."""
    pairs = Pairs.among(np.random.default_rng(0).normal(size=(300, 2)))
    rows = ORACLE.rows(pairs, GAUSSIAN).finish()
    coefficients = np.zeros(rows.log_slope.shape)
    coefficients[0, 0] = 1e-322
    found = TreeEngine(1, tolerance=1e-2).columns(pairs, GAUSSIAN, rows.log_slope, coefficients)
    assert (found.total == 0).all()


@pytest.mark.parametrize(
    ("law", "tolerance"),
    [(GAUSSIAN, 1e-3), (GAUSSIAN, 0.0), (COMPACT, 0.0), (Student(3.0), 1e-2)],
)
def test_most_pairs_are_never_looked_at(law, tolerance):
    Z = 30 * np.random.default_rng(0).normal(size=(20_000, 2))
    assert TreeEngine(tolerance=tolerance).share_visited(Pairs.among(Z), law) < 0.1


def test_all_pairs_are_looked_at_where_all_matter():
    Z = np.random.default_rng(0).normal(size=(2000, 20))
    assert TreeEngine(tolerance=1e-6).share_visited(Pairs.among(Z), GAUSSIAN) > 0.9


@pytest.mark.parametrize("tolerance", [0.0, 1e-3])
def test_gradient_is_near_the_exact_one(tolerance):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    pairs = Pairs.among(3 * X, rng.integers(0, 3, 2000))
    gradients = []
    for engine in (FusedEngine(1), TreeEngine(1, tolerance=tolerance)):
        rows = engine.rows(pairs, GAUSSIAN).finish()
        p = np.exp(rows.log_mass[1] - rows.log_total)
        coefficients = np.stack([p * (1 - p), -p * (1 - p)])
        columns = engine.columns(pairs, GAUSSIAN, rows.log_slope, coefficients)
        gradients.append(scatter(pairs, rows, coefficients, columns, X))
    exact, found = gradients
    size = np.abs(exact).max()
    assert_allclose(found, exact, atol=max(1e-9, 20 * tolerance) * size)


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 50), (50, 1), (50, 50)])
def test_sizes_need_no_kernels_of_their_own(n, m, d):
    """A few seconds each: a single point, node or box must not be another type to the compiler."""
    rng = np.random.default_rng(0)
    pairs, engine = Pairs(rng.normal(size=(n, d)), rng.normal(size=(m, d))), TreeEngine(leaf=8)
    log_slope = engine.rows(pairs, GAUSSIAN).finish().log_slope
    engine.columns(pairs, GAUSSIAN, log_slope, np.ones_like(log_slope))
    for kernel in (trees.rows_of_boxes, trees.columns_of_boxes):
        assert len(kernel.signatures) <= 2  # float64, and float32 in other tests
