"""Tensors in, tensors out: what NumPy's arrays give, in the tensors' own library."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from neighborhood.cases import cases
from numpy.testing import assert_allclose, assert_array_equal

from vicinal.neighborhood import (
    GAUSSIAN,
    ColumnSums,
    Pairs,
    RowSums,
    choose_engine,
    diagonal_scatter,
    gram,
    key_pulls,
    log_shares,
    log_sum,
    namespace,
    query_pulls,
    scatter,
    symmetric_scatter,
    times,
)
from vicinal.neighborhood.abilities import work_of
from vicinal.neighborhood.arrays import (
    as_number,
    device_of,
    dtype_of,
    in_dtype_of,
    is_numpy,
    on_host,
    placed_like,
    positions,
    totals,
)
from vicinal.neighborhood.blocked import BlockedEngine
from vicinal.neighborhood.fused import FusedEngine
from vicinal.neighborhood.oracle import OracleEngine
from vicinal.neighborhood.tree import TreeEngine

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")

FIELDS = ("queries", "keys", "query_labels", "key_labels", "key_log_weights", "own")


def tensors(pairs):
    """The pairs in tensors; arrays that are one and the same stay so."""
    made = {id(a): torch.tensor(a) for a in (getattr(pairs, f) for f in FIELDS) if a is not None}
    return replace(pairs, **{f: made.get(id(getattr(pairs, f))) for f in FIELDS})


def some_pairs(n=30, dtype=np.float64):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n, 3)).astype(dtype)
    return Pairs.among(points, rng.integers(0, 3, n), rng.normal(size=n))


# ---------------------------------------------------------------------------- what arrays know


def test_namespaces_are_those_of_the_arrays():
    assert namespace(np.ones(2), None, 1.0) is np
    assert "torch" in namespace(None, torch.ones(2), 1.0).__name__
    assert is_numpy(np.float64(1.0), None, 2)
    assert not is_numpy(torch.ones(1))


def test_arrays_are_named_by_precision_and_device():
    assert dtype_of(np.ones(1), np.ones(1, np.float32)) == "float64"
    assert dtype_of(torch.ones(1), torch.ones(1)) == "float32"
    assert dtype_of(torch.ones(1), torch.ones(1, dtype=torch.float64)) == "float64"
    assert dtype_of(torch.ones(1, dtype=torch.bfloat16)) == "bfloat16"
    assert (device_of(np.ones(1)), device_of(torch.ones(1))) == ("cpu", "cpu")
    assert device_of(torch.ones(1, device="meta")) == "meta"


def test_values_move_to_where_another_array_is():
    there = in_dtype_of(torch.ones(1), np.arange(3.0))
    assert there.dtype == torch.float32
    assert there.tolist() == [0.0, 1.0, 2.0]
    assert in_dtype_of(there, there) is there
    assert isinstance(placed_like(there, np.ones(1)), np.ndarray)
    assert placed_like(np.float64(2.0), there).dtype == torch.float64
    assert in_dtype_of(np.ones(1, np.float32), there).dtype == np.float32
    assert positions(torch.zeros(3, 2)).tolist() == [0, 1, 2]


def test_numbers_of_other_libraries_stay_where_they_are():
    assert type(as_number(np.float64(2.0))) is float
    assert isinstance(as_number(torch.tensor(2.0)), torch.Tensor)


@pytest.mark.parametrize("weighted", [False, True])
def test_totals_by_class(weighted):
    rng = np.random.default_rng(0)
    labels, weights = rng.integers(0, 4, 50), rng.uniform(size=50) if weighted else None
    found = totals(torch.tensor(labels), None if weights is None else torch.tensor(weights), 6)
    assert found.dtype == torch.float64
    assert_allclose(found, totals(labels, weights, 6), rtol=1e-14)


def test_products_are_those_of_numpy():
    rng = np.random.default_rng(0)
    X, Y, M = rng.normal(size=(20, 3)), rng.normal(size=(20, 2)), rng.normal(size=(3, 4))
    assert_allclose(times(torch.tensor(X), M), X @ M)
    assert_allclose(gram(torch.tensor(X), torch.tensor(Y)), X.T @ Y)
    assert gram(torch.tensor(X).float(), torch.tensor(Y)).dtype == torch.float64
    assert times(torch.tensor(X).float(), M).dtype == torch.float32


# --------------------------------------------------------------------------------- sums of sums


def random_sums(rng):
    peak = np.where(rng.random((2, 4)) < 0.3, -np.inf, rng.normal(size=(2, 4)))
    mass = np.where(np.isneginf(peak), 0.0, rng.uniform(1, 5, (2, 4)))
    return RowSums(peak, mass, 2 * mass, mass[..., None] * rng.normal(size=(2, 4, 3)))


def test_row_sums_merge_and_finish():
    rng = np.random.default_rng(0)
    one, other = random_sums(rng), random_sums(rng)
    there = [sums.placed_like(torch.ones(1)) for sums in (one, other)]
    found, expected = there[0].merge(there[1]), one.merge(other)
    assert_allclose(found.finish().log_mass, expected.finish().log_mass)
    assert_allclose(found.finish().centroid, expected.finish().centroid)
    assert_allclose(found.finish().log_total, expected.finish().log_total)
    assert_array_equal(found.rows(slice(1, 3)).mass, expected.rows(slice(1, 3)).mass)
    found.put(slice(0, 2), found.rows(slice(2, 4)))
    assert_array_equal(found.mass[:, :2], expected.mass[:, 2:])


def test_empty_sums_are_like_a_tensor():
    like = torch.ones(1, dtype=torch.float32)
    rows, columns = RowSums.empty(2, 4, 3, like), ColumnSums.empty(5, 3, like)
    assert {array.dtype for array in (rows.peak, rows.moment, columns.total)} == {torch.float32}
    assert bool((rows.finish().log_mass == -np.inf).all())
    assert rows.moment.shape == (2, 4, 3)
    assert bool((rows.finish().centroid == 0.0).all())
    assert columns.merge(columns).moment.shape == (5, 3)
    numbers = random_sums(np.random.default_rng(1)).placed_like(like)
    merged = RowSums.empty(2, 4, 3, numbers.mass).merge(numbers)
    assert_array_equal(merged.mass, numbers.mass)


@pytest.mark.parametrize("function", [log_shares, log_sum])
@pytest.mark.parametrize("axis", [0, 1])
def test_shares_and_sums_of_logarithms(function, axis):
    log_mass = np.array([[0.0, -np.inf, -1e20], [1.0, -np.inf, -np.inf]])
    found = function(torch.tensor(log_mass), axis)
    assert_allclose(found, function(log_mass, axis), rtol=1e-14)
    assert function(torch.tensor(log_mass).float(), axis).dtype == torch.float32


# -------------------------------------------------------------------------------------- engines


@given(case=cases(dimensions=(1, 3, 17)))
def test_engines_of_the_host_take_its_tensors(case):
    engine, there = BlockedEngine(1, compiled=False), tensors(case.pairs)
    found, expected = engine.rows(there, case.law), engine.rows(case.pairs, case.law)
    for field in ("peak", "mass", "slope", "moment"):
        assert isinstance(getattr(found, field), torch.Tensor)
        assert_array_equal(getattr(found, field), getattr(expected, field))
    rows = expected.finish()
    coefficients = case.rng.normal(size=rows.log_slope.shape)
    terms = torch.tensor(rows.log_slope), torch.tensor(coefficients)
    columns = engine.columns(there, case.law, *terms)
    expected_columns = engine.columns(case.pairs, case.law, rows.log_slope, coefficients)
    assert_array_equal(columns.total, expected_columns.total)
    assert_array_equal(columns.moment, expected_columns.moment)


@pytest.mark.parametrize("engine", [OracleEngine(), FusedEngine(1), TreeEngine(1)])
@pytest.mark.parametrize("moments", [False, True])
def test_every_engine_of_the_host_takes_tensors(engine, moments):
    pairs = some_pairs()
    found = engine.rows(tensors(pairs), GAUSSIAN, moments=moments)
    assert isinstance(found.moment, torch.Tensor)
    assert_array_equal(found.moment, engine.rows(pairs, GAUSSIAN, moments=moments).moment)


def test_tensors_are_looked_at_and_not_copied():
    there = tensors(some_pairs())
    assert there.on_host is there.on_host  # so that trees are planted once
    assert there.on_host.queries is there.on_host.keys
    assert there.on_host.query_labels is there.on_host.key_labels
    assert there.on_host.queries.ctypes.data == there.queries.data_ptr()


def test_tensors_that_need_gradients_are_looked_at_as_well():
    pairs = some_pairs()
    there = replace(tensors(pairs), queries=torch.tensor(pairs.queries, requires_grad=True))
    assert not OracleEngine().rows(there, GAUSSIAN).mass.requires_grad


def test_tensors_elsewhere_or_of_another_precision_are_refused():
    engine = BlockedEngine(1, compiled=False)
    elsewhere = Pairs.among(torch.zeros((4, 2), device="meta"))
    with pytest.raises(ValueError, match='"blocked" runs on cpu, and the data are on meta'):
        engine.rows(elsewhere, GAUSSIAN)
    half = Pairs.among(torch.zeros((4, 2), dtype=torch.bfloat16))
    with pytest.raises(ValueError, match="computes in float64 or float32, not in bfloat16"):
        engine.rows(half, GAUSSIAN)


def test_work_of_tensors_is_known():
    there = tensors(some_pairs(dtype=np.float32))
    work = work_of(there, GAUSSIAN)
    assert (work.dtype, work.device, work.pairs) == ("float32", "cpu", 900)
    assert choose_engine("auto", work)[0].name == "blocked"


def test_pairs_are_checked_in_tensors_as_well():
    points = torch.zeros((4, 2))
    with pytest.raises(ValueError, match="query_labels has shape"):
        Pairs(points, points, torch.zeros(3), torch.zeros(4))
    twice = Pairs(points, points, own=torch.zeros(4, dtype=torch.int64))
    with pytest.raises(ValueError, match="own names a key twice"):
        OracleEngine().rows(twice, GAUSSIAN)


# -------------------------------------------------------------------------------------- scatter


@given(case=cases(dimensions=(1, 3)))
def test_scatters_are_those_of_numpy(case):
    pairs, there, engine = case.pairs, tensors(case.pairs), OracleEngine()
    rows = engine.rows(pairs, case.law).finish()
    coefficients = case.rng.normal(size=rows.log_slope.shape)
    coefficients[np.isneginf(rows.log_slope)] = 0.0
    columns = engine.columns(pairs, case.law, rows.log_slope, coefficients)
    given = (rows, coefficients, columns)
    rows_there = engine.rows(there, case.law).finish()
    columns_there = columns.placed_like(there.keys)
    given_there = (rows_there, torch.tensor(coefficients), columns_there)
    on_queries = query_pulls(there, *given_there[:2])
    assert_allclose(on_queries, query_pulls(pairs, *given[:2]), rtol=1e-12, atol=1e-12)
    on_keys = key_pulls(there, columns_there)
    assert_allclose(on_keys, key_pulls(pairs, columns), rtol=1e-12, atol=1e-12)
    Xq, Xk = (case.rng.normal(size=(len(Z), 2)) for Z in (pairs.queries, pairs.keys))
    found = scatter(there, *given_there, torch.tensor(Xq), torch.tensor(Xk))
    assert_allclose(found, scatter(pairs, *given, Xq, Xk), rtol=1e-10, atol=1e-10)
    for function in (symmetric_scatter, diagonal_scatter):
        found = function(there, *given_there[:2], columns_there.total)
        expected = function(pairs, *given[:2], columns.total)
        size = 1.0 + np.square(pairs.keys).sum() + np.square(pairs.queries).sum()
        assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * size)


def test_the_precision_of_features_is_kept():
    there = tensors(some_pairs(dtype=np.float32))
    rows = OracleEngine().rows(there, GAUSSIAN).finish()
    terms = rows.log_slope, torch.ones_like(rows.log_slope)
    columns = OracleEngine().columns(there, GAUSSIAN, *terms)
    assert scatter(there, rows, terms[1], columns, there.queries).dtype == torch.float32
    assert isinstance(on_host(rows.log_mass), np.ndarray)
