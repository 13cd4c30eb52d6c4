"""The recipe "Add an objective" of docs/extending.md, followed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from vicinal import NeighborhoodComponents
from vicinal.nca import objective
from vicinal.nca.criteria import CRITERIA, Criterion
from vicinal.neighborhood import namespace


def quadratic_terms(log_p):
    """Minus the squared error of p, -(1 - p)², and its derivative in log p."""
    xp = namespace(log_p)
    p = xp.exp(log_p)
    return -xp.square(1.0 - p), 2.0 * (1.0 - p) * p


QUADRATIC = Criterion("quadratic", "mean of -(1 - p)²", quadratic_terms)


@pytest.fixture
def iris(monkeypatch):
    monkeypatch.setitem(CRITERIA, "quadratic", QUADRATIC)
    return load_iris(return_X_y=True)


@pytest.mark.parametrize("kernel", ["gaussian", "compact"])
def test_its_gradient_equals_finite_differences(iris, kernel):
    rng, h = np.random.default_rng(0), 1e-5
    A, direction = rng.normal(size=(2, 2, 4)) / 3

    def value(step):
        return objective(A + step * direction, *iris, objective="quadratic", kernel=kernel)[0]

    _, gradient = objective(A, *iris, objective="quadratic", kernel=kernel)
    slope = (value(h) - value(-h)) / (2 * h)
    assert_allclose((gradient * direction).sum(), slope, rtol=1e-6)


def test_it_is_the_sum_of_its_terms(iris):
    X, y = iris
    A = np.eye(2, 4)
    weights = np.exp(-np.square((X @ A.T)[:, None] - X @ A.T).sum(axis=-1))
    np.fill_diagonal(weights, 0.0)
    p = (weights * (y[:, None] == y)).sum(axis=1) / weights.sum(axis=1)
    value, _ = objective(A, X, y, objective="quadratic")
    assert_allclose(value, -np.square(1.0 - p).sum())


def test_it_takes_tensors():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("array_api_compat", reason="array-api-compat is not installed")
    log_p = -np.arange(3.0)
    for found, expected in zip(
        quadratic_terms(torch.tensor(log_p)), quadratic_terms(log_p), strict=True
    ):
        assert isinstance(found, torch.Tensor)
        assert_allclose(found, expected)


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_a_model_is_fitted_by_it(iris, solver):
    X, y = iris
    model = NeighborhoodComponents(2, objective="quadratic", solver=solver, regularization=0.0)
    model.fit(X, y)
    assert model.score(X, y) > 0.95
    assert -1.0 < model.history_["objective"][0] < model.objective_ < 0.0
    value, _ = objective(model.components_, X, y, objective="quadratic")
    assert_allclose(model.objective_, value / len(y), rtol=1e-9)


def test_unbounded_criteria_are_refused_where_they_have_no_value(iris, monkeypatch):
    steep = Criterion("steep", "mean of -1/p", lambda log_p: (log_p, log_p), bounded=False)
    monkeypatch.setitem(CRITERIA, "steep", steep)
    with pytest.raises(ValueError, match="objective='steep' with kernel='compact' has no finite"):
        NeighborhoodComponents(objective="steep", kernel="compact").fit(*iris)
    y = iris[1].copy()
    y[0] = 7
    with pytest.raises(ValueError, match=r"one member, .* under objective='steep'"):
        NeighborhoodComponents(objective="steep").fit(iris[0], y)
