"""NCA's equations over tensors: what NumPy gives, and nothing that waits for a device."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from neighborhood.cases import LAW_VALUES
from numpy.testing import assert_allclose

from vicinal.inputs.features import Features, moments
from vicinal.inputs.points import LabeledPoints
from vicinal.nca.background import ClassGaussians
from vicinal.nca.criteria import ACCURACY, CRITERIA, LOG
from vicinal.nca.equations import (
    Objective,
    class_counts,
    evaluate,
    own_class_log_probabilities,
    penalized,
)
from vicinal.neighborhood import COMPACT, GAUSSIAN, ColumnSums, RowSums
from vicinal.neighborhood.blocked import BlockedEngine

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")

ENGINE = BlockedEngine(1, compiled=False)


def some_points(seed=0, n=40, weighted=True, dtype=np.float64):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % 3)
    X = (rng.normal(size=(n, 4)) + labels[:, None]).astype(dtype)
    weights = rng.choice([0.5, 1.0, 3.0], n) if weighted else None
    return LabeledPoints(X, weights, labels=labels)


def there(points):
    if points is None:
        return None
    weights = None if points.weights is None else torch.tensor(points.weights)
    return LabeledPoints(torch.tensor(points.X), weights, labels=torch.tensor(points.labels))


def gaussians(points):
    features = Features(points.X, np.zeros(points.X.shape[1]), 1.0)
    known = moments(features, points.labels, 3, points.weights)
    return ClassGaussians.of(features, points.labels, known, points.weights)


def assert_same(found, expected, **tolerance):
    for one, other in zip(found, expected, strict=True):
        assert_allclose(one, other, **tolerance)


@given(
    seed=st.integers(0, 2**32 - 1),
    law=st.sampled_from(LAW_VALUES),
    name=st.sampled_from(sorted(CRITERIA)),
    prior=st.sampled_from(["empirical", "uniform", "given"]),
    weighted=st.booleans(),
    against=st.sampled_from(["each other", "strangers", "themselves"]),
)
def test_evaluations_are_those_of_numpy(seed, law, name, prior, weighted, against):
    prior = np.array([0.2, 0.5, 0.3]) if prior == "given" else prior
    goal, A = Objective(law, CRITERIA[name], prior, 3), np.eye(2, 4) / 2
    queries, keys, own = some_points(seed, weighted=weighted), None, None
    if against == "strangers":
        keys = some_points(seed + 1, weighted=weighted)
    elif against == "themselves":
        keys, queries, own = queries, queries[:10], np.arange(10)
    expected = evaluate(A, goal, ENGINE, queries, keys, own)
    own = None if own is None else torch.tensor(own)
    found = evaluate(torch.tensor(A), goal, ENGINE, there(queries), there(keys), own)
    assert {type(each) for each in found[:2]} == {torch.Tensor}
    assert_same(found, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("prior", ["empirical", "uniform"])
@pytest.mark.parametrize(("dtype", "error"), [(np.float64, 1e-10), (np.float32, 1e-4)])
def test_a_background_is_that_of_numpy(weighted, prior, dtype, error):
    points, A = some_points(weighted=weighted, dtype=dtype), np.eye(2, 4) / 2
    goal = Objective(COMPACT, ACCURACY, prior, 3, gaussians(points))
    expected = evaluate(A, goal, ENGINE, points, logit=-0.7)
    found = evaluate(torch.tensor(A), goal, ENGINE, there(points), logit=-0.7)
    assert {type(each) for each in found} == {torch.Tensor}
    assert_same(found, expected, rtol=error, atol=error)
    log_p = own_class_log_probabilities(torch.tensor(A), goal, ENGINE, there(points), logit=-0.7)
    expected_log_p = own_class_log_probabilities(A, goal, ENGINE, points, logit=-0.7)
    assert_allclose(log_p, expected_log_p, rtol=error, atol=error)


def test_a_map_may_come_from_the_host():
    points, A = some_points(), np.eye(2, 4) / 2
    goal = Objective(GAUSSIAN, LOG, "empirical", 3)
    expected = evaluate(A, goal, ENGINE, points)
    assert_same(evaluate(A, goal, ENGINE, there(points)), expected, rtol=1e-10)


def test_a_penalty_is_that_of_numpy():
    A, G = np.eye(2, 4), np.ones((2, 4))
    expected = penalized(1.0, G, A, 0.3)
    found = penalized(torch.tensor(1.0), torch.tensor(G), torch.tensor(A), 0.3)
    assert isinstance(found[0], torch.Tensor)
    assert_same(found, expected, rtol=1e-6)


def test_numbers_of_numpy_stay_floats():
    points = some_points()
    goal = Objective(COMPACT, ACCURACY, "empirical", 3, gaussians(points))
    found = evaluate(np.eye(2, 4), goal, ENGINE, points)
    assert type(found.value) is type(found.logit_gradient) is type(points.total) is float


def test_classes_that_weigh_nothing_or_have_no_keys_are_no_nan():
    goal, A = Objective(GAUSSIAN, ACCURACY, "uniform", 4), np.eye(2, 4)
    points = some_points(weighted=False)
    weights = np.where(points.labels == 2, 0.0, 1.0)
    with np.errstate(divide="ignore"):
        found = evaluate(A, goal, ENGINE, LabeledPoints(points.X, weights, labels=points.labels))
    strangers = LabeledPoints(points.X, labels=np.full(len(points), 3))
    for each in (found, evaluate(A, goal, ENGINE, strangers, points)):
        assert np.isfinite(each.value)
        assert np.isfinite(each.gradient).all()
    assert class_counts(points, 4)[3] == 0.0


class Nowhere:
    """An engine of tensors without any numbers: whoever asks for one is refused."""

    name = "nowhere"

    def rows(self, pairs, law, *, moments=True):
        n, _, d = pairs.shape
        return RowSums.empty(pairs.n_parts, n, d if moments else 0, pairs.queries)

    def columns(self, pairs, law, log_slope, coefficients, *, moments=True):
        _, m, d = pairs.shape
        return ColumnSums.empty(m, d if moments else 0, pairs.queries)


@pytest.mark.parametrize("criterion", CRITERIA.values(), ids=CRITERIA)
@pytest.mark.parametrize("prior", ["empirical", "uniform", np.full(3, 1 / 3)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nothing_waits_for_the_device(criterion, prior, weighted, dtype):
    """Tensors on "meta" have no numbers: to ask for one is an error."""
    points = there(some_points(weighted=weighted))
    weights = None if points.weights is None else points.weights.to("meta")
    X, labels = points.X.to("meta", dtype), points.labels.to("meta")
    far = LabeledPoints(X, weights, labels=labels)
    goal, A = Objective(GAUSSIAN, criterion, prior, 3), torch.zeros((2, 4), device="meta")
    found = evaluate(A, goal, Nowhere(), far)
    value, gradient = penalized(found.value / far.total, found.gradient / far.total, A, 0.1)
    assert (value.shape, gradient.shape) == ((), (2, 4))
    assert value.dtype == (torch.float64 if weighted else dtype)
    own_class_log_probabilities(A, goal, Nowhere(), far)
    with pytest.raises((RuntimeError, NotImplementedError)):
        float(value)
