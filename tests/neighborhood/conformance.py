"""What every engine must do. A new engine subclasses `EngineConformance` and says how it is made.

Which laws it is asked for, and the multiple of rounding error it is held to, it says itself
(`Engine.can`); what it cannot do it must refuse.

Sums are compared in the units in which rounding acts: masses, slopes and
moments relative to the sum of the kernel's absolute values, so that a bound on
the error of an exponent (`Case.exponent_error`) bounds every one of them.
"""

import tracemalloc
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighborhood.cases import LAW_VALUES, Case, cases, key_subset, query_subset
from numpy.testing import assert_allclose, assert_array_equal

from vicinal.neighborhood import Law, Pairs
from vicinal.neighborhood.oracle import OracleEngine

ORACLE = OracleEngine()


def assert_rows_agree(sums, expected, case, ulps):
    """Compare row sums at a common peak, where they are numbers between 0 and their scale."""
    tolerance = case.exponent_error(ulps)
    shift = np.where(np.isneginf(expected.peak), 0.0, expected.peak)
    factor = np.exp(np.where(np.isneginf(sums.peak), -np.inf, sums.peak - shift))
    unit, slope_unit = (each + 1e-300 for each in _units(expected, case, shift))
    assert (np.abs(factor * sums.mass - expected.mass) <= tolerance * unit).all()
    assert (np.abs(factor * sums.slope - expected.slope) <= 2 * tolerance * slope_unit).all()
    if sums.moment.shape[-1]:
        size = 1.0 + np.abs(case.pairs.keys).max()
        error = np.abs(factor[..., None] * sums.moment - expected.moment)
        assert (error <= 4 * tolerance * size * slope_unit[..., None]).all()


def _units(expected, case, shift):
    """Sums have the scale of themselves; with support, that of the weight keys could have."""
    if not case.law.has_support:
        return expected.mass, expected.slope
    weights = case.pairs.key_log_weights
    heaviest = 0.0 if weights is None else weights.max()
    unit = np.exp(heaviest - shift) * len(case.pairs.keys)
    return unit, unit


def draw_coefficients(case, rows):
    """Row sums for C; with support in proportion to the slope, so that C itself is of size 1."""
    plain = case.rng.normal(size=rows.log_slope.shape)
    return plain * np.exp(rows.log_slope) if case.law.has_support else plain


def assert_columns_agree(columns, expected, case, coefficients, ulps):
    scale = case.exponent_error(ulps) * (1.0 + np.abs(coefficients).sum())
    if case.law.has_support and case.pairs.key_log_weights is not None:
        scale *= np.exp(np.abs(case.pairs.key_log_weights).max())
    size = 1.0 + np.abs(case.pairs.queries).max(initial=0.0)
    assert_allclose(columns.total, expected.total, rtol=0, atol=8 * scale)
    assert_allclose(columns.moment, expected.moment, rtol=0, atol=8 * scale * size)


class Stranger(Law):
    """Laplace's law, exp(-|z|), which no compiled kernel knows."""

    name = "laplace"

    def log_mass(self, s, d):
        return -np.sqrt(s)

    def decay(self, s, d):
        return 0.5 / np.sqrt(np.maximum(s, 1e-300))

    def log_normalizer(self, d):
        raise NotImplementedError


class EngineConformance:
    """Subclass with `make(n_jobs=1, tile=None)` returning an engine."""

    def make(self, n_jobs=1, tile=None):
        raise NotImplementedError

    def laws(self, support=None):
        """Laws that the engine takes: all, or those with or without support."""
        can = self.make().can
        found = [law for law in LAW_VALUES if can.takes(law)]
        found = [law for law in found if support is None or law.has_support == support]
        if not found:
            pytest.skip("the engine takes no such law")
        return found

    def draw(self, data, support=None, **options):
        return data.draw(cases(laws=self.laws(support), **options))

    def check_rows(self, sums, expected, case):
        assert_rows_agree(sums, expected, case, self.make().can.ulps)

    def check_columns(self, columns, expected, case, coefficients):
        assert_columns_agree(columns, expected, case, coefficients, self.make().can.ulps)

    def test_refuses_what_it_says_it_cannot_do(self):
        engine, pairs = self.make(), Pairs.among(np.zeros((3, 2)))
        strangers = [law for law in (*LAW_VALUES, Stranger()) if not engine.can.takes(law)]
        for law in strangers:
            with pytest.raises(ValueError, match=f"{engine.name}.*{law.name}"):
                engine.rows(pairs, law)
            with pytest.raises(ValueError, match=f"{engine.name}.*{law.name}"):
                engine.columns(pairs, law, np.zeros((1, 3)), np.zeros((1, 3)))
        for law in self.laws():
            engine.rows(pairs, law)

    @given(data=st.data(), tile=st.sampled_from([1, 7, 1000]))
    def test_agrees_with_the_oracle(self, data, tile):
        case = self.draw(data)
        engine = self.make(tile=tile)
        expected = ORACLE.rows(case.pairs, case.law)
        self.check_rows(engine.rows(case.pairs, case.law), expected, case)
        rows = expected.finish()
        coefficients = draw_coefficients(case, rows)
        self.check_columns(
            engine.columns(case.pairs, case.law, rows.log_slope, coefficients),
            ORACLE.columns(case.pairs, case.law, rows.log_slope, coefficients),
            case,
            coefficients,
        )

    @given(data=st.data())
    def test_without_moments_the_same_masses(self, data):
        case = self.draw(data)
        engine = self.make()
        bare = engine.rows(case.pairs, case.law, moments=False)
        assert bare.moment.shape == (case.pairs.n_parts, len(case.pairs.queries), 0)
        full = engine.rows(case.pairs, case.law)
        assert_array_equal(bare.peak, full.peak)
        assert_array_equal(bare.mass, full.mass)
        rows = full.finish()
        coefficients = draw_coefficients(case, rows)
        arguments = case.pairs, case.law, rows.log_slope, coefficients
        columns = engine.columns(*arguments, moments=False)
        assert columns.moment.shape == (len(case.pairs.keys), 0)
        assert_array_equal(columns.total, engine.columns(*arguments).total)

    @given(data=st.data(), n_pieces=st.integers(1, 5))
    def test_any_split_of_the_keys_in_any_order_merges_to_the_whole(self, data, n_pieces):
        case = self.draw(data)
        engine = self.make()
        piece = case.rng.integers(0, n_pieces, len(case.pairs.keys))
        parts = [
            engine.rows(key_subset(case.pairs, np.flatnonzero(piece == p)), case.law)
            for p in case.rng.permutation(n_pieces)
        ]
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.merge(part)
        self.check_rows(whole, ORACLE.rows(case.pairs, case.law), case)

    @given(data=st.data(), n_pieces=st.integers(1, 4))
    def test_any_split_of_the_queries_adds_up_to_the_whole(self, data, n_pieces):
        case = self.draw(data)
        engine = self.make()
        rows = ORACLE.rows(case.pairs, case.law).finish()
        coefficients = draw_coefficients(case, rows)
        piece = case.rng.integers(0, n_pieces, len(case.pairs.queries))
        expected = ORACLE.columns(case.pairs, case.law, rows.log_slope, coefficients)
        total = None
        for p in case.rng.permutation(n_pieces):
            keep = np.flatnonzero(piece == p)
            part = engine.columns(
                query_subset(case.pairs, keep),
                case.law,
                rows.log_slope[:, keep],
                coefficients[:, keep],
            )
            total = part if total is None else total.merge(part)
        self.check_columns(total, expected, case, coefficients)

    @given(data=st.data())
    def test_shares_of_every_row_sum_to_one(self, data):
        """A coordinate that is 1 for every key has the centroid 1, and C gives away what it has."""
        case = self.draw(data, support=False)
        engine = self.make()
        ones = [np.ones((len(z), 1), z.dtype) for z in (case.pairs.queries, case.pairs.keys)]
        pairs = replace(
            case.pairs,
            queries=np.hstack([case.pairs.queries, ones[0]]),
            keys=np.hstack([case.pairs.keys, ones[1]]),
        )
        rows = engine.rows(pairs, case.law).finish()
        some = ~np.isneginf(rows.log_slope)
        assert_allclose(rows.centroid[some][:, -1], 1.0, rtol=0, atol=64 * case.eps)
        coefficients = np.ones_like(rows.log_slope)
        columns = engine.columns(pairs, case.law, rows.log_slope, coefficients)
        tolerance = 4 * case.exponent_error(engine.can.ulps) * max(1, some.sum())
        assert_allclose(columns.total.sum(), some.sum(), rtol=0, atol=tolerance)

    @given(data=st.data())
    def test_permuting_points_permutes_the_sums(self, data):
        case = self.draw(data)
        engine = self.make()
        key_order = case.rng.permutation(len(case.pairs.keys))
        query_order = case.rng.permutation(len(case.pairs.queries))
        moved = query_subset(key_subset(case.pairs, key_order), query_order)
        expected = ORACLE.rows(case.pairs, case.law)
        self.check_rows(
            engine.rows(moved, case.law),
            expected.rows(query_order),
            Case(moved, case.law, case.rng),
        )

    @given(data=st.data())
    def test_translation_changes_nothing_but_the_centroids(self, data):
        case = self.draw(data, support=False, dimensions=(1, 2, 5, 17))
        engine = self.make()
        # A power of two times small integers: adding it to the points is exact enough to compare.
        shift = 64.0 * case.rng.integers(-2, 3, case.pairs.keys.shape[1])
        shifted = replace(
            case.pairs,
            queries=(case.pairs.queries + shift).astype(case.pairs.queries.dtype),
            keys=(case.pairs.keys + shift).astype(case.pairs.keys.dtype),
        )
        before = engine.rows(case.pairs, case.law).finish()
        after = engine.rows(shifted, case.law).finish()
        moved = case.eps * (256 + np.abs(case.pairs.keys).max()) * np.sqrt(case.squared_reach)
        moved *= case.steepness
        assert_allclose(after.log_mass, before.log_mass, rtol=0, atol=64 * moved)

    @given(data=st.data(), n_jobs=st.sampled_from([2, 3]), tile=st.sampled_from([1, 5, 1000]))
    @patch("vicinal.neighborhood.tiled._PAIRS_WORTH_A_THREAD", 1)
    def test_threads_change_no_bit(self, data, n_jobs, tile):
        case = self.draw(data)
        one, many = self.make(1, tile), self.make(n_jobs, tile)
        a, b = one.rows(case.pairs, case.law), many.rows(case.pairs, case.law)
        for field in ("peak", "mass", "slope", "moment"):
            assert_array_equal(getattr(a, field), getattr(b, field))
        rows = a.finish()
        coefficients = draw_coefficients(case, rows)
        c = one.columns(case.pairs, case.law, rows.log_slope, coefficients)
        e = many.columns(case.pairs, case.law, rows.log_slope, coefficients)
        assert_array_equal(c.total, e.total)
        assert_array_equal(c.moment, e.moment)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_threads_change_no_bit_on_a_large_problem(self, dtype):
        """Large enough that threads are really used."""
        rng = np.random.default_rng(0)
        pairs = Pairs.among(rng.normal(size=(3000, 3)).astype(dtype), rng.integers(0, 5, 3000))
        law, results = self.laws()[0], []
        for n_jobs in (1, 2, 5):
            rows = self.make(n_jobs).rows(pairs, law)
            finished = rows.finish()
            columns = self.make(n_jobs).columns(
                pairs, law, finished.log_slope, np.ones_like(finished.log_slope)
            )
            results.append((rows.mass, rows.moment, columns.total, columns.moment))
        for other in results[1:]:
            for first, second in zip(results[0], other, strict=True):
                assert_array_equal(first, second)

    @given(data=st.data(), layout=st.sampled_from(["fortran", "strided", "reversed", "readonly"]))
    def test_memory_layout_changes_no_bit(self, data, layout):
        case = self.draw(data)
        engine = self.make()
        pairs = replace(
            case.pairs,
            queries=relaid(case.pairs.queries, layout),
            keys=relaid(case.pairs.keys, layout),
        )
        a, b = engine.rows(case.pairs, case.law), engine.rows(pairs, case.law)
        assert_array_equal(a.mass, b.mass)
        assert_array_equal(a.moment, b.moment)

    @pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 33, 100, 300])
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_every_dimension(self, d, dtype):
        rng = np.random.default_rng(d)
        points = (0.5 * rng.normal(size=(600, d)) / np.sqrt(d)).astype(dtype)
        pairs = Pairs(points[:20], points, own=np.arange(20))
        for law in self.laws():
            case = Case(pairs, law, rng)
            self.check_rows(self.make().rows(pairs, law), ORACLE.rows(pairs, law), case)

    def test_coordinates_carried_along_enter_the_moments_only(self):
        rng = np.random.default_rng(0)
        points, carried = 0.3 * rng.normal(size=(40, 3)), 1e3 * rng.normal(size=(40, 2))
        pairs = Pairs.among(np.hstack([points, carried]), n_near=3)
        for law in self.laws():
            bare = self.make().rows(Pairs.among(points), law)
            sums = self.make().rows(pairs, law)
            assert_allclose(sums.finish().log_mass, bare.finish().log_mass, rtol=1e-12)
            self.check_rows(sums, ORACLE.rows(pairs, law), Case(pairs, law, rng))

    def test_duplicates_count_and_only_self_is_left_out(self):
        pairs = Pairs.among(np.zeros((5, 2)))
        for law in self.laws():
            rows = self.make().rows(pairs, law).finish()
            assert_allclose(rows.log_mass, np.log(4.0), rtol=1e-15)

    def test_a_point_alone_has_no_mass_and_no_nan(self):
        pairs = Pairs.among(np.zeros((1, 3)), np.zeros(1, dtype=int))
        for law in self.laws():
            rows = self.make().rows(pairs, law).finish()
            assert np.isneginf(rows.log_mass).all()
            assert_array_equal(rows.centroid, 0.0)
            columns = self.make().columns(pairs, law, rows.log_slope, np.ones((2, 1)))
            assert_array_equal(columns.total, 0.0)
            assert_array_equal(columns.moment, 0.0)

    def test_a_single_key_is_the_centroid(self):
        key = np.array([[0.75, -0.5]])
        for law in self.laws():
            rows = self.make().rows(Pairs(np.zeros((1, 2)), key), law).finish()
            assert_allclose(rows.log_mass, law.log_mass(np.array(0.8125), 2), rtol=1e-13)
            assert_allclose(rows.log_slope, law.log_slope(np.array(0.8125), 2), rtol=1e-13)
            assert_allclose(rows.centroid[0], key, rtol=1e-14)

    @pytest.mark.parametrize("distance", [1e2, 1e4, 1e6, 1e100])
    def test_far_outliers_keep_finite_logarithms(self, distance):
        rng = np.random.default_rng(0)
        points = rng.normal(size=(30, 2))
        points[0] = distance
        pairs = Pairs.among(points, np.arange(30) % 2)
        for law in self.laws(support=False):
            rows = self.make().rows(pairs, law).finish()
            assert np.isfinite(rows.log_mass).all()
            assert np.isfinite(rows.log_slope).all()
            assert np.isfinite(rows.centroid).all()
            expected = ORACLE.rows(pairs, law).finish()
            assert_allclose(rows.log_total[0], expected.log_total[0], rtol=1e-6)

    @pytest.mark.parametrize("apart", [1e3, 1e5, 1e8])
    def test_close_pairs_far_from_the_center(self, apart):
        """Products of coordinates alone would lose the distances within the clusters."""
        rng = np.random.default_rng(0)
        near = np.round(rng.normal(size=(20, 3)), 3)
        points = np.vstack([near + apart, near - apart, near])
        pairs = Pairs.among(points, np.arange(60) % 2)
        for law in self.laws(support=False):
            rows = self.make().rows(pairs, law).finish()
            expected = ORACLE.rows(pairs, law).finish()
            assert_allclose(rows.log_mass, expected.log_mass, rtol=1e-7, atol=1e-6)
            ones = np.ones_like(rows.log_slope)
            columns = self.make().columns(pairs, law, rows.log_slope, ones)
            by_oracle = ORACLE.columns(pairs, law, expected.log_slope, ones)
            assert_allclose(columns.total, by_oracle.total, rtol=1e-5, atol=1e-5)

    def test_support_with_nobody_inside(self):
        pairs = Pairs.among(np.array([[0.0], [0.5], [9.0]]))
        for law in self.laws(support=True):
            rows = self.make().rows(pairs, law).finish()
            assert_allclose(rows.log_mass[0, :2], law.log_mass(np.array(0.25), 1))
            assert np.isneginf(rows.log_mass[0, 2])
            columns = self.make().columns(pairs, law, rows.log_slope, np.ones((1, 3)))
            assert_allclose(columns.total, [1.0, 1.0, 0.0])

    def test_classes_that_occur_on_one_side_only(self):
        rng = np.random.default_rng(0)
        pairs = Pairs(
            rng.normal(size=(6, 2)),
            rng.normal(size=(9, 2)),
            np.array([0, 0, 3, 5, 5, 9]),
            np.array([1, 1, 3, 3, 3, 9, 9, 10, 10]),
        )
        law = self.laws()[0]
        sums = self.make(tile=2).rows(pairs, law)
        self.check_rows(sums, ORACLE.rows(pairs, law), Case(pairs, law, rng))
        assert np.isneginf(sums.finish().log_mass[1, [0, 1, 3, 4]]).all()

    @pytest.mark.parametrize("n_classes", [1, 3, 60, 120])
    def test_few_or_many_classes(self, n_classes):
        rng = np.random.default_rng(n_classes)
        pairs = Pairs.among(rng.normal(size=(120, 2)), np.arange(120) % n_classes)
        law = self.laws()[0]
        sums = self.make(tile=16).rows(pairs, law)
        self.check_rows(sums, ORACLE.rows(pairs, law), Case(pairs, law, rng))

    @pytest.mark.parametrize(("n", "m"), [(0, 3), (3, 0), (0, 0)])
    def test_no_queries_or_no_keys(self, n, m):
        pairs = Pairs(np.zeros((n, 2)), np.zeros((m, 2)))
        law = self.laws()[0]
        sums = self.make().rows(pairs, law)
        assert sums.mass.shape == (1, n)
        assert_array_equal(sums.mass, 0.0)
        columns = self.make().columns(pairs, law, np.zeros((1, n)), np.zeros((1, n)))
        assert columns.moment.shape == (m, 2)

    @pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
    def test_refuses_what_would_overflow(self, bad):
        fine, points = np.zeros((3, 2)), np.zeros((4, 2))
        points[2, 1] = bad
        for pairs in (Pairs.among(points), Pairs(points, fine), Pairs(fine, points)):
            with pytest.raises(ValueError, match="squared distances overflow"):
                self.make().rows(pairs, self.laws()[0])

    def test_float32_far_beyond_its_own_squares(self):
        points = np.array([[0.0], [1.0], [1e25]], dtype=np.float32)
        for law in self.laws(support=False):
            rows = self.make().rows(Pairs.among(points), law).finish()
            near, far = law.log_mass(np.array([1.0, float(points[2, 0]) ** 2]), 1)
            assert_allclose(rows.log_mass[0, :2], near, rtol=1e-6)
            assert_allclose(rows.log_mass[0, 2], np.logaddexp(far, far), rtol=1e-6)

    def test_leaves_its_inputs_alone(self):
        rng = np.random.default_rng(0)
        pairs = Pairs.among(rng.normal(size=(50, 3)), rng.integers(0, 3, 50), rng.normal(size=50))
        before = pairs.keys.copy(), pairs.key_labels.copy(), pairs.key_log_weights.copy()
        law = self.laws()[0]
        rows = self.make().rows(pairs, law).finish()
        log_slope, coefficients = rows.log_slope.copy(), np.ones_like(rows.log_slope)
        self.make().columns(pairs, law, rows.log_slope, coefficients)
        assert_array_equal(pairs.keys, before[0])
        assert_array_equal(pairs.key_labels, before[1])
        assert_array_equal(pairs.key_log_weights, before[2])
        assert_array_equal(rows.log_slope, log_slope)
        assert_array_equal(coefficients, 1.0)

    def test_never_holds_an_n_by_m_array(self):
        rng = np.random.default_rng(0)
        n, m, d = 5000, 4000, 4
        pairs = Pairs(rng.normal(size=(n, d)), rng.normal(size=(m, d)))
        engine, law = self.make(n_jobs=2), self.laws()[0]
        engine.rows(Pairs(pairs.queries[:10], pairs.keys[:10]), law)  # compile first
        tracemalloc.start()
        rows = engine.rows(pairs, law).finish()
        engine.columns(pairs, law, rows.log_slope, np.ones((1, n)))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < n * m * 8 / 10


def relaid(array, layout):
    """The same numbers, laid out otherwise in memory."""
    if layout == "fortran":
        return np.asfortranarray(array)
    if layout == "strided":
        wide = np.full((2 * len(array), 2 * array.shape[1]), np.nan, array.dtype)
        wide[::2, ::2] = array
        return wide[::2, ::2]
    if layout == "reversed":
        return np.ascontiguousarray(array[::-1])[::-1]
    frozen = array.copy()
    frozen.flags.writeable = False
    return frozen
