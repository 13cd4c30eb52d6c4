"""Low-rank kernels in the span of few rows, against those of a matrix of all pairs of columns."""

import numpy as np
import pytest
from effort import examples
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import vicinal
from vicinal import LocalComponents
from vicinal.inputs.points import WeightedPoints
from vicinal.local_components.equations import Form, expected_scatter
from vicinal.local_components.frame import GlobalFrame, SpanFrame
from vicinal.local_components.learning import LocalProblem, Penalty
from vicinal.local_components.low_rank import LowRankShape, is_packed, unpacked
from vicinal.local_components.shapes import Shape
from vicinal.neighborhood import GAUSSIAN, Student
from vicinal.neighborhood.blocked import BlockedEngine

ENGINE = BlockedEngine()


def drawn(seed, n, d):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d)) + 0.3 * rng.normal(size=(n, d))
    return rng, WeightedPoints(X + 5, rng.uniform(1, 3, n))


@given(
    seed=st.integers(0, 2**32 - 1),
    d=st.integers(2, 7),
    rank=st.integers(1, 6),
    law=st.sampled_from([GAUSSIAN, Student(3.0)]),
)
@examples(30)
def test_a_low_rank_shape_is_that_of_its_matrix(seed, d, rank, law):
    rng, points = drawn(seed, 9, d)
    rank = min(rank, d)
    U = np.linalg.qr(rng.normal(size=(d, rank)))[0]
    shape = LowRankShape(U.T, rng.uniform(2, 5, rank), rng.uniform(0.1, 2), law)
    covariance = (U * shape.variances) @ U.T + shape.rest * (np.eye(d) - U @ U.T)
    whole = Shape.of(covariance, law)
    assert_allclose(shape.covariance, covariance, atol=1e-12)
    assert_allclose(shape.factor @ shape.factor.T, covariance, atol=1e-12)
    assert_allclose(shape.inverse @ shape.factor, np.eye(d), atol=1e-12)
    assert_allclose(shape.round_map @ covariance @ shape.round_map.T, np.eye(d), atol=1e-12)
    assert_allclose(shape.log_normalizer, whole.log_normalizer, atol=1e-10)
    assert_allclose(shape.points(shape.coordinates(points.X)), points.X, rtol=1e-10)
    assert np.abs(shape.inverse).sum(axis=1).max() <= shape.stretches.max() * (1 + 1e-12)
    assert_allclose(unpacked(shape.compact).covariance, covariance, atol=1e-12)
    found, expected = (expected_scatter(each, ENGINE, points) for each in (shape, whole))
    assert_allclose(found.log_likelihood, expected.log_likelihood, rtol=1e-10)
    assert_allclose(found.scatter, expected.scatter, atol=1e-8)


def problems(points, rank, penalty):
    """EM in the span of the rows, and among all columns."""
    forms = [Form("low_rank", rank, n_features=d) for d in (points.X.shape[1], 0)]
    span = GlobalFrame.of(points, forms[0], penalty.global_variances)
    mean, covariance = span.mean, np.cov(points.X.T, aweights=points.weights, ddof=0)
    whole = GlobalFrame.of_moments(mean, covariance, forms[1], penalty.global_variances)
    assert isinstance(span, SpanFrame)
    return [
        LocalProblem(points, frame, form, penalty, ENGINE)
        for frame, form in zip((span, whole), forms, strict=True)
    ]


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(5, 8),
    d=st.integers(9, 14),
    rank=st.integers(1, 9),
)
@examples(30)
def test_em_in_the_span_is_em(seed, n, d, rank):
    rng, points = drawn(seed, n, d)
    span, whole = problems(points, rank, Penalty(0.1, 0.2))
    assert_allclose(span.frame.log_volume, whole.frame.log_volume, atol=1e-9)
    assert_allclose(span.frame.widths, whole.frame.widths, rtol=1e-9)
    scatters = [span.start, whole.start]
    for _ in range(3):
        steps = [problem.step(one) for problem, one in zip((span, whole), scatters, strict=True)]
        assert_allclose(steps[0][0], steps[1][0], atol=1e-7)
        scatters = [step[1] for step in steps]
        shapes = [p.shape(one) for p, one in zip((span, whole), scatters, strict=True)]
        assert_allclose(shapes[0].covariance, shapes[1].covariance, atol=1e-7)
    new = WeightedPoints(rng.normal(size=(4, d)) + 5)
    scores = [p.log_likelihood_of(new, one) for p, one in zip((span, whole), scatters, strict=True)]
    assert_allclose(*scores, rtol=1e-7)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(4, 8), d=st.integers(9, 12))
@examples(20)
def test_covariances_of_any_structure_are_seen_from_the_span(seed, n, d):
    rng, points = drawn(seed, n, d)
    form = Form("low_rank", 2, n_features=d)
    frame = GlobalFrame.of(points, form, 0.1)
    inner = frame.start(form)
    packed = frame.covariance_outward(inner)
    assert is_packed(packed)
    whole = unpacked(packed).covariance
    variances = rng.uniform(1, 2, d)
    for compact, dense in ((packed, whole), (variances, np.diag(variances))):
        seen = [frame.adopted(form, covariance) for covariance in (compact, dense)]
        assert_allclose(*seen, atol=1e-9)
        assert_allclose(Form("full").adopt(compact), dense, atol=1e-9)
    assert_allclose(frame.adopted(form, packed), inner, atol=1e-9)


@pytest.mark.parametrize(
    "settings",
    [
        {"accelerate": False},
        {"early_stopping": True},
        {"batch_size": 20, "max_iter": 10},
        {"rank": None},
    ],
    ids=str,
)
def test_fits_are_the_same(settings, monkeypatch):
    _, points = drawn(0, 40, 60)
    X, Q = points.X, drawn(1, 10, 60)[1].X
    settings = {"covariance": "low_rank", "rank": 3, "regularization": 0.1, **settings}
    model = LocalComponents(random_state=0, **settings).fit(X)
    monkeypatch.setattr(Form, "fits_a_span", False)
    whole = LocalComponents(random_state=0, **settings).fit(X)
    assert_allclose(model.loo_log_likelihood_, whole.loo_log_likelihood_, atol=1e-6)
    assert_allclose(model.score_samples(Q), whole.score_samples(Q), rtol=1e-5)
    assert_allclose(model.covariance_, whole.covariance_, atol=1e-4)


@pytest.mark.filterwarnings("ignore:LocalComponents with regularization='auto'.*too few")
def test_the_penalty_is_the_same_by_folds(monkeypatch):
    _, points = drawn(0, 30, 40)
    settings = {"covariance": "low_rank", "rank": 2, "accelerate": False}
    model = LocalComponents(**settings).fit(points.X)
    monkeypatch.setattr(Form, "fits_a_span", False)
    whole = LocalComponents(**settings).fit(points.X)
    assert_allclose(model.path_["score"], whole.path_["score"], rtol=1e-7)
    assert model.regularization_ == whole.regularization_


def test_warm_starts_streams_and_files_go_on_from_it(tmp_path):
    _, points = drawn(0, 40, 60)
    settings = {"covariance": "low_rank", "rank": 2, "regularization": 0.1, "random_state": 0}
    model = LocalComponents(warm_start=True, **settings).fit(points.X)
    assert is_packed(model._scatter)
    vicinal.save(model, tmp_path / "model.skops")
    loaded = vicinal.load(tmp_path / "model.skops")
    assert_allclose(loaded.transform(points.X), model.transform(points.X))
    assert_allclose(loaded.transform(points.X), points.X @ loaded.components_.T, atol=1e-9)
    assert loaded.fit(points.X).n_iter_ <= 3
    loaded.partial_fit(points.X[:20] + 0.01)
    assert np.isfinite(loaded.score(points.X))
    loaded.set_params(covariance="diag", rank=None).fit(points.X)
    assert loaded.covariance_.shape == (60, 60)


def test_students_kernels_depend_on_all_dimensions():
    _, points = drawn(0, 20, 30)
    settings = {"covariance": "low_rank", "rank": 2, "regularization": 0.1}
    model = LocalComponents(kernel="student", **settings).fit(points.X)
    assert (np.diff(model.history_["objective"]) >= -1e-10).all()
    assert np.isfinite(model.score(points.X))
