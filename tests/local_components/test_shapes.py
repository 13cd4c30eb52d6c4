"""Shapes that do without a matrix, against the matrix they stand for."""

import numpy as np
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.equations import Form, expected_scatter
from vicinal.local_components.frame import ColumnFrame, GlobalFrame, column_moments, global_moments
from vicinal.local_components.shapes import DiagonalShape, Shape
from vicinal.neighborhood import GAUSSIAN, Student
from vicinal.neighborhood.blocked import BlockedEngine

LAWS = st.sampled_from([GAUSSIAN, Student(3.0)])


def drawn(seed, d):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(15, d)) * rng.uniform(0.1, 10, d), rng.uniform(1, 3, 15)
    return rng, WeightedPoints(X, weights)


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 6), law=LAWS)
@examples(30)
def test_a_diagonal_shape_is_that_of_its_matrix(seed, d, law):
    rng, points = drawn(seed, d)
    widths, outer = rng.uniform(0.1, 3, d), rng.uniform(0.1, 3, d)
    short, whole = DiagonalShape(widths, law), Shape(np.diag(widths), d, law)
    for name in ("n_features", "n_local", "covariance", "round_map", "gaussian_map", "inverse"):
        assert_allclose(getattr(short, name), getattr(whole, name), rtol=1e-12, atol=1e-15)
    for name in ("log_volume", "log_normalizer", "factor"):
        assert_allclose(getattr(short, name), getattr(whole, name), rtol=1e-9, atol=1e-9)
    assert_allclose(short.coordinates(points.X), whole.coordinates(points.X), rtol=1e-12)
    assert_allclose(short.points(short.coordinates(points.X)), points.X, rtol=1e-12)
    moved = whole.moved(np.diag(outer))
    assert_allclose(short.moved(outer).covariance, moved.covariance, rtol=1e-12, atol=1e-15)
    sums = [np.abs(shape.stretches).sum(axis=1) for shape in (short, whole)]
    assert_allclose(*sums, rtol=1e-12)
    added = rng.uniform(0, 1, d)
    penalties = short.penalty(added, added), whole.penalty(np.diag(added), np.diag(added))
    assert_allclose(*penalties, rtol=1e-10)


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 6), law=LAWS, copies_count=st.booleans())
@examples(30)
def test_an_e_step_of_variances_is_the_diagonal_of_that_of_a_matrix(seed, d, law, copies_count):
    rng, points = drawn(seed, d)
    widths, engine = rng.uniform(0.5, 3, d) * points.X.std(axis=0), BlockedEngine()
    short, whole = (
        expected_scatter(shape, engine, points, copies_count=copies_count)
        for shape in (DiagonalShape(widths, law), Shape(np.diag(widths), d, law))
    )
    assert_allclose(short.log_likelihood, whole.log_likelihood, rtol=1e-10, atol=1e-10)
    assert_allclose(short.scatter, np.diag(whole.scatter), rtol=1e-8)


@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 6))
@examples(20)
def test_frames_of_columns_are_frames(seed, d):
    _, points = drawn(seed, d)
    for short, whole in zip(column_moments(points), global_moments(points), strict=True):
        assert_allclose(short, whole if whole.ndim == 1 else np.diag(whole), rtol=1e-12, atol=1e-13)
    for structure in ("diag", "spherical"):
        form = Form(structure)
        frame = GlobalFrame.of(points, form, 0.1)
        assert isinstance(frame, ColumnFrame)
        whole = np.diag(global_moments(points)[1]) + 0.1
        assert_allclose(frame.widths**2, whole, rtol=1e-12)
        assert_allclose(frame.factor**2, form.restrict(whole), rtol=1e-12)
        assert_allclose(frame.covariance_outward(frame.covariance_inward(whole)), whole)
        assert_allclose(form.restrict(frame.start(form)), np.ones(d), rtol=1e-12)
        assert_allclose(frame.log_volume, 0.5 * np.log(form.restrict(whole)).sum(), atol=1e-12)


def test_forms_adopt_covariances_of_others():
    whole = np.array([[2.0, 1.0], [1.0, 4.0]])
    assert_allclose(Form("diag").adopt(whole), [2.0, 4.0])
    assert_allclose(Form("spherical").restrict(whole), [3.0, 3.0])
    assert_allclose(Form("full").adopt(np.array([2.0, 4.0])), np.diag([2.0, 4.0]))
    assert_allclose(Form("low_rank", 1).adopt(whole), whole)
