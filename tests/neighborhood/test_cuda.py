# ruff: noqa: E402
"""The engine for GPUs: on a device where there is one, else interpreted, kernel by kernel.

Triton reads its switch when kernels are imported, so that this file sets it, and only its own
process interprets.
"""

import os
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighborhood.conformance import EngineConformance, draw_coefficients
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

NEEDED = ("torch", "triton", "array_api_compat")
if missing := [name for name in NEEDED if find_spec(name) is None]:
    pytest.skip(f"needs {', '.join(missing)}: the extra gpu", allow_module_level=True)

import torch

HAS_GPU = torch.cuda.is_available()
if not HAS_GPU:
    os.environ["TRITON_INTERPRET"] = "1"

from vicinal import LocalComponents, NeighborhoodComponents
from vicinal.neighborhood import COMPACT, GAUSSIAN, Pairs, Student, Workload, choose_engine
from vicinal.neighborhood.cuda import CudaEngine, engine, passes
from vicinal.neighborhood.gpu import DeviceLostError
from vicinal.neighborhood.oracle import OracleEngine
from vicinal.torch import NeighborhoodLoss

DEVICE = "cuda" if HAS_GPU else "cpu"


class TestCuda(EngineConformance):
    """In the precision of the points."""

    @pytest.fixture(autouse=True)
    def _chunks(self, monkeypatch):
        # Few keys in a chunk, so that small problems are merged from several.
        monkeypatch.setattr(passes, "_SMALLEST_CHUNK", 16)
        monkeypatch.setattr(passes, "_ENOUGH_PROGRAMS", 3)

    def make(self, n_jobs=1, tile=None):
        return CudaEngine(n_jobs, device=DEVICE)

    @given(data=st.data())
    def test_without_moments_the_same_masses(self, data):
        """To rounding: kernels with and without moments are compiled apart."""
        case = self.draw(data)
        expected = OracleEngine().rows(case.pairs, case.law)
        bare = self.make().rows(case.pairs, case.law, moments=False)
        assert bare.moment.shape == (case.pairs.n_parts, len(case.pairs.queries), 0)
        self.check_rows(bare, expected, case)
        rows = expected.finish()
        coefficients = draw_coefficients(case, rows)
        arguments = case.pairs, case.law, rows.log_slope, coefficients
        columns = self.make().columns(*arguments, moments=False)
        assert columns.moment.shape == (len(case.pairs.keys), 0)
        full = self.make().columns(*arguments)
        self.check_columns(replace(columns, moment=full.moment), full, case, coefficients)

    @pytest.mark.skipif(not HAS_GPU, reason="minutes where Triton interprets; no threads of ours")
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_threads_change_no_bit_on_a_large_problem(self, dtype):
        super().test_threads_change_no_bit_on_a_large_problem(dtype)

    @pytest.mark.skipif(not HAS_GPU, reason="the memory of a device that is not there")
    def test_never_holds_an_n_by_m_array(self):
        n, m, d = 50_000, 40_000, 4
        rng = np.random.default_rng(0)
        pairs = Pairs(rng.normal(size=(n, d)), rng.normal(size=(m, d)))
        torch.cuda.reset_peak_memory_stats()
        rows = self.make().rows(pairs, GAUSSIAN).finish()
        self.make().columns(pairs, GAUSSIAN, rows.log_slope, np.ones((1, n)))
        assert torch.cuda.max_memory_allocated() < n * m * 8 / 100


def problem(n=200, d=5, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    points = (rng.normal(size=(n, d)) / np.sqrt(d)).astype(dtype)
    return Pairs.among(points, rng.integers(0, 3, n), rng.normal(size=n))


def as_tensors(pairs):
    place = CudaEngine(device=DEVICE).place
    points, labels = place(pairs.queries), place(pairs.query_labels)
    return Pairs.among(points, labels, place(pairs.key_log_weights))


@pytest.mark.parametrize("law", [GAUSSIAN, COMPACT, Student(3.0)])
def test_tensors_in_tensors_out_with_the_same_numbers(law):
    pairs, engine = problem(), CudaEngine(device=DEVICE)
    ours, theirs = engine.rows(pairs, law), engine.rows(as_tensors(pairs), law)
    assert isinstance(theirs.mass, torch.Tensor)
    assert theirs.mass.device.type == DEVICE
    for field in ("peak", "mass", "slope", "moment"):
        assert_array_equal(getattr(theirs, field).cpu(), getattr(ours, field))
    rows = ours.finish()
    coefficients = np.ones_like(rows.log_slope)
    found = engine.columns(pairs, law, rows.log_slope, coefficients)
    terms = (engine.place(each) for each in (rows.log_slope, coefficients))
    tensors = engine.columns(as_tensors(pairs), law, *terms)
    assert_array_equal(tensors.total.cpu(), found.total)
    assert_array_equal(tensors.moment.cpu(), found.moment)


def test_double_precision_may_be_asked_for_and_single_for_doubles():
    pairs = problem(dtype=np.float64)
    expected = OracleEngine().rows(pairs, GAUSSIAN).finish().log_mass
    errors = {}
    for precision in ("float64", "float32", "tf32"):
        found = CudaEngine(device=DEVICE, precision=precision).rows(pairs, GAUSSIAN).finish()
        errors[precision] = np.abs(found.log_mass - expected).max()
    assert errors["float64"] < 1e-13 < errors["float32"] < 3e-6 < errors["tf32"] < 1e-2


def test_unknown_precision():
    with pytest.raises(ValueError, match=r"precision='half'.*'tf32'"):
        CudaEngine(device=DEVICE, precision="half")


def test_two_halves_err_no_more_than_twice_what_single_precision_does():
    """Against sums by products of plain float32 numbers, over blocks of other sizes than ours."""
    rng = np.random.default_rng(0)
    points = (2.0 * rng.normal(size=(400, 16)) / 4.0).astype(np.float32)
    pairs = Pairs.among(points)
    expected = OracleEngine().rows(pairs, GAUSSIAN).finish()
    squares = np.square(points).sum(axis=1)
    exponents = 2.0 * points @ points.T - squares - squares[:, None]
    np.fill_diagonal(exponents, -np.inf)
    weights = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    plain = weights @ points / weights.sum(axis=1, keepdims=True)
    found = CudaEngine(device=DEVICE).rows(pairs, GAUSSIAN).finish().centroid[0]
    error, plain_error = (np.linalg.norm(c - expected.centroid[0]) for c in (found, plain))
    assert error < 2.0 * plain_error


def test_a_key_at_the_end_of_its_reach_costs_others_no_digits():
    """Its row's slopes sum to 2e-5: divided by that, the shares of all others were 1e-5 of its."""
    rng = np.random.default_rng(0)
    points = (0.3 * rng.normal(size=(200, 2))).astype(np.float32)
    points[0], points[1] = (5.0, 0.0), (5.0 + np.sqrt(1.0 - 1e-5), 0.0)
    pairs, coefficients = Pairs.among(points), np.ones((1, 200))
    log_slope = OracleEngine().rows(pairs, COMPACT).finish().log_slope
    expected = OracleEngine().columns(pairs, COMPACT, log_slope, coefficients).moment[2:]
    found = CudaEngine(device=DEVICE).columns(pairs, COMPACT, log_slope, coefficients).moment[2:]
    assert np.abs(found - expected).max() < 2e-6 * np.abs(expected).mean()


def test_far_points_are_compared_in_double_precision():
    points = (100.0 * np.random.default_rng(0).normal(size=(50, 3))).astype(np.float32)
    pairs = Pairs.among(points)
    found = CudaEngine(device=DEVICE).rows(pairs, GAUSSIAN).finish()
    expected = OracleEngine().rows(pairs, GAUSSIAN).finish()
    assert_allclose(found.log_mass, expected.log_mass, rtol=1e-12)


def test_too_many_dimensions_are_refused():
    with pytest.raises(ValueError, match="at most 512 dimensions, not 513"):
        CudaEngine(device=DEVICE).rows(Pairs.among(np.zeros((3, 513))), GAUSSIAN)


def test_coordinates_that_are_carried_along_count():
    with pytest.raises(ValueError, match="at most 512 dimensions, not 513"):
        CudaEngine(device=DEVICE).rows(Pairs.among(np.zeros((3, 513)), n_near=2), GAUSSIAN)


@pytest.mark.parametrize("law", [GAUSSIAN, COMPACT])
def test_more_numbers_than_kernels_can_count_are_done_half_by_half(law, monkeypatch):
    """A GPU has room for more than 2^31; here as many are allowed as 100 rows have."""
    pairs, tried, lay_out = problem(n=300), [], engine.lay_out
    whole = CudaEngine(device=DEVICE).rows(pairs, law).finish()
    coefficients = np.ones_like(whole.log_slope)
    expected = CudaEngine(device=DEVICE).columns(pairs, law, whole.log_slope, coefficients)

    def watched(pairs, *rest):
        tried.append(max(pairs.shape[:2]))
        return lay_out(pairs, *rest)

    monkeypatch.setattr(engine, "lay_out", watched)
    monkeypatch.setattr(engine, "_MOST_NUMBERS", engine.numbers_of_side(100, 5))
    rows = CudaEngine(device=DEVICE).rows(pairs, law).finish()
    assert_allclose(rows.log_mass, whole.log_mass, atol=1e-4)
    assert_allclose(rows.centroid, whole.centroid, atol=1e-5)
    columns = CudaEngine(device=DEVICE).columns(pairs, law, rows.log_slope, coefficients)
    assert_allclose(columns.total, expected.total, atol=1e-4)
    assert_allclose(columns.moment, expected.moment, atol=1e-4)
    assert max(tried) <= 100


def test_halves_that_kernels_can_count_but_that_have_no_room_say_what_they_need(monkeypatch):
    def full_device(*_):
        raise torch.OutOfMemoryError

    monkeypatch.setattr(engine, "rows_by_halves", full_device)
    monkeypatch.setattr(engine, "_MOST_NUMBERS", engine.numbers_of_side(100, 5))
    with pytest.raises(DeviceLostError, match="200 queries and 200 keys of 5 coordinates need"):
        CudaEngine(device=DEVICE).rows(problem(), GAUSSIAN)


@pytest.mark.parametrize("law", [GAUSSIAN, COMPACT])
def test_what_has_no_room_is_done_half_by_half(law, monkeypatch):
    pairs, tried = problem(n=300), []
    whole = CudaEngine(device=DEVICE).rows(pairs, law).finish()
    coefficients = np.ones_like(whole.log_slope)
    expected = CudaEngine(device=DEVICE).columns(pairs, law, whole.log_slope, coefficients)
    lay_out = engine.lay_out

    def small_device(pairs, *rest):
        tried.append(pairs.shape[:2])
        if max(pairs.shape[:2]) > 100:
            raise torch.OutOfMemoryError
        return lay_out(pairs, *rest)

    monkeypatch.setattr(engine, "lay_out", small_device)
    monkeypatch.setattr(engine, "SMALLEST_HALF", 50)
    rows = CudaEngine(device=DEVICE).rows(pairs, law).finish()
    assert max(tried) == (300, 300)
    assert_allclose(rows.log_mass, whole.log_mass, atol=1e-4)
    assert_allclose(rows.centroid, whole.centroid, atol=1e-5)
    columns = CudaEngine(device=DEVICE).columns(pairs, law, rows.log_slope, coefficients)
    assert_allclose(columns.total, expected.total, atol=1e-4)
    assert_allclose(columns.moment, expected.moment, atol=1e-4)


def test_what_has_no_room_at_all_says_what_it_needs(monkeypatch):
    def full_device(*_):
        raise torch.OutOfMemoryError

    monkeypatch.setattr(engine, "lay_out", full_device)
    with pytest.raises(DeviceLostError, match="200 queries and 200 keys of 5 coordinates need"):
        CudaEngine(device=DEVICE).rows(problem(), GAUSSIAN)


def test_both_passes_over_the_same_pairs_lay_them_out_once(monkeypatch):
    pairs, n_calls, lay_out = problem(), 0, engine.lay_out

    def counted(*arguments):
        nonlocal n_calls
        n_calls += 1
        return lay_out(*arguments)

    monkeypatch.setattr(engine, "lay_out", counted)
    cuda = CudaEngine(device=DEVICE)
    rows = cuda.rows(pairs, GAUSSIAN).finish()
    cuda.columns(pairs, GAUSSIAN, rows.log_slope, np.ones_like(rows.log_slope))
    assert n_calls == 1


def test_a_fit_by_name():
    X, y = load_iris(return_X_y=True)
    settings = {"regularization": 0.01, "max_iter": 3, "random_state": 0}
    with pytest.warns(ConvergenceWarning):
        there = NeighborhoodComponents(2, engine="cuda", **settings).fit(X[::4], y[::4])
    with pytest.warns(ConvergenceWarning):
        here = NeighborhoodComponents(2, engine="blocked", **settings).fit(X[::4], y[::4])
    assert there.engine_ == "cuda"
    assert_allclose(there.components_, here.components_, rtol=1e-3, atol=1e-4)


def test_a_model_from_a_gpu_predicts_where_there_is_none(monkeypatch):
    X, y = load_iris(return_X_y=True)
    model = NeighborhoodComponents(2, engine="cuda", regularization=0.01, max_iter=2, tol=1.0)
    model.fit(X[::4], y[::4])
    there = model.predict_proba(X[:10])
    monkeypatch.setattr("vicinal.neighborhood.engine.is_usable", lambda: False)
    with pytest.warns(UserWarning, match="no CUDA device here: its predictions are computed on"):
        here = model.predict_proba(X[:10])
    assert_allclose(here, there, atol=1e-5)


def test_chosen_by_name_and_for_data_on_a_gpu():
    work = Workload(10, 10, 2)
    chosen, reason = choose_engine("cuda", work)
    assert chosen.name == "cuda"
    assert reason == "asked for by name"
    chosen, reason = choose_engine("auto", Workload(10, 10, 2, device="cuda"))
    assert chosen.name == "cuda"
    assert "on a GPU" in reason


def test_auto_takes_a_gpu_for_much_work_only(monkeypatch):
    monkeypatch.setattr("vicinal.neighborhood.engine.has_gpu", lambda: True)
    much, little = Workload(50_000, 50_000, 5), Workload(5000, 5000, 5)
    assert choose_engine("auto", much)[0].precision == "float32"
    assert choose_engine("auto", much, precision="tf32")[0].precision == "tf32"
    assert choose_engine("auto", little)[0].name != "cuda"


def test_auto_takes_a_gpu_for_a_precision_that_engines_for_cpus_do_not_have(monkeypatch):
    monkeypatch.setattr("vicinal.neighborhood.engine.has_gpu", lambda: True)
    little = Workload(10, 10, 2, dtype="float64")
    chosen, reason = choose_engine("auto", little, precision="tf32")
    assert (chosen.name, chosen.precision) == ("cuda", "tf32")
    assert "a precision that engines for CPUs would not compute in" in reason
    assert choose_engine("auto", little, precision="float64")[0].name == "blocked"


def test_a_model_of_a_precision_of_gpus_predicts_where_there_is_none(monkeypatch):
    X, y = load_iris(return_X_y=True)
    settings = {"precision": "tf32", "regularization": 0.01, "max_iter": 2, "tol": 1.0}
    monkeypatch.setattr("vicinal.neighborhood.engine.has_gpu", lambda: True)
    model = NeighborhoodComponents(2, **settings).fit(X[::4], y[::4])
    there = model.predict_proba(X[:10])
    assert model.engine_ == "cuda"
    monkeypatch.setattr("vicinal.neighborhood.engine.has_gpu", lambda: False)
    with pytest.warns(UserWarning, match=r"precision='tf32', .* computed on the CPU, in float64"):
        here = model.predict_proba(X[:10])
    assert_allclose(here, there, atol=1e-2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_tensors_are_computed_with_in_their_precision(dtype, monkeypatch):
    """Wherever they are; those of models of densities, too, which make doubles of them first."""
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    kept, lay_out = set(), engine.lay_out

    def watched(*arguments):
        kept.add(arguments[2])
        return lay_out(*arguments)

    monkeypatch.setattr(engine, "lay_out", watched)
    X, y = (torch.tensor(each[::4], device=DEVICE) for each in load_iris(return_X_y=True))
    X = X.to(dtype)
    with config_context(array_api_dispatch=True):
        LocalComponents(engine="cuda", regularization=0.05, max_iter=2, tol=1.0).fit(X)
    NeighborhoodLoss(engine="cuda")(X.clone().requires_grad_(), y).backward()
    assert kept == {dtype}


def test_engines_for_cpus_refuse_another_precision_than_that_of_the_data():
    work = Workload(100, 100, 2, dtype="float64")
    assert choose_engine("fused", work, precision="float64")[0].name == "fused"
    with pytest.raises(ValueError, match="would compute this in float64, not in precision='tf32'"):
        choose_engine("fused", work, precision="tf32")
    with pytest.raises(ValueError, match="precision='half' is unknown"):
        choose_engine("auto", work, precision="half")


@pytest.mark.skipif(HAS_GPU, reason="fits on a device take longer to compile than to interpret")
def test_fits_on_a_device_load_no_compiler_for_cpus():
    fits = """if True:
        import sys
        from vicinal import LocalComponents, NeighborhoodComponents
        from sklearn.datasets import load_iris
        X, y = (each[::5] for each in load_iris(return_X_y=True))
        known = {"engine": "cuda", "regularization": 0.05, "max_iter": 2}
        NeighborhoodComponents(2, **known).fit(X, y).predict(X)
        LocalComponents(**known).fit(X).score_samples(X)
        print("numba" in sys.modules)
    """
    command = [sys.executable, "-W", "ignore", "-c", fits]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
